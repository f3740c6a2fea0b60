# The one entry: everything that can be done with this repository is a target here.

DATA    ?= bennu-data
LISTEN  ?= 127.0.0.1:5433

.PHONY: build run test fuzz-wire test-clients check fmt clippy embedded doc deps smoke examples bench test-power-loss clean

build:                ## the release binary: target/release/bennu
	cargo build --release -p bennu-cli

run: build            ## serve the embedded store in ./bennu-data on 127.0.0.1:5433
	./target/release/bennu serve --data $(DATA) --listen $(LISTEN)

test:                 ## everything that needs only Rust and a C compiler
	cargo test --workspace --no-fail-fast

fuzz-wire:            ## 100,000 sessions of changed frames against a server; `make test` runs 1,500
	BENNU_WIRE_SESSIONS=100000 BENNU_WIRE_SEED=$$(date +%s) cargo test -p bennu-pg-server --test it mutated_sessions -- --nocapture

check: fmt clippy embedded doc deps

fmt:
	cargo fmt --all --check

clippy:
	cargo clippy --workspace --all-targets -- -D warnings

embedded:             ## the embedding crate without server and console
	cargo check -p bennu --no-default-features

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

deps:                 ## the crate arrows of docs/architecture/crates.md
	cargo test -p bennu-sqltest --test arrows

smoke: build          ## starts the release binary on a fresh folder and runs the flights story's statements in it
	./.ci/smoke target/release/bennu

examples: build       ## runs every example: the flights story against the release binary, and the embedding program
	./.ci/smoke target/release/bennu
	cargo run --release -p bennu-example-embed

test-clients: build   ## psycopg, asyncpg, node-postgres and pgjdbc, beside PostgreSQL 15 (installs what is missing)
	./crates/pg-server/clients/run target/release/bennu target/clients

bench: build          ## the whole table: beside PostgreSQL 15 (installed and started here) and bare fjall
	command -v pgbench > /dev/null || (apt-get update && apt-get install -y postgresql-15)
	cargo build --release -p bennu-bench
	./target/release/bennu-bench store --page docs/bench.md
	./target/release/bennu-bench postgres --page docs/bench.md
