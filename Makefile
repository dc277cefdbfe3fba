# Two commands on a fresh Debian or Ubuntu: `make run` and `make test`. Each sets up what it needs.
PYTHON := .venv/bin/python

.PHONY: run test test-all lint setup bench image image-test clean

run: .venv/.ready
	@.venv/bin/pyearthdof reproduce --size quick --out results --jobs 2
	@.venv/bin/pyearthdof reproduce T-ozone --size paper --out results

test: .venv/.ready
	@$(PYTHON) -m pytest -q -n 2

test-all: .venv/.ready
	@$(PYTHON) -m pytest -q -m "slow or not slow"

lint: .venv/.ready
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .

setup: .venv/.ready

bench: .venv/.ready
	@for script in benchmarks/*.py; do echo "== $$script"; $(PYTHON) $$script || exit 1; done

image:
	@bash docker/image.sh build

image-test:
	@bash docker/image.sh test

.venv/.ready: pyproject.toml .ci/setup
	@bash .ci/setup

clean:
	rm -rf .venv results dist .pytest_cache .ruff_cache .hypothesis
