# Two commands do all the set-up on a fresh machine: `make up` runs Coffer, `make test` passes the tests.
# Both make .venv themselves; nothing is installed outside this folder.

PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 4
# The lab waits for clients more than it computes.
LAB_WORKERS ?= 5
# What is compiled once need not be compiled again by each process that a test starts.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: up test lint types unit thorough lab bench quality embeddings savings conformance delivery fixtures clean

up: .venv/run.stamp
	@$(BIN)/coffer up

# Types are judged beside the tests: those wait a lot, for clients, sockets and clocks.
test: lint
	@$(MAKE) --no-print-directory -j2 types unit
	@$(MAKE) --no-print-directory lab

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp
	$(BIN)/mypy

# The tests that need no client.
unit: .venv/dev.stamp
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --ignore tests/lab

# The same with every death, and many more of the sessions and schedules that each run takes a sample of.
thorough: .venv/dev.stamp
	COFFER_EFFORT=all COFFER_SCHEDULES=$${SCHEDULES:-1000} $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --ignore tests/lab

# The tests on the real clients; with CI=true a missing client is a failure.
lab: .venv/dev.stamp
	$(BIN)/python tests/lab/install.py
	$(BIN)/python -m pytest -q -n $(LAB_WORKERS) --dist worksteal tests/lab

bench: .venv/dev.stamp
	$(BIN)/python -m bench

# How good the estimates are, over every transcript that is at hand; the judges of turns and rules; a learned digest.
quality: .venv/dev.stamp
	$(BIN)/python -m tools.quality
	$(BIN)/python -m tools.measure_digest
	$(BIN)/python -m tools.corpus_digest
	$(BIN)/python -m tools.measure_recall

# Recall by meaning needs an extra that `make test` goes without: install it, and run its tests.
embeddings: .venv/dev.stamp
	@$(PYTHON) tools/venv.py embeddings
	$(BIN)/python -m pytest -q tests/memory/test_by_meaning.py tests/mcp/test_recall_by_meaning.py

# What prunes save, over the shared corpus; PEER=1 measures the peer on the same files. Writes docs/savings.md.
savings: .venv/dev.stamp
	$(BIN)/python -m tools.savings

# The view against the real client with many more damaged transcripts than `make lab` takes.
conformance: .venv/dev.stamp
	$(BIN)/python tests/lab/install.py
	COFFER_CONFORMANCE_SEEDS=$${SEEDS:-400} $(BIN)/python -m pytest -q -n $(WORKERS) tests/lab/test_view_conformance.py

# The delivery matrix, all of it; docs/delivery.md is written from what it finds. What is timed runs alone.
MATRIX := COFFER_MATRIX=all COFFER_MATRIX_FOLDER=$(CURDIR)/.lab/delivery $(BIN)/python -m pytest -q
delivery: .venv/dev.stamp
	$(BIN)/python tests/lab/install.py
	rm -rf .lab/delivery
	mkdir -p .lab/delivery
	$(MATRIX) -n $(WORKERS) tests/lab/test_delivery_matrix.py
	$(MATRIX) tests/lab/test_delivery_faults.py tests/lab/test_ticket_lab.py
	$(BIN)/python -m tests.lab.delivery_page .lab/delivery

# Make the lab's own transcripts and the guard's captured instants again, with the real clients.
fixtures: .venv/dev.stamp
	$(BIN)/python tests/lab/install.py
	$(BIN)/python -m tests.lab.make_claude_fixtures
	$(BIN)/python -m tests.lab.make_codex_fixtures
	$(BIN)/python -m tests.lab.make_harness_fixtures

clean:
	rm -rf .venv .lab .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/run.stamp: pyproject.toml tools/venv.py
	@$(PYTHON) tools/venv.py run

.venv/dev.stamp: pyproject.toml tools/venv.py
	@$(PYTHON) tools/venv.py dev
