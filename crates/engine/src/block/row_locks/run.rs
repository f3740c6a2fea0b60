//! Runs a locking SELECT: locks rows one by one in the order of the query, until LIMIT is reached.

use super::{Finder, LockProgram, LockedTable};
use crate::block::work::Work;
use crate::dml::{Changes, Locked, MAX_ATTEMPTS, Row, Scope};
use crate::error::{EngineResult, Fault, fail};
use crate::key_program::KeyProgram;
use crate::{Chunk, Session};
use futures::StreamExt;
use futures::stream::BoxStream;
use query::HeldMemory;
use sql::RowLockWait;
use std::collections::HashSet;
use std::sync::Arc;
use store::{Bytes, CommitNo};
use txn::{LockWait, ReadView, TxnError};
use types::Datum;

/// Keys of the rows that were found, with their table's index in the program.
type Seen = HashSet<(usize, Bytes)>;

/// The outcome of locking one row of the query.
enum Taken {
    /// All its table rows are locked and unchanged since the query read them.
    Yes,
    /// SKIP LOCKED skips the row, this transaction itself has deleted it, or a repeated run finds it for the first
    /// time.
    No,
    /// Another transaction changed one of its table rows.
    Changed(Changes),
}

/// The result of one run of the query.
struct Pass {
    rows: Vec<Row>,
    changes: Option<Changes>,
}

