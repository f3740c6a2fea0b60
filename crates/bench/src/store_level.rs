//! In process, beside bare fjall, which shows the cost of Bennu's own layers; and beside SQLite, if built with that
//! feature.

use crate::Settings;
use crate::error::BenchError;
use crate::report::{Better, Line, Report};
use bennu::{Bennu, Options, Row};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, Readable};
use std::time::Instant;

/// Rows at scale 1.
const ROWS: f64 = 1_000_000.0;
const READS: u32 = 200_000;

pub(crate) async fn run(settings: &Settings) -> Result<(), BenchError> {
    let folder = tempfile::tempdir_in(&settings.folder)?;
    let rows = (ROWS * settings.scale.min(1.0)).ceil() as u64;
    let (database, keyspace) = fill_fjall(&folder.path().join("fjall"), rows)?;
    let db = fill_bennu(&folder.path().join("bennu"), rows).await?;
    let mut report = Report::default();
    if settings.wants("point select") {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..settings.rounds as u64 {
            ours.push(point_bennu(&db, rows, round).await?);
            theirs.push(point_fjall(&database, &keyspace, (rows, round))?);
        }
        let name = "in-process point select, 1 thread, beside a bare fjall get".to_string();
        report.add(&Line { name, unit: "1/s", better: Better::More, ours, theirs, target: Some(0.5) });
    }
    #[cfg(feature = "sqlite")]
    if settings.wants("SQLite") {
        let sqlite = crate::peer::Sqlite::fill(&folder.path().join("sqlite"), rows, filler)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..settings.rounds as u64 {
            ours.push(point_bennu(&db, rows, round).await?);
            theirs.push(sqlite.point_selects((0..READS).map(|i| key(rows, round, u64::from(i))))?);
        }
        let name = "in-process point select, 1 thread, beside SQLite, both prepared".to_string();
        report.add(&Line { name, unit: "1/s", better: Better::More, ours, theirs, target: Some(1.0) });
    }
    if settings.wants("full scan") {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds {
            ours.push(scan_bennu(&db).await?);
            theirs.push(scan_fjall(&database, &keyspace)?);
        }
        let name = "full scan: sum of a column, beside a bare fjall iterator".to_string();
        report.add(&Line { name, unit: "s", better: Better::Less, ours, theirs, target: Some(1.0) });
    }
    if let Some(page) = settings.page() {
        report.write_to(page, "store")?;
    }
    Ok(db.close().await?)
}

/// A hundred bytes, the same on both sides.
fn filler(i: u64) -> String {
    format!("{i:016}{:084}", i * 7_919)
}

fn fill_fjall(path: &std::path::Path, rows: u64) -> Result<(Database, Keyspace), BenchError> {
    let database = Database::builder(path).cache_size(bennu::Options::default().cache_bytes).open()?;
    let options = || {
        KeyspaceCreateOptions::default()
            .data_block_size_policy(fjall::config::BlockSizePolicy::all(16 << 10))
            .data_block_compression_policy(fjall::config::CompressionPolicy::all(fjall::CompressionType::Lz4))
    };
    let keyspace = database.keyspace("rows", options)?;
    let mut ingestion = keyspace.start_ingestion()?;
    for i in 0..rows {
        ingestion.write(i.to_be_bytes(), filler(i).into_bytes())?;
    }
    ingestion.finish()?;
    Ok((database, keyspace))
}

async fn fill_bennu(path: &std::path::Path, rows: u64) -> Result<Bennu, BenchError> {
    let db = Bennu::open_with_options(path, &Options::default()).await?;
    let mut session = db.session()?;
    session.execute("CREATE TABLE rows (id bigint PRIMARY KEY, n integer, filler varchar)").await?;
    session
        .execute(&format!(
            "INSERT INTO rows SELECT i, 1, lpad(i::varchar, 16, '0') || lpad((i::bigint * 7919)::varchar, 84, '0') \
             FROM generate_series(0, {}) AS g(i)",
            rows - 1
        ))
        .await?;
    Ok(db)
}

/// Keys in a pseudorandom order, which defeats caches.
fn key(rows: u64, round: u64, i: u64) -> u64 {
    (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ round) % rows
}

async fn point_bennu(db: &Bennu, rows: u64, round: u64) -> Result<f64, BenchError> {
    let mut session = db.session()?;
    let statement = session.prepare("SELECT id, n, filler FROM rows WHERE id = $1").await?;
    let begin = Instant::now();
    for i in (0..READS).map(u64::from) {
        let id = key(rows, round, i).cast_signed();
        let row: Option<(i64, i32, String)> = session.row(&statement, &[&id]).await?;
        if row.is_none() {
            return Err(BenchError::Wrong("a row is missing".into()));
        }
    }
    Ok(f64::from(READS) / begin.elapsed().as_secs_f64())
}

fn point_fjall(database: &Database, keyspace: &Keyspace, (rows, round): (u64, u64)) -> Result<f64, BenchError> {
    let begin = Instant::now();
    for i in (0..READS).map(u64::from) {
        let snapshot = database.snapshot();
        if snapshot.get(keyspace, key(rows, round, i).to_be_bytes())?.is_none() {
            return Err(BenchError::Wrong("a row is missing".into()));
        }
    }
    Ok(f64::from(READS) / begin.elapsed().as_secs_f64())
}

async fn scan_bennu(db: &Bennu) -> Result<f64, BenchError> {
    let mut session = db.session()?;
    let begin = Instant::now();
    session.rows::<Row>("SELECT sum(n) FROM rows", &[]).await?;
    Ok(begin.elapsed().as_secs_f64())
}

fn scan_fjall(database: &Database, keyspace: &Keyspace) -> Result<f64, BenchError> {
    let begin = Instant::now();
    let mut bytes = 0;
    for guard in database.snapshot().iter(keyspace) {
        let (key, value) = guard.into_inner()?;
        bytes += key.len() + value.len();
    }
    std::hint::black_box(bytes);
    Ok(begin.elapsed().as_secs_f64())
}
