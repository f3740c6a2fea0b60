//! pgbench as the client of both sides: the same C program, the same script, the same protocol.

use crate::error::BenchError;
use crate::peer::Peer;
use std::path::Path;
use std::process::Command;

/// Runs `script` in prepared mode and returns transactions per second.
pub(crate) fn run(peer: &dyn Peer, script: &Path, clients: u32, seconds: u32) -> Result<f64, BenchError> {
    let (user, database) = peer.login();
    let output = Command::new("pgbench")
        .args(["-n", "-M", "prepared", "-h", "127.0.0.1", "-U", user])
        .args(["-p", &peer.port().to_string(), "-c", &clients.to_string(), "-j", "2"])
        .args(["-T", &seconds.to_string(), "-f"])
        .arg(script)
        .arg(database)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|l| l.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    match rate {
        Some(rate) if output.status.success() => Ok(rate),
        _ => Err(BenchError::Command {
            what: format!("pgbench against {}", peer.name()),
            output: format!("{text}{}", String::from_utf8_lossy(&output.stderr)),
        }),
    }
}
