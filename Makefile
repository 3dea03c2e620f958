# `make` alone lists what there is.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Inside the ignored target folder, so a demonstration leaves nothing behind in the tree.
DEMO_HOME := target/demo/home
# The weights that `make run` fetches; what is there already is not fetched again.
DEMO_WEIGHTS := default minilm
TEST_WEIGHTS := small smoke minilm
BENCH_WEIGHTS := default small smoke minilm
FATHOM := $(or $(CARGO_TARGET_DIR),target)/debug/fathom

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# The dev profile: most of its dependencies are not optimised, so the first build is short.
.PHONY: run
run: build ## Build, fetch weights once, answer a question over a 50 MB log, show the record
	$(FATHOM) models pull $(DEMO_WEIGHTS)
	@FATHOM_HOME=$(DEMO_HOME) scripts/first-run $(FATHOM)

# Optimised, which takes several times as long to build as `make run`. Cargo's folder is on the PATH wherever rustup set it up.
.PHONY: install
install: setup ## Install the optimised `fathom` into cargo's folder of programs
	cargo install --path crates/fathom-cli --bin fathom --locked
	@if installed=$$(command -v fathom); then \
		echo "$$("$$installed" --version) is at $$installed"; \
	else \
		echo "add the folder above to your PATH, then run: fathom --help"; \
	fi

.PHONY: build
build: setup ## Build the binary `fathom`
	cargo build -p fathom-cli --bin fathom

# What the C++ engine of the embedded model is built with.
.PHONY: setup
setup: ## Install what building needs, where it is missing
	@scripts/setup-build

.PHONY: test
test: setup nextest ## Fetch small weights, run all tests and the examples in the docs
	@scripts/setup-redis >/dev/null
	@scripts/setup-browser >/dev/null
	@scripts/setup-mcp >/dev/null
	@if cargo nextest --version >/dev/null 2>&1; then \
		cargo nextest run --workspace --no-run; \
		export FATHOM_TEST_WEIGHTS="$$(scripts/pull-weights $(TEST_WEIGHTS))"; \
		cargo nextest run --workspace; \
		cargo test --workspace --doc --quiet; \
	else \
		cargo test --workspace --no-run; \
		export FATHOM_TEST_WEIGHTS="$$(scripts/pull-weights $(TEST_WEIGHTS))"; \
		cargo test --workspace; \
	fi

.PHONY: soak
soak: setup nextest ## Run the crash tests, the simulator and the fuzz targets for much longer
	FATHOM_SOAK=1 cargo nextest run --workspace --profile soak -E 'test(soak) + test(kill) + test(simulator)'
	cargo xtask fuzz --seconds 60

.PHONY: bench
bench: setup ## Fetch all weights and what we compare with, and run the benchmarks
	@weights=$$(scripts/pull-weights $(BENCH_WEIGHTS)); \
	export FATHOM_TEST_WEIGHTS="$$weights"; \
	export FATHOM_BENCH_PEERS="$$(scripts/bench-peers)"; \
	export FATHOM_BENCH_RLM_PEERS="$$(scripts/bench-peers rlm)"; \
	export FATHOM_BENCH_REDACT_PEERS="$$(scripts/bench-peers redact)"; \
	cargo bench -p fathom-programs --bench complexity; \
	cargo bench -p fathom-sandbox --bench sandbox; \
	cargo bench -p fathom-store --bench symbols; \
	cargo bench -p fathom-gateway; \
	cargo bench -p fathom-host --bench effects; \
	cargo bench -p fathom-output --bench redact; \
	cargo bench -p fathom-cli --bench figures --bench packing --bench council --bench rlm --bench rlm_local; \
	cargo bench -p fathom-local; \
	scripts/bench-build

.PHONY: verify
verify: ## Check everything that a change must pass: format, lints, tidy, conformance, tests, fuzzing, docs
	.ci/run

.PHONY: fmt
fmt: ## Format the sources
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml

.PHONY: clean-home
clean-home: ## Forget the runs of `make run`
	rm -rf $(DEMO_HOME)

# Without nextest `make test` still works, only slower; so a failed install is no failure.
.PHONY: nextest
nextest:
	@cargo nextest --version >/dev/null 2>&1 \
		|| cargo install cargo-nextest --locked \
		|| echo "cargo-nextest could not be installed" >&2
