"""``python -m spinlib.reproduce``: compute an experiment and save its numbers."""
from spinlib.reproduce._run import main

if __name__ == "__main__":
    main()
