//! COPY … FROM STDIN.

use super::binary::Tuples;
use super::blocks::{BLOCK, BadLine, Block, BlockEncoder, Blocks, UNDER_WAY, is_plain};
use super::format::Format;
use super::lines::{Fields, Line};
use super::loader::Loader;
use super::rows::{header_text, shortened, utf8, zero_byte};
use crate::error::{EngineResult, Fault, fail};
use crate::threads::turn;
use crate::{EngineError, Session};
use query::HeldMemory;
use sql::{Copy, CopyHeader, ObjectName};
use std::future::Future;
use std::ops::Range;
use std::sync::Arc;

/// Lines between two checks for cancellation.
const CHECK_EVERY: u64 = 4096;
/// Most bytes of a line; bounds the memory for data without line ends.
pub(super) const MAX_LINE: usize = 256 << 20;
/// An incomplete line longer than this is parsed again only after its length has doubled.
const LONG_LINE: usize = 1 << 20;

/// A running `COPY … FROM STDIN`. Dropping the value discards its rows.
pub struct CopyIn {
    /// Number of columns of a line.
    pub columns: usize,
    /// Whether the data is in PostgreSQL's binary format.
    pub binary: bool,
    format: Arc<Format>,
    /// Converts binary data to text lines.
    tuples: Option<Tuples>,
    names: Vec<String>,
    /// Data that is not parsed yet: the start of a line and the data received after it.
    buffer: Vec<u8>,
    /// The buffer is not parsed before it has this length.
    min_parse_len: usize,
    fields: Fields,
    /// Number of lines read, with the header; a CSV record may have several.
    line: u64,
    header: CopyHeader,
    /// Whether the end marker `\.` was read.
    ended: bool,
    /// Blocks encoded on the query threads. `None`: all lines are read one by one.
    blocks: Option<Blocks>,
    /// Memory reserved for a long incomplete line.
    memory: HeldMemory,
    loader: Loader,
}

impl std::fmt::Debug for CopyIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CopyIn({} at line {})", self.loader.rows.target().table.name, self.line)
    }
}

impl CopyIn {
    /// Reads the next bytes, which may be cut anywhere.
    ///
    /// # Errors
    /// The first bad line, with its number as context.
    pub async fn feed(&mut self, data: &[u8]) -> Result<(), EngineError> {
        let host = self.loader.guard.host();
        turn::watched(&host, Box::pin(self.take(data))).await
    }

    async fn take(&mut self, data: &[u8]) -> EngineResult<()> {
        if self.ended {
            return Ok(());
        }
        self.hold(data.len())?;
        let Some(tuples) = &mut self.tuples else {
            self.buffer.extend_from_slice(data);
            return self.take_long_text().await;
        };
        // Loads the tuples before a bad one first, so that the error has the right line number.
        let fed = tuples.feed(data, &self.format, &mut self.buffer);
        let begun = tuples.has_begun();
        self.read(false).await?;
        fed.map_err(|error| {
            // The header does not count as a line.
            if begun { self.at_next_line(error) } else { error }
        })
    }

    /// Reserves memory for a long incomplete line and `more` bytes: twice their size, because buffers double as they
    /// grow.
    fn hold(&self, more: usize) -> EngineResult<()> {
        let waiting = self.buffer.len() + self.tuples.as_ref().map_or(0, Tuples::waiting);
        let held = if waiting > LONG_LINE { 2 * (waiting + more) } else { 0 };
        Ok(self.memory.try_resize(held)?)
    }

    /// Reads the lines of the buffer. A long incomplete line is parsed again only after its length has doubled, and is
    /// refused beyond [`MAX_LINE`].
    async fn take_long_text(&mut self) -> EngineResult<()> {
        if self.buffer.len() < self.min_parse_len {
            return Ok(());
        }
        self.take_text().await?;
        let left = self.buffer.len();
        if left > MAX_LINE {
            self.line += 1;
            return Err(self.at_line(Fault::LongCopyLine { limit: MAX_LINE }.into(), b""));
        }
        self.min_parse_len = if left > LONG_LINE { (left * 2).min(MAX_LINE + 1) } else { 0 };
        Ok(())
    }

