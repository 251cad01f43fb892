"""The long training of a small model of today, for chapters/transformer/language_models.

python tools/authors/train_modern_model.py muon adamw     adds to spinlib/data/language_models.npz

The block is that of chapters/transformer/attention_blocks. The first 88 % of the training text are learned from, the
rest, a third part, is what everything was chosen on. Two to four minutes of one core each.
"""

import math
import pathlib
import sys
import time

import numpy as np
import torch
from torch.nn.functional import cross_entropy, dropout

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from helpers.pages import from_page

from spinlib import reproduce
from spinlib.reproduce import _store

CONTEXT, D, LAYERS, HEADS, GROUPS, HIDDEN = 128, 64, 3, 4, 2, 170
STEPS, WINDOWS, EVERY = 2500, 16, 250
ModernBlock = from_page("transformer/attention_blocks", "ModernBlock").ModernBlock


def texts():
    """Codes of the text to learn from, of the third part and of the held-out one, and the size of the alphabet."""
    parts = reproduce.prose()
    alphabet = sorted(set("".join(parts)))
    seen, held_out = (np.array([alphabet.index(sign) for sign in part]) for part in parts)
    cut = round(0.88 * len(seen))
    return seen[:cut], seen[cut:], held_out, len(alphabet)


class Model(torch.nn.Module):
    """A table, blocks, a normalisation and the scores of the next character; the last row of the table is the start."""

    def __init__(self, n_V):
        super().__init__()
        self.table = torch.nn.Embedding(n_V + 1, D)
        self.blocks = torch.nn.ModuleList(
            ModernBlock(D, HEADS, GROUPS, HIDDEN) for _ in range(LAYERS)
        )
        self.norm, self.out = torch.nn.RMSNorm(D), torch.nn.Linear(D, n_V, bias=False)
        for name, W in self.named_parameters():
            if W.ndim == 2:
                last = name.endswith(("W_O.weight", "W_2.weight"))
                size = 1.0 if name.startswith("table") else W.shape[1] ** -0.5
                torch.nn.init.normal_(W, std=size / (2 * LAYERS) ** 0.5 if last else size)

    def forward(self, u, drop=0.0):
        """Bits for each character of the windows u (texts, CONTEXT), each from those before it in its window."""
        start = torch.full_like(u[:, :1], self.table.num_embeddings - 1)
        x = dropout(self.table(torch.cat([start, u[:, :-1]], 1)), drop, drop > 0)
        for block in self.blocks:
            x = x + dropout(block(x) - x, drop, drop > 0)
        return cross_entropy(self.out(self.norm(x)).mT, u, reduction="none") / math.log(2)


@torch.no_grad()
def bits(model, codes):
    """Bits of every character of a text that is read in windows, (windows, CONTEXT)."""
    u = torch.from_numpy(codes[: len(codes) // CONTEXT * CONTEXT]).view(-1, CONTEXT)
    return torch.cat([model(part) for part in u.split(64)]).numpy()


def train(optimiser, steps=STEPS, seed=0):
    """The model, its losses in bits, and the bits on the third part every EVERY steps."""
    seen, third, _, n_V = texts()
    torch.manual_seed(seed)
    model, rng = Model(n_V), np.random.default_rng(seed)
    inside = [W for W in model.blocks.parameters() if W.ndim == 2]
    others = [W for W in model.parameters() if not any(W is M for M in inside)]
    if optimiser == "muon":
        steppers = [
            torch.optim.Muon(inside, lr=0.02, weight_decay=0.02),
            torch.optim.AdamW(others, lr=0.004, weight_decay=0.1),
        ]
    else:
        steppers = [torch.optim.AdamW(model.parameters(), lr=0.004, weight_decay=0.1)]
    rates = [
        torch.optim.lr_scheduler.LambdaLR(
            stepper,
            lambda s: min(1, (s + 1) / 100) * (1 + math.cos(math.pi * min(1, s / STEPS))) / 2,
        )
        for stepper in steppers
    ]
    losses, path = [], []
    for step in range(1, steps + 1):
        places = rng.integers(0, len(seen) - CONTEXT, WINDOWS)[:, None] + np.arange(CONTEXT)
        loss = model(torch.from_numpy(seen[places]), drop=0.1).mean()
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for stepper, rate in zip(steppers, rates, strict=True):
            stepper.step()
            rate.step()
        losses.append(loss.item())
        if step % EVERY == 0:
            path.append(float(bits(model, third).mean()))
            print(optimiser, step, round(path[-1], 4), flush=True)
    return model, losses, path


@torch.no_grad()
def on_the_start(model, codes):
    """Mean weight that rows 33 and later put on the start of their window, (layers, heads)."""
    u = torch.from_numpy(codes[: 64 * CONTEXT]).view(-1, CONTEXT)
    start = torch.full_like(u[:, :1], model.table.num_embeddings - 1)
    x, found = model.table(torch.cat([start, u[:, :-1]], 1)), []
    for block in model.blocks:
        A, _ = block.attention(block.norm_1(x))
        found.append(A[:, :, 32:, 0].mean((0, 2)))
        x = block(x)
    return torch.stack(found).numpy()


def main():
    torch.set_num_threads(1)
    held_out = texts()[2]
    for name in sys.argv[1:]:
        begin = time.process_time()
        model, losses, path = train(name)
        arrays, made = reproduce.load("language_models"), reproduce.about("language_models")
        arrays[f"{name}_losses"] = np.round(losses, 4)
        arrays[f"{name}_third"] = np.round(path, 4)
        arrays[f"{name}_held_out"] = bits(model, held_out).astype(np.float16)
        arrays[f"{name}_start"] = np.round(on_the_start(model, held_out), 4)
        arrays[f"{name}_numbers"] = np.array(sum(W.numel() for W in model.parameters()))
        made["cpu_seconds"][name] = round(time.process_time() - begin)
        _store.write(_store.DATA / "language_models.npz", arrays, made)
        print(name, arrays[f"{name}_held_out"].astype(float).mean(), arrays[f"{name}_start"])


if __name__ == "__main__":
    main()
