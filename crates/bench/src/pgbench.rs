//! pgbench, the client of both sides: the same C program, script and protocol.

use crate::error::BenchError;
use crate::peer::Peer;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Query mode of pgbench.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Protocol {
    /// Prepared once per connection.
    Prepared,
    /// Sent as text each time.
    Simple,
}

impl Protocol {
    fn option(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Simple => "simple",
        }
    }
}

/// The script of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Script<'a> {
    /// A file. Its variable `n` is 0 at first, and each client has its own.
    File(&'a Path, Protocol),
    /// One of these files, chosen at random by weight.
    Mix(&'a [(PathBuf, u32)], Protocol),
    /// A built-in script of pgbench, by name.
    Builtin(&'a str),
    /// A file, with a new connection per transaction.
    Reconnecting(&'a Path),
}

/// Runs `script` and returns transactions per second.
pub(crate) fn run(peer: &dyn Peer, script: Script<'_>, clients: u32, seconds: u32) -> Result<f64, BenchError> {
    let (user, database) = peer.login();
    let mut command = Command::new("pgbench");
    command.args(["-n", "-h", "127.0.0.1", "-U", user, "-p", &peer.port().to_string()]);
    command.args(["-c", &clients.to_string(), "-j", "2", "-T", &seconds.to_string(), "-D", "n=0"]);
    match script {
        Script::File(path, protocol) => command.args(["-M", protocol.option(), "-f"]).arg(path),
        Script::Mix(files, protocol) => {
            let weighted = files.iter().map(|(path, weight)| format!("-f{}@{weight}", path.display()));
            command.args(["-M", protocol.option()]).args(weighted)
        }
        Script::Builtin(name) => command.args(["-M", "prepared", "-b", name]),
        Script::Reconnecting(path) => command.args(["-C", "-f"]).arg(path),
    };
    let output = command.arg(database).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = |label: &str| text.lines().find_map(|l| l.strip_prefix(label)?.split(' ').next()?.parse::<f64>().ok());
    let failed = figure("number of failed transactions: ").unwrap_or(0.0);
    match figure("tps = ") {
        Some(rate) if output.status.success() && failed == 0.0 => Ok(rate),
        _ => Err(BenchError::Command {
            what: format!("pgbench against {}", peer.name()),
            output: format!("{text}{}", String::from_utf8_lossy(&output.stderr)),
        }),
    }
}
