# `make` alone lists the verbs. Everything is installed into .venv in this folder.
PYTHON ?= python3
BIN := .venv/bin
# Compiled while installing: some machines do not let Python write bytecode, and would compile 800 modules at every start.
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench bench-engine bench-utility bench-collector spec clean

help:  ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.installed  ## run the whole system on a made-up population and show what comes out
	@$(BIN)/blender-dp demo

test: lint  ## check and test everything, as CI does
	@tools/browser
	$(BIN)/pytest --numprocesses 2 --dist loadfile

lint: .venv/.dev  ## only the static checks: ruff, mypy, import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.dev  ## measure speed as ratios to limits and peers (15 minutes the first time, then 5)
	$(BIN)/python -m benchmarks

bench-engine: .venv/.dev  ## measure whole runs over big logs (7 minutes, 15 GB of disk)
	$(BIN)/python -m benchmarks engine

bench-utility: .venv/.dev  ## measure the error of both profiles over the papers' grids (20 minutes)
	$(BIN)/python -m benchmarks utility estimator

bench-collector: .venv/.dev  ## measure the collector under load, on SQLite and PostgreSQL (10 minutes, 5 GB of disk)
	$(BIN)/python -m benchmarks collector hostile

spec: .venv/.dev  ## write spec/ and the generated docs anew
	$(BIN)/python tools/generate.py

clean:  ## remove what make installed and made
	rm -rf .venv .bench blender-demo .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.venv/.uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "blender-dp needs Python 3.11 or newer; call: make PYTHON=python3.11")'
	@echo "Installing into .venv ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@touch $@

.venv/.installed: .venv/.uv pyproject.toml constraints.txt
	@$(INSTALL) --editable device --editable '.[plots]'
	@$(BIN)/python -m compileall -q src device/src
	@touch $@

.venv/.dev: .venv/.installed
	@$(INSTALL) --editable device --editable '.[collector,plots,tracing]' --group dev
	@touch $@
