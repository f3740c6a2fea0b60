//! A sample of the rows of a table, or of the entries of an index, in bounded memory.
//!
//! ```text
//!   few rows    [==================]  all are read, each is kept with the same probability
//!   many rows   [##  |##  |##  |## ]  the first rows of many pieces of about the same size
//! ```
//! When too many rows are kept, each is dropped with a probability of one half, and from then on half as many are
//! kept. The row's number seeds the random choice, so that the same rows give the same sample.

use super::leading::LeadingValues;
use super::values::Item;
use crate::dml::FAMILY;
use crate::error::EngineResult;
use catalog::{Cell, RowCodec, RowReader, Size};
use store::{KeyRange, RowBatch, ScanRequest};
use txn::ReadView;
use types::{Datum, interrupt};

/// Sampled rows per value of the statistics target, as in PostgreSQL's `std_typanalyze`.
const ROWS_OF_A_VALUE: usize = 300;
/// Maximum memory of a sample.
const MOST_BYTES: usize = 12 << 20;
/// Approximate bytes of rows that are read at once.
const BYTES_AT_A_TIME: u64 = 1 << 20;
/// A table with up to this many times the rows of a sample is read completely.
const WORTH_READING: u64 = 10;
/// Number of pieces that are sampled of a larger table.
const PIECES: usize = 1_024;
/// Steps of an interrupt check that reading a row counts as.
const STEPS_OF_A_ROW: usize = 64;

/// Returns an error to stop sampling: 57014, 57P01.
pub(super) type MayGoOn<'a> = &'a (dyn Fn() -> EngineResult<()> + Send + Sync);

/// The sampled rows, column by column.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) columns: Vec<Vec<Item>>,
    /// Number of rows in the sample.
    pub(super) kept: u64,
    /// Number of rows of the table, counted or estimated.
    pub(super) rows: f64,
    /// Whether the sample contains every row.
    pub(super) complete: bool,
    /// The store's estimate.
    pub(super) estimate: Size,
    /// Position of the first key column among the columns, with its estimated number of distinct values.
    pub(super) leading: Option<(usize, f64)>,
}

/// Samples the rows of the table or index that `codec` decodes.
pub(super) async fn sample(
    view: &ReadView,
    codec: &RowCodec,
    wanted: &[usize],
    target: usize,
    may_go_on: MayGoOn<'_>,
) -> EngineResult<Sample> {
    let storage = codec.table().storage_id();
    let size = view.estimate(storage, FAMILY, &[KeyRange::all()]).await?;
    let most = target.saturating_mul(ROWS_OF_A_VALUE);
    let leading = LeadingValues::new(codec.key_schema().clone());
    let mut sampler = Sampler::new(RowReader::new(codec, wanted)?, leading, most);
    let batch_rows = (BYTES_AT_A_TIME / (size.bytes / size.rows.max(1)).max(1)).clamp(1, 1_024) as usize;
    let whole = size.rows <= most as u64 * WORTH_READING;
    let pieces = match whole {
        true => vec![vec![KeyRange::all()]],
        false => view.split(storage, FAMILY, &[KeyRange::all()], PIECES).await?,
    };
    let limit = (!whole).then(|| (2 * most as u64).div_ceil(pieces.len().max(1) as u64));
    for ranges in pieces {
        sampler.leading.begin_piece();
        let request = ScanRequest { limit, batch_rows, ..ScanRequest::new(storage, FAMILY, ranges) };
        let mut scan = view.scan(request).await?;
        while let Some(batch) = scan.next().await? {
            may_go_on()?;
            sampler.take(&batch)?;
        }
    }
    let estimate = Size { rows: size.rows, bytes: size.bytes };
    let rows = if whole { sampler.seen as f64 } else { size.rows as f64 };
    let first = codec.key_columns().first().and_then(|first| wanted.iter().position(|column| column == first));
    Ok(Sample {
        leading: first.zip(sampler.leading.values_of(rows)),
        complete: whole && sampler.kept == sampler.seen,
        kept: sampler.kept,
        rows,
        estimate,
        columns: sampler.columns,
    })
}

/// Keeps a random part of the rows.
struct Sampler {
    reader: RowReader,
    columns: Vec<Vec<Item>>,
    kept: u64,
    seen: u64,
    bytes: usize,
    most: u64,
    /// A row is kept if this many low bits of its number's hash are zero.
    bits: u32,
    key: Vec<u8>,
    leading: LeadingValues,
}

impl Sampler {
    fn new(reader: RowReader, leading: LeadingValues, most: usize) -> Self {
        let columns = (0..reader.width()).map(|_| Vec::new()).collect();
        Self { reader, columns, kept: 0, seen: 0, bytes: 0, most: most as u64, bits: 0, key: Vec::new(), leading }
    }

    fn take(&mut self, batch: &RowBatch) -> EngineResult<()> {
        for (key, fragment) in batch.keys().zip(batch.fragments()) {
            interrupt::spend(STEPS_OF_A_ROW).map_err(query::QueryError::from)?;
            self.seen += 1;
            self.leading.meet(key);
            if !is_drawn(self.seen, self.bits) {
                continue;
            }
            let (columns, bytes) = (&mut self.columns, &mut self.bytes);
            self.reader.read(key, fragment, &mut self.key, |at, cell| {
                let item = match cell {
                    Cell::Value(value) => Item::of(value),
                    Cell::Text(text) if text.len() > super::values::WIDEST => Item::Wide(text.len()),
                    Cell::Text(text) => Item::of(Datum::Text(text.to_owned())),
                };
                *bytes += item.bytes();
                if let Some(column) = columns.get_mut(at) {
                    column.push(item);
                }
            })?;
            self.kept += 1;
            while self.kept > self.most.max(1) || self.kept > 1 && self.bytes > MOST_BYTES {
                self.thin();
            }
        }
        Ok(())
    }

    /// Drops about half of the rows.
    fn thin(&mut self) {
        self.bits += 1;
        let salt = u64::from(self.bits) << 40;
        let stays = |at: usize| is_drawn(at as u64 ^ salt, 1);
        self.kept = (0..self.kept).filter(|at| stays(*at as usize)).count() as u64;
        for column in &mut self.columns {
            let mut at = 0;
            column.retain(|_| {
                at += 1;
                stays(at - 1)
            });
        }
        self.bytes = self.columns.iter().flatten().map(Item::bytes).sum();
    }
}

/// Whether the hash (splitmix64) of a number has at least this many trailing zero bits.
fn is_drawn(number: u64, bits: u32) -> bool {
    let mut hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ (hash >> 31)).trailing_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_drawn_with_about_the_same_chance() {
        for bits in 0..5 {
            let drawn = (0..64_000).filter(|number| is_drawn(*number, bits)).count();
            let wanted = 64_000 >> bits;
            assert!(drawn.abs_diff(wanted) < wanted / 8, "{drawn} of {wanted}");
        }
    }
}
