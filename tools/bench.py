"""Measure speed as ratios: ours against a reference operation, both timed in this run.

Prints a table, writes bench.json.
A ratio hardly depends on the machine; the seconds beside it do. Each time is the best of several repeats.
"""
import json
import os
import pathlib
import platform
import sys
import timeit
import warnings

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
D, N, P, RIDGE, SWEEPS = 20, 100, 3000, 0.1, 50
rng = np.random.default_rng(0)


def saddle():
    from spinlib.pspin import PSpin
    model = PSpin(3)
    model.solve(0.3)
    return ((lambda: model.solve(0.3)), (lambda: model.free_energy(0.8, 0.3, 0.34)),
            "evaluations of the free energy that an equilibrium costs", None)


def _features():
    from spinlib.icl import LinearTask
    return LinearTask(D, N).sample_features(P, rng=0)


def _glass():
    from spinlib.icl import to_spin_glass
    return to_spin_glass(_features(), RIDGE)


def amp_sweep():
    from spinlib.inference import amp
    glass, m = _glass(), rng.standard_normal(D * (D + 1))
    return (lambda: amp(glass, tol=1e-300, max_iter=SWEEPS)), (lambda: [glass.J @ m for _ in range(SWEEPS)]), \
        f"{SWEEPS} sweeps against {SWEEPS} products J m; a sweep needs two (J m and J^2 x)", None


def amp_loop():
    from spinlib.inference import amp
    glass = _glass()

    def one_by_one():  # what a first implementation writes: a loop over the spins
        m, m_old, x = np.zeros(glass.n), np.zeros(glass.n), 1 / glass.lam
        for _ in range(SWEEPS):
            new, new_x = np.empty(glass.n), np.empty(glass.n)
            for i in range(glass.n):
                reaction = (glass.J[i] ** 2 * x).sum()
                new_x[i] = 1 / (glass.lam[i] - reaction)
                new[i] = new_x[i] * (glass.h[i] + (glass.J[i] * m).sum() - reaction * m_old[i])
            m, m_old, x = new, m, new_x

    return ((lambda: amp(glass, tol=1e-300, max_iter=SWEEPS)), one_by_one,
            f"{SWEEPS} sweeps in arrays against the loop over {D * (D + 1)} spins", None)


def sample_amp_sweep():
    from spinlib.inference import sample_amp
    prompts = _features()
    S = np.einsum("pa,pb->pab", prompts.u, prompts.query).reshape(P, -1)
    w, g = rng.standard_normal(D * (D + 1)), rng.standard_normal(P)
    return ((lambda: sample_amp(prompts, RIDGE, tol=1e-300, max_iter=SWEEPS)),
            (lambda: [(S @ w, g @ S) for _ in range(SWEEPS)]),
            f"{SWEEPS} sweeps, matrix-free, against the products with the matrix that one channel needs", None)


def ground_state():
    from spinlib.icl import to_spin_glass
    from spinlib.inference import ground_state as dense
    from spinlib.inference import ground_state_cg
    prompts = _features()
    return (lambda: ground_state_cg(prompts, RIDGE)), (lambda: dense(to_spin_glass(prompts, RIDGE))), \
        f"conjugate gradients on the prompts against forming J and solving, D = {D}, P = {P}", None


def gradient():
    from spinlib.pspin.simulation import gaussian_couplings, random_spins
    n, replicas = 64, 64
    J, s = gaussian_couplings(n, 3, rng=0), random_spins(n, (replicas,), rng=1)
    matrix = np.ascontiguousarray(J.tensor.reshape(n, n * n))
    return ((lambda: J.gradient(s)), (lambda: s @ matrix),
            "p = 3, N = 64, 64 replicas at once, against the one matrix product it needs", 3.0)


