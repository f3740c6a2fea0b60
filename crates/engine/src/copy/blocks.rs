//! Blocks of lines: encoded in parallel on the query threads, loaded in the order of the data.
//!
//! ```text
//!   data ──> block of whole lines ──> encoded by a query thread ──┐
//!            block of whole lines ──> encoded by a query thread ──┴─ in order ──> bulk load
//! ```
//! A block ends at a newline. Quotes and backslashes can make a newline part of a value, so data with either is read
//! line by line instead, after the blocks before it are loaded.

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

/// Minimum bytes of a block.
pub(super) const BLOCK: usize = 512 * 1024;
/// Most blocks that are encoded at the same time.
pub(super) const UNDER_WAY: usize = 4;

/// Blocks that are being encoded, in the order of the data.
#[derive(Default)]
pub(super) struct Blocks {
    pub(super) under_way: VecDeque<Block>,
}

/// A block that is being encoded.
pub(super) struct Block {
    /// The number of lines before the block.
    pub(super) first_line: u64,
    pub(super) encoding: Spawned<Result<LoadBlock, BadLine>>,
}

/// A line with an error.
pub(super) struct BadLine {
    /// The line's number within its block, from 1.
    pub(super) lines: u64,
    pub(super) text: Vec<u8>,
    pub(super) error: EngineError,
}

/// Whether every newline in `text` ends a line, so that the data can be cut there.
pub(super) fn is_plain(format: &Format, text: &[u8]) -> bool {
    let quote = if format.csv { format.quote } else { b'\\' };
    memchr::memchr2(quote, b'\\', text).is_none()
}

/// Encodes lines as rows and index entries.
pub(super) struct BlockEncoder {
    pub(super) rows: RowEncoder,
    pub(super) entries: Option<EntryMaker>,
}

impl BlockEncoder {
    /// Encodes `text`, which consists of whole lines.
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

    /// Adds the row and the index entries of a line.
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
