"""spinlib: the package of the book *The Spin Glass in the Transformer*.

Import the modules by name: ``from spinlib import icl, inference``. Each module reads like the
chapter that it serves; ``import spinlib`` itself loads nothing heavy.
"""

from spinlib._core import ConvergenceWarning

__all__ = ["ConvergenceWarning"]
__version__ = "0.1.0"
