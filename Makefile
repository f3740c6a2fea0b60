# The one entry: everything that can be done with this repository is a target here.

DATA    ?= bennu-data
LISTEN  ?= 127.0.0.1:5433
TARGET   = $(or $(CARGO_TARGET_DIR),target)
BENCH    = $(TARGET)/release/bennu-bench
# Less of it: make bench BENCH_FLAGS="--rounds 3 --seconds 2"; one workload: BENCH_FLAGS="--only YCSB" (no page is written).
BENCH_FLAGS ?=

.PHONY: build run test test-stores test-rows test-generated test-indexes fuzz-wire test-clients check fmt clippy doc deps smoke examples bench bench-build bench-peers test-long clean

build:                ## the release binary: target/release/bennu
	cargo build --release -p bennu-cli

run: build            ## serve the embedded store in ./bennu-data on 127.0.0.1:5433
	$(TARGET)/release/bennu serve --data $(DATA) --listen $(LISTEN)

test:                 ## everything that needs only Rust and a C compiler
	cargo test --workspace --no-fail-fast

test-stores:          ## the whole sql-tests corpus on two more stores; `make test` runs a tenth of it there
	BENNU_STORES=all cargo test -p bennu-sqltest --test stores

test-rows:            ## all queries of sql-tests as row programs and as plans; `make test` runs a tenth of the files
	BENNU_ROWS=all cargo test --workspace --test row_programs

# Another seed: make test-generated BENNU_GENERATED_SEED=7. PostgreSQL's answers to them: KEYED=20000 make test-clients CLIENTS=differential.
test-generated:       ## 20,000 generated queries as row programs and as plans; `make test` asks 400
	BENNU_GENERATED=$${BENNU_GENERATED:-20000} cargo test -p bennu-sqltest --test generated -- --nocapture

test-indexes:         ## all queries of sql-tests without indexes, by indexes and by choice; `make test` runs a tenth of the files
	BENNU_INDEXES=all cargo test --workspace --test index_choices

fuzz-wire:            ## 100,000 sessions of changed frames against a server; `make test` runs 1,500
	BENNU_WIRE_SESSIONS=100000 BENNU_WIRE_SEED=$$(date +%s) cargo test -p bennu-pg-server --test it mutated_sessions -- --nocapture

# Another seed: make test-long BENNU_SIM_SEED=7. `make test` runs the same tests with a thousandth or so of it.
# The whole workspace is named so that nothing is built that `make test` has not built.
IT = cargo test --workspace --test it --
SIMULATED = restarts:: schedules:: power_loss:: faults:: flips:: half_batches:: half_written_batches:: large_commits:: deleted_keyspaces:: journal_rotation::
test-long:            ## about two hours of restarts, orders of threads, power losses, failing calls, flipped bits and kills, from a seed printed first
	@seed=$${BENNU_SIM_SEED:-$$(date +%s)}; echo "BENNU_SIM_SEED=$$seed"; export BENNU_SIM_SEED=$$seed BENNU_KILL_SEED=$$seed BENNU_DUAL_SEED=$$seed BENNU_KILL_CYCLES=200 BENNU_LARGEST=all; \
	export BENNU_SIM_RESTARTS=20000 BENNU_SIM_LIVES=20 BENNU_SIM_POWER_POINTS=20000 BENNU_SIM_ROTATION_POINTS=300 BENNU_SIM_FAULT_STRIDE=1 BENNU_SIM_FLIPS=12000 BENNU_SIM_SCHEDULES=4000 BENNU_SIM_POWER_SCHEDULES=300; \
	$(IT) --nocapture $(SIMULATED) && $(IT) --nocapture kill largest:: && \
	BENNU_DUAL_CYCLES=2000 $(IT) dual::processes_that_stop_anywhere dual::between:: && BENNU_DUAL_CYCLES=200 $(IT) dual::random:: dual::crashes::

check: fmt clippy doc deps

fmt:
	cargo fmt --all --check

clippy:
	cargo clippy --workspace --all-targets -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

deps:                 ## the crate arrows of docs/architecture/crates.md
	cargo test -p bennu-sqltest --test arrows

smoke: build          ## starts the release binary on a fresh folder and runs the flights story's statements in it
	./.ci/smoke $(TARGET)/release/bennu

examples: build       ## runs every example: the flights story against the release binary, and the embedding program
	./.ci/smoke $(TARGET)/release/bennu
	cargo run --release -p bennu-example-embed

# make test-clients BENNU=target/debug/bennu: with another binary. CLIENTS="node jdbc": only these.
test-clients: $(if $(BENNU),,build)   ## six drivers, SQLAlchemy, pg_dump and 5,000 generated queries, beside PostgreSQL 15 (installs what is missing)
	./crates/pg-server/clients/run $(or $(BENNU),$(TARGET)/release/bennu) $(or $(CLIENT_FILES),$(TARGET)/clients) $(CLIENTS)

bench: bench-peers    ## the whole table: beside PostgreSQL 15 (started here), DataFusion over Parquet, SQLite and bare fjall
	cargo build --release -p bennu-cli -p bennu-bench --features bennu-bench/sqlite
	$(BENCH) store --page docs/bench.md $(BENCH_FLAGS)
	$(BENCH) postgres --bennu $(TARGET)/release/bennu --python $(TARGET)/bench-peers/bin/python --page docs/bench.md $(BENCH_FLAGS)

bench-build:          ## how long the embedding crate takes to build, beside the server's binary, each from nothing (half an hour)
	@for crate in "bennu --no-default-features" bennu-cli; do rm -rf $(TARGET)/bench-build; begun=$$(date +%s); \
	  CARGO_TARGET_DIR=$(TARGET)/bench-build cargo build -q --release -p $$crate || exit 1; \
	  echo "$$(($$(date +%s) - begun)) s: cargo build --release -p $$crate"; done; rm -rf $(TARGET)/bench-build

bench-peers:          ## installs what `make bench` compares with, where it is missing
	command -v pgbench > /dev/null || (apt-get update && apt-get install -y postgresql-15)
	$(TARGET)/bench-peers/bin/python -c 'import datafusion' 2> /dev/null || (python3 -m venv $(TARGET)/bench-peers && \
	  $(TARGET)/bench-peers/bin/pip install -q datafusion==55.0.0)
