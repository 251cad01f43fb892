"""The numbers behind a figure: one experiment each, quick for a page or full for a file in chapters/data.

``python -m spinlib.reproduce pspin_equilibrium --full`` computes one and saves it as chapters/data/pspin_equilibrium.npz.
"""
from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path

import numpy as np

from spinlib._core import check_integer
from spinlib.simulation import descend, gaussian_couplings, parallel_tempering, random_spins

DATA = Path(__file__).resolve().parents[1] / "chapters" / "data"
BINS = np.linspace(-1, 1, 51)  # edges of the histograms of overlaps


def run(figure, *, full=False, rng=0, progress=False) -> dict[str, np.ndarray]:
    """Compute the experiment ``figure`` with the parameters of a page, or with ``full`` those of the stored file.

    Returns named arrays; the function of the same name in this module says which. ``rng`` is None, an integer or a numpy Generator;
    ``progress`` writes one line to stderr.

    >>> from spinlib.reproduce import run
    >>> run("fig0")
    Traceback (most recent call last):
    ...
    ValueError: there is no experiment 'fig0'; choose one of: pspin_equilibrium
    """
    return _experiment(figure)(full=full, rng=rng, progress=progress)


def load(figure) -> dict[str, np.ndarray]:
    """Read the stored full run of the experiment ``figure``; ``about`` is a JSON text of seed, versions and seconds.

    Raises FileNotFoundError naming the command that makes the file, where there is none.

    >>> from spinlib.reproduce import load
    >>> load("pspin_equilibrium")["energy_64"].shape     # (samples, temperatures)
    (16, 13)
    """
    _experiment(figure)
    path = DATA / f"{figure}.npz"
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}; make it with: python -m spinlib.reproduce {figure} --full")
    with np.load(path) as stored:
        return dict(stored)


def pspin_equilibrium(*, full=False, rng=0, progress=False) -> dict[str, np.ndarray]:
    """Equilibrium of the spherical 3-spin model at N = 32 (with ``full`` also N = 64), with a test that it is one.

    Of each size N: temperatures ``T_N`` (n_T,), and what :func:`pspin_sample` returns with a first axis for the samples, as
    ``energy_N`` and so on; ``sweeps_N`` are the edges of its windows, ``bins`` (51,) those of its histograms. Quick: 8 samples, 128
    sweeps. Full: 32 samples of N = 32 and 16 of N = 64, 1024 sweeps. The first samples of both are the same.
    """
    plan = {32: (32, 1024), 64: (16, 1024)} if full else {32: (8, 128)}
    result = {"bins": BINS}
    for (n_spins, (n_samples, n_sweeps)), child in zip(plan.items(), np.random.default_rng(rng).spawn(len(plan)), strict=True):
        samples = []
        for k, one in enumerate(child.spawn(n_samples)):
            samples.append(pspin_sample(n_spins, n_sweeps, rng=one))
            if progress:
                print(f"\rpspin_equilibrium: N = {n_spins}, sample {k + 1} of {n_samples} ", end="", file=sys.stderr, flush=True)
        result[f"T_{n_spins}"], result[f"sweeps_{n_spins}"] = _temperatures(n_spins), _windows(n_sweeps)
        for name in samples[0]:
            result[f"{name}_{n_spins}"] = np.array([s[name] for s in samples])
    if progress:
        print(file=sys.stderr)
    return result


