# Every target installs what it needs: `make demo` and `make test` work on a fresh clone with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# A step without output of its own: print its description, then a dot per second until it ends.
step = @printf '%s ' "$(1)"; while kill -0 $$$$ 2>/dev/null; do printf .; sleep 1; done & $(2); code=$$?; echo; exit $$code

# Two test processes with one thread each; more would slow each other down on two cores.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal
test fast coverage fuzz shapes shuffled: export OMP_NUM_THREADS = 1

.PHONY: demo test check fast lint coverage fuzz shapes shuffled lowest audit mutants torch single-cell docs bench bench-scale dist clean

# The command with plots and reports, as needed by the demo.
$(VENV)/.cli: pyproject.toml
	$(call step,creating $(VENV) (the installation takes less than a minute),$(PYTHON) -m venv $(VENV))
	$(call step,installing numba with NumPy and SciPy,$(INSTALL) numba scipy)
	$(call step,installing pandas and scikit-learn,$(INSTALL) pandas scikit-learn)
	$(call step,installing blockselect and matplotlib,$(INSTALL) --editable '.[cli]')
	@touch $@

# Additional packages for tests and checks.
$(VENV)/.dev: $(VENV)/.cli
	$(call step,installing packages for tests and checks (about a minute),$(INSTALL) --editable '.[dev]')
	@touch $@

demo: $(VENV)/.cli
	@echo "selecting features (about 10 seconds) …"
	@$(BIN)/blockselect select --dataset debian --top 60 --out blockselect-demo

# All tests. ARGS=tests/graphs runs only these tests.
test: $(VENV)/.dev
	@$(if $(ARGS),:,echo "running all tests (5 to 9 minutes on two cores) …")
	$(PYTEST) $(ARGS)

# Run before each commit: linters, types, import rules and the fast tests; 45 seconds on two idle cores.
check: lint fast

fast: $(VENV)/.dev
	$(PYTEST) tests -m "not slow"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

coverage: $(VENV)/.dev
	$(PYTEST) --cov --cov-report=term

# Every method on extreme graphs (paths, rings, trees, grids, stars, …) with 20,000 nodes; takes ten minutes.
shapes: $(VENV)/.dev
	BLOCKSELECT_SHAPE_NODES=20000 $(PYTEST) tests/test_shapes.py --durations=0

# Every selector on more than ten thousand random networks; takes a quarter of an hour. Then coverage-guided fuzzing of
# the file readers, for SECONDS per format.
SECONDS ?= 60
fuzz: $(VENV)/.dev
	BLOCKSELECT_FUZZ_EXAMPLES=300 $(PYTEST) tests/test_fuzz.py
	$(INSTALL) --editable '.[fuzz]'
	$(BIN)/python scripts/fuzz_readers.py --seconds $(SECONDS)

# All tests in random order. SEED=… repeats an order.
shuffled: SEED := $(shell date +%s)
shuffled: $(VENV)/.dev
	@echo random order with SEED=$(SEED)
	BLOCKSELECT_TEST_ORDER=$(SEED) $(PYTEST) -m "$(or $(TESTS),slow or not slow)"

# The fast tests (ALL=1: all tests) with the lowest versions that pyproject.toml allows, in a separate environment.
# Without SCIPY_ARRAY_API=1, scikit-learn 1.6 fails to import its estimator checks if array-api-compat is installed.
lowest: export PIP_CONSTRAINT = .github/lowest.txt
lowest: export SCIPY_ARRAY_API = 1
lowest:
	$(MAKE) VENV=.venv-lowest $(if $(ALL),test,fast)

# Check for known vulnerabilities of dependencies and for risky patterns in this package (exceptions: pyproject.toml).
audit: $(VENV)/.dev
	$(INSTALL) bandit pip-audit
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src
	$(BIN)/pip list --format=freeze --exclude-editable | sed 's/+.*//' > $(VENV)/installed.txt
	$(BIN)/pip-audit --strict --disable-pip --no-deps --requirement $(VENV)/installed.txt

# Mutation testing: insert small faults into bmgufs/ and consensus/, one at a time, and report undetected ones.
mutants: $(VENV)/.dev
	$(BIN)/python scripts/try_mutants.py $(ARGS)

# Install PyTorch, which some tests need.
torch: $(VENV)/.dev
	$(INSTALL) --editable '.[dev,torch-cpu]'

# Tests with scanpy (or those in ARGS) and the single-cell example, in a separate environment: scanpy needs pandas < 3.
single-cell:
	$(PYTHON) -m venv $(VENV)-single-cell
	$(VENV)-single-cell/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test-single-cell]'
	$(VENV)-single-cell/bin/python -m pytest $(or $(ARGS),tests/test_anndata.py tests/docs/test_single_cell_page.py tests/rows/test_chunks.py \
	  tests/inputs/test_files.py tests/inputs/test_write.py tests/baselines/by_network/test_moran.py)
	$(VENV)-single-cell/bin/python examples/single_cell.py

# Build the site in docs/_build/html and run the examples. A warning, a failing example or a broken link is an error. Nothing is
# downloaded except packages.
$(VENV)/.docs: $(VENV)/.dev
	$(INSTALL) --editable '.[docs]'
	touch $@

docs: export OMP_NUM_THREADS = 1
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	$(BIN)/python scripts/check_site.py docs/_build/html

# Compare speed ratios with the stored values; ARGS=--save stores the new ones. BLOCKSELECT_DATA=folder adds networks.
bench: $(VENV)/.dev
	$(INSTALL) --editable '.[bench]'
	$(BIN)/python -m benchmarks $(ARGS)

# Scaling of the default with the network size; ARGS="--full --save" adds a million nodes and stores the table.
bench-scale: $(VENV)/.dev
	$(BIN)/python -m benchmarks.scale $(ARGS)

# Build the wheel and the source distribution. Install each in a separate environment and run the README's tests.
dist: $(VENV)/.dev
	$(INSTALL) --editable '.[release]'
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python scripts/check_dist.py dist

clean:
	rm -rf docs/_build docs/gallery docs/api/generated
	rm -rf $(VENV) $(VENV)-single-cell .venv-lowest build dist .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache blockselect-demo
