# `make demo` and `make test` need Python 3.11 or newer and nothing else.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: demo test slow docs studio clean

demo: .venv/installed
	$(BIN)/knowwhen ask "Which person starred in Skirn Vlurk and directed Thimis Plolm?" --set alpha=0.7

test: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build/types
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --target build/types .
	cd build/types && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p knowwhen
	$(PYTEST) -m "not slow"

# What is trained for minutes, and long talks with the pocket model; `.ci/run` runs them too. A busy machine
# has taken 225 seconds for one of them.
slow: .venv/installed-dev
	$(PYTEST) -m slow --timeout 900

docs: .venv/installed-dev
	$(BIN)/python docs/site/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo build/site/index.html

studio: .venv/installed-studio
	LANGSMITH_TRACING=false LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=true \
		$(BIN)/langgraph dev --no-browser --no-reload --n-jobs-per-worker 4

# mypy cannot follow the mapped folders of an editable install, so it reads an ordinary one.

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --upgrade pip setuptools
	$(BIN)/pip install --quiet -c constraints.txt torch -e .
	touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/pip install --quiet -c constraints.txt torch -e '.[dev]'
	touch $@

.venv/installed-studio: .venv/installed
	$(BIN)/pip install --quiet -c constraints.txt torch -e '.[studio]'
	touch $@

clean:
	rm -rf .venv build *.egg-info
