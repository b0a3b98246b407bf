# Everything happens in .venv: no root, nothing outside this folder.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: help demo test test-long lint format bench-mip clean clean-kernels

help:  ## What there is to run
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(VENV)/.base: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Evenleaf needs Python 3.11 or newer; say which one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Making the environment in $(VENV) (once; a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.base
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group lint
	@touch $@

demo: $(VENV)/.base  ## Audit the embedded data, learn the whole trade-off, make the page to open
	@$(BIN)/evenleaf demo

test: $(VENV)/.test  ## All tests (under ten minutes on two cores)
	@$(BIN)/python -m pytest -n $(JOBS)

test-long: $(VENV)/.test  ## All tests with many more examples
	@$(BIN)/python -m pytest -n $(JOBS) --long

lint: $(VENV)/.lint  ## Style and types
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

format: $(VENV)/.lint  ## Rewrite the files in the house style
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench-mip: $(VENV)/.test  ## Time to proof of the mixed-integer program as the table grows
	@$(BIN)/python benchmarks/mip_growth.py

clean: clean-kernels  ## Remove the environment and what was made
	@rm -rf $(VENV) out

clean-kernels:  ## Remove compiled kernels: after a kernel was changed that others call, or moved
	@find src tests -name '*.nbi' -delete -o -name '*.nbc' -delete
