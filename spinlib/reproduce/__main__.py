"""``python -m spinlib.reproduce``: compute an experiment and store its numbers and its picture."""

import sys

from spinlib.reproduce._command import main

if __name__ == "__main__":
    sys.exit(main())
