# `make` alone lists what there is.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Inside the ignored target folder, so a demonstration leaves nothing behind in the tree.
DEMO_HOME := target/demo-home
DEMO_MODEL := script/examples/first-answer.jsonl
DEMO_QUESTION := How does Fathom keep a run within bounds?
FATHOM := cargo run --quiet -p fathom-cli --bin fathom --

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# The dev profile: its dependencies are optimised and the first run does not wait for link-time optimisation.
.PHONY: run
run: build ## Build, ask one question of a scripted model, list the runs
	@mkdir -p $(DEMO_HOME)
	$(FATHOM) ask "$(DEMO_QUESTION)" --model $(DEMO_MODEL) --home $(DEMO_HOME)
	$(FATHOM) runs --home $(DEMO_HOME)

.PHONY: build
build: ## Build the binary `fathom`
	cargo build -p fathom-cli --bin fathom

.PHONY: test
test: nextest ## Run all tests and the examples in the docs
	@if cargo nextest --version >/dev/null 2>&1; then \
		cargo nextest run --workspace; \
		cargo test --workspace --doc --quiet; \
	else \
		cargo test --workspace; \
	fi

.PHONY: soak
soak: nextest ## Run the crash tests and the simulator for much longer
	FATHOM_SOAK=1 cargo nextest run --workspace --profile soak -E 'test(soak) + test(kill) + test(simulator)'

.PHONY: bench
bench: ## Run the benchmarks
	cargo bench -p fathom-cli --bench figures

.PHONY: verify
verify: ## Check everything that a change must pass: format, lints, tidy, conformance, tests, docs
	.ci/run

.PHONY: fmt
fmt: ## Format the sources
	cargo fmt --all

.PHONY: clean-home
clean-home: ## Forget the runs of `make run`
	rm -rf $(DEMO_HOME)

# Without nextest `make test` still works, only slower; so a failed install is no failure.
.PHONY: nextest
nextest:
	@cargo nextest --version >/dev/null 2>&1 \
		|| cargo install cargo-nextest --locked \
		|| echo "cargo-nextest could not be installed" >&2
