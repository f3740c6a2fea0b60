//! COPY … FROM STDIN.

use super::binary::Tuples;
use super::blocks::{self, BLOCK, BadLine, Block, Blocks, UNDER_WAY, is_plain};
use super::format::{Format, positions};
use super::lines::{Fields, Line};
use super::rows::{LongWay, RowWriter, header_text, shortened};
use crate::dml::{FAMILY, Second, Target, default_values};
use crate::error::{EngineResult, Fault, fail};
use crate::running::RunGuard;
use crate::transaction_block::Work;
use crate::{Engine, EngineError, Session};
use catalog::RowIdBlock;
use sql::{Copy, CopyHeader, ObjectName, ast::Expr};
use std::sync::Arc;
use store::{BulkLoad, Bytes, OnDuplicate};
use txn::{LockMode, LockOwner};

/// Hidden row ids taken at once.
const ID_BLOCK: u32 = 8192;
/// Lines between two looks at whether the statement was cancelled.
const CHECK_EVERY: u64 = 4096;

/// A `COPY … FROM STDIN` under way. Dropping it undoes it.
pub struct CopyIn {
    /// How many columns a line has.
    pub columns: usize,
    /// Is the data in PostgreSQL's binary form?
    pub binary: bool,
    format: Arc<Format>,
    /// What turns binary data into lines.
    tuples: Option<Tuples>,
    names: Vec<String>,
    /// Data that is not read yet: at most one line and what came last.
    buffer: Vec<u8>,
    fields: Fields,
    /// Lines read, the header too.
    line: u64,
    header: CopyHeader,
    /// `\.` was read.
    ended: bool,
    rows: RowWriter,
    /// `None`: rows are made one by one.
    blocks: Option<Blocks>,
    ids: Option<RowIdBlock>,
    sink: Sink,
    count: u64,
    engine: Arc<Engine>,
    guard: Arc<RunGuard>,
}

/// Where rows go.
enum Sink {
    /// Alone on the table: sorted runs, one commit. The lock is released when this is dropped.
    Load { load: Box<dyn BulkLoad>, _lock: LockOwner },
    /// With the other writes of a transaction.
    Work(Work),
}

impl std::fmt::Debug for CopyIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CopyIn({} at line {})", self.rows.target().table.name, self.line)
    }
}

impl CopyIn {
    /// Takes the next bytes, cut anywhere.
    ///
    /// # Errors
    /// The first bad line, with its number as context.
    pub async fn feed(&mut self, data: &[u8]) -> Result<(), EngineError> {
        if self.ended {
            return Ok(());
        }
        let Some(tuples) = &mut self.tuples else {
            self.buffer.extend_from_slice(data);
            return self.take_text().await;
        };
        // Rows before a bad one are read first, so that their lines are counted.
        let fed = tuples.feed(data, &self.format, &mut self.buffer);
        self.read(false).await?;
        fed.map_err(|error| {
            let place = format!("COPY {}, line {}", self.rows.target().table.name, self.line + 1);
            error.with_context(place)
        })
    }

    /// Reads what the buffer holds: long text is given to the query threads in blocks.
    async fn take_text(&mut self) -> EngineResult<()> {
        if self.header != CopyHeader::Off || self.blocks.is_none() {
            return self.read(false).await;
        }
        while self.buffer.len() >= BLOCK && self.take_block().await? {}
        Ok(())
    }

    /// Gives the whole lines of the buffer to the query threads. False without one.
    async fn take_block(&mut self) -> EngineResult<bool> {
        self.guard.check()?;
        let Some(end) = memchr::memrchr(b'\n', &self.buffer).map(|end| end + 1) else { return Ok(false) };
        let plain = is_plain(&self.format, self.buffer.get(..end).unwrap_or_default());
        let writer = self.rows.fork().filter(|_| plain);
        let Some(writer) = writer else {
            self.end_blocks().await?;
            let before = self.buffer.len();
            self.read(false).await?;
            return Ok(self.buffer.len() < before && !self.ended);
        };
        let rest = self.buffer.split_off(end);
        let text = std::mem::replace(&mut self.buffer, rest);
        let first_line = self.line;
        self.line += memchr::memchr_iter(b'\n', &text).count() as u64;
        let format = Arc::clone(&self.format);
        let encoding = self.engine.runtime().spawn(async move { blocks::encode(writer, &format, &text) })?;
        let Some(blocks) = &mut self.blocks else { return Ok(false) };
        blocks.under_way.push_back(Block { first_line, encoding });
        if blocks.under_way.len() >= UNDER_WAY {
            self.end_block().await?;
        }
        Ok(true)
    }

    /// Waits for all blocks.
    async fn end_blocks(&mut self) -> EngineResult<()> {
        while self.end_block().await? {}
        Ok(())
    }

