//! SQLite in process: one connection, one prepared statement, a page cache as large as Bennu's block cache.

use crate::error::BenchError;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;
use std::time::Instant;

/// An open database with one table.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Creates a database with rows 0 to `rows`, the same as the peers'.
    pub(crate) fn fill(path: &Path, rows: u64, filler: fn(u64) -> String) -> Result<Self, BenchError> {
        let mut connection = Connection::open(path)?;
        // Negative: in KiB rather than in pages.
        let cache_kib = (bennu::Options::default().cache_bytes >> 10).cast_signed();
        connection.pragma_update(None, "cache_size", -cache_kib)?;
        connection.execute_batch("CREATE TABLE rows (id INTEGER PRIMARY KEY, n INTEGER, filler TEXT)")?;
        let transaction = connection.transaction()?;
        {
            let mut insert = transaction.prepare("INSERT INTO rows VALUES (?1, 1, ?2)")?;
            for id in 0..rows {
                insert.execute((id.cast_signed(), filler(id)))?;
            }
        }
        transaction.commit()?;
        Ok(Self { connection })
    }

    /// Reads the row of each of `ids`; returns reads per second.
    pub(crate) fn point_selects(&self, ids: impl ExactSizeIterator<Item = u64>) -> Result<f64, BenchError> {
        let mut select = self.connection.prepare("SELECT id, n, filler FROM rows WHERE id = ?1")?;
        let reads = ids.len() as f64;
        let begin = Instant::now();
        for id in ids {
            let row = select.query_row([id.cast_signed()], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i32>(1)?, row.get::<_, String>(2)?))
            });
            if row.optional()?.is_none() {
                return Err(BenchError::Wrong("a row is missing".into()));
            }
        }
        Ok(reads / begin.elapsed().as_secs_f64())
    }
}
