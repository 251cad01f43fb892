"""The pages of chapters/reference, written from thesis.yml and the docstrings of spinlib.

tools/authors/make_reference.py calls what is here.
"""
