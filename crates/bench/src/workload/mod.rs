//! Workloads that are compared with PostgreSQL. Each one creates its tables on both sides, runs both in every round,
//! and
//! adds its lines.

mod analytics;
mod answer;
mod connections;
mod copy;
mod index_builds;
mod indexes;
mod large_update;
mod latency;
mod memory;
mod oltp;
mod order_entry;
mod ranges;
mod restart;
mod rows;
mod short_statements;
mod tpcb;
mod tpch;
mod ycsb;

use crate::Settings;
use crate::error::BenchError;
use crate::peer::{BennuServer, Peer, Postgres, connect, run};
use crate::pgbench::{self, Protocol, Script};
use crate::report::{Better, Line, Report};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Both servers and a folder for scripts.
pub(crate) struct Arena {
    pub(crate) bennu: BennuServer,
    pub(crate) postgres: Postgres,
    pub(crate) folder: PathBuf,
    /// Number of scripts run, from which each run derives unique keys.
    pub(crate) runs: AtomicU32,
}

impl Arena {
    /// Runs the statements `bennu` and `postgres`, each on its server.
    pub(crate) async fn prepare(&self, bennu: &str, postgres: &str) -> Result<(), BenchError> {
        for (peer, sql) in [(&self.bennu as &dyn Peer, bennu), (&self.postgres, postgres)] {
            let client = connect(peer).await?;
            // One by one, since VACUUM cannot run in a transaction block.
            for statement in sql.split(';') {
                run(peer, &client, statement).await?;
            }
        }
        Ok(())
    }

    /// Measures a pgbench script on both sides, alternating. `{run}` in it is replaced by a number that differs per
    /// run.
    pub(crate) fn script(
        &self,
        report: &mut Report,
        settings: &Settings,
        (name, script, clients, target): (&str, &str, u32, Option<f64>),
    ) -> Result<(), BenchError> {
        let path = self.folder.join("script.sql");
        let run = self.runs.fetch_add(1, Ordering::Relaxed).to_string();
        let renew = |round: usize| std::fs::write(&path, script.replace("{run}", &format!("{run}{round:02}")));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..settings.rounds {
            renew(round)?;
            ours.push(pgbench::run(&self.bennu, Script::File(&path, Protocol::Prepared), clients, settings.seconds)?);
            theirs.push(pgbench::run(
                &self.postgres,
                Script::File(&path, Protocol::Prepared),
                clients,
                settings.seconds,
            )?);
        }
        report.add(&Line { name: name.into(), unit: "1/s", better: Better::More, ours, theirs, target });
        Ok(())
    }

    /// Runs a script on both sides unmeasured, so that no workload pays for the first access to a table.
    pub(crate) fn warm(&self, settings: &Settings, script: &str, clients: u32) -> Result<(), BenchError> {
        let path = self.folder.join("script.sql");
        std::fs::write(&path, script)?;
        for peer in [&self.bennu as &dyn Peer, &self.postgres] {
            pgbench::run(peer, Script::File(&path, Protocol::Prepared), clients, settings.seconds)?;
        }
        Ok(())
    }

    /// Measures a script that is the same in every run.
    pub(crate) fn alternate(
        &self,
        report: &mut Report,
        settings: &Settings,
        (name, script, clients, target): (&str, Script<'_>, u32, Option<f64>),
    ) -> Result<(), BenchError> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds {
            ours.push(pgbench::run(&self.bennu, script, clients, settings.seconds)?);
            theirs.push(pgbench::run(&self.postgres, script, clients, settings.seconds)?);
        }
        report.add(&Line { name: name.into(), unit: "1/s", better: Better::More, ours, theirs, target });
        Ok(())
    }
}

/// Scales `rows` down below scale 1.
fn rows_at(scale: f64, rows: u32) -> u64 {
    (f64::from(rows) * scale.min(1.0)).ceil() as u64
}

/// Runs all workloads that `settings` selects. A failing one is recorded, and the others go on.
pub(crate) async fn against_postgres(settings: &Settings) -> Result<(), BenchError> {
    let folder = tempfile::Builder::new().prefix("bennu-bench").tempdir_in(&settings.folder)?;
    // PostgreSQL's user needs access to its subfolder.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let mut arena = Arena {
        bennu: BennuServer::start(&settings.bennu, &folder.path().join("bennu"))?,
        postgres: Postgres::start(&folder.path().join("postgres"))?,
        folder: folder.path().into(),
        runs: AtomicU32::new(1),
    };
    syncs_its_commits(&arena).await?;
    let mut report = Report::default();
    let done = rows::run(&arena, &mut report, settings).await;
    report.note_failure_of("rows", done);
    let done = ranges::run(&arena, &mut report, settings).await;
    report.note_failure_of("ranges", done);
    let done = short_statements::run(&arena, &mut report, settings).await;
    report.note_failure_of("short statements", done);
    // Early: later the block cache would count as memory too.
    let done = analytics::run(&arena, &mut report, settings).await;
    report.note_failure_of("lineitem", done);
    let done = restart::run(&mut arena, &mut report, settings).await;
    report.note_failure_of("scans after a restart", done);
    let done = memory::run(&mut arena, &mut report, settings).await;
    report.note_failure_of("memory", done);
    let done = order_entry::run(&arena, &mut report, settings).await;
    report.note_failure_of("order entry", done);
    let done = indexes::run(&arena, &mut report, settings).await;
    report.note_failure_of("indexes", done);
    let done = oltp::run(&arena, &mut report, settings).await;
    report.note_failure_of("OLTP", done);
    let done = large_update::run(&arena, &mut report, settings).await;
    report.note_failure_of("large update", done);
    let done = index_builds::run(&arena, &mut report, settings).await;
    report.note_failure_of("index builds", done);
    let queries = tpch::run(&arena, &mut report, settings).await;
    let queries = report.note_failure_of("TPC-H", queries).flatten();
    let done = ycsb::run(&arena, &mut report, settings).await;
    report.note_failure_of("YCSB", done);
    let done = tpcb::run(&arena, &mut report, settings).await;
    report.note_failure_of("pgbench", done);
    let done = connections::run(&arena, &mut report, settings);
    report.note_failure_of("connections", done);
    if let Some(page) = settings.page() {
        report.write_to(page, "postgres")?;
        if let Some(queries) = queries {
            queries.write_to(page, "tpch")?;
        }
    }
    report.end()
}

/// Checks that both sides sync commits before they acknowledge them; otherwise the rates are not comparable.
async fn syncs_its_commits(arena: &Arena) -> Result<(), BenchError> {
    for peer in [&arena.bennu as &dyn Peer, &arena.postgres] {
        let client = connect(peer).await?;
        let rows = client.simple_query("SHOW synchronous_commit").await;
        let rows = rows.map_err(|error| BenchError::Sql { server: peer.name(), error })?;
        let on = rows.iter().any(|m| match m {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
            _ => false,
        });
        if !on {
            return Err(BenchError::Wrong(format!("{} does not sync its commits", peer.name())));
        }
    }
    Ok(())
}
