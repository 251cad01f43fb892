"""Figure 1, Train it, or solve it: its numbers against spinlib and torch, then the figure as a reader uses it."""

import numpy as np
import pytest

from spinlib import icl
from spinlib.inference import ground_state

POINTS = [
    (D, N, P, ridge)
    for D, N in [(4, 30), (4, 5), (4, 100), (2, 3)]
    for P, ridge in [(1, 0.5), (7, 1.0), (60, 0.01), (200, 0.1), (500, 0.003)]
]


@pytest.mark.parametrize("D,N,P,ridge", POINTS)
def test_the_glass_of_the_prompts(physics, D, N, P, ridge):
    data = icl.LinearTask(D, N).sample_features(P, rng=np.random.default_rng([P, N]))
    glass = icl.to_spin_glass(data, ridge)
    plain = {"u": data.u.tolist(), "query": data.query.tolist(), "y": data.y.tolist()}
    sums = physics("p.averages(a[0])", plain)
    A = np.array(sums["A"])
    assert np.abs(-(A - np.diag(A.diagonal())) - glass.J).max() < 1e-13
    assert np.abs(A.diagonal() + ridge - glass.lam).max() < 1e-13
    assert np.abs(np.array(sums["h"]) - glass.h).max() < 1e-13
    found = np.array(physics("p.groundState(a[0], a[1])", sums, ridge))
    assert np.abs(found - ground_state(glass).mean).max() < 1e-11
    w = np.random.default_rng([1, P]).normal(size=glass.n)
    there = physics("p['train-or-solve'].gradient(a[0], a[1], a[2])", sums, ridge, w.tolist())
    assert there["energy"] == pytest.approx(float(glass.energy(w)), rel=1e-12, abs=1e-11)
    assert np.abs(np.array(there["slope"]) - glass.gradient(w)).max() < 1e-11
    loss = icl.training_loss(icl.weights(w, D), data, ridge)
    assert there["energy"] + sums["half"] == pytest.approx(loss, rel=1e-12, abs=1e-11)
    error = physics("p.populationError(a[0], a[1], a[2])", w.tolist(), D, N)
    assert error == pytest.approx(icl.population_error(icl.weights(w, D), N), rel=1e-12)
    best = physics("p['train-or-solve'].best(a[0], a[1])", D, N)
    assert error > best
    least = np.vstack([np.eye(D) / (1 + (D + 1) / N), np.zeros((1, D))])
    assert best == pytest.approx(icl.population_error(least, N), abs=1e-12)
    diagonal = physics("p['train-or-solve'].diagonal(a[0], a[1], 0)", D, N)
    assert diagonal == pytest.approx(least[0, 0], abs=1e-12)


def test_adam_is_that_of_torch(physics):
    torch = pytest.importorskip("torch")
    data = icl.LinearTask(4, 30).sample_features(60, rng=3)
    glass = icl.to_spin_glass(data, 0.01)
    H, h = torch.tensor(np.array(glass.hessian)), torch.tensor(np.array(glass.h))
    w = torch.zeros(20, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([w], lr=0.01)
    path = []
    for _ in range(300):
        adam.zero_grad()
        (w @ H @ w / 2 - h @ w).backward()
        adam.step()
        path.append(w.detach().numpy().copy())
    plain = {"u": data.u.tolist(), "query": data.query.tolist(), "y": data.y.tolist()}
    there = physics(
        "(() => { const s = p.averages(a[0]), own = p['train-or-solve'], w = new Float64Array(20), step = own.adam(w), all = [];"
        "for (let k = 0; k < 300; k++) { step(own.gradient(s, 0.01, w).slope); all.push([...w]); } return all; })()",
        plain,
    )
    assert np.abs(np.array(there) - np.array(path)).max() < 1e-10


def test_the_prompts_of_the_browser_have_the_right_law(physics):
    """The fields and couplings of 20 000 prompts drawn in the browser, against their exact means."""
    D, N, P = 4, 30, 20_000
    sums = physics("p.averages(p.prompts(...a))", D, N, P, 7)
    A, h = np.array(sums["A"]), np.array(sums["h"])
    a, b = (1 + (D + 1) / N) / D, (1 + 2 / N) * (1 + 2 / D)
    assert np.abs(h - np.eye(D + 1, D).ravel() / D).max() < 0.03
    assert np.abs(A - np.diag([a] * D * D + [b] * D)).max() < 0.12
    z = np.array(
        physics("(() => { const z = p.normals(3, 1); return Array.from({length: 40000}, z); })()")
    )
    assert abs(z.mean()) < 0.02 and abs(z.var() - 1) < 0.03 and abs((z**4).mean() - 3) < 0.15
    assert abs((z[1:] * z[:-1]).mean()) < 0.02
