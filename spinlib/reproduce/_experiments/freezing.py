"""The spikes of a chapter on sparse weights: cooled, they freeze; at temperatures that exchange copies, too."""

import numpy as np

from spinlib.icl import LinearTask, averages, best_weights
from spinlib.reproduce._experiment import Experiment, grid, lines

D, N = 40, 800
HOT, COLD, STEPS = 6.0, 0.6, 25
SAMPLES = 12
FULL = dict.fromkeys((140, 180, 220, 260), (2, 16, 128))  # P: sweeps at each temperature
QUICK = {140: (2,), 260: (2,)}
TEMPERED = {140: 8, 150: 8, 160: 8}  # P: draws
LADDER, ROUNDS = np.geomspace(1, 4, 12), 2_560  # temperatures that exchange copies, and how often


def temperatures() -> np.ndarray:
    """From hot to cold by equal factors; 1 is the temperature of the posterior."""
    return np.geomspace(HOT, COLD, STEPS)


def one_run(
    rng: np.random.Generator, P: int, sweeps: int, sample: int, melt: bool
) -> dict[str, object]:
    """D spikes of the best size among the D^2 places of W11, by heat-bath moves of one spike at a time.

    The energy is |y - S w|^2 / 2 s0, s0 the part of a label that the best weights leave. A run cools from random
    places, or, with ``melt``, warms from the right ones. Returns, as means over the second half of the sweeps at a
    temperature, ``energy`` (STEPS,) per prompt and ``right`` (STEPS,), the number of spikes on the diagonal; ``plant``,
    the energy of the right places. The prompts depend on P and ``sample`` only.
    """
    data = LinearTask(D, N).sample_features(P, rng=[sample, P, 0])
    c = best_weights(D, N)[0, 0]
    A, h = (P * part for part in averages(data))
    A, h = A[: D * D, : D * D], h[: D * D]  # without the label row
    diagonal, beta = np.arange(0, D * D, D + 1), 1 / (1 - c)
    scale, own = data.y @ data.y, c * c / 2 * np.diagonal(A)
    places = diagonal.copy() if melt else rng.choice(D * D, D, replace=False)
    pull, taken = c * (h - c * A[:, places].sum(1)), np.zeros(D * D)  # c S^T (y - S w)
    taken[places] = np.inf

    def energy(places):
        return (
            (scale - 2 * c * h[places].sum() + c * c * A[np.ix_(places, places)].sum())
            * beta
            / (2 * P)
        )

    found = {"energy": np.empty(STEPS), "right": np.empty(STEPS), "plant": energy(diagonal)}
    for step, T in enumerate(temperatures()[::-1] if melt else temperatures()):
        kept = []
        for sweep in range(sweeps):
            for k, chance in enumerate(rng.random(D)):
                pull += c * c * A[places[k]]
                taken[places[k]] = 0.0
                cost = own - pull + taken
                levels = np.cumsum(np.exp((cost.min() - cost) * (beta / T)))
                places[k] = np.searchsorted(levels, chance * levels[-1], side="right")
                pull -= c * c * A[places[k]]
                taken[places[k]] = np.inf
            if 2 * sweep >= sweeps - 1:
                kept.append((energy(places), (places % (D + 1) == 0).sum()))
        found["energy"][step], found["right"][step] = np.mean(kept, axis=0)
    return found


