# Two commands on a fresh Debian or Ubuntu: `make run` and `make test`. Each sets up what it needs.
PYTHON := .venv/bin/python

.PHONY: run test test-all lint setup bench clean

run: .venv/.ready
	@.venv/bin/pyearthdof reproduce --size quick --out results --jobs 2
	@.venv/bin/pyearthdof reproduce T-ozone --size paper --out results
	@.venv/bin/pyearthdof report --out results

test: .venv/.ready
	@$(PYTHON) -m pytest -q -n 2

test-all: .venv/.ready
	@$(PYTHON) -m pytest -q -m "slow or not slow"

lint: .venv/.ready
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .

setup: .venv/.ready

.venv/.ready: pyproject.toml .ci/setup
	@bash .ci/setup

clean:
	rm -rf .venv results dist .pytest_cache .ruff_cache .hypothesis