    /// Reads the lines of the buffer, in blocks on the query threads if there is enough data.
    async fn take_text(&mut self) -> EngineResult<()> {
        if self.header != CopyHeader::Off || self.blocks.is_none() {
            return self.read(false).await;
        }
        while self.buffer.len() >= BLOCK && self.take_block().await? {}
        Ok(())
    }

    /// Spawns the encoding of the buffer's whole lines on the query threads, or reads them here if they need the line
    /// reader. False if no line was read.
    async fn take_block(&mut self) -> EngineResult<bool> {
        self.loader.guard.check()?;
        let Some(end) = memchr::memrchr(b'\n', &self.buffer).map(|end| end + 1) else { return Ok(false) };
        let plain = is_plain(&self.format, self.buffer.get(..end).unwrap_or_default());
        let writer = self.loader.rows.fork().filter(|_| plain);
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
        let encoder = BlockEncoder { rows: writer, entries: self.loader.rows.target().entry_maker()? };
        let encoding = self
            .loader
            .runtime()
            .spawn(Some(self.loader.guard.host()), async move { encoder.encode(&format, &text) })?;
        let Some(blocks) = &mut self.blocks else { return Ok(false) };
        blocks.under_way.push_back(Block { first_line, encoding });
        if blocks.under_way.len() >= UNDER_WAY {
            self.end_block().await?;
        }
        Ok(true)
    }

    /// Waits for all blocks and loads their rows.
    async fn end_blocks(&mut self) -> EngineResult<()> {
        while self.end_block().await? {}
        Ok(())
    }

    /// Waits for the first block and loads its rows. False if there is no block.
    async fn end_block(&mut self) -> EngineResult<bool> {
        let first = self.blocks.as_mut().and_then(|blocks| blocks.under_way.pop_front());
        let Some(block) = first else { return Ok(false) };
        let encoded = block.encoding.await.map_err(|error| Fault::Internal { detail: error.to_string() })?;
        match encoded {
            Ok(rows) => {
                self.loader.put_block(rows).await?;
                Ok(true)
            }
            Err(BadLine { lines, text, error }) => {
                self.line = block.first_line + lines;
                Err(self.at_line(error, &text))
            }
        }
    }

    /// Ends the data, loads the remaining rows and returns the command tag.
    ///
    /// # Errors
    /// A duplicate key, an incomplete last line, or a failure of the store. No row is copied then.
    pub async fn finish(mut self: Box<Self>, session: &mut Session) -> Result<String, EngineError> {
        let whole = match self.tuples.as_ref().map_or(Ok(()), Tuples::finish) {
            Ok(()) => self.end_blocks().await,
            Err(error) => Err(self.at_next_line(error)),
        };
        let read = match whole {
            Ok(()) => self.read(true).await,
            Err(error) => Err(error),
        };
        let place = format!("COPY {}", self.loader.rows.target().table.name);
        let done = match read {
            // A bulk load finds duplicate keys at its end, when line numbers are not known any more.
            Ok(()) => self.loader.end(session).await.map_err(|error| match error.code() {
                "23505" => error.with_context(place),
                _ => error,
            }),
            Err(error) => Err(error),
        };
        if done.is_err() {
            session.fail();
        }
        done.map(|rows| format!("COPY {rows}"))
    }

    /// Handles CopyFail: fails the transaction block and returns the error for the client.
    pub fn abort(self: Box<Self>, session: &mut Session, reason: &str) -> EngineError {
        session.fail();
        EngineError::from(Fault::CopyAborted { reason: reason.to_string() }).with_context(self.place())
    }

    /// Awaits `work`, which receives more data, until the statement is cancelled or times out.
    ///
    /// # Errors
    /// Cancellation or statement timeout.
    pub async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, EngineError> {
        let guard = Arc::clone(&self.loader.guard);
        let done = guard.stoppable(async { Ok(work.await) }).await;
        done.map_err(|error| error.with_context(self.place()))
    }

    /// Adds the next line's number to the error's context.
    fn at_next_line(&self, error: EngineError) -> EngineError {
        let place = match error.context() {
            Some(column) => format!("{}, {column}", self.place()),
            None => self.place(),
        };
        error.with_context(place)
    }

    /// The table and the next line's number, in PostgreSQL's CONTEXT format.
    pub fn place(&self) -> String {
        let unread = match &self.tuples {
            None => memchr::memchr_iter(b'\n', &self.buffer).count() as u64,
            Some(_) => 0,
        };
        format!("COPY {}, line {}", self.loader.rows.target().table.name, self.line + unread + 1)
    }

