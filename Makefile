# Two commands: `make book` and `make test`. Each sets itself up in .venv the first time.
PYTHON ?=
TORCH_INDEX ?=
CHAPTER ?=
ARGS ?=
JOBS ?= 2
PY := .venv/bin/python
ifneq ($(and $(PYTHON),$(wildcard .venv/.installed)),)
$(info == PYTHON=$(PYTHON) is for the set-up; .venv is there already and stays ("make clean" removes it))
endif
# Absolute, because notebook kernels start in the folder of their chapter.
export PYTHONPATH := $(CURDIR)
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: help book test lint test-fast test-everywhere lab execute reference check-pages bench clean

help:
	@echo "make book                 build the book into _build/html"
	@echo "make test                 prove the book: spinlib, the book's own tests, every chapter and solution (strict nbval)"
	@echo "make test-fast            the same without the chapters and the slow tests, about a minute"
	@echo "make lint                 check the style of the code (ruff) and its types (mypy), as CI does"
	@echo "make test-everywhere      the tests as older processors would run them (about three quarters of an hour)"
	@echo "make lab                  open the notebooks in JupyterLab (ARGS='--no-browser --port 9000': what jupyter lab takes)"
	@echo "make execute              re-run every chapter in place (CHAPTER=pspin/replica_method for one)"
	@echo "make reference            rewrite the generated pages of chapters/reference"
	@echo "make check-pages          open every built page in a real browser (PAGES=chapters/pspin/replica_method for one; needs Debian's chromium)"
	@echo "make stills               draw the printed pictures of the live figures (NAME=train-or-solve for one; needs Debian's chromium)"
	@echo "make pdf                  print the built book into _build/book.pdf (SHORT=1: the short book, PART=part_2: one part; needs Debian's chromium)"
	@echo "make slides               print the slides of the course as PDF into _build/html/teaching (needs Debian's chromium)"
	@echo "make bench                measure speed against what an expert would write, and as other ratios; write bench.json"
	@echo "make clean                remove _build, .venv and what tests and installations leave"

.venv/.installed: requirements.txt constraints.txt tools/setup
	@PYTHON="$(PYTHON)" TORCH_INDEX="$(TORCH_INDEX)" tools/setup

book: .venv/.installed
	@echo "== building the book, a minute or two (the stored outputs are used; no cell is run)"
	@.venv/bin/jupyter-book build . -W --keep-going -n -q
	@echo "== done; open $(CURDIR)/_build/html/index.html"

test: .venv/.installed
	@echo "== spinlib, the tests of the book, and every chapter: each cell, of the solutions too, is run again and must print what is stored"
	@$(PY) -m pytest -q -n $(JOBS) --nbval intro.ipynb chapters course tests spinlib

lint: .venv/.installed
	@.venv/bin/ruff check --quiet . && .venv/bin/ruff format --check --quiet . && $(PY) -m mypy

test-fast: .venv/.installed
	@echo "== spinlib (unit tests and doctests) and the tests of the book, without those marked slow, which make test runs"
	@$(PY) -m pytest -q -n $(JOBS) -p no:nbval -m "not slow" tests spinlib

test-everywhere: .venv/.installed
	@tools/other_machines

lab: .venv/.installed
	@echo "== JupyterLab; stop it with Ctrl-C"
	@$(PY) -m jupyter lab --config=tools/lab_config.py $(ARGS)

execute: .venv/.installed
	@$(PY) tools/run_notebooks.py $(CHAPTER)

.PHONY: pdf
pdf: .venv/.installed
	@$(PY) tools/make_pdf.py $(if $(SHORT),short_book,$(PART))

.PHONY: slides
slides: .venv/.installed
	@$(PY) tools/make_slides.py

.PHONY: stills
stills: .venv/.installed
	@$(PY) tools/authors/stills.py $(NAME)

reference: .venv/.installed
	@$(PY) tools/authors/make_reference.py

check-pages: .venv/.installed
	@tools/check_pages _build/html $(PAGES)

bench: .venv/.installed
	@$(PY) tools/bench.py

clean:
	rm -rf _build build .venv .pytest_cache .hypothesis *.egg-info
