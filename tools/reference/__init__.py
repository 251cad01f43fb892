"""The pages of chapters/reference, written from thesis.yml and the docstrings of spinlib by tools/make_reference.py."""