def tempered(rng: np.random.Generator, P: int, sample: int, rounds: int) -> dict[str, object]:
    """Parallel tempering: a copy at each temperature of LADDER, moved as in ``one_run``, and neighbours are exchanged.

    A round is one sweep of every copy and a proposal to every other pair of neighbours, accepted by the law of
    Boltzmann. Returns ``energy`` and ``right`` (8, temperatures), means over each eighth of the rounds; ``lowest``, the
    lowest energy met; ``most``, the most spikes on the diagonal met; ``plant``; ``exchanged`` (temperatures - 1,), the
    fraction of proposals accepted. Energies are per prompt; the prompts are those of ``one_run``.
    """
    data = LinearTask(D, N).sample_features(P, rng=[sample, P, 0])
    c = best_weights(D, N)[0, 0]
    A, h = (P * part for part in averages(data))
    A, h, copies = c * c * A[: D * D, : D * D], c * h[: D * D], np.arange(len(LADDER))
    A, h, beta = (part.astype(np.float32) for part in (A, h, 1 / (LADDER[:, None] * (1 - c))))
    places = rng.permuted(np.tile(np.arange(D * D), (len(LADDER), 1)), axis=1)[:, :D]
    kept, passed = np.empty((2, rounds, len(LADDER))), np.zeros((2, len(LADDER) - 1))

    def energy(places):
        pairs = A[places[..., None], places[..., None, :]]
        return (data.y @ data.y - 2 * h[places].sum(-1) + pairs.sum((-2, -1))) / (2 * P * (1 - c))

    for step in range(rounds):
        gain = h - np.diagonal(A) / 2 - A[places].sum(1)  # what one more spike saves, (copies, D^2)
        for k, (block, inside) in enumerate(rng.random((D, 2, len(LADDER), 1))):
            gain += A.take(places[:, k], 0)
            odds = gain * beta
            odds = np.exp(odds - odds.max(1, keepdims=True))
            odds[copies[:, None], np.delete(places, k, axis=1)] = 0  # taken
            blocks = np.add.reduceat(odds, np.arange(0, D * D, D), axis=1).cumsum(1)
            row = (blocks <= block * blocks[:, -1:]).sum(1)
            within = odds.reshape(-1, D, D)[copies, row].cumsum(1)
            places[:, k] = D * row + (within <= inside * within[:, -1:]).sum(1)
            gain -= A.take(places[:, k], 0)
        now = energy(places)
        for a in range(step % 2, len(LADDER) - 1, 2):
            cost = P * (beta[a, 0] - beta[a + 1, 0]) * (1 - c) * (now[a + 1] - now[a])
            swap = rng.random() < np.exp(min(0.0, -cost))
            passed[:, a] += 1, swap
            if swap:
                for one in (places, now):
                    one[[a, a + 1]] = one[[a + 1, a]]
        kept[:, step] = now, (places % (D + 1) == 0).sum(1)
    return dict(zip(("energy", "right"), kept.reshape(2, 8, -1, len(LADDER)).mean(2))) | {
        "lowest": kept[0].min(),
        "most": kept[1].max(),
        "plant": energy(np.arange(0, D * D, D + 1)),
        "exchanged": passed[1] / passed[0],
    }


def _points(full):
    return [
        {"P": P, "sweeps": sweeps, "sample": k, "melt": False}
        for P, rates in (FULL if full else QUICK).items()
        for sweeps in rates
        for k in range(SAMPLES if full else 3)
    ] + [{"P": 140, "sweeps": 16, "sample": k, "melt": True} for k in range(SAMPLES if full else 1)]


def _collect(points, results):
    """Annealing of the spikes of D = 40, N = 800, cooled at 25 temperatures, and melted at P = 140.

    ``P``, ``sweeps`` at each temperature and ``sample`` are the axes of ``energy``, ``right`` and ``plant`` as
    ``one_run`` returns them; NaN where there is no such run. ``T`` (25,) falls. ``melt_energy``, ``melt_right``
    (samples, 25): the right places, warmed with 16 sweeps at each T, which rises.
    """
    n = sum(not p["melt"] for p in points)  # the cooled ones come first
    return grid(points[:n], results[:n], "P", "sweeps", "sample") | {
        "melt_energy": np.array([r["energy"] for r in results[n:]]),
        "melt_right": np.array([r["right"] for r in results[n:]]),
        "T": temperatures(),
    }


def _tempering_points(full):
    return [
        {"P": P, "sample": k, "rounds": ROUNDS if full else 200}
        for P, draws in (TEMPERED if full else {140: 1}).items()
        for k in range(draws)
    ]


def _tempering_collect(points, results):
    """Parallel tempering of the spikes of D = 40, N = 800: twelve copies at temperatures from 1 to 4.

    ``P``, ``sample``, ``rounds`` are the axes of what ``tempered`` returns. ``T`` (12,) rises.
    """
    return grid(points, results, "P", "sample", "rounds") | {"T": LADDER}


EXPERIMENTS = {
    "tempering": Experiment(
        _tempering_points,
        tempered,
        _tempering_collect,
        lines(
            "P",
            {"lowest": "simulation: lowest met", "plant": "exact: right places"},
            xlabel="prompts P",
            ylabel="energy per prompt",
        ),
    ),
    "freezing": Experiment(
        _points,
        one_run,
        _collect,
        lines(
            "P",
            lambda r: {
                f"-: {n} sweeps at each temperature": r["right"][:, k, :, -1]
                for k, n in enumerate(r["sweeps"])
            },
            xlabel="prompts P",
            ylabel=f"spikes in their places after cooling, of {D}",
        ),
    ),
}
