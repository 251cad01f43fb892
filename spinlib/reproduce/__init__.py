"""The numbers behind a figure: one experiment each, quick for a page or full for a file in chapters/data.

``python -m spinlib.reproduce pspin_equilibrium --full`` computes one and saves it as
chapters/data/pspin_equilibrium.npz.
"""
from spinlib.reproduce._mapping import amp_variances, iid_variances, prompt_variances
from spinlib.reproduce._pspin import BINS, pspin_equilibrium, pspin_sample
from spinlib.reproduce._run import DATA, load, run

__all__ = [
    "BINS",
    "DATA",
    "amp_variances",
    "iid_variances",
    "load",
    "prompt_variances",
    "pspin_equilibrium",
    "pspin_sample",
    "run",
]
