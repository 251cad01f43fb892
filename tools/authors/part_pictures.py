"""Draw the pictures of the part openings, images/part_1.png to part_5.png, in the house style.

python tools/authors/part_pictures.py [NUMBER...]       default: all

A picture shows an idea. Part III draws a small glass that spinlib makes, Parts IV and V the theory of spinlib; the
others are drawings.
"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrow, FancyBboxPatch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from spinlib.plotting import COLOR, style

ARROW = {"arrowstyle": "->", "lw": 1.2, "color": COLOR["exact"]}
VALLEYS = [
    (0.6, 0.5, 0.16),
    (1.5, 0.9, 0.22),
    (2.25, 0.55, 0.15),
    (3.1, 1.12, 0.26),
    (4.05, 0.7, 0.2),
    (4.9, 0.95, 0.22),
    (5.7, 0.6, 0.16),
    (6.6, 1.0, 0.25),
    (7.5, 0.65, 0.18),
]  # place, depth, width


def valleys(x):
    """A rugged line: a slow slope and many valleys."""
    return 0.1 * np.sin(1.3 * x) - sum(
        depth * np.exp(-(((x - at) / width) ** 2) / 2) for at, depth, width in VALLEYS
    )


def part_1():
    fig, ax = plt.subplots(figsize=(6.4, 2.6))
    x = np.linspace(0, 8.1, 800)
    ax.plot(x, valleys(x), color=COLOR["exact"], lw=1.4)
    for level, name in (
        (-0.42, r"threshold $e_{\mathrm{th}}$"),
        (valleys(x).min(), r"ground state $e_{\mathrm{gs}}$"),
    ):
        ax.plot((-0.1, 8.15), (level, level), color=COLOR["reference"], ls="--", lw=1)
        ax.text(8.25, level, name, va="center", color="0.35")
    for at, color in ((3.0, "theory"), (3.2, "theory"), (6.62, "simulation")):
        ax.plot(at, valleys(at) + 0.07, "o", ms=8, color=COLOR[color])
    ax.annotate(
        "overlap $q_1$",
        (3.1, -0.75),
        (3.1, 0.42),
        ha="center",
        color=COLOR["theory"],
        arrowprops=ARROW | {"color": COLOR["theory"]},
    )
    ax.annotate(
        "",
        (6.55, 0.25),
        (3.7, 0.25),
        arrowprops=ARROW | {"arrowstyle": "<->", "color": COLOR["simulation"]},
    )
    ax.text(5.1, 0.31, "overlap $q_0$", ha="center", color="#9C4A78")
    ax.text(0, 0.42, "energy", ha="left")
    ax.set(xlim=(-0.1, 10.2), ylim=(-1.35, 0.6))
    ax.axis("off")
    return fig


def box(ax, x, y, words, color, width=1.0, height=0.5, alpha=0.3):
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0.04",
            fc=(*matplotlib.colors.to_rgb(color), alpha),
            ec=color,
        )
    )
    ax.text(x, y, words, ha="center", va="center")


def part_2():
    fig, ax = plt.subplots(figsize=(6.4, 2.8))
    scores = np.array([0.2, 1.5, -0.6, 2.1, 0.5])
    weights = np.exp(scores) / np.exp(scores).sum()
    for j, weight in enumerate(weights):
        box(ax, 1.25 * j, 1, f"$x_{j + 1},\\ y_{j + 1}$", COLOR["theory"])
        ax.annotate(
            "",
            (6.28, 1.4),
            (1.25 * j, 1.36),
            arrowprops=ARROW
            | {
                "lw": 0.6 + 7 * weight,
                "color": COLOR["message"],
                "alpha": 0.75,
                "connectionstyle": f"arc3,rad={-0.42 + 0.06 * j}",
            },
        )
        ax.bar(1.25 * j, 1.6 * weight, 0.7, bottom=-0.35, color=COLOR["message"], alpha=0.75)
    box(ax, 6.35, 1, r"$\tilde x,\ ?$", COLOR["training"])
    box(ax, 8.1, 1, r"answer $\hat y$", COLOR["exact"], width=1.3, alpha=0.08)
    ax.annotate("", (7.4, 1), (6.95, 1), arrowprops=ARROW)
    ax.text(5.75, -0.15, "weights of the softmax,\ntheir sum is 1", va="center", color="#00684C")
    ax.text(2.5, 2.95, "attention", ha="center", va="center", color="#00684C")
    ax.set(xlim=(-0.7, 8.95), ylim=(-0.5, 3.15))
    ax.axis("off")
    return fig


def part_3():
    from spinlib import icl, inference

    D, N = 4, 40
    glass = icl.to_spin_glass(icl.LinearTask(D, N).sample(400, rng=1), 0.01)
    W = icl.weights(inference.ground_state(glass).mean, D)
    fig = plt.figure(figsize=(6.4, 2.1))
    grid = fig.add_gridspec(1, 4, width_ratios=(1, 1, 1, 0.85))
    axes = [fig.add_subplot(cell) for cell in grid]
    for ax, title in zip(axes, ("prompts", "couplings $J_{ij}$", "messages", "weights $W$")):
        ax.set_title(title, fontsize=10)
        ax.axis("off")
        ax.set_aspect("equal")
    for k in range(4):  # a stack of prompts
        x, y = 0.12 * k, 0.42 - 0.14 * k
        axes[0].add_patch(
            FancyBboxPatch(
                (x, y), 1.0, 0.34, boxstyle="round,pad=0.02", fc="white", ec=COLOR["exact"], lw=0.9
            )
        )
    axes[0].text(0.86, 0.17, "$x,y\\ \\cdots\\ \\tilde x,?$", ha="center", va="center", fontsize=9)
    axes[0].set(xlim=(-0.15, 1.6), ylim=(-0.5, 1.2))
    scale = 0.4 * np.abs(glass.J).max()
    axes[1].imshow(glass.J, cmap="RdBu_r", vmin=-scale, vmax=scale)
    angle = np.pi / 2 + 2 * np.pi * np.arange(5) / 5
    spots = np.stack([np.cos(angle), np.sin(angle)], 1)
    for i in range(5):
        for j in range(i):
            axes[2].plot(*spots[[i, j]].T, color=COLOR["reference"], lw=0.7, zorder=1)
    for i in range(5):
        start, end = spots[i], spots[(i + 1) % 5]
        axes[2].annotate(
            "",
            start + 0.72 * (end - start),
            start + 0.28 * (end - start),
            arrowprops=ARROW | {"color": COLOR["message"], "lw": 2},
        )
    axes[2].plot(*spots.T, "o", ms=13, mfc="white", mec=COLOR["exact"], zorder=3)
    axes[2].set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    axes[3].imshow(W, cmap="RdBu_r", vmin=-1, vmax=1)
    fig.get_layout_engine().set(wspace=0.22)
    fig.draw_without_rendering()
    for left, right in zip(axes, axes[1:]):
        middle = (left.get_position().x1 + right.get_position().x0) / 2
        fig.add_artist(
            FancyArrow(
                middle - 0.017,
                0.45,
                0.034,
                0,
                width=0.008,
                head_width=0.045,
                head_length=0.014,
                length_includes_head=True,
                color=COLOR["exact"],
                transform=fig.transFigure,
            )
        )
    return fig


def part_4():
    from spinlib.theory import learning_curve

    D, N = 20, 100
    n = D * (D + 1)
    ratio = np.geomspace(0.1, 30, 120)
    ridges = np.geomspace(1e-4, 100, 60)
    curve = np.array(
        [[learning_curve(D, N, round(r * n), ridge) for ridge in ridges] for r in ratio]
    )
    bare, best = curve[:, 0], curve.min(1)
    floor = learning_curve(D, N, 10**7, 0.0)
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.loglog(ratio, bare, color=COLOR["theory"], lw=1, label="small ridge")
    ax.loglog(ratio, best, color=COLOR["theory"], lw=2.4, label="best ridge")
    ax.axhline(floor, color=COLOR["reference"], ls="--", lw=1)
    for words, at, place in (
        ("more prompts hurt:\nthe learning curve", (1.12, 0.8 * bare.max()), (1.9, 1.3)),
        ("a flat floor:\nthe landscape", (0.2, bare[ratio > 0.2][0]), (0.12, 1.8)),
        (
            "how to spend data:\nwhen does it learn?",
            (2.6, np.interp(2.6, ratio, best)),
            (4.2, 0.55),
        ),
        ("one step is not enough:\ndepth, Part V", (0.9, floor), (0.16, 0.25)),
    ):
        ax.annotate(
            words,
            at,
            place,
            va="center",
            arrowprops=ARROW | {"color": "0.35", "lw": 0.9},
            fontsize=9,
        )
    ax.set(
        xlabel="prompts for each weight, $P/n$",
        ylabel="error on new tasks",
        ylim=(0.15, 3),
        xlim=(0.1, 30),
    )
    ax.set_yticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
    ax.set_yticks([], minor=True)
    ax.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    ax.legend(loc="upper right")
    return fig


def part_5():
    from spinlib.theory import depth_error, training_curve

    D, N = 20, 100
    times = np.geomspace(0.3, 3e4, 90)
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.9), width_ratios=(1.4, 1))
    for P, color in ((420, "wrong"), (800, "simulation"), (4000, "theory")):
        error = training_curve(D, N, P, times)
        left.loglog(times, error, color=COLOR[color], label=f"{P} prompts")
        least = error.argmin()
        left.plot(times[least], error[least], "o", ms=7, mfc="white", mec=COLOR[color], mew=1.6)
    left.set(xlabel="time of training", ylabel="error on new tasks", title="when to stop")
    left.set_yticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
    left.set_yticks([], minor=True)
    left.legend(loc="upper left")
    layers = np.arange(7)
    for ratio, color in ((1, "wrong"), (2, "simulation"), (5, "theory")):
        error = [depth_error(L, D, ratio * D) for L in layers]
        right.semilogy(
            layers,
            error,
            "o-",
            color=COLOR[color],
            label=f"$N={ratio if ratio > 1 else str()}D$",
            ms=4,
        )
    right.set(xlabel="layers", title="what depth buys", xticks=layers)
    right.legend(loc="lower left")
    return fig


PICTURES = {1: part_1, 2: part_2, 3: part_3, 4: part_4, 5: part_5}


def main(numbers):
    for number in numbers or PICTURES:
        with style():
            fig = PICTURES[number]()
            fig.savefig(ROOT / "images" / f"part_{number}.png", facecolor="white")
            plt.close(fig)
        print(f"wrote images/part_{number}.png")


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]])
