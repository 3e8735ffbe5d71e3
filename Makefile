# Two commands do all the set-up: `make run` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check install --quiet
PYTEST := $(BIN)/python -m pytest

.PHONY: run tour test needs fast lint fix docs bench constraints clean help

help:            ## show these targets
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | column -t -s:

run: $(VENV)/.core   ## create the environment, install, and serve: HTTP, console, MCP; with sample data at first
	$(BIN)/memoranda serve --sample $(SERVE)

tour: $(VENV)/.core  ## create the environment, install, and take the guided tour
	$(BIN)/memoranda tour

test: lint needs   ## install what tests need, then every check and test that can run here
	tests/twice $(PYTEST) $(IN_PARTS) -m "$(FAST)"
	tests/twice $(PYTEST) $(IN_PARTS) $(MARKED) -m "postgres and not slow"
	tests/twice $(PYTEST) $(IN_PARTS) $(MARKED) -m "browser and not slow"
	tests/twice $(PYTEST) -n 2 --dist loadfile $(MARKED) -m "hosts and not slow"
	tests/twice $(PYTEST) $(BY_FILE) $(MARKED) -m slow
# Neighbours stay together, so that a server or a store of a whole file is started once.
IN_PARTS = -n $(WORKERS) --dist worksteal
BY_FILE = -n $(WORKERS) --dist loadfile
MARKED := -rs -p no:schemathesis
FAST := not slow and not browser and not hosts and not postgres
# One more than there are processors: tests wait for processes, pages and clocks.
WORKERS := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)))
# Each phase, each worker and each process that a test starts reads what the first one compiled.
test fast: export PYTHONDONTWRITEBYTECODE :=

fast: $(VENV)/.dev   ## the tests that take seconds
	$(PYTEST) $(IN_PARTS) -m "$(FAST)"

lint: $(VENV)/.dev   ## format, lint, types, direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fix: $(VENV)/.dev    ## format, and correct what can be corrected
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## compare with other systems, side by side (takes long; see bench/README.md)
	$(BIN)/python -m bench setup
	$(BIN)/python -m bench all

constraints:     ## pin all dependencies anew, with hashes and without index lines
	$(PYTHON) -m venv $(VENV)-pins
	$(VENV)-pins/bin/pip install --quiet "pip-tools>=7.5,<8"
	$(VENV)-pins/bin/pip-compile --quiet --upgrade --extra build --extra server --extra mcp --extra watch $(PINS) -o constraints.txt pyproject.toml
	$(VENV)-pins/bin/pip-compile --quiet --upgrade $(foreach extra,$(DEV),--extra $(extra)) $(PINS) -o constraints-dev.txt pyproject.toml
# The extras of agent frameworks are not among them: they contradict one another (tests/hosts/frameworks/pins).
DEV := all build dev encrypted fastembed lancedb mcp postgres server watch
PINS := --generate-hashes --allow-unsafe --strip-extras --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host

clean:           ## remove the environment and everything that was made
	rm -rf $(VENV) $(VENV)-pins bench/out .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.core: constraints.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.11 run" if sys.version_info < (3, 11) else 0)'
	@echo "Installing into $(VENV), about a minute …"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --only-binary :all: -r constraints.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q src
	touch $@

# A browser, and Node for the programs that tests talk to; what cannot be installed here is skipped, with its reason.
# What is there already takes no time: each knows what it was made from.
needs: $(VENV)/.dev
	tests/install-needs

$(VENV)/.dev: $(VENV)/.core constraints-dev.txt
	$(PIP) --require-hashes --only-binary :all: -r constraints-dev.txt
	touch $@
