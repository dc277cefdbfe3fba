# Two commands on a fresh Debian or Ubuntu: `make run` and `make test`. Each sets up what it needs.
PYTHON := .venv/bin/python
# What the compiled core is made of: a change of it is built again.
CORE := $(shell find src -type f)
CODE := $(filter %.cpp %.hpp %.inc,$(CORE))

.PHONY: run test test-all test-exports browser-test notebook-test coverage lint setup sanitize arm64-test soak bench docs dist image image-test clean

run: .venv/.core
	@.venv/bin/pyearthdof reproduce --size quick --out results --jobs 2

test: .venv/.core
	@$(PYTHON) -m pytest -q -n 2 --dist worksteal

test-all: .venv/.core
	@$(PYTHON) -m pytest -q -m "slow or not slow"

test-exports: .venv/.core
	@$(PYTHON) -m pip install -q --disable-pip-version-check --group onnx
	@$(PYTHON) -m pytest -q tests/mars/export/test_export.py tests/mars/export/test_export_all.py -m "slow or not slow"

browser-test: .venv/.core
	@$(PYTHON) -m pip install -q --disable-pip-version-check --group browser
	@PYEARTHDOF_BROWSER=1 $(PYTHON) -m pytest -q tests/browser

notebook-test: .venv/.core
	@$(PYTHON) -m pip install -q --disable-pip-version-check --group notebook
	@$(PYTHON) -m pytest -q tests/notebook

coverage: .venv/.core
	@$(PYTHON) -m pytest -q -n 2 --dist worksteal --cov=pyearthdof --cov-report=term:skip-covered

lint: .venv/.ready
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports --no-cache --no-logo
	@.venv/bin/clang-format --dry-run --Werror $(CODE)
	@.venv/bin/hadolint docker/Dockerfile

setup: .venv/.core

soak: .venv/.core
	@rm -f .reliability.jsonl
	@PYEARTHDOF_RELIABILITY=$(CURDIR)/.reliability.jsonl $(PYTHON) -m pytest -q tests/robustness -m "slow or not slow"
	@$(PYTHON) -m tests.support.fuzzing.soak --cases 10000 --json .soak.json
	@$(PYTHON) -m tests.support.fuzzing.soak --data --cases 20000 --json .soak-data.json
	@$(PYTHON) -m tests.support.fuzzing.soak --glm --cases 5000 --json .soak-glm.json
	@$(PYTHON) -m tests.support.fuzzing.soak --folds --cases 1000 --json .soak-folds.json
	@$(PYTHON) -m tests.support.fuzzing.report .reliability.jsonl .soak.json .soak-data.json .soak-glm.json .soak-folds.json docs/reliability.md

bench: .venv/.core
	@$(PYTHON) benchmarks/run.py

docs: .venv/.ready-docs .venv/.core
	@$(PYTHON) -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

sanitize: .venv/.ready
	@bash .ci/sanitize

# In an emulated Debian for arm64, which is made first: an hour or more.
arm64-test:
	@bash .ci/arm64

dist: .venv/.ready
	@bash .ci/dist

image:
	@bash docker/image.sh build

image-test:
	@bash docker/image.sh test

.venv/.ready-docs: .venv/.ready pyproject.toml
	@$(PYTHON) -m pip install -q --group docs && touch $@

.venv/.ready: pyproject.toml .ci/setup
	@bash .ci/setup

.venv/.core: .venv/.ready $(CORE)
	@$(PYTHON) -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps --editable . && touch $@

clean:
	rm -rf .venv .venv-others build docs/_build docs/gallery docs/api/generated results dist .pytest_cache .ruff_cache .mypy_cache .coverage .hypothesis