def tempering():
    from spinlib.pspin.simulation import gaussian_couplings, parallel_tempering
    n, T = 64, np.linspace(0.5, 1.0, 16)
    J = gaussian_couplings(n, 3, rng=0)
    s = parallel_tempering(J, T, n_sweeps=1, n_copies=4, rng=0).s
    return ((lambda: parallel_tempering(J, T, n_sweeps=5, n_copies=4, s=s, rng=0)),
            (lambda: [J.gradient(s) for _ in range(5 * 8 + 1)]),
            "5 sweeps, 4 copies at 16 temperatures, against the gradients they need", None)


def bp_sweep():
    from spinlib.factor_graph import bp, pspin_ising, random_scopes
    n, factors = 300, 450
    graph = pspin_ising(n, random_scopes(n, factors, 3, rng=0), rng.choice([-1.0, 1.0], factors), beta=0.4)

    def edge_by_edge():
        tables = [table for _, table in graph.factors]
        scopes = [scope for scope, _ in graph.factors]
        around = [[a for a in range(factors) if i in scopes[a]] for i in range(n)]
        u = {(a, i): np.ones(2) / 2 for a in range(factors) for i in scopes[a]}
        for _ in range(10):
            m = {}
            for a, i in u:
                product = np.ones(2)
                for b in around[i]:
                    if b != a:
                        product = product * u[b, i]
                m[a, i] = product / product.sum()
            for a, i in list(u):
                table = tables[a]
                for k, j in enumerate(scopes[a]):
                    if j != i:
                        table = table * m[a, j].reshape([2 if slot == k else 1 for slot in range(3)])
                answer = table.sum(tuple(k for k in range(3) if scopes[a][k] != i))
                u[a, i] = answer / answer.sum()

    return ((lambda: bp(graph, tol=1e-300, max_iter=10)), edge_by_edge,
            "10 sweeps over 1350 edges in arrays against the loop over edges", None)


ROWS = {"p-spin saddle": saddle, "AMP sweep": amp_sweep, "AMP, vectorised": amp_loop,
        "sample AMP sweep": sample_amp_sweep, "ground state by CG": ground_state, "p-spin gradient": gradient,
        "parallel tempering": tempering, "BP, vectorised": bp_sweep}


def best(*functions, repeats=15, least=0.01):
    """The best time of one call of each function, in seconds; they take turns, so that both meet the same machine."""
    timers = [timeit.Timer(function) for function in functions]
    loops = []
    for timer in timers:
        once = timer.timeit(1)
        loops.append(max(1, int(least / max(once, 1e-9))))
    times = [[timer.timeit(loop) / loop for timer, loop in zip(timers, loops)] for _ in range(repeats)]
    return [min(column) for column in zip(*times)]


def main():
    warnings.simplefilter("ignore")  # a fixed number of sweeps does not converge, on purpose
    table, missed = [], 0
    print(f"{'':20} {'ours':>10} {'reference':>10} {'ratio':>8}  what it means")
    for name, setup in ROWS.items():
        try:
            ours, reference, meaning, bound = setup()
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("spinlib"):
                raise
            print(f"{name:20} waits for {error.name}")
            continue
        seconds, seconds_reference = best(ours, reference)
        ratio = seconds / seconds_reference
        over = bound is not None and ratio > bound
        missed += over
        note = "" if bound is None else f" (wanted: at most {bound:g}{', MISSED' if over else ''})"
        times = f"{1e3 * seconds:7.3f} ms {1e3 * seconds_reference:7.3f} ms"
        print(f"{name:20} {times} {ratio:8.3g}  {meaning}{note}", flush=True)
        table.append({"name": name, "seconds": seconds, "seconds_reference": seconds_reference, "ratio": ratio,
                      "meaning": meaning, "bound": bound})
    machine = {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine(),
               "threads": os.environ["OMP_NUM_THREADS"]}
    (ROOT / "bench.json").write_text(json.dumps({"machine": machine, "rows": table}, indent=1) + "\n")
    print(f"== written to {ROOT / 'bench.json'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