def pspin_sample(n_spins, n_sweeps, *, rng=None) -> dict[str, np.ndarray]:
    """Parallel tempering of one sample (p = 3) from two sides: 4 copies start at random, 4 all in the same minimum of the energy.

    ``n_sweeps`` is a power of 2, at least 8. Returns, for the windows of sweeps [0, 4), [4, 8), [8, 16) ... and each temperature,
    ``defect_random`` and ``defect_minimum`` (windows, n_T), ``e + (beta/2)(1 - <q^3>)`` of either four, zero on average over samples in
    equilibrium; and of the last half of all sweeps and all 8 copies ``energy`` (n_T,), its standard error over copies ``energy_error``,
    ``moment`` (n_T,) = <q^3>, and ``histogram`` (n_T, 50) the density P(q) between the edges ``BINS``.

    >>> from spinlib.reproduce import pspin_sample
    >>> one = pspin_sample(8, 16, rng=0)
    >>> one["defect_random"].shape, one["histogram"].shape
    ((3, 7), (7, 50))
    """
    n_sweeps = check_integer("n_sweeps", n_sweeps, 8)
    if n_sweeps & (n_sweeps - 1):
        raise ValueError(f"n_sweeps must be a power of 2, got {n_sweeps}; the windows double, so take {2 ** n_sweeps.bit_length()}")
    rng, T, copies = np.random.default_rng(rng), _temperatures(n_spins), 4
    couplings = gaussian_couplings(n_spins, 3, rng=rng)
    s = random_spins(n_spins, (2 * copies, len(T)), rng=rng)
    s[copies:] = descend(couplings, random_spins(n_spins, rng=rng), tol=1e-6).s
    found = parallel_tempering(couplings, T, n_sweeps=n_sweeps, n_copies=2 * copies, s=s, rng=rng)
    first, second = np.triu_indices(2 * copies, 1)
    edges, result = _windows(n_sweeps), {}
    for name, mine, pairs in (("random", slice(copies), second < copies), ("minimum", slice(copies, None), first >= copies)):
        result[f"defect_{name}"] = np.array([
            found.energy[a:b, mine].mean(axis=(0, 1)) + 0.5 / T * (1 - (found.overlap[a:b, pairs] ** 3).mean(axis=(0, 1)))
            for a, b in zip(edges, edges[1:])])
    energy, q = found.energy[n_sweeps // 2:].mean(axis=0), found.overlap[n_sweeps // 2:]
    result["energy"] = energy.mean(axis=0)
    result["energy_error"] = energy.std(axis=0, ddof=1) / np.sqrt(2 * copies)
    result["moment"] = (q**3).mean(axis=(0, 1))
    result["histogram"] = np.array([np.histogram(q[:, :, k], BINS, density=True)[0] for k in range(len(T))])
    return result


EXPERIMENTS = {"pspin_equilibrium": pspin_equilibrium}


def _experiment(figure):
    if figure not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {figure!r}; choose one of: {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[figure]


def _temperatures(n_spins):
    """beta from 1 to 2.5 in steps of at most 1.1/sqrt(N), with 1.5 and 2 among them; as increasing temperatures."""
    n_spins = check_integer("n_spins", n_spins, 2)
    return 1 / np.linspace(2.5, 1, 3 * int(np.ceil(0.5 * np.sqrt(n_spins) / 1.1)) + 1)


def _windows(n_sweeps):
    return np.concatenate([[0], 2 ** np.arange(2, n_sweeps.bit_length())])


def _main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m spinlib.reproduce", description="Compute the numbers behind a figure and save them.")
    parser.add_argument("figure", choices=EXPERIMENTS)
    parser.add_argument("--full", action="store_true", help="the parameters of the stored file; default: those of the page")
    parser.add_argument("--rng", type=int, default=0, help="seed (default 0)")
    parser.add_argument("--out", type=Path, default=DATA, help="folder of the .npz file (default chapters/data)")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    result = run(options.figure, full=options.full, rng=options.rng, progress=True)
    about = {"experiment": options.figure, "full": options.full, "rng": options.rng, "seconds": round(time.perf_counter() - start, 1),
             "cpu_seconds": round(time.process_time(), 1), "python": platform.python_version(), "numpy": np.__version__}
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{options.figure}.npz"
    np.savez_compressed(path, about=json.dumps(about), **result)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB, {about}")


if __name__ == "__main__":
    _main()
