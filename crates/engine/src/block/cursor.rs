//! DECLARE, FETCH, MOVE and CLOSE: cursors of a transaction block.
//!
//! A cursor reads the snapshot of its DECLARE, forward only, and is closed at the end of its block. The query runs
//! while rows are fetched, a few batches ahead.

use crate::block::{Block, OpenBlock};
use crate::error::{EngineResult, Fault, fail};
use crate::session::running::RunGuard;
use crate::statement::Source;
use crate::{Answer, Chunk, ColumnDesc, EngineError, Prepared, RowStream, Session};
use futures::StreamExt;
use futures::stream;
use pg_catalog::CursorInfo;
use sql::{DeclareCursor, FetchCursor, LockingSelect, Statement};
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};
use types::Datum;

/// The cursors of a transaction block, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    open: Vec<OpenCursor>,
    /// The number of the last cursor or portal; both share one sequence of numbers.
    last: u64,
    /// Set by ROLLBACK TO: portals with a higher number are closed. Taken by the front end.
    undone: Option<u64>,
}

#[derive(Debug)]
struct OpenCursor {
    name: String,
    number: u64,
    /// The text of the DECLARE.
    text: Arc<str>,
    /// Time of the DECLARE, microseconds since 1970.
    made: i64,
    columns: Arc<Vec<ColumnDesc>>,
    /// Locked while rows are fetched. Only `try_lock` is used, because a session runs one statement at a time.
    rows: Arc<Mutex<Rows>>,
}

/// The rows of a cursor and its position.
struct Rows {
    stream: RowStream,
    /// The rest of the chunk being read.
    current: Option<Chunk>,
    /// The last row fetched or skipped; `None` before the first row and after the last.
    at: Option<Vec<Datum>>,
    /// Whether reading the rows ended in an error.
    failed: bool,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl Cursors {
    /// The last number given, for a savepoint.
    pub(crate) fn mark(&self) -> u64 {
        self.last
    }

    /// Closes the cursors declared after `mark`, and notes `mark` for the front end's portals.
    pub(crate) fn go_back(&mut self, mark: u64) {
        self.open.retain(|cursor| cursor.number <= mark);
        self.undone = Some(self.undone.map_or(mark, |earlier| earlier.min(mark)));
    }

    pub(crate) fn close_all(&mut self) {
        self.open.clear();
    }

    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn find(&self, name: &str) -> Option<&OpenCursor> {
        self.open.iter().find(|cursor| cursor.name == name)
    }

    /// The rows of `pg_cursors`.
    pub(crate) fn infos(&self) -> Vec<CursorInfo> {
        let info = |cursor: &OpenCursor| CursorInfo {
            name: cursor.name.clone(),
            statement: cursor.text.to_string(),
            declared: cursor.made,
        };
        self.open.iter().map(info).collect()
    }

    fn add(&mut self, name: &str, text: Arc<str>, made: i64, mut stream: RowStream) {
        // A FETCH after the end polls the stream again.
        stream.chunks = stream.chunks.fuse().boxed();
        let columns = Arc::clone(&stream.columns);
        let rows = Arc::new(Mutex::new(Rows { stream, current: None, at: None, failed: false }));
        let number = self.number();
        self.open.push(OpenCursor { name: name.to_string(), number, text, made, columns, rows });
    }

    fn close(&mut self, name: &str) -> bool {
        let before = self.open.len();
        self.open.retain(|cursor| cursor.name != name);
        self.open.len() < before
    }
}

impl OpenCursor {
    fn lock(&self) -> EngineResult<OwnedMutexGuard<Rows>> {
        match Arc::clone(&self.rows).try_lock_owned() {
            Ok(rows) if !rows.failed => Ok(rows),
            Ok(_) => fail(Fault::Refused { message: format!("portal \"{}\" cannot be run", self.name) }),
            Err(_) => fail(Fault::Refused { message: format!("cursor \"{}\" is being fetched from", self.name) }),
        }
    }
}

impl Rows {
    /// The next chunk, of at most `limit` rows; `None` at the end.
    async fn next(&mut self, limit: u64) -> EngineResult<Option<Chunk>> {
        let chunk = match self.current.take() {
            Some(chunk) => chunk,
            None => match self.stream.chunks.next().await {
                None => {
                    self.at = None;
                    return Ok(None);
                }
                Some(chunk) => chunk.inspect_err(|_| self.failed = true)?,
            },
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let chunk = match chunk.len() <= limit {
            true => chunk,
            false => {
                let (first, rest) = chunk.split(limit, &self.stream.columns)?;
                self.current = Some(rest);
                first
            }
        };
        self.at = chunk.last_row(&self.stream.columns)?;
        Ok(Some(chunk))
    }
}

impl Chunk {
    /// Splits the chunk into its first `count` rows and the others.
    fn split(self, count: usize, columns: &[ColumnDesc]) -> EngineResult<(Self, Self)> {
        if let Self::Batch(batch) = &self {
            let count = count.min(batch.num_rows());
            return Ok((Self::Batch(batch.slice(0, count)), Self::Batch(batch.slice(count, batch.num_rows() - count))));
        }
        let mut rows = match self {
            Self::Rows(rows) => rows,
            chunk => chunk.to_rows(columns)?.into_owned(),
        };
        let rest = rows.split_off(count.min(rows.len()));
        Ok((Self::Rows(rows), Self::Rows(rest)))
    }
}

/// The query of a cursor as a statement of its own.
pub(crate) fn declared(declare: &DeclareCursor, whole: &Source) -> Arc<Source> {
    let query = declare.query.clone();
    let statement = match declare.locks.as_slice() {
        [] => Statement::Query(query),
        locks => Statement::LockingSelect(Box::new(LockingSelect { query, locks: locks.to_vec() })),
    };
    Arc::new(Source {
        text: Arc::from(declare.text.as_str()),
        written: whole.written.clone(),
        statement,
        types: whole.types.clone(),
        hints: Vec::new(),
    })
}

impl Session {
    /// The current row of a cursor, and its columns.
    ///
    /// # Errors
    /// 34000, 24000.
    pub(crate) fn current_row(&self, name: &str) -> EngineResult<(Arc<Vec<ColumnDesc>>, Vec<Datum>)> {
        let cursor = self.cursor(name)?;
        match cursor.lock()?.at.clone() {
            Some(row) => Ok((Arc::clone(&cursor.columns), row)),
            None => fail(Fault::CursorPosition { message: format!("cursor \"{name}\" is not positioned on a row") }),
        }
    }

