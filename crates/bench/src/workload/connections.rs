//! A new connection for each statement.

use super::Arena;
use crate::Settings;
use crate::error::BenchError;
use crate::pgbench::Script;
use crate::report::Report;

const NAME: &str = "connections per second, 8 at a time";

pub(super) fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    if !settings.wants(NAME) {
        return Ok(());
    }
    let path = arena.folder.join("connect.sql");
    std::fs::write(&path, "SELECT 1;\n")?;
    arena.alternate(report, settings, (NAME, Script::Reconnecting(&path), 8, Some(5.0)))
}
