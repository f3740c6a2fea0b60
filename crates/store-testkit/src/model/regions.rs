//! Regions, splits and sizes: counted exactly.

use super::table::{ModelTable, Rows};
use store::{Bytes, CommitNo, KeyRange, RegionId, RegionInfo, TableId, TableSize};

/// The regions between the table's splits.
pub(super) fn list(id: TableId, table: &ModelTable, commit: CommitNo) -> Vec<RegionInfo> {
    let starts = std::iter::once(Bytes::new()).chain(table.splits.iter().cloned());
    let ends = table.splits.iter().cloned().map(Some).chain([None]);
    let regions = starts.zip(ends).enumerate().map(|(number, (start, end))| {
        let range = KeyRange { start, end };
        let mut sum = TableSize::default();
        for rows in table.families.values() {
            let part = size(rows, std::slice::from_ref(&range), commit);
            sum = TableSize { rows: sum.rows.max(part.rows), bytes: sum.bytes + part.bytes };
        }
        RegionInfo { id: RegionId(u64::from(id.0) << 32 | number as u64), range, size: sum, reads: 0, writes: 0 }
    });
    regions.collect()
}

/// Rows and bytes in `ranges`.
pub(super) fn size(rows: &Rows, ranges: &[KeyRange], commit: CommitNo) -> TableSize {
    let found = ranges.iter().flat_map(|range| rows.range(range, commit));
    found.fold(TableSize::default(), |sum, (key, fragment)| TableSize {
        rows: sum.rows + 1,
        bytes: sum.bytes + (key.len() + fragment.len()) as u64,
    })
}

/// Splits `ranges` so that each piece has about the same number of rows.
pub(super) fn split(rows: &Rows, ranges: &[KeyRange], pieces: usize, commit: CommitNo) -> Vec<Vec<KeyRange>> {
    let keys: Vec<&Bytes> = ranges.iter().flat_map(|range| rows.range(range, commit)).map(|(key, _)| key).collect();
    let per_piece = keys.len().div_ceil(pieces.max(1)).max(1);
    let mut cuts = keys.into_iter().skip(per_piece).step_by(per_piece).peekable();
    let mut result = vec![Vec::new()];
    for range in ranges.iter().filter(|range| !range.is_empty()) {
        let mut rest = range.clone();
        while let Some(&cut) = cuts.peek().filter(|cut| rest.contains(cut)) {
            let head = KeyRange { start: std::mem::replace(&mut rest.start, cut.clone()), end: Some(cut.clone()) };
            push(&mut result, head);
            result.push(Vec::new());
            cuts.next();
        }
        push(&mut result, rest);
    }
    result.retain(|piece| !piece.is_empty());
    result
}

fn push(pieces: &mut [Vec<KeyRange>], range: KeyRange) {
    if let Some(last) = pieces.last_mut().filter(|_| !range.is_empty()) {
        last.push(range);
    }
}