    /// The columns of a cursor of the open block.
    pub fn cursor_columns(&self, name: &str) -> Option<Arc<Vec<ColumnDesc>>> {
        let Block::Open(open) = &self.block else { return None };
        open.cursors.find(name).map(|cursor| Arc::clone(&cursor.columns))
    }

    /// Closes a cursor of the open block. False if it does not exist.
    pub fn close_cursor(&mut self, name: &str) -> bool {
        match &mut self.block {
            Block::Open(open) => open.cursors.close(name),
            Block::Idle => false,
        }
    }

    /// Numbers a new portal of the front end, for [`Self::take_undone_portals`].
    pub fn number_portal(&mut self) -> u64 {
        match &mut self.block {
            Block::Open(open) => open.cursors.number(),
            Block::Idle => 0,
        }
    }

    /// After ROLLBACK TO: portals with a higher number than this are closed.
    pub fn take_undone_portals(&mut self) -> Option<u64> {
        match &mut self.block {
            Block::Open(open) => open.cursors.undone.take(),
            Block::Idle => None,
        }
    }

    /// The cursors of the open block.
    pub(crate) fn cursor_infos(&self) -> Vec<CursorInfo> {
        match &self.block {
            Block::Open(open) => open.cursors.infos(),
            Block::Idle => Vec::new(),
        }
    }

