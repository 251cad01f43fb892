"""What an expert would write for one problem at a time: the lines that `make bench` holds spinlib against.

Each function returns (ours, the expert's, what both do). Neither checks anything that the other does not need; the
expert's lines know their problem, so they need no options, no words for failures and no other kinds of input.
"""

import numpy as np
from scipy.linalg import lapack

D, N, P, RIDGE, SWEEPS = 20, 100, 3000, 0.1, 50
ENOUGH = 1e-300  # a tolerance that no sweep meets: both look at their residual and make all sweeps


def prompts(D=D, P=P):
    from spinlib.icl import LinearTask

    return LinearTask(D, 5 * D).sample_features(P, rng=0)


def glass():
    from spinlib.icl import to_spin_glass

    return to_spin_glass(prompts(), RIDGE)


def couplings():
    from spinlib.icl import to_spin_glass

    data = prompts()

    def expert():
        s = (data.u[:, :, None] * data.query[:, None]).reshape(P, -1)
        J, h = -s.T @ s / P, s.T @ data.y / P
        lam = RIDGE - np.diagonal(J)
        np.fill_diagonal(J, 0)
        return J, h, lam

    words = f"the glass of {P} prompts, {D * (D + 1)} spins"
    return lambda: to_spin_glass(data, RIDGE), expert, words


def ground_state(variances=True):
    from spinlib.inference import ground_state

    one = glass()

    def expert():
        H = np.diag(one.lam) - one.J
        norm = 1.0 if variances else lapack.dlange("1", H.T)
        factor, _ = lapack.dpotrf(H.T, lower=True, overwrite_a=True)
        mean, _ = lapack.dpotrs(factor, one.h, lower=True)
        if variances:
            return mean, np.diagonal(lapack.dpotri(factor, lower=True, overwrite_c=True)[0])
        certainty = lapack.dpocon(factor, norm, uplo="L")[0]
        assert certainty > one.n * np.finfo(float).eps  # no flat Hessian passes
        return mean, None

    what = "with the variances" if variances else "and the condition number, the means alone"
    return lambda: ground_state(one, variances=variances), expert, f"Cholesky {what}"


def ground_state_means():
    return ground_state(variances=False)


def conjugate_gradients(D=50, P=10_000):
    from spinlib.inference import ground_state_cg

    data = prompts(D, P)
    u, query, y, ridge = data.u, data.query, data.y, 0.2 / D

    def expert():
        stiffness = ridge + (u * u).T @ (query * query) / P
        r = u.T @ (query * y[:, None]) / P
        W, p, start = np.zeros_like(r), r / stiffness, np.linalg.norm(r)
        while np.linalg.norm(r) > 1e-10 * start:
            Ap = u.T @ (query * ((u @ p) * query).sum(1)[:, None]) / P + ridge * p
            gain = (r * r / stiffness).sum()
            a = gain / (p * Ap).sum()
            W, r = W + a * p, r - a * Ap
            p = r / stiffness + (r * r / stiffness).sum() / gain * p
        return W

    words = f"conjugate gradients, D = {D}, P = {P}, tol 1e-10"
    return lambda: ground_state_cg(data, ridge=ridge), expert, words


def amp():
    from spinlib.inference import amp

    one = glass()
    J, h, lam = one.J, one.h, one.lam

    def expert():
        J2, m, old, x = J * J, np.zeros(one.n), np.zeros(one.n), 1 / lam
        for _ in range(SWEEPS):
            reaction = J2 @ x
            x = 1 / (lam - reaction)
            m, old = x * (h + J @ m - reaction * old), m
            if np.abs(m - old).max() < ENOUGH:
                break
        return m, x

    words = f"{SWEEPS} sweeps on {one.n} spins"
    return lambda: amp(one, tol=ENOUGH, max_iter=SWEEPS), expert, words


