# The workflow, in one place. PYTHON may name any interpreter whose environment has the extras test, lint and docs.
PYTHON ?= python3

.PHONY: install test test-oldest lint docs bench

install:            ## everything a developer needs, into the current environment
	$(PYTHON) -m pip install -e '.[test,lint,docs]'

test:               ## the suite, doctests included, with branch coverage
	$(PYTHON) -m pytest

test-oldest:        ## the suite with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/pip install -q '.[test]' -c tests/oldest.txt
	build/oldest/bin/python -m pytest

lint:               ## style, types, and that generated pages are current
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) docs/generate.py --check

docs:               ## the documentation, into site/; any warning is an error
	$(PYTHON) docs/generate.py
	$(PYTHON) -m mkdocs build --strict --quiet

bench:              ## beside the peers on simulated collections: CPU time, wall time, memory and ratios
	$(PYTHON) benchmarks/run.py
