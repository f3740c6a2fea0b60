//! The benchmark: each metric is measured alternately with a peer's in one run, and printed as a ratio.
//!
//! ```text
//!   bennu-bench postgres   PostgreSQL 15 and the release binary, both started here
//!   bennu-bench store      in process, beside bare fjall
//! ```
#![allow(clippy::print_stdout, reason = "the report is what this program is for")]

mod error;
mod peer;
mod pgbench;
mod report;
mod store_level;
mod workload;

use clap::{Parser, Subcommand};
use error::BenchError;
use mimalloc::MiMalloc;
use std::path::PathBuf;
use std::process::ExitCode;

/// The server's allocator, for Bennu in process and for bare fjall.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[derive(Debug, Parser)]
#[command(about = "Measures Bennu beside its peers, alternating in one run")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Beside PostgreSQL 15, over the wire.
    Postgres(Settings),
    /// In process, beside bare fjall.
    Store(Settings),
}

/// What to measure, and how long.
#[derive(Debug, clap::Args)]
pub(crate) struct Settings {
    /// The Bennu binary.
    #[arg(long, default_value = "target/release/bennu")]
    pub(crate) bennu: PathBuf,
    /// Rounds; each runs both sides, and the medians are compared.
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: usize,
    /// Seconds that a throughput measurement lasts.
    #[arg(long, default_value_t = 3)]
    pub(crate) seconds: u32,
    /// Rounds of COPY lineitem, at most as many as the other rounds.
    #[arg(long, default_value_t = 3)]
    pub(crate) loads: usize,
    /// TPC-H scale factor; below 1, it scales the other tables too.
    #[arg(long, default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Only workloads whose name contains this.
    #[arg(long)]
    pub(crate) only: Option<String>,
    /// A Python with the DataFusion wheel (`make bench-peers`).
    #[arg(long, default_value = "python3")]
    pub(crate) python: PathBuf,
    /// Parent of the servers' data folders.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    pub(crate) folder: PathBuf,
    /// A page whose result tables are replaced, unless only some workloads run.
    #[arg(long)]
    pub(crate) page: Option<PathBuf>,
}

impl Settings {
    pub(crate) fn page(&self) -> Option<&std::path::Path> {
        self.page.as_deref().filter(|_| self.only.is_none())
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }
}

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let done = match Args::parse().command {
        Command::Postgres(settings) => runtime.block_on(workload::against_postgres(&settings)),
        Command::Store(settings) => runtime.block_on(store_level::run(&settings)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &BenchError) -> ExitCode {
    println!("bench: {error}");
    ExitCode::FAILURE
}
