//! Lines in blocks: encoded on the query threads, handed to the load in their order.
//!
//! ```text
//!   data ──> block of whole lines ──> encoded by a query thread ──┐
//!            block of whole lines ──> encoded by a query thread ──┴─ in order ──> bulk load
//! ```
//! A block is cut at a line end, which is only known to be one where nothing hides it: blocks with quotes or
//! backslashes are read line by line instead, when those before them are done.

use super::format::Format;
use super::lines::{Fields, Line};
use super::rows::{RowEncoder, zero_byte};
use crate::EngineError;
use crate::error::{EngineResult, Fault};
use crate::row_writer::{LoadBlock, add_entry};
use crate::threads::query_runtime::Spawned;
use index::EntryMaker;
use std::collections::VecDeque;
use std::sync::Arc;
use store::LoadRows;

/// Bytes of a block.
pub(super) const BLOCK: usize = 512 * 1024;
/// Blocks under way.
pub(super) const UNDER_WAY: usize = 4;

/// Blocks that are being encoded, the first of them first.
#[derive(Default)]
pub(super) struct Blocks {
    pub(super) under_way: VecDeque<Block>,
}

/// One of them.
pub(super) struct Block {
    /// The number of lines before it.
    pub(super) first_line: u64,
    pub(super) encoding: Spawned<Result<LoadBlock, BadLine>>,
}

/// A line that is wrong.
pub(super) struct BadLine {
    /// Lines of its block up to and with it.
    pub(super) lines: u64,
    pub(super) text: Vec<u8>,
    pub(super) error: EngineError,
}

/// May the data be cut at any line end in it?
pub(super) fn is_plain(format: &Format, text: &[u8]) -> bool {
    let quote = if format.csv { format.quote } else { b'\\' };
    memchr::memchr2(quote, b'\\', text).is_none()
}

/// Makes rows of lines, and the entries of the rows.
pub(super) struct BlockEncoder {
    pub(super) rows: RowEncoder,
    pub(super) entries: Option<EntryMaker>,
}

impl BlockEncoder {
    /// Encodes whole lines.
    pub(super) fn encode(mut self, format: &Arc<Format>, text: &[u8]) -> Result<LoadBlock, BadLine> {
        let mut block = LoadBlock {
            rows: LoadRows::with_capacity(text.len() + text.len() / 2),
            entries: vec![LoadRows::default(); self.entries.iter().flat_map(EntryMaker::indexes).count()],
        };
        let mut fields = Fields::default();
        let (mut at, mut lines) = (0, 0);
        loop {
            let (line, next) = match fields.read(format, text, at, true) {
                Line::Whole { text, next } => (text, next),
                Line::Bad(message) => {
                    let text = text.get(at..).unwrap_or_default().to_vec();
                    let error = Fault::BadCopy { message: message.to_string() }.into();
                    return Err(BadLine { lines: lines + 1, text, error });
                }
                Line::ZeroByte => return Err(BadLine { lines: lines + 1, text: Vec::new(), error: zero_byte() }),
                Line::Partial | Line::End | Line::OpenQuote => return Ok(block),
            };
            lines += 1;
            if let Err(error) = self.add(&fields, text, &mut block) {
                return Err(BadLine { lines, text: text.get(line).unwrap_or_default().to_vec(), error });
            }
            at = next;
        }
    }

    /// Adds the row of a line.
    fn add(&mut self, fields: &Fields, text: &[u8], block: &mut LoadBlock) -> EngineResult<()> {
        self.rows.write_short(fields, text, 0)?;
        let (key, fragment) = (&self.rows.key, &self.rows.fragment);
        if let Some(maker) = &mut self.entries {
            maker.make(key, fragment, |index, key, fragment| add_entry(&mut block.entries, index, key, fragment))?;
        }
        block.rows.push(key, fragment);
        Ok(())
    }
}