    /// Reads all complete lines of the buffer. With `last`, the end of the buffer is the end of the data.
    async fn read(&mut self, last: bool) -> EngineResult<()> {
        let mut at = 0;
        while !self.ended {
            match self.fields.read(&self.format, &self.buffer, at, last) {
                Line::Whole { text, next } => {
                    let before = self.line;
                    self.line += 1 + self.lines_within(text.clone());
                    if let Err(error) = self.take_line(&text).await {
                        let line = self.buffer.get(text).unwrap_or_default();
                        return Err(self.at_line(error, line));
                    }
                    at = next;
                    if self.line / CHECK_EVERY > before / CHECK_EVERY {
                        self.loader.guard.check()?;
                    }
                }
                Line::End => self.ended = true,
                Line::Partial => break,
                Line::OpenQuote => {
                    let within = self.lines_within(at..self.buffer.len());
                    return Err(self.bad_line("unterminated CSV quoted field", at, within));
                }
                Line::Bad(message) => return Err(self.bad_line(message, at, 0)),
                Line::ZeroByte => {
                    self.line += 1;
                    return Err(self.at_line(zero_byte(), b""));
                }
            }
        }
        self.buffer.drain(..at.min(self.buffer.len()));
        Ok(())
    }

    /// The error for the line that begins at `at` and contains `within` newlines.
    fn bad_line(&mut self, message: &str, at: usize, within: u64) -> EngineError {
        self.line += 1 + within;
        let error = Fault::BadCopy { message: message.to_string() };
        self.at_line(error.into(), self.buffer.get(at..).unwrap_or_default())
    }

    /// Newlines inside a CSV record. Escaped newlines of the text format are not counted, as in PostgreSQL.
    fn lines_within(&self, text: Range<usize>) -> u64 {
        let text = self.buffer.get(text).filter(|_| self.format.csv);
        text.map_or(0, |text| memchr::memchr_iter(b'\n', text).count() as u64)
    }

    async fn take_line(&mut self, text: &Range<usize>) -> EngineResult<()> {
        if self.header != CopyHeader::Off {
            utf8(self.buffer.get(text.clone()).unwrap_or_default())?;
            let header = std::mem::replace(&mut self.header, CopyHeader::Off);
            return if header == CopyHeader::Match { self.check_header() } else { Ok(()) };
        }
        let id = self.loader.next_id().await?;
        if self.loader.rows.write(&self.fields, &self.buffer, id).await? {
            self.loader.put().await?;
        }
        Ok(())
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

    /// Adds the table and the line to the error's context, as PostgreSQL does.
    fn at_line(&self, error: EngineError, line: &[u8]) -> EngineError {
        let place = format!("COPY {}, line {}", self.loader.rows.target().table.name, self.line);
        let context = match error.context() {
            // PostgreSQL omits the text of the line for a duplicate key.
            None if line.is_empty() || error.code() == "23505" => place,
            Some(column) => format!("{place}, {column}"),
            None => format!("{place}: \"{}\"", shortened(line)),
        };
        error.with_context(context)
    }
}

impl Session {
    pub(super) async fn copy_in(&mut self, copy: &Copy, name: &ObjectName, columns: &[String]) -> EngineResult<CopyIn> {
        self.check_writable("COPY FROM")?;
        let loader = self.loader(name, columns, copy.selection.as_ref()).await?;
        let names = loader.rows.names();
        let format = Format::new(&copy.options, &names)?;
        if copy.options.freeze {
            self.without_effect("FREEZE", "rows have no transaction numbers to freeze");
        }
        let tuples = format.binary.then(|| Tuples::new(names.iter().cloned().zip(loader.rows.types()).collect()));
        Ok(CopyIn {
            columns: names.len(),
            binary: format.binary,
            tuples,
            header: format.header,
            format: Arc::new(format),
            names,
            buffer: Vec::new(),
            min_parse_len: 0,
            fields: Fields::default(),
            line: 0,
            ended: false,
            blocks: loader.takes_blocks().then(Blocks::default),
            memory: self.engine.hold("a line of COPY"),
            loader,
        })
    }
}
