# Takifugu's tasks. `make` lists them; each one installs what it needs into $(VENV) the first time.
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
WORKERS ?= 2
DIST ?= dist
RUN := $(VENV)/bin/python
# Without bytecode every process, and the tests start hundreds, compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# Threads that wait for a large matrix are never idle, and each core has a worker.
export OPENBLAS_NUM_THREADS ?= 1

# The ten tasks of every day have ##; the others are for night and for releases.
help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@awk -F ':.*  # ' '/^[a-z-]+:.*  # / {printf "%s %s", (n++ ? "" : "  and"), $$1} END {print ", by name"}' $(MAKEFILE_LIST)

demo: $(VENV)/.core  ## a private release from start to end, on a made-up sample
	@$(VENV)/bin/takifugu example --run

quick: $(VENV)/.test  ## a minute of tests: those of the packages that changed since main
	@$(RUN) -m pytest -q -n $(WORKERS) --dist load -m "not slow and not spark" --some-examples $$($(RUN) tools/quick.py) $(PYTEST)

# --dist loadfile: the blocks of one document share a process. The dearest files are the first (conftest.py).
test: $(VENV)/.test  ## the quick tests, and the code blocks of most documents
	@$(RUN) -m pytest -n $(WORKERS) --max-worker-restart 2 --dist loadfile --no-loadscope-reorder -m "not slow and not spark" --some-examples $(PYTEST)

test-slow: $(VENV)/.test  # the tests that need more than a few seconds each, all examples of property tests, and long documents
	@$(RUN) -m pytest -n $(WORKERS) --max-worker-restart 2 --dist loadfile -m slow $(PYTEST) docs
	@$(RUN) -m pytest -n $(WORKERS) --max-worker-restart 2 -m "slow or (hypothesis and not spark)" $(PYTEST) tests

# The declared lower bounds are a promise: these versions give the same answers.
test-lowest: $(VENV)/.lowest  # the tests of frames, ledger, examples and command line, the demo among them, at the lowest declared versions
	@$(VENV)/lowest/bin/python -m pytest -n $(WORKERS) --max-worker-restart 2 --dist loadfile -m "not slow and not spark" $(PYTEST) \
		tests/data tests/accounting/ledger tests/cli/test_cli.py tests/cli/test_cli_commands.py tests/cli/test_cli_init.py tests/test_examples.py

package: $(VENV)/.package  # the source distribution and the wheel, in dist/
	@$(RUN) -m build --outdir $(DIST) .

nightly:  ## all that must hold before an issue is done, in a copy (three hours)
	@.ci/run nightly

# The next two are part of neither the tests nor CI: they take long, and examine the tests and the machine. Of the third
# `make nightly` takes six minutes.
mutants: $(VENV)/.test  ## do tests notice wrong code? (MUTANTS="ledger" or "1/40": a sample)
	@$(RUN) tools/mutants.py $(MUTANTS)

# A test of theirs is hundreds of rounds, and elsewhere none may take ten minutes.
crashes: PATIENTLY := -o faulthandler_timeout=14400
crashes: $(VENV)/.test  # kill releases at every call of the C library, break their disks: is anything paid for twice, or public but not paid for?
	@TAKIFUGU_KILLS=2500 $(RUN) -m pytest $(PATIENTLY) -m slow tests/accounting/ledger/test_processes.py tests/accounting/ledger/test_crashes.py
	@TAKIFUGU_CRASHES=200 $(RUN) -m pytest $(PATIENTLY) -m slow tests/releasing/publishing/test_crashes.py tests/releasing/publishing/test_killed_calls.py

fuzz: $(VENV)/.test  # random frameworks, releases and ledgers against brute force, 10 minutes (FUZZ="60 --seed 3" for others; OF=rows: tables; OF=readings; OF=selects)
	@PYTHONPATH=. $(RUN) -m tests.fuzz$(addprefix .,$(OF)) $(or $(FUZZ),10)

spark: $(VENV)/.spark  # the tests on Apache Spark, which installs 500 MB and needs Java 17 or newer
	@command -v java >/dev/null || { echo "Spark needs Java 17 or newer: install it, for example openjdk-17-jre-headless"; exit 1; }
	@$(RUN) -m pytest -m spark $(PYTEST) tests/data/relation/test_spark.py tests/releasing/test_same_everywhere.py