def relaxed_bp():
    from spinlib.inference import relaxed_bp

    one = glass()
    J, h, lam = one.J, one.h[:, None], one.lam[:, None]

    def expert():
        J2, m, x = J * J, np.zeros_like(J), np.broadcast_to(1 / lam, J.shape)
        for _ in range(SWEEPS):
            heard, stiff, old = J * m.T, J2 * x.T, m
            x = 1 / (lam - stiff.sum(1, keepdims=True) + stiff)
            m = x * (h + heard.sum(1, keepdims=True) - heard)
            if np.abs(m - old).max() < ENOUGH:
                break
        return m, x

    words = f"{SWEEPS} sweeps over the {one.n**2} messages of {one.n} spins"
    return lambda: relaxed_bp(one, tol=ENOUGH, max_iter=SWEEPS), expert, words


def sample_amp():
    from spinlib.inference import sample_amp

    data = prompts()
    u, query, y = data.u, data.query, data.y

    def expert():
        u2, query2 = u * u, query * query
        m, x, g = np.zeros((D + 1, D)), 1 / (RIDGE + u2.T @ query2 / P), np.zeros(P)
        for _ in range(SWEEPS):
            tau = ((u2 @ x) * query2).sum(1)
            g = (y - ((u @ m) * query).sum(1) + tau * g) / (P + tau)
            precision, old = u2.T @ (query2 / (P + tau)[:, None]), m
            x = 1 / (RIDGE + precision)
            m = x * (precision * m + u.T @ (query * g[:, None]))
            if np.abs(m - old).max() < ENOUGH:
                break
        return m, x

    words = f"{SWEEPS} sweeps between {P} prompts and {D * (D + 1)} weights"
    return lambda: sample_amp(data, ridge=RIDGE, tol=ENOUGH, max_iter=SWEEPS), expert, words


def training(steps=100):
    import torch

    from spinlib.attention import LinearAttention
    from spinlib.training import fit

    torch.set_num_threads(1)
    data = prompts()
    u, query, y = (
        torch.tensor(part) for part in (data.u, np.pad(data.query, ((0, 0), (0, 1))), data.y)
    )

    def expert():
        W = LinearAttention(D, rng=0).W[0].detach().clone().requires_grad_()
        adam, losses = torch.optim.Adam([W], lr=0.01), []
        for _ in range(steps):
            value = (((query @ W.T) * u).sum(1) - y).square().mean() / 2 + RIDGE / 2 * (W * W).sum()
            losses.append(value.item())
            adam.zero_grad()
            value.backward()
            adam.step()
        return losses

    words = f"{steps} steps of Adam on {P} prompts, the loop in torch"
    return lambda: fit(LinearAttention(D, rng=0), data, ridge=RIDGE, n_steps=steps), expert, words


def training_on_averages(steps=100):
    from spinlib.descent import trajectory
    from spinlib.icl import to_spin_glass

    data, start = prompts(), np.zeros(D * (D + 1))

    def expert():
        s = (data.u[:, :, None] * data.query[:, None]).reshape(P, -1)
        A, h, w = s.T @ s / P + RIDGE * np.eye(s.shape[1]), s.T @ data.y / P, start
        mean = square = 0.0
        for k in range(1, steps + 1):
            g = A @ w - h
            mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
            w = w - 0.01 * mean / (1 - 0.9**k) / (np.sqrt(square / (1 - 0.999**k)) + 1e-8)
        return w

    words = "the same steps on the averages of the prompts (descent.trajectory)"
    return lambda: trajectory(to_spin_glass(data, RIDGE), start, n_steps=steps), expert, words