    /// Waits for the first block and loads its rows. False when there is none.
    async fn end_block(&mut self) -> EngineResult<bool> {
        let first = self.blocks.as_mut().and_then(|blocks| blocks.under_way.pop_front());
        let (Some(block), Sink::Load { load, .. }) = (first, &mut self.sink) else { return Ok(false) };
        let encoded = block.encoding.await.map_err(|error| Fault::Internal { detail: error.to_string() })?;
        match encoded {
            Ok(rows) => {
                self.count += rows.len() as u64;
                let written = load.write_rows(FAMILY, rows).await;
                written.map_err(|error| Session::in_words(self.rows.target(), error.into()))?;
                Ok(true)
            }
            Err(BadLine { lines, text, error }) => {
                self.line = block.first_line + lines;
                Err(self.at_line(error, &text))
            }
        }
    }

    /// Ends the data: all rows are in the table when this returns. The command tag.
    ///
    /// # Errors
    /// A duplicate key, an incomplete last line, or the store's failure. Nothing was copied then.
    pub async fn finish(mut self: Box<Self>, session: &mut Session) -> Result<String, EngineError> {
        let whole = self.tuples.as_ref().map_or(Ok(()), Tuples::finish);
        let read = match whole.and(self.end_blocks().await) {
            Ok(()) => self.read(true).await,
            Err(error) => Err(error),
        };
        let done = match read {
            Ok(()) => self.end(session).await,
            Err(error) => Err(error),
        };
        if done.is_err() {
            session.fail();
        }
        done.map(|rows| format!("COPY {rows}"))
    }

    /// The client gave up: the error to answer with.
    pub fn abort(self: Box<Self>, session: &mut Session, reason: &str) -> EngineError {
        session.fail();
        Fault::CopyAborted { reason: reason.to_string() }.into()
    }

    async fn end(self, session: &mut Session) -> EngineResult<u64> {
        let Self { sink, rows, count, engine, .. } = self;
        let done = match sink {
            Sink::Load { load, _lock } => match load.finish().await {
                Ok(commit) => {
                    session.last_commit = session.last_commit.max(commit);
                    Ok(())
                }
                Err(error) => Err(error.into()),
            },
            Sink::Work(work) => session.end_work(work).await,
        };
        done.map_err(|error| Session::in_words(rows.target(), error))?;
        engine.counters().rows_copied.add(count);
        Ok(count)
    }

    /// Reads all whole lines of the buffer.
    async fn read(&mut self, last: bool) -> EngineResult<()> {
        let mut at = 0;
        while !self.ended {
            match self.fields.read(&self.format, &self.buffer, at, last) {
                Line::Whole { text, next } => {
                    self.line += 1;
                    if let Err(error) = self.take_line().await {
                        let line = self.buffer.get(text).unwrap_or_default();
                        return Err(self.at_line(error, line));
                    }
                    at = next;
                    if self.line.is_multiple_of(CHECK_EVERY) {
                        self.guard.check()?;
                    }
                }
                Line::End => self.ended = true,
                Line::Partial => break,
                Line::OpenQuote => {
                    let error = Fault::BadCopy { message: "unterminated CSV quoted field".to_string() };
                    self.line += 1;
                    let rest = self.buffer.get(at..).unwrap_or_default();
                    return Err(self.at_line(error.into(), rest));
                }
            }
        }
        self.buffer.drain(..at.min(self.buffer.len()));
        Ok(())
    }

    async fn take_line(&mut self) -> EngineResult<()> {
        if self.header != CopyHeader::Off {
            let header = std::mem::replace(&mut self.header, CopyHeader::Off);
            return if header == CopyHeader::Match { self.check_header() } else { Ok(()) };
        }
        let id = if self.rows.needs_ids() { self.next_id().await? } else { 0 };
        if !self.rows.write(&self.fields, &self.buffer, id).await? {
            return Ok(());
        }
        self.count += 1;
        let (key, fragment) = (&self.rows.key, &self.rows.fragment);
        match &mut self.sink {
            Sink::Load { load, .. } => {
                let written = load.write(FAMILY, key, fragment).await;
                written.map_err(|error| Session::in_words(self.rows.target(), error.into()))
            }
            Sink::Work(work) => {
                let target = self.rows.target();
                let key = Bytes::copy_from_slice(key);
                self.guard.stoppable(work.lock(target.storage, &key)).await?;
                if work.newest(target.storage, FAMILY, &key).await?.is_some() {
                    return Err(target.duplicate(&key));
                }
                Ok(work.txn.put(target.storage, FAMILY, key, Bytes::copy_from_slice(fragment))?)
            }
        }
    }

