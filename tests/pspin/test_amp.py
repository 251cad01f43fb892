"""Message passing on finite samples of the spherical p-spin against loops,
state evolution and the exact fixed points."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinlib.pspin import PSpin
from spinlib.pspin.amp import Iterates, amp, relaxed_bp, spherical_variance, state_evolution
from spinlib.pspin.simulation import Couplings, descend, gaussian_couplings, overlap, random_spins

T = 0.4
RS_LOW, RS_HIGH = PSpin(3).rs_overlaps(T)


@pytest.fixture(scope="module")
def runs():
    """16 samples at N = 64, two copies at overlap .9: self-overlaps, successive overlaps, cross overlaps, energies."""
    rng, n, found = np.random.default_rng(3), 64, []
    for _ in range(16):
        couplings = gaussian_couplings(n, rng=rng)
        a, b = random_spins(n, (2,), rng=rng)
        b = b - a * overlap(a, b)
        b = b / np.sqrt((b**2).mean())
        run = amp(
            couplings, np.sqrt(0.5) * np.stack([a, 0.9 * a + np.sqrt(1 - 0.81) * b]), T, n_steps=8
        )
        found.append(
            (
                run.q.mean(1),
                run.successive.mean(1),
                overlap(run.m[:, 0], run.m[:, 1]),
                couplings.energy(run.m).mean(1) / n,
            )
        )
    return [np.array(x) for x in zip(*found)]


def within(samples, expected, bias=0.0):
    """Means within 5 standard errors of the expectation, plus a stated finite-size bias."""
    error = samples.std(0, ddof=1) / math.sqrt(len(samples))
    return bool((np.abs(samples.mean(0) - expected) <= 5 * error + bias).all())


# --- one step against loops -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [3, 4])
def test_eqs_48_to_55_messages_against_loops(p):
    """Every message of a small graph by explicit loops over factors and edges, multiplier included as data."""
    n, beta = 7, 1 / 0.7
    couplings = gaussian_couplings(n, p, distinct=True, rng=1)
    start = np.sqrt(0.4) * random_spins(n, rng=2)
    run = relaxed_bp(couplings, start, 0.7, n_steps=2)
    factors = list(combinations(range(n), p))
    J = {a: math.factorial(p) * couplings.tensor[a] for a in factors}
    mean = {(i, a): start[i] for a in factors for i in a}
    var = {(i, a): 1 - (start**2).mean() for a in factors for i in a}
    for step in (1, 2):
        push, soft = {}, {}
        for a in factors:
            for i in a:
                others = [j for j in a if j != i]
                m1 = math.prod(mean[j, a] for j in others)
                m2 = math.prod(mean[j, a] ** 2 + var[j, a] for j in others)
                push[a, i], soft[a, i] = beta * J[a] * m1, beta**2 * J[a] ** 2 * (m2 - m1**2)
        h = np.array([sum(push[a, i] for a in factors if i in a) for i in range(n)])
        s = np.array([sum(soft[a, i] for a in factors if i in a) for i in range(n)])
        lam = np.median(
            h / run.m[step] + s
        )  # eq. (54) of the marginal gives the multiplier that was used
        v = 1 / (lam - s)
        assert run.m[step] == pytest.approx(v * h, abs=1e-10)
        assert (v + (v * h) ** 2).mean() == pytest.approx(1, abs=1e-10)  # spherical constraint
        assert run.v[step] == pytest.approx(v.mean(), abs=1e-10)
        var = {
            (i, a): 1 / (lam - sum(soft[b, i] for b in factors if i in b and b != a))
            for a in factors
            for i in a
        }
        mean = {
            (i, a): var[i, a] * sum(push[b, i] for b in factors if i in b and b != a)
            for a in factors
            for i in a
        }


@pytest.mark.parametrize("p", [2, 3, 4])
def test_amp_step_against_loops(p):
    n, beta = 5, 1 / 0.6
    couplings = gaussian_couplings(n, p, rng=3)
    m, last = np.sqrt(0.5) * random_spins(n, (2,), rng=4)
    run = amp(couplings, m, 0.6, previous=last, n_steps=1)
    field = np.zeros(n)
    for index in np.ndindex(*(n,) * p):
        field[index[0]] += beta * p * couplings.tensor[index] * math.prod(m[j] for j in index[1:])
    field -= beta**2 * p * (p - 1) / 2 * 0.5 * (m @ last / n) ** (p - 2) * last
    v = (-1 + math.sqrt(1 + 4 * (field**2).mean())) / (2 * (field**2).mean())
    assert run.m[1] == pytest.approx(v * field, abs=1e-12)
    assert run.v[1] == pytest.approx(v, abs=1e-12)


def test_batches_are_independent_runs():
    couplings, starts = gaussian_couplings(20, rng=0), 0.6 * random_spins(20, (3, 2), rng=1)
    together = amp(couplings, starts, T, n_steps=6)
    alone = amp(couplings, starts[1, 1], T, n_steps=6)
    assert together.m[:, 1, 1] == pytest.approx(alone.m, abs=1e-8)
    assert (
        together.m.shape == (7, 3, 2, 20)
        and together.q.shape == (7, 3, 2)
        and together.successive.shape == (6, 3, 2)
    )


# --- state evolution ------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(T=st.floats(0.05, 3), q=st.floats(0.01, 0.99), p=st.integers(2, 7))
def test_eqs_59_61_hold_at_every_step(T, q, p):
    """q' = (1 - q')^2 beta^2 (p/2) q^(p-1): eq. (61) with old q on the right, and q + v = 1."""
    new = state_evolution(p, q, T, n_steps=1).q[1]
    field = p / (2 * T**2) * q ** (p - 1)
    v = float(spherical_variance(field))
    assert v**2 * field + v == pytest.approx(1, rel=1e-12)
    assert new == pytest.approx((1 - new) ** 2 * field, rel=1e-7, abs=1e-14)


@pytest.mark.parametrize("p", [3, 4, 6])
def test_eq_61_fixed_points_are_those_of_replicas(p):
    T = 0.35 * PSpin(p).T_d
    low, high = PSpin(p).rs_overlaps(T)
    for root in (low, high):
        assert state_evolution(p, root, T, n_steps=1).q[1] == pytest.approx(root, abs=1e-12)
    # the upper one attracts
    assert state_evolution(p, low * 1.01, T, n_steps=300).q[-1] == pytest.approx(high, abs=1e-9)
    # so does the paramagnet
    assert state_evolution(p, low * 0.99, T, n_steps=300).q[-1] < 1e-9
    assert (
        PSpin(p).rs_overlaps(1.0) == () and state_evolution(p, 0.9, 1.0, n_steps=300).q[-1] < 1e-9
    )


@pytest.mark.parametrize("p", [2, 3, 4, 5])
def test_overlap_of_copies_goes_to_its_power(p):
    T = 0.4 if p == 2 else 0.35 * PSpin(p).T_d
    q = 0.6 if p == 2 else PSpin(p).rs_overlaps(T)[1]  # p = 2: q = 1 - T
    for c in (0.99, 0.5, 0.1):
        se = state_evolution(p, q, T, overlap=c * q, n_steps=4)
        assert se.overlap / q == pytest.approx(
            [c ** ((p - 1) ** t) for t in range(5)], rel=1e-6, abs=1e-12
        )


def test_the_copies_measure_the_replicon():
    """Slope of the overlap map at 1 is 1 - (1-q)^2 replicon, the replicon of tests/symbolic/test_replica.py:
    p - 1 on every root of (45)."""
    for root in (RS_LOW, RS_HIGH):
        replicon = 1 / (1 - root) ** 2 - 3 / T**2 * root
        step = 1e-6
        slope = (
            1 - state_evolution(3, root, T, overlap=root * (1 - step), n_steps=1).overlap[1] / root
        )
        assert slope / step == pytest.approx(1 - (1 - root) ** 2 * replicon, abs=1e-5)
        assert slope / step == pytest.approx(2, abs=1e-5)


# --- samples against state evolution --------------------------------------------------------------------------------


@pytest.mark.slow
def test_samples_follow_state_evolution(runs):
    se = state_evolution(3, 0.5, T, overlap=0.45, n_steps=8)
    q, successive, cross, energy = runs
    assert within(q[:, 1:], se.q[1:], bias=1 / 64)
    assert within(cross[:, 1:], se.overlap[1:], bias=1 / 64)
    assert not within(cross[:, 1:], se.q[1:], bias=1 / 64)  # the copies do not meet
    assert q[:, -1].mean() > 0.45 and abs(cross[:, -1].mean()) < 0.1


def test_successive_iterates_stay_orthogonal(runs):
    q, successive, _, _ = runs
    assert within(successive, 0, bias=1 / 64)
    assert not within(successive, q[:, 1:])


def test_the_energy_of_the_means_is_not_the_one_replicas_claim(runs):
    """H(m)/N = -(beta p/2) v c^(p-1), c the overlap with the step before:
    0 here, -.52 if the iteration had converged."""
    energy = runs[3]
    claimed = -3 / (2 * T) * RS_HIGH**2 * (1 - RS_HIGH)
    assert claimed == pytest.approx(-0.5212, abs=1e-3)
    assert within(energy, 0, bias=2 / 64) and not within(energy[:, 5:], claimed, bias=0.1)


@pytest.mark.slow
def test_eqs_57_58_sums_over_the_graph():
    """One sweep of messages: mean square of m_i/v_i and mean of the softening lam - 1/v_i against their large-K
    values."""
    n, q, beta = 48, 0.5, 1 / T
    squares, soft = [], []
    for seed in range(12):
        couplings = gaussian_couplings(n, distinct=True, rng=seed)
        run = relaxed_bp(couplings, np.sqrt(q) * random_spins(n, rng=100 + seed), T, n_steps=1)
        squares.append(run.q[1])
        soft.append(run.v[1])
    exact_K = math.comb(n - 1, 2) * 6 / (2 * n**2)  # K <J^2> at this N; p/2 at N = infinity
    field = beta**2 * exact_K * q**2
    assert (
        abs(np.mean(squares) - (1 - float(spherical_variance(field))))
        < 5 * np.std(squares) / math.sqrt(12) + 3 / n
    )
    assert np.array(squares) + np.array(soft) == pytest.approx(1, abs=1e-10)


@pytest.mark.slow
def test_amp_is_relaxed_bp_with_the_onsager_term_only():
    """From a low-energy start (successive overlaps not small): distance to the edge-wise iteration at the second
    step."""
    ratio = []
    for n in (24, 72):
        with_term, without = [], []
        for seed in range(4):
            couplings = gaussian_couplings(n, distinct=True, rng=seed)
            s = random_spins(n, rng=10 + seed)
            for _ in range(40):
                s = s - 0.15 * couplings.gradient(s)
                s = s / np.sqrt((s**2).mean())
            start = np.sqrt(0.5) * s
            edges = relaxed_bp(couplings, start, 0.6, n_steps=2).m[2]
            with_term.append(
                np.sqrt(((amp(couplings, start, 0.6, n_steps=2).m[2] - edges) ** 2).mean())
            )
            without.append(
                np.sqrt(
                    (
                        (amp(couplings, start, 0.6, onsager=False, n_steps=2).m[2] - edges) ** 2
                    ).mean()
                )
            )
        ratio.append((np.mean(with_term), np.mean(without)))
    assert ratio[1][0] < 0.6 * ratio[0][0]  # falls with N
    assert ratio[1][1] > 3 * ratio[1][0]  # what the Onsager term repairs


# --- states: exact fixed points -------------------------------------------------------------------------------------


def state_at(couplings, T, rng):
    """A minimum of H, its label y and the AMP fixed point above it; the closed forms of Crisanti and Sommers (p =
    3)."""
    end = descend(
        couplings, random_spins(couplings.n_spins, (8,), rng=rng), tol=1e-11, max_iter=20_000
    )
    e, s = float(end.energy.min()), end.s[end.energy.argmin()]
    root_y = (
        -e * math.sqrt(6) - math.sqrt(6 * e**2 - 8)
    ) / 4  # 1 + 2 y = -e sqrt(6 y), smaller root
    q = max(
        r.real
        for r in np.roots([1, -2, 1, -2 * T**2 * root_y**2 / 3])
        if abs(r.imag) < 1e-9 and r.real < 1
    )
    return s, root_y**2, math.sqrt(q) * s


def test_every_deep_minimum_is_a_fixed_point_and_needs_the_onsager_term():
    couplings = gaussian_couplings(32, rng=20)
    s, y, m = state_at(couplings, T, 1)
    assert 2 * y < 1
    stay = amp(couplings, m, T, previous=m, n_steps=3)
    assert stay.m[-1] == pytest.approx(m, abs=1e-8)
    gone = amp(couplings, m, T, previous=m, onsager=False, n_steps=60)
    assert abs(gone.q[-1] - stay.q[-1]) > 0.05
    near = 0.9 * m + 0.3 * np.sqrt((m**2).mean()) * random_spins(32, rng=5)
    back = amp(couplings, near, T, previous=near, n_steps=300)
    assert back.m[-1] == pytest.approx(m, abs=1e-9)  # (p-1) y < 1: it attracts
    assert back.q[-1] > RS_HIGH + 0.15  # and it is not the replica-symmetric root


def test_p_2_is_marginal():
    """p = 2: the overlap of two copies keeps its value, .8 of q, in state evolution and on samples (it dies for p =
    3)."""
    rng, found, n, q = np.random.default_rng(0), [], 300, 0.5
    for _ in range(16):
        a, b = random_spins(n, (2,), rng=rng)
        run = amp(
            gaussian_couplings(n, 2, rng=rng),
            math.sqrt(q) * np.stack([a, 0.8 * a + 0.6 * b]) * 0.99,
            0.5,
            n_steps=6,
        )
        found.append(overlap(run.m[:, 0], run.m[:, 1]) / run.q.mean(1))
    assert within(np.array(found), 0.8, bias=2 / n)


# --- refusal --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda c: amp(c, np.ones(8), 0.4), ValueError, "scale it: np.sqrt"),
        (lambda c: amp(c, np.zeros(8), 0.4), ValueError, "0 < .* < 1, got 0"),
        (lambda c: amp(c, 0.5 * np.ones(7), 0.4), ValueError, r"shape \(..., 8\), got \(7,\)"),
        (lambda c: amp(c, 0.5 * np.ones(8), 0.0), ValueError, "T must be finite and >= 1e-06"),
        (
            lambda c: amp(c, 0.5 * np.ones(8), 0.4, previous=np.ones(3)),
            ValueError,
            "previous must have shape",
        ),
        (
            lambda c: amp(c, 0.5 * np.ones(8), 0.4, n_steps=2.0),
            TypeError,
            "n_steps must be an integer",
        ),
        (lambda c: relaxed_bp(c, 0.5 * np.ones(8), 0.4), ValueError, "distinct=True"),
        (
            lambda c: relaxed_bp(c, 0.5 * np.ones((2, 8)), 0.4),
            ValueError,
            r"m must have shape \(8,\)",
        ),
        (lambda c: state_evolution(3, 0.0, 0.4), ValueError, "from 0 nothing moves"),
        (
            lambda c: state_evolution(3, 0.5, 0.4, overlap=0.6),
            ValueError,
            "two copies of self-overlap q",
        ),
        (lambda c: state_evolution(1, 0.5, 0.4), ValueError, "p must be at least 2"),
        (
            lambda c: state_evolution(3, 0.5, 1e-300),
            ValueError,
            "T must be finite and >= 1e-06.*descend",
        ),
        (lambda c: state_evolution(3, 0.5, 0.0), ValueError, "T must be finite and >= 1e-06"),
        (
            lambda c: state_evolution(3, 0.5, 0.4, n_steps=0),
            ValueError,
            "n_steps must be at least 1",
        ),
        (lambda c: amp(c, 0.5, 0.4), ValueError, r"m must have shape \(..., 8\), got \(\)"),
        (
            lambda c: amp(c, np.stack([0.5 * np.ones(8), np.ones(8)]), 0.4),
            ValueError,
            "0 < .* < 1, got 1;",
        ),
        (
            lambda c: amp(c, 0.5 * np.ones(8), 1e-9),
            ValueError,
            "T must be finite and >= 1e-06.*descend",
        ),
        (
            lambda c: amp(c, 0.5 * np.ones(8), 0.4, onsager="no"),
            TypeError,
            "onsager must be True or False",
        ),
        (
            lambda c: amp(c.tensor, 0.5 * np.ones(8), 0.4),
            TypeError,
            "couplings must be of type Couplings",
        ),
        (
            lambda c: relaxed_bp(c.tensor, 0.5 * np.ones(8), 0.4),
            TypeError,
            "couplings must be of type Couplings",
        ),
        (lambda c: amp(c, 0.5j * np.ones(8), 0.4), TypeError, "m must be an array of real numbers"),
        (lambda c: amp(c, np.zeros((0, 8)), 0.4), ValueError, "no axis is empty"),
        (
            lambda c: spherical_variance(-0.1),
            ValueError,
            "field_variance must be finite and >= 0, got -0.1",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(gaussian_couplings(8, rng=0))


def test_state_evolution_takes_pairs():
    assert state_evolution(2, 0.5, 0.4, n_steps=1).q.shape == (2,) and "\n" not in repr(
        state_evolution(3, 0.5, 0.4)
    )


def test_couplings_of_any_source_are_taken():
    pair = Couplings(np.array([[0.0, 0.5], [0.5, 0.0]]))
    run = amp(pair, np.array([0.5, 0.5]), 1.0, n_steps=1)
    assert isinstance(run, Iterates) and run.m.shape == (2, 2)


def test_copies_of_opposite_sign():
    """For even p the field of -m is minus that of m: the overlap of the two copies is minus their self-overlap."""
    path = state_evolution(4, 0.9, 0.3, overlap=-0.9, n_steps=5)
    np.testing.assert_allclose(path.overlap, -path.q, rtol=1e-14)