# SITE=made: the site was made just now (.ci/run).
browser: $(VENV)/.browser $(if $(SITE),,docs)  ## all pages in a real browser: accessibility, three widths, day and night
	@command -v chromium >/dev/null || { echo "This needs Chromium: apt-get install chromium"; exit 1; }
	@$(RUN) -m pytest -n $(WORKERS) -p no:cacheprovider $(PYTEST) tests/browser/check_reports.py tests/browser/check_site.py \
		tests/browser/check_explorer.py tests/browser/check_app.py tests/browser/check_checker.py

lint: $(VENV)/.lint  ## style of code and pages, and which package may import which
	@$(RUN) -m ruff check .
	@$(VENV)/bin/lint-imports --no-logo --no-cache
	@$(RUN) -m tools.prose >/dev/null

types: $(VENV)/.lint  ## mypy --strict
	@$(RUN) -m mypy

bench: $(VENV)/.test  ## speed, as ratios to peers measured in the same run
	@$(RUN) benchmarks/run.py $(BENCH)

figures: $(VENV)/.test  # rerun the experiments and rewrite their tables and pictures
	@$(RUN) tools/pictures.py
	@$(RUN) tools/gallery.py
	@$(RUN) experiments/why.py
	@$(RUN) experiments/activity.py
	@$(RUN) experiments/ding2022.py
	@$(RUN) experiments/song2017.py
	@$(RUN) experiments/zhang2022.py
	@$(RUN) experiments/kawamoto2019.py
	@$(RUN) experiments/takagi2021.py
	@$(RUN) experiments/population_map.py
	@$(RUN) experiments/networks.py

docs: $(VENV)/.docs  ## the site, in site/
	@$(RUN) -m tools.tables
	@$(VENV)/bin/takifugu explore --output docs/explore.html --force --json >/dev/null
	@$(VENV)/bin/takifugu verify --page --output docs/check.html --force --json >/dev/null
	@$(RUN) -m zensical build --clean --strict
	@$(RUN) -m tools.prose >/dev/null

clean:  # remove the virtual environment and everything that the tasks wrote
	rm -rf $(VENV) site .cache docs/explore.html docs/check.html out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks

.PHONY: help demo quick test test-slow test-lowest package nightly mutants crashes fuzz spark browser lint types bench figures docs clean
.DEFAULT_GOAL := help

# Installation. A stamp is written last, so that an interrupted installation restarts; uv is used if it is found.
ifneq ($(shell command -v uv 2>/dev/null),)
INSTALL = uv pip install --quiet --python $(RUN)
else
INSTALL = $(RUN) -m pip install -qq
endif

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Takifugu needs Python 3.11 or newer. Specify one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV); the first time this takes about a minute."
ifneq ($(shell command -v uv 2>/dev/null),)
	@uv venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV)
else
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --upgrade "pip>=25.1"  # older ones do not know --group
endif
	@touch $@

$(VENV)/.core: $(VENV)/.made pyproject.toml
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.core
	@$(INSTALL) --group test
	@touch $@

# Only uv resolves to lowest versions; of these, only those with a wheel for this Python.
$(VENV)/.lowest: $(VENV)/.made pyproject.toml
	@$(RUN) -m venv --clear $(VENV)/lowest
	@$(VENV)/lowest/bin/python -m pip install -qq "uv>=0.9"
	@$(VENV)/lowest/bin/uv pip compile --quiet --python $(VENV)/lowest/bin/python --resolution lowest-direct \
		--only-binary :all: --extra all --group test pyproject.toml -o $(VENV)/lowest/versions.txt
	@$(VENV)/lowest/bin/uv pip install --quiet --python $(VENV)/lowest/bin/python -r $(VENV)/lowest/versions.txt
	@$(VENV)/lowest/bin/uv pip install --quiet --python $(VENV)/lowest/bin/python --no-deps --editable .
	@touch $@

$(VENV)/.package: $(VENV)/.made
	@$(INSTALL) "build>=1.2"
	@touch $@

$(VENV)/.browser: $(VENV)/.test
	@$(INSTALL) --group browser
	@touch $@

$(VENV)/.spark: $(VENV)/.test
	@$(INSTALL) --editable ".[spark]"
	@touch $@

$(VENV)/.lint: $(VENV)/.core
	@$(INSTALL) --group lint
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	@$(INSTALL) --group docs
	@touch $@
