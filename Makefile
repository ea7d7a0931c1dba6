# `make book` and `make test` need Python 3.11, 3.12 or 3.13 and make, nothing else.
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
# The newest that is there and starts: a name on the path may be a version manager's empty promise.
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3 python; do \
  $$name -c '$(FITS)' >/dev/null 2>&1 && { echo $$name; break; }; done)
JOBS ?= 2
PORT ?= 8000
PIP_FLAGS ?=
BIN := .venv/bin
READY := .venv/.ready
NEEDED_MIB := 4000
RENDERED := _build/html/.rendered
RENDER := $(BIN)/jupyter-book build . -W -n --keep-going -q
SOURCES := $(wildcard *.md *.cff) $(shell find book bookkit helpers papers results counterexamples vendor -mindepth 1 -name __pycache__ -prune -o -print 2>/dev/null)
COMPARE = -q -n $(JOBS) --dist loadfile --no-loadscope-reorder --nbval --nbval-current-env
export OMP_NUM_THREADS ?= 1
export PYTHONHASHSEED = 0
export PYDEVD_DISABLE_FILE_VALIDATION = 1
# As bookkit/execution.py has it: training takes a quarter less time.
export MALLOC_MMAP_THRESHOLD_ ?= 33554432
export MALLOC_TRIM_THRESHOLD_ ?= 1073741824

.DEFAULT_GOAL := help
.PHONY: help book html watch pdf picture run test lesser portable sweep lint paper gpu bench clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

book: run html ## set up, execute the chapters that changed, render the book

html: $(RENDERED) ## render the book from the stored notebooks
	@echo "The book: $(CURDIR)/_build/html/index.html"

# Folders are among the sources, so that a file that is gone counts; the commit stands at each foot.
$(RENDERED): $(READY) Makefile _config.yml _toc.yml $(SOURCES) $(wildcard .git/logs/HEAD)
	@$(RENDER)
	@touch $@

watch: $(READY) ## serve the book on this machine, and follow every change of a source
	@$(BIN)/jupyter-book config sphinx . >/dev/null
	@$(BIN)/sphinx-autobuild . _build/watch -j auto --port $(PORT) \
	  --pre-build "$(BIN)/python -m bookkit.run --jobs $(JOBS)" \
	  --re-ignore '/(_build|\.venv|\.git|__pycache__)/|\.ipynb$$|/keys\.json$$|/conf\.py$$'

pdf: html ## print the book as one PDF, and link it from every page; needs Chromium
	@$(BIN)/jupyter-book build . --builder singlehtml -q
	@$(BIN)/python -m bookkit.pdf
	@$(RENDER)
	@touch $(RENDERED)

picture: html ## draw the picture of a chapter in README anew; needs Chromium
	@$(BIN)/python -m tests.picture

run: $(READY) ## execute the chapters whose inputs changed
	@$(BIN)/python -m bookkit.run --jobs $(JOBS)

test: $(READY) ## set up, then run every test, the notebooks among them
	@$(BIN)/python -m pytest $(COMPARE) tests book

lesser: $(READY) ## tests and a dozen notebooks, held to a lesser processor
	@$(BIN)/python -m tests.portable --lesser -- $(COMPARE)

portable: $(READY) ## compare the notebooks of CHAPTERS="PART/NAME ..." (all) as on lesser processors
	@$(BIN)/python -m tests.portable --chapters "$(CHAPTERS)" --settings "$(SETTINGS)" -- $(COMPARE)

sweep: $(READY) ## CHAPTERS (all) at the ends of every range and at SEEDS="4 5 ..."; SHARD=1/8 is a part of it
	@$(BIN)/python -m tests.sweep --chapters "$(CHAPTERS)" --seeds "$(SEEDS)" --shard "$(or $(SHARD),1/1)" --jobs $(JOBS)

lint: $(READY) ## ruff and mypy
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

paper: $(READY) ## run the experiments at the papers' scale (hours without a GPU)
	@$(BIN)/python -m bookkit.run --preset paper --jobs $(JOBS)

gpu: $(READY) ## all that waits for a GPU, in 45 minutes: kernels, 220 models, the papers' sizes
	@$(BIN)/python -m benchmarks.gpu

bench: $(READY) ## measure the kernels beside their peers
	@for file in $(filter-out benchmarks/gpu.py,$(wildcard benchmarks/[a-z]*.py)); do $(BIN)/python -m benchmarks.$$(basename $$file .py) || exit 1; done

clean: ## remove what was built; stored notebooks and results stay
	@rm -rf _build .venv .mypy_cache .ruff_cache .pytest_cache *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): environment.yml pyproject.toml
	@[ -x $(BIN)/python ] || $(or $(PYTHON),false) -c '$(FITS)' 2>/dev/null || \
	  { echo "error: $(if $(PYTHON),$(PYTHON) is not,there is no) Python 3.11, 3.12 or 3.13; get one (Debian: apt install python3-venv; macOS: brew install python@3.13), or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@free=$$(df -Pk . | awk 'NR == 2 {print int($$4 / 1024)}'); [ -x $(BIN)/python ] || [ $$free -ge $(NEEDED_MIB) ] || \
	  { echo "error: $$free MiB free in $(CURDIR), the environment needs $(NEEDED_MIB) MiB; free some space" >&2; exit 1; }
	@echo "Setting up .venv (a few minutes, once) ..."
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "error: $(PYTHON) cannot make a virtual environment; install its venv module (Debian: apt install python3-venv)" >&2; exit 1; }
	@sed -n 's/^ *- \([A-Za-z0-9_.-]*==.*\)/\1/p' environment.yml > .venv/requirements.txt
	@$(BIN)/python -m pip install $(PIP_FLAGS) --disable-pip-version-check -r .venv/requirements.txt > .venv/pip.log 2>&1 && \
	  $(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation -e . >> .venv/pip.log 2>&1 || \
	  { grep -i '^error' .venv/pip.log | tail -n 1 >&2; echo "error: the packages could not be installed (no network? no space?); see .venv/pip.log, then run make again" >&2; exit 1; }
	@touch $@
