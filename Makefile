# Needs Python 3.10 or later with venv, Node 20 or later with npm, and for the tests a Chromium.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
SOURCES := $(shell find labextension/src labextension/schema labextension/*.mjs labextension/package.json labextension/package-lock.json labextension/tsconfig.json -type f 2>/dev/null)

.PHONY: help setup bench soak demo chromium test test-browser test-kernels test-agents lab screenshots clean
help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

# an editable install builds the front end too; it is made again when one of its sources has changed
$(VENV)/installed: $(BIN)/python pyproject.toml $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

labextension/node_modules/.package-lock.json: labextension/package-lock.json
	npm --prefix labextension ci --no-audit --no-fund

setup: $(VENV)/installed labextension/node_modules/.package-lock.json ## the environment, built and installed

demo: $(VENV)/installed ## the main job, headless, on the demo's scratch copy
	rm -rf build/demo && mkdir -p build/demo
	$(RUN) python examples/run_headless.py examples/02_headless.ipynb build/demo

lab: $(VENV)/installed ## JupyterLab on the first example (LAB_ARGS="--no-browser --port 9999")
	mkdir -p build/lab && cp -n examples/01_first_task.ipynb build/lab/ || true
	$(RUN) jupyter lab $(LAB_ARGS) build/lab/01_first_task.ipynb

chromium:
	@test -n "$$CHROMIUM" || command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	  { echo "No Chromium: set CHROMIUM to its path, or install it (Debian: apt-get install chromium)."; exit 1; }

test: chromium setup ## every check, in JupyterLab
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) pyright
	$(RUN) lint-imports
	npm --prefix labextension run check
	npm --prefix labextension test
	$(RUN) pytest -m "not agents and not browser and not soak" -n 3 --dist worksteal
	$(RUN) pytest -m "browser and not more" -n 2

test-browser: chromium setup ## all that runs in Chromium: Notebook 7 too, and pictures
	$(RUN) pytest -m browser -n 2

test-kernels: setup ## the pump and the magics on ipykernel 6.17.1 to 7.4.0 (VERSIONS="6.17.1 7.4.0")
	$(RUN) python -m tests.notebook.run_kernels $(VERSIONS)

test-agents: setup ## three real agents with a scripted model, installed in .agents/
	$(RUN) python tests/agents/install.py
	$(RUN) pytest -m agents tests/agents

bench: setup ## ratios, each beside a baseline of the same run
	$(RUN) python -m benchmarks $(BENCHMARKS)

soak: setup ## a thousand turns, 60 MB in a line, stubborn processes, 10,000 sequences of faults, 10,000 of lies
	$(RUN) pytest -m soak -s tests/soak
	$(RUN) ACP_JUPYTER_FUZZ=10000 pytest --timeout 3600 tests/protocol/test_fuzz.py tests/protocol/test_fuzz_state.py tests/protocol/test_fuzz_requests.py

screenshots: setup ## pictures of the card and of the gallery, light and dark, in build/screenshots
	$(RUN) pytest tests/browser/test_pictures.py tests/browser/test_gallery.py
	cp build/screenshots/waiting-900-light.png docs/card-light.png

clean: ## take away what was made
	rm -rf $(VENV) .venvs .agents build labextension/node_modules labextension/lib acp_jupyter/static acp_jupyter/labextension
