# Two commands do it all: `make play` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
DATA ?= .data
BENCH ?=
SOAK ?=
ROUNDS ?= 30
CHAOS ?=
FLOOD ?=
FLOODED := .flood
CORES ?= 2
STAMP := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help setup play test soak chaos flood snapshots lint types contracts bench check lock clean

help: ## Show what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(STAMP): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Codemojex needs Python >= 3.11; name one: make setup PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(STAMP) ## Make .venv from the hashed lock file

play: $(STAMP) ## Play a round in the terminal, on servers of its own
	@$(BIN)/codemojex play --data-dir $(DATA)

test: $(STAMP) ## Run every test on servers that the tests start
	$(BIN)/python -m pytest -n $(CORES)

soak: $(STAMP) ## Work the lanes for minutes with processes that die, then run their cases at full size
	$(BIN)/python -m tests.soak $(SOAK)

chaos: $(STAMP) ## Play ROUNDS rounds while processes are killed, and a tenth as many of each other trouble
	$(BIN)/python -m tests.chaos --rounds $(ROUNDS) $(CHAOS)

flood: $(STAMP) ## Flood one room, and see what the others feel; a quarter of an hour, figures and pictures go into .flood
	@mkdir -p $(FLOODED)
	$(BIN)/python -m benchmarks --only fairness --json $(FLOODED)/fairness.json
	$(BIN)/codemojex flood --engine --flood-guesses 100000 --seconds 120 --fifo --assert-done-at-service 103 \
		--assert-exactly-once $(FLOOD) --json $(FLOODED)/lanes.json --plot $(FLOODED)/lanes.png
	$(BIN)/codemojex flood --flood-guesses 15000 --quiet-rooms 20 --quiet-rate 2.5 --seconds 300 --fifo \
		--assert-ratio 1.25 --assert-ceiling --assert-exactly-once $(FLOOD) \
		--json $(FLOODED)/product.json --plot $(FLOODED)/product.png
	$(BIN)/codemojex flood --flood-guesses 100000 --ceiling 1 --cap 500 --seconds 900 --assert-ceiling \
		--assert-exactly-once $(FLOOD) --json $(FLOODED)/capped.json --plot $(FLOODED)/capped.png

snapshots: $(STAMP) ## Write the lanes' scripts down as they are sent, for the diff
	$(BIN)/python -m tests.lanes.snapshotting

lint: $(STAMP) ## Style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## The strict type check, tests included
	$(BIN)/mypy

contracts: $(STAMP) ## Who may import whom
	$(BIN)/lint-imports

bench: $(STAMP) ## Print the benchmarks
	$(BIN)/python -m benchmarks $(BENCH)

check: test lint types contracts ## All that CI checks, less the benchmark

lock: ## Resolve the lock files anew (needs uv)
	uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url -o requirements.lock
	uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-emit-index-url -o requirements-dev.lock
	uv pip compile --group build --universal --generate-hashes --no-emit-index-url -o requirements-build.lock

clean: ## Remove what was made, and the game's data
	rm -rf .venv .data .flood .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
