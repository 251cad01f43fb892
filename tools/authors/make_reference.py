"""Write the generated pages of chapters/reference from thesis.yml and the docstrings of spinlib (`make reference`).

equation_index.md: every equation and figure of the thesis, where the book has it and how it is checked, and the way
back. errata.md: what is not right, printed and corrected. api.md: every module of spinlib.
The files are committed; tests/book/test_reference.py holds them equal to what this program writes. The parts are in
tools/authors/reference.
"""
import pathlib

from reference.api import api
from reference.data import REFERENCE, read
from reference.errata import errata
from reference.index import equation_index

PAGES = {"equation_index.md": equation_index, "errata.md": errata, "api.md": api}


def main():
    data = read()
    for page, write in PAGES.items():
        (REFERENCE / page).write_text(write(data), encoding="utf-8")
        print(f"wrote chapters/reference/{page}")


if __name__ == "__main__":
    main()
