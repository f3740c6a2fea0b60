//! PostgreSQL 15, as Debian packages it.

use super::{Peer, free_port, memory_of};
use crate::error::BenchError;
use std::path::{Path, PathBuf};
use std::process::Command;

const BIN: &str = "/usr/lib/postgresql/15/bin";

/// A running cluster.
pub(crate) struct Postgres {
    data: PathBuf,
    port: u16,
}

impl Postgres {
    /// Creates and starts a cluster in `data`: 1 GB of shared buffers, synchronous commits, otherwise defaults.
    pub(crate) fn start(data: &Path) -> Result<Self, BenchError> {
        let port = free_port()?;
        std::fs::create_dir_all(data)?;
        let folder = data.display().to_string();
        // PostgreSQL refuses to run as root: its package's user owns the folder.
        command("chown", &["postgres", &folder])?;
        as_postgres(&[&format!("{BIN}/initdb"), "-D", &folder, "-A", "trust", "-U", "postgres", "--no-sync"])?;
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c shared_buffers=1GB \
             -c synchronous_commit=on -c fsync=on -c max_connections=200 -c max_wal_size=4GB"
        );
        let log = format!("{folder}/server.log");
        as_postgres(&[&format!("{BIN}/pg_ctl"), "-D", &folder, "-o", &options, "-l", &log, "-w", "start"])?;
        Ok(Self { data: data.into(), port })
    }

    fn process(&self) -> Option<u32> {
        let pid = std::fs::read_to_string(self.data.join("postmaster.pid")).ok()?;
        pid.lines().next()?.parse().ok()
    }
}

impl Peer for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn login(&self) -> (&'static str, &'static str) {
        ("postgres", "postgres")
    }

    fn resident(&self) -> u64 {
        self.process().map_or(0, |pid| memory_of(pid, "VmRSS"))
    }

    fn peak(&self) -> u64 {
        self.process().map_or(0, |pid| memory_of(pid, "VmHWM"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let folder = self.data.display().to_string();
        // The folder is removed with the run in any case.
        let _ = as_postgres(&[&format!("{BIN}/pg_ctl"), "-D", &folder, "-m", "immediate", "stop"]);
    }
}

fn as_postgres(arguments: &[&str]) -> Result<(), BenchError> {
    let mut all = vec!["-u", "postgres", "--"];
    all.extend_from_slice(arguments);
    command("runuser", &all)
}

fn command(program: &str, arguments: &[&str]) -> Result<(), BenchError> {
    // The server inherits pg_ctl's output: waiting for a pipe would wait for the server.
    let status = Command::new(program)
        .args(arguments)
        .current_dir("/")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(BenchError::Command { what: format!("{program} {}", arguments.join(" ")), output: status.to_string() })
}
