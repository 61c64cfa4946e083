# Every target makes what it needs on a fresh machine: a virtual environment in .venv with the package and its tools.
PYTHON ?= python3
BIN := .venv/bin
ONCE ?=

.PHONY: demo test test-all check bench docs clean
.DEFAULT_GOAL := demo

.venv/installed: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing goodbot into .venv (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/developer: .venv/installed
	@echo "Installing the developers' tools into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: .venv/installed  ## three sample sites, one crawl, a search page
	@$(BIN)/goodbot demo $(if $(ONCE),--once)

test: .venv/developer  ## everything but the long tests, under 10 minutes
	$(BIN)/python -m pytest -n 2 -m "not long"

test-all: .venv/developer  ## the long tests, under 30 minutes
	$(BIN)/python -m pytest -m long

check: .venv/developer  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.venv/peers: .venv/developer
	@echo "Installing the programs we measure ourselves against into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

bench: .venv/peers  ## every benchmark; `make bench-NAME` runs one
	@status=0; for file in benchmarks/bench_*.py; do $(BIN)/python $$file || status=$$?; done; exit $$status

bench-%: .venv/peers
	@$(BIN)/python benchmarks/bench_$(subst -,_,$*).py

docs: .venv/developer  ## writes the parts of docs/reference that come from the code
	$(BIN)/python docs/make_reference.py

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache
