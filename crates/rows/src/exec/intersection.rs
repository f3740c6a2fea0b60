//! Intersection of two indexes: keeps the entries whose rowkeys another index has, too.
//!
//! The rowkeys of the other index are few, like all that a program reads, and are stored in a set. Conditions are still
//! checked on the rows, because a row may change between reading the entries and reading the row.

use super::reading::Reading;
use super::scan::{FAMILY, key_ranges};
use super::{BATCH_ROWS, Run};
use crate::access::Scanned;
use crate::{RowsError, RowsResult};
use rowkey::range::KeyRanges;
use std::collections::HashSet;
use store::ScanRequest;

/// A stored entry: key and fragment.
type Entry<'a> = (&'a [u8], &'a [u8]);

/// The rowkeys of an index's entries.
pub(super) struct Rowkeys(HashSet<Vec<u8>>);

impl Rowkeys {
    /// Reads the rowkeys in some ranges.
    pub(super) async fn read(reading: Reading<'_>, ranges: KeyRanges, run: &mut Run<'_>) -> RowsResult<Self> {
        let mut keys = HashSet::new();
        let ranges = key_ranges(ranges.ranges);
        if ranges.is_empty() {
            return Ok(Self(keys));
        }
        let request = ScanRequest { batch_rows: BATCH_ROWS, ..ScanRequest::new(reading.storage(), FAMILY, ranges) };
        let mut scan = run.view.scan(request).await?;
        while let Some(batch) = scan.next().await? {
            run.budget.read(batch.len())?;
            for entry in batch.keys().zip(batch.fragments()) {
                let rowkey = rowkey_of(reading, entry)?;
                run.budget.hold_bytes(rowkey.len() + size_of::<Vec<u8>>() * 2)?;
                keys.insert(rowkey);
            }
            run.budget.give_way().await?;
        }
        Ok(Self(keys))
    }

    /// The entries of the first index whose rowkeys are in the set.
    pub(super) fn of<'a>(
        &self,
        reading: Reading<'_>,
        entries: impl Iterator<Item = Entry<'a>>,
    ) -> RowsResult<Vec<Entry<'a>>> {
        let mut both = Vec::new();
        for entry in entries {
            if self.0.contains(&rowkey_of(reading, entry)?) {
                both.push(entry);
            }
        }
        Ok(both)
    }
}

fn rowkey_of(reading: Reading<'_>, (key, fragment): Entry<'_>) -> RowsResult<Vec<u8>> {
    let Scanned::Fetching(index, table) = &reading.access.scanned else {
        return Err(RowsError::internal("an intersection of what is no index"));
    };
    let mut rowkey = Vec::new();
    index.rowkey_into(table, key, fragment, &mut rowkey)?;
    Ok(rowkey)
}