    async fn next_id(&mut self) -> EngineResult<i64> {
        if let Some(id) = self.ids.as_mut().and_then(Iterator::next) {
            return Ok(id);
        }
        let mut block = self.engine.catalog().row_ids().reserve(ID_BLOCK).await?;
        let id = block.next().unwrap_or_default();
        self.ids = Some(block);
        Ok(id)
    }

    fn check_header(&self) -> EngineResult<()> {
        if self.fields.list.len() != self.names.len() {
            let (got, want) = (self.fields.list.len(), self.names.len());
            let message = format!("wrong number of fields in header line: got {got}, expected {want}");
            return fail(Fault::BadCopy { message });
        }
        for (i, (field, name)) in self.fields.list.iter().zip(&self.names).enumerate() {
            let got = header_text(&self.fields, &self.buffer, field);
            if got != *name {
                let number = i + 1;
                let message =
                    format!("column name mismatch in header line field {number}: got \"{got}\", expected \"{name}\"");
                return fail(Fault::BadCopy { message });
            }
        }
        Ok(())
    }

    /// Says where in the data an error is, as PostgreSQL does.
    fn at_line(&self, error: EngineError, line: &[u8]) -> EngineError {
        let place = format!("COPY {}, line {}", self.rows.target().table.name, self.line);
        let context = match error.context() {
            Some(column) => format!("{place}, {column}"),
            None => format!("{place}: \"{}\"", shortened(line)),
        };
        error.with_context(context)
    }
}

impl Session {
    pub(super) async fn copy_in(&mut self, copy: &Copy, name: &ObjectName, columns: &[String]) -> EngineResult<CopyIn> {
        self.check_writable("COPY FROM")?;
        let bulk =
            matches!(self.block, crate::transaction_block::Block::Idle) && self.engine.store().capabilities().bulk_load;
        let sink = if bulk {
            let mut lock = LockOwner::new(Arc::clone(self.engine.locks()));
            let table = self.lock_table_by_name(&mut lock, name, LockMode::Exclusive).await?;
            let load = self.engine.store().bulk_load(table.storage_id(), OnDuplicate::Fail).await?;
            Sink::Load { load, _lock: lock }
        } else {
            let mut work = self.take_transaction()?;
            work.txn.end_statement();
            self.lock_table_by_name(work.txn.locks(), name, LockMode::Shared).await?;
            Sink::Work(work)
        };
        // Under the lock the definition stays as it is.
        let catalog = self.engine.catalog().current();
        let target = self.target(&catalog, name)?;
        let fields = positions(&target.table, columns)?;
        let names: Vec<String> =
            fields.iter().filter_map(|at| target.column(*at)).map(|column| column.name.clone()).collect();
        let format = Format::new(&copy.options, &names)?;
        let types = fields.iter().filter_map(|at| target.column(*at)).map(|column| column.ty).collect();
        let tuples = format.binary.then(|| Tuples::new(types));
        let rows = self.row_writer(&catalog, target, fields, copy.selection.as_ref()).await?;
        Ok(CopyIn {
            columns: rows.width(),
            binary: format.binary,
            tuples,
            header: format.header,
            format: Arc::new(format),
            names,
            buffer: Vec::new(),
            fields: Fields::default(),
            line: 0,
            ended: false,
            blocks: (bulk && rows.fork().is_some()).then(Blocks::default),
            rows,
            ids: None,
            sink,
            count: 0,
            engine: Arc::clone(&self.engine),
            guard: self.running(),
        })
    }

    async fn row_writer(
        &mut self,
        catalog: &Arc<catalog::Catalog>,
        target: Target,
        fields: Vec<usize>,
        selection: Option<&Expr>,
    ) -> EngineResult<RowWriter> {
        let (base, columns, exprs) = default_values(&target, &fields)?;
        let sequences = crate::dml::sequence_defaults(&target, &fields);
        let mut params = crate::dml::ParamTypes::default();
        let alias = target.table.name.clone();
        let defaults = self.row_exprs(catalog, &target, &alias, Second::None, &exprs, &mut params).await?;
        let filter = match selection {
            None => None,
            Some(expr) => Some(
                self.row_exprs(catalog, &target, &alias, Second::None, std::slice::from_ref(expr), &mut params).await?,
            ),
        };
        params.finish_without()?;
        let long = match columns.is_empty() && filter.is_none() && sequences.is_empty() {
            true => None,
            false => {
                let context = self.planning_context(catalog).await?;
                let (engine, taken) = (Arc::clone(&self.engine), Arc::clone(&self.taken));
                Some(LongWay { context, columns, defaults, filter, sequences, engine, taken })
            }
        };
        RowWriter::new(target, fields, base, long)
    }
}
