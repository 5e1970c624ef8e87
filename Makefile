# `make` alone lists the targets. Everything is installed into .venv in this folder.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Bytecode is compiled during installation: where Python may not write it, every start would compile 800 modules again.
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --constraint constraints.txt
# Our own modules keep their bytecode as well, even where Python is told not to write any: the tests start it a thousand times.
export PYTHONDONTWRITEBYTECODE :=
# `make coverage TESTS=tests/unit` and `make mutants MODULES=arithmetic` narrow a long run down.
TESTS ?= tests
MODULES ?=
# Three on two cores: many tests wait, for a process, a timeout or a lease.
PARALLEL := --numprocesses 3 --dist loadfile --no-loadscope-reorder
# Besides the oldest one, which every other target uses.
VERSIONS := 3.12 3.13

.DEFAULT_GOAL := help
.PHONY: help demo demo-live check fast-tests web web-check screenshots browsers test all-tests versions lint types coverage mutants bench bench-engine bench-utility bench-collector bench-rivals spec docs clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed  ## run the whole system on a synthetic population and print the results
	@$(BIN)/blender-dp demo

demo-live: $(VENV)/.live  ## start a collector with its dashboard and synthetic users, until Ctrl-C
	@$(BIN)/blender-dp demo-live

check: $(VENV)/.dev  ## lint, check types and run the fast tests: after every edit
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint types fast-tests web-check

fast-tests: $(VENV)/.dev  ## run the tests that need no server, browser or statistics
	BLENDER_DP_HYPOTHESIS=fast $(BIN)/pytest --quiet --numprocesses 2 --dist worksteal -m 'not slow' tests/unit tests/device

web:  ## build the browser client, the extension and the dashboard in web/ (needs Node 20)
	@BLENDER_DP_NEEDS_WEB=1 tools/web build

web-check: $(VENV)/.dev  ## lint, check types and run the fast tests of web/; skipped without Node
	@BLENDER_DP_PYTHON=$(abspath $(BIN)/python) tools/web check

browsers:  ## install what the browser tests need, on Debian as root
	@tools/browser

test: browsers $(VENV)/.dev  ## check and test everything, as CI does
	@$(MAKE) --no-print-directory --jobs 3 lint types all-tests

all-tests: $(VENV)/.dev  ## run all tests
	tools/in-memory $(BIN)/pytest $(PARALLEL)

versions:  ## run the fast tests on the other Python versions that the packages support (pyenv's, or any in PATH)
	@for version in $(VERSIONS); do \
	    PYENV_VERSION=$$(pyenv versions --bare 2>/dev/null | grep "^$$version" | tail -1) \
	    $(MAKE) --no-print-directory fast-tests PYTHON="python$$version" VENV=".venv-$$version" || exit 1; \
	done

lint: $(VENV)/.dev  ## run ruff and import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: $(VENV)/.dev  ## run mypy
	$(BIN)/mypy

coverage: $(VENV)/.dev  ## measure branch coverage of both packages and list what no test runs
	$(BIN)/coverage erase
	-tools/in-memory $(BIN)/coverage run -m pytest --quiet $(PARALLEL) $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

mutants: $(VENV)/.dev  ## change the privacy-critical code on purpose and list the changes that no test notices
	$(BIN)/python tools/mutants.py $(MODULES)

bench: $(VENV)/.dev  ## measure speed as ratios to limits and peers (15 minutes the first time, then 5)
	$(BIN)/python -m benchmarks

bench-engine: $(VENV)/.dev  ## measure whole runs over big logs (7 minutes, 15 GB of disk)
	$(BIN)/python -m benchmarks engine

bench-utility: $(VENV)/.dev  ## measure the error of both profiles over the papers' grids (4 minutes)
	$(BIN)/python -m benchmarks utility estimator

bench-collector: $(VENV)/.dev  ## measure the collector under load, on SQLite and PostgreSQL (15 minutes, 5 GB of disk)
	$(BIN)/python -m benchmarks collector hostile retention traffic

bench-rivals: $(VENV)/.dev  ## compare with other libraries and write docs/rivals.md (10 minutes; continues where it stopped)
	$(BIN)/python -m benchmarks rivals

spec: $(VENV)/.dev  ## regenerate spec/ and the generated parts of docs/
	$(BIN)/python tools/generate.py

docs: $(VENV)/.docs  ## build the documentation site into .site/html; it needs no server and no network
	@$(BIN)/python -m tools.docs_site

clean:  ## remove everything that make created
	rm -rf .site web/node_modules web/*/dist .venv .venv-* .bench blender-demo .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "blender-dp needs Python 3.11 or newer; run: make PYTHON=python3.11")'
	@echo "Installing into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@touch $@

$(VENV)/.installed: $(VENV)/.uv pyproject.toml device/pyproject.toml constraints.txt
	@$(INSTALL) --editable device --editable '.[plots]'
	@$(BIN)/python -m compileall -q src device/src
	@touch $@

$(VENV)/.live: $(VENV)/.installed
	@$(INSTALL) --editable device --editable '.[collector,plots]'
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	@$(INSTALL) --editable device --editable '.[collector,plots,tracing]' --group dev --group docs
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	@$(INSTALL) --group docs
	@touch $@
