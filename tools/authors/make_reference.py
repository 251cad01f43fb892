"""Write the generated pages of the book from thesis.yml and the docstrings of spinlib (`make reference`).

equation_index.md: every equation and figure of the thesis, where the book has it and how it is checked, and the way
back. errata.md: what is not right, printed and corrected. api.md: every module of spinlib. source/index.md: the
front page of the companion.
The files are committed; tests/book/test_reference.py holds them equal to what this program writes. The parts are in
tools/authors/reference.
"""

from reference.api import api
from reference.companion import companion
from reference.data import REFERENCE, read
from reference.errata import errata
from reference.index import equation_index

PAGES = {
    "reference/equation_index.md": equation_index,
    "reference/errata.md": errata,
    "reference/api.md": api,
    "source/index.md": companion,
}


def main():
    data = read()
    for page, write in PAGES.items():
        (REFERENCE.parent / page).write_text(write(data), encoding="utf-8")
        print(f"wrote chapters/{page}")


if __name__ == "__main__":
    main()