    /// DECLARE.
    pub(crate) async fn declare_cursor(
        &mut self,
        declare: &DeclareCursor,
        whole: &Source,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<String> {
        self.cursors("DECLARE CURSOR")?;
        if self.cursor_columns(&declare.name).is_some() {
            return fail(Fault::DuplicateCursor { name: declare.name.clone() });
        }
        let source = declared(declare, whole);
        let query = match prepared {
            Some(_) => Some(self.prepare_source(Arc::clone(&source)).await?),
            None => None,
        };
        let answer = match declare.locks.is_empty() {
            true => self.open_cursor(&source, query.as_ref(), params).await?,
            // A locking SELECT locks, and therefore reads, all rows at once.
            false => Box::pin(self.run_write(&source, query.as_ref(), params)).await?,
        };
        let Answer::Rows(stream) = answer else {
            return fail(Fault::Internal { detail: "a query without rows".to_string() });
        };
        let made = self.engine.now();
        self.cursors("DECLARE CURSOR")?.add(&declare.name, Arc::clone(&whole.text), made, stream);
        Ok("DECLARE CURSOR".to_string())
    }

    async fn open_cursor(
        &mut self,
        source: &Arc<Source>,
        query: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        let guard = self.running();
        let (view, compiled) = guard.stoppable(Box::pin(self.view_and_compile(source, query))).await?;
        // Detaches the query from DECLARE's timeout and cancellation, because later statements read the rows.
        self.detach_guard();
        let run = Box::pin(self.run_compiled(view, &compiled, query.is_some(), params));
        guard.stoppable(run).await
    }

    /// FETCH and MOVE.
    pub(crate) async fn fetch(&mut self, fetch: &FetchCursor) -> EngineResult<Answer> {
        if !fetch.moves {
            return self.fetch_rows(&fetch.name, fetch.count, "FETCH").map(Answer::Rows);
        }
        let rows = self.cursor(&fetch.name)?.lock()?;
        let moved = pass(rows, fetch.count.unwrap_or(u64::MAX), &self.running()).await?;
        Ok(Answer::Done(format!("MOVE {moved}")))
    }

    /// The next rows of a cursor, all if `count` is `None`.
    ///
    /// # Errors
    /// 34000, 55000.
    pub(crate) fn fetch_rows(&self, name: &str, count: Option<u64>, tag: &'static str) -> EngineResult<RowStream> {
        let cursor = self.cursor(name)?;
        let columns = Arc::clone(&cursor.columns);
        let (rows, left, guard) = (cursor.lock()?, count.unwrap_or(u64::MAX), self.running());
        let chunks = stream::unfold(Some((rows, left, guard)), next_chunk).boxed();
        Ok(RowStream { columns, chunks, tag, counted: true })
    }

    /// The cursor of the open block.
    fn cursor(&self, name: &str) -> EngineResult<&OpenCursor> {
        let found = match &self.block {
            Block::Open(open) => open.cursors.find(name),
            Block::Idle => None,
        };
        found.map_or_else(|| fail(Fault::NoSuchCursor { name: name.to_string() }), Ok)
    }

    /// Runs a step of a cursor of the open block as the Execute of a portal does: the next rows, all if `limit` is
    /// `None`.
    ///
    /// # Errors
    /// 34000 if there is no such cursor; errors of its query.
    pub async fn execute_cursor(&mut self, name: &str, limit: Option<u64>) -> Result<RowStream, EngineError> {
        self.check_block()?;
        self.begin_statement();
        let stream = self.fetch_rows(name, limit, "SELECT");
        let done = self.followed(stream.map(Answer::Rows));
        match self.end_statement(done)? {
            Answer::Rows(stream) => Ok(stream),
            _ => fail(Fault::Internal { detail: "a cursor without rows".to_string() }),
        }
    }

    /// CLOSE.
    pub(crate) fn close_named(&mut self, name: &str) -> EngineResult<String> {
        if self.close_cursor(name) {
            return Ok("CLOSE CURSOR".to_string());
        }
        fail(Fault::NoSuchCursor { name: name.to_string() })
    }

    /// CLOSE ALL.
    pub(crate) fn close_cursors(&mut self) {
        if let Block::Open(open) = &mut self.block {
            open.cursors.close_all();
        }
    }

    fn cursors(&mut self, command: &'static str) -> EngineResult<&mut Cursors> {
        match &mut self.block {
            Block::Open(OpenBlock { cursors, .. }) => Ok(cursors),
            Block::Idle => fail(Fault::OutsideBlock { command }),
        }
    }
}

/// Skips rows and counts them.
async fn pass(mut rows: OwnedMutexGuard<Rows>, limit: u64, guard: &RunGuard) -> EngineResult<u64> {
    let mut passed = 0;
    while passed < limit {
        match guard.stoppable(rows.next(limit - passed)).await? {
            Some(chunk) => passed += chunk.len() as u64,
            None => break,
        }
    }
    Ok(passed)
}

/// A cursor's rows, the number of rows still to fetch, and the guard of the FETCH.
type Fetching = (OwnedMutexGuard<Rows>, u64, Arc<RunGuard>);

async fn next_chunk(fetching: Option<Fetching>) -> Option<(EngineResult<Chunk>, Option<Fetching>)> {
    let (mut rows, left, guard) = fetching.filter(|(_, left, _)| *left > 0)?;
    match guard.stoppable(rows.next(left)).await {
        Ok(Some(chunk)) => {
            let left = left - chunk.len() as u64;
            Some((Ok(chunk), Some((rows, left, guard))))
        }
        Ok(None) => None,
        Err(error) => Some((Err(error), None)),
    }
}