impl Session {
    /// Runs the query and locks its rows.
    ///
    /// # Errors
    /// 55P03, 40P01, 53200, and those of the query.
    pub(crate) async fn lock_rows_of(
        &mut self,
        work: &mut Work,
        program: &LockProgram,
        scope: &Scope<'_>,
    ) -> EngineResult<Vec<Row>> {
        let (limit, offset) = bounds(&program.bounds.eval(scope, &[], None).await?)?;
        let most = limit.map_or(u64::MAX, |limit| limit.saturating_add(offset));
        let mut changes = Changes { seen: self.last_commit, gone: false };
        let (mut seen, mut attempt) = (Seen::new(), 0);
        let rows = loop {
            // As in UPDATE, repeated runs ignore rows that the first run did not find, unless rows may have moved to
            // other keys.
            let any = attempt == 0 || (attempt < MAX_ATTEMPTS && (changes.gone || !program.own));
            let pass = self.run_and_lock(work, program, (scope.params, most), changes.seen, (&mut seen, any)).await?;
            match pass.changes {
                None => break pass.rows,
                Some(found) => changes = found,
            }
            self.engine.counters().retries.add(1);
            attempt += 1;
        };
        let skipped = rows.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX));
        let shown = |mut row: Row| {
            row.truncate(program.columns.len());
            row
        };
        Ok(skipped.map(shown).collect())
    }

    async fn run_and_lock(
        &mut self,
        work: &mut Work,
        program: &LockProgram,
        (params, most): (&[Datum], u64),
        newest: CommitNo,
        (seen, any): (&mut Seen, bool),
    ) -> EngineResult<Pass> {
        let memory = self.hold_rows();
        work.rows = Some(Arc::clone(&memory));
        let view = work.view(self.engine.store().as_ref(), newest).await?;
        let mut chunks = self.found_rows(program, view.clone(), params).await?;
        let mut pass = Pass { rows: Vec::new(), changes: None };
        let guard = self.running();
        while (pass.rows.len() as u64) < most {
            let Some(chunk) = guard.stoppable(async { Ok(chunks.next().await) }).await? else { break };
            let rows = chunk?.to_rows(&program.all)?.into_owned();
            hold(&memory, &rows)?;
            for row in rows {
                if pass.rows.len() as u64 >= most {
                    break;
                }
                match self.take_row(work, program, &row, &view, (&mut *seen, any)).await? {
                    Taken::Yes => pass.rows.push(row),
                    Taken::No => {}
                    Taken::Changed(found) => pass.changes = Some(merged(pass.changes, found)),
                }
            }
            guard.check()?;
        }
        Ok(pass)
    }

    /// Runs the query on a snapshot.
    async fn found_rows(
        &mut self,
        program: &LockProgram,
        view: ReadView,
        params: &[Datum],
    ) -> EngineResult<BoxStream<'static, EngineResult<Chunk>>> {
        let rows = match &program.finder {
            Finder::Key(KeyProgram::Point(point)) => point.run(&view, params).await?,
            Finder::Key(KeyProgram::Range(range)) => {
                let guard = self.running();
                let cursor = guard.stoppable(range.open(&view, params)).await?;
                return Ok(self.read_range(cursor, Arc::clone(&program.all), guard).await?.chunks);
            }
            Finder::Rows(source) => match self.few_rows(source, &view, params).await? {
                Some(rows) => rows,
                None => return self.stream(self.query_context(view), Arc::clone(&source.plan), params.to_vec()),
            },
        };
        Ok(futures::stream::iter([Ok(Chunk::Rows(rows))]).boxed())
    }

    /// Locks the table rows of one row of the query.
    async fn take_row(
        &mut self,
        work: &mut Work,
        program: &LockProgram,
        row: &Row,
        view: &ReadView,
        (seen, any): (&mut Seen, bool),
    ) -> EngineResult<Taken> {
        for (at, table) in program.tables.iter().enumerate() {
            let key = key_of(table, row)?;
            // A row that a repeated run finds first stays unknown to the runs after it.
            match any {
                true => drop(seen.insert((at, key.clone()))),
                false if seen.contains(&(at, key.clone())) => {}
                false => return Ok(Taken::No),
            }
            let keys = std::slice::from_ref(&key);
            let read = self.stamps_read(work, &table.target, view, keys).await?;
            if !self.obtain(work, table, &key).await? {
                return Ok(Taken::No);
            }
            match self.lock_row_set(work, &table.target, (keys, &read), table.mode).await? {
                Locked::Same(found) if found.iter().all(Option::is_some) => {}
                Locked::Same(_) => return Ok(Taken::No),
                Locked::Changed(changes) => return Ok(Taken::Changed(changes)),
            }
        }
        Ok(Taken::Yes)
    }

    /// Locks a row as its clause demands. False if SKIP LOCKED skips it.
    async fn obtain(&self, work: &mut Work, table: &LockedTable, key: &Bytes) -> EngineResult<bool> {
        let wait = match table.wait {
            RowLockWait::Block => work.wait,
            RowLockWait::Skip | RowLockWait::Fail => LockWait::Never,
        };
        let lock = work.txn.lock_row(table.target.storage, key, table.mode, wait);
        match self.running().stoppable(async { Ok(lock.await) }).await? {
            Ok(_) => Ok(true),
            Err(TxnError::LockNotAvailable { waited: false }) => match table.wait {
                RowLockWait::Skip => Ok(false),
                _ => fail(Fault::RowLocked { table: table.target.table.name.clone() }),
            },
            Err(error) => Err(error.into()),
        }
    }
}

fn key_of(table: &LockedTable, row: &Row) -> EngineResult<Bytes> {
    let values: Vec<Datum> = table.key.iter().map(|at| row.get(*at).cloned().unwrap_or(Datum::Null)).collect();
    let mut key = Vec::with_capacity(32);
    table.target.codec.encode_key_values(&values, &mut key)?;
    Ok(key.into())
}

fn merged(before: Option<Changes>, found: Changes) -> Changes {
    match before {
        None => found,
        // The later commit number includes the earlier one.
        Some(before) => Changes { seen: found.seen, gone: before.gone || found.gone },
    }
}

fn hold(memory: &HeldMemory, rows: &[Row]) -> EngineResult<()> {
    Ok(crate::session::held::hold_rows(memory, rows)?)
}

/// The values of LIMIT and OFFSET; NULL means no limit or offset.
fn bounds(values: &[Datum]) -> EngineResult<(Option<u64>, u64)> {
    let bound = |at: usize| match values.get(at) {
        Some(Datum::Int8(value)) => Some(u64::try_from(*value)),
        _ => None,
    };
    let limit = bound(0).transpose().map_err(|_| Fault::NegativeLimit)?;
    let offset = bound(1).transpose().map_err(|_| Fault::NegativeOffset)?;
    Ok((limit, offset.unwrap_or(0)))
}