def tempering(n=64, copies=4, sweeps=5, steps=6):
    from spinlib.pspin.simulation import gaussian_couplings, parallel_tempering

    T = np.linspace(0.5, 1.0, 16)
    J = gaussian_couplings(n, 3, rng=0)
    start = parallel_tempering(J, T, n_sweeps=1, n_copies=copies, rng=0).s
    i, j = np.triu_indices(n)
    matrix = -3 * np.where(i == j, 1, 2)[:, None] * J.tensor[i, j]  # pairs of spins, each once
    beta = 1 / T[:, None]
    eps = 0.35 / np.sqrt(beta)

    def gradient(s):
        columns = np.ascontiguousarray(s.reshape(-1, n).T)
        return ((columns[i] * columns[j]).T @ matrix).reshape(s.shape)

    def expert():
        rng, s, g = np.random.default_rng(0), start, gradient(start)
        H = (s * g).sum(-1) / 3
        for k in range(sweeps):
            v = rng.standard_normal(s.shape)
            v -= s * (s * v).mean(-1, keepdims=True)
            q, w, f, kick = s, v, g, 0.5 * eps * beta
            for step in range(steps):
                w = w - (kick if step == 0 else 2 * kick) * (
                    f - q * (f * q).mean(-1, keepdims=True)
                )
                rate = np.sqrt((w * w).mean(-1, keepdims=True))
                cos, sin = np.cos(eps * rate), np.sin(eps * rate)
                q, w = q * cos + w * (sin / rate), w * cos - q * (sin * rate)
                f = gradient(q)
            w = w - kick * (f - q * (f * q).mean(-1, keepdims=True))
            H_new = (q * f).sum(-1) / 3
            gain = beta[:, 0] * (H - H_new) + ((v * v).sum(-1) - (w * w).sum(-1)) / 2
            take = np.log(rng.random(H.shape)) < gain
            s, g = (np.where(take[..., None], new, old) for new, old in ((q, s), (f, g)))
            H = np.where(take, H_new, H)
            for a in range(k % 2, len(T) - 1, 2):
                swap = np.log(rng.random(copies)) < (beta[a] - beta[a + 1]) * (
                    H[:, a] - H[:, a + 1]
                )
                for state in (s, g, H):
                    state[swap, a], state[swap, a + 1] = state[swap, a + 1], state[swap, a]
        return s

    given = {"n_sweeps": sweeps, "n_copies": copies, "n_leapfrog": steps, "s": start}
    words = (
        f"{sweeps} sweeps, {copies} copies at {len(T)} temperatures, N = {n}, one gradient a step"
    )
    return lambda: parallel_tempering(J, T, **given, rng=0), expert, words


def belief_propagation(factors=450, beta=0.4):
    from spinlib.factor_graph import bp, pspin_ising

    rng, new = np.random.default_rng(0), 1 + np.arange(2 * factors).reshape(-1, 2)
    scopes = np.column_stack([np.random.default_rng(0).integers(new[:, 0]), new])  # a tree
    n = scopes.max() + 1
    J, h = rng.choice([-1.0, 1.0], factors), 0.3 * rng.standard_normal(n)
    graph = pspin_ising(n, scopes, J, h=h, beta=beta)
    spin = np.array([-1.0, 1.0])
    tables = np.exp(beta * J[:, None, None, None] * spin[:, None, None] * spin[:, None] * spin)
    fields, place = beta * h[:, None] * spin, (2 * scopes[:, :, None] + np.arange(2)).ravel()

    def expert():
        u, change = np.full((factors, 3, 2), 0.5), 1.0
        while change > 1e-12:
            log = np.log(u)
            total = fields + np.bincount(place, log.ravel(), 2 * n).reshape(n, 2)
            m = np.exp(total[scopes] - log)
            a, b, c = np.moveaxis(m / m.sum(-1, keepdims=True), 1, 0)
            new = np.stack(
                [
                    np.einsum("fxyz,fy,fz->fx", tables, b, c),
                    np.einsum("fxyz,fx,fz->fy", tables, a, c),
                    np.einsum("fxyz,fx,fy->fz", tables, a, b),
                ],
                1,
            )
            new /= new.sum(-1, keepdims=True)
            change, u = np.abs(new - u).max(), new
        total = np.exp(total)
        return total / total.sum(1, keepdims=True)

    words = f"a tree of {factors} factors of three spins, to 1e-12; ours takes any graph"
    return lambda: bp(graph), expert, words


AT_MOST = 1.3
EXPERTS = {  # name: the problem, the largest ratio
    "couplings": (couplings, AT_MOST),
    "ground state": (ground_state, AT_MOST),
    "ground state, means": (ground_state_means, AT_MOST),
    "CG": (conjugate_gradients, AT_MOST),
    "AMP": (amp, AT_MOST),
    "relaxed BP": (relaxed_bp, AT_MOST),
    "sample AMP": (sample_amp, AT_MOST),
    "training": (training, AT_MOST),
    "training, averages": (training_on_averages, AT_MOST),
    "tempering": (tempering, AT_MOST),
    "belief propagation": (belief_propagation, 3.0),
}
