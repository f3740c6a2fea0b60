//! What is measured beside PostgreSQL. Each workload makes its tables on both sides, runs both in
//! every round, and adds its lines.

mod analytics;
mod memory;
mod ranges;
mod rows;
#[cfg(test)]
mod tpch;

use crate::Settings;
use crate::error::BenchError;
use crate::peer::{BennuServer, Peer, Postgres, connect, run};
use crate::pgbench;
use crate::report::{Better, Line, Report};
use std::path::PathBuf;

/// Both servers and a folder for scripts.
pub(crate) struct Arena {
    pub(crate) bennu: BennuServer,
    pub(crate) postgres: Postgres,
    pub(crate) folder: PathBuf,
}

impl Arena {
    /// Runs statements on one side each: Bennu's spelling and PostgreSQL's.
    pub(crate) async fn prepare(&self, bennu: &str, postgres: &str) -> Result<(), BenchError> {
        for (peer, sql) in [(&self.bennu as &dyn Peer, bennu), (&self.postgres, postgres)] {
            let client = connect(peer).await?;
            // One by one: VACUUM wants to stand alone.
            for statement in sql.split(';') {
                run(peer, &client, statement).await?;
            }
        }
        Ok(())
    }

    /// Measures a pgbench script on both sides, alternating.
    pub(crate) fn script(
        &self,
        report: &mut Report,
        settings: &Settings,
        (name, script, clients, target): (&str, &str, u32, f64),
    ) -> Result<(), BenchError> {
        let path = self.folder.join("script.sql");
        std::fs::write(&path, script)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds {
            ours.push(pgbench::run(&self.bennu, &path, clients, settings.seconds)?);
            theirs.push(pgbench::run(&self.postgres, &path, clients, settings.seconds)?);
        }
        report.add(&Line { name: name.into(), unit: "1/s", better: Better::More, ours, theirs, target });
        Ok(())
    }
}

/// All workloads that `settings` wants.
pub(crate) async fn against_postgres(settings: &Settings) -> Result<(), BenchError> {
    let folder = tempfile::Builder::new().prefix("bennu-bench").tempdir()?;
    // PostgreSQL's user has to get through.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let mut arena = Arena {
        bennu: BennuServer::start(&settings.bennu, &folder.path().join("bennu"))?,
        postgres: Postgres::start(&folder.path().join("postgres"))?,
        folder: folder.path().into(),
    };
    syncs_its_commits(&arena).await?;
    let mut report = Report::default();
    rows::run(&arena, &mut report, settings).await?;
    ranges::run(&arena, &mut report, settings).await?;
    analytics::run(&arena, &mut report, settings).await?;
    memory::run(&mut arena, &mut report, settings).await?;
    match &settings.page {
        Some(page) => report.write_to(page, "postgres"),
        None => Ok(()),
    }
}

/// Both sides must make a commit durable before they acknowledge it, or the rates mean nothing.
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
