# Two commands on a fresh Debian or Ubuntu: `make run` and `make test`. Each sets up what it needs.
PYTHON := .venv/bin/python

.PHONY: run test test-all lint setup soak bench docs dist image image-test clean

run: .venv/.ready
	@.venv/bin/pyearthdof reproduce --size quick --out results --jobs 2

test: .venv/.ready
	@$(PYTHON) -m pytest -q -n 2

test-all: .venv/.ready
	@$(PYTHON) -m pytest -q -m "slow or not slow"

lint: .venv/.ready
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .

setup: .venv/.ready

soak: .venv/.ready
	@rm -f .reliability.jsonl
	@PYEARTHDOF_RELIABILITY=$(CURDIR)/.reliability.jsonl $(PYTHON) -m pytest -q tests/robustness -m "slow or not slow"
	@$(PYTHON) tests/robustness/soak.py --cases 10000 --json .soak.json
	@$(PYTHON) tests/robustness/soak.py --data --cases 20000 --json .soak-data.json
	@$(PYTHON) tests/robustness/report.py .reliability.jsonl .soak.json .soak-data.json docs/reliability.md

bench: .venv/.ready
	@$(PYTHON) benchmarks/run.py

docs: .venv/.ready-docs
	@$(PYTHON) -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

dist: .venv/.ready
	@$(PYTHON) -m build --outdir dist

image:
	@bash docker/image.sh build

image-test:
	@bash docker/image.sh test

.venv/.ready-docs: .venv/.ready pyproject.toml
	@$(PYTHON) -m pip install -q --group docs && touch $@

.venv/.ready: pyproject.toml .ci/setup
	@bash .ci/setup

clean:
	rm -rf .venv .venv-others docs/_build docs/gallery docs/api/generated results dist .pytest_cache .ruff_cache .hypothesis
