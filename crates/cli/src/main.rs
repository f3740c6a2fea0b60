//! The `bennu` binary: translates options and files into calls.
//!
//! `args` defines the command line, `config` merges it with the environment and the TOML file, and each command has its
//! own file.

mod allocator;
mod args;
mod check;
mod config;
mod config_error;
mod error;
mod serve;
mod shell;
mod sqllogictest;

use args::{Args, Command};
use clap::Parser;
use error::CliError;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::purge_freed_memory_early();
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Only sqllogictest plans statements on a worker; builds without optimisation need this much for large ones.
        .thread_stack_size(32 << 20)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(&CliError::Runtime(error)),
    };
    let done = runtime.block_on(run(args.command));
    // Tasks that a stopped server abandoned are not waited for.
    runtime.shutdown_background();
    match done {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

async fn run(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Serve(args) => serve::run(&args).await,
        Command::Sql(args) => {
            log_warnings();
            shell::run(&args).await
        }
        Command::Check(args) => {
            log_warnings();
            check::run(&args).await
        }
        Command::Sqllogictest(args) => sqllogictest::run(&args).await,
        Command::Version => {
            print_line(&format!("bennu {}", env!("CARGO_PKG_VERSION")));
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Logs the store's warnings, such as a truncated journal tail, to stderr: only `serve` has a log.
fn log_warnings() {
    // Damaged blocks of the LSM tree are returned as errors, so they are not logged too.
    let filter = tracing_subscriber::EnvFilter::new("warn,lsm_tree=off");
    let log = tracing_subscriber::fmt().log_internal_errors(false).with_env_filter(filter);
    // Fails if a log exists, which then has the warnings.
    let _ = log.without_time().with_target(false).with_ansi(false).with_writer(std::io::stderr).try_init();
}

fn fail(error: &CliError) -> ExitCode {
    // There is no other channel if stderr is closed.
    let _ = writeln!(std::io::stderr(), "bennu: {error}");
    ExitCode::FAILURE
}

/// Prints one line to stdout; a closed pipe is not an error.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
