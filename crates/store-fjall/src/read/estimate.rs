//! Estimates rows and bytes of ranges from metadata in memory: cheap enough for every plan.

use super::ReadSource;
use super::blocks::{Run, View};
use super::range::StoredRange;
use store::{KeyRange, StoreResult, TableSize};

/// Estimates the size of `ranges`. Uncompacted versions and tombstones count as rows.
///
/// # Errors
/// I/O failures and damaged bytes.
pub(crate) fn estimate(source: &ReadSource, ranges: &[KeyRange]) -> StoreResult<TableSize> {
    let mut size = TableSize::default();
    let view = source.view_of_few_rows();
    for range in ranges {
        if range.as_point().is_some() {
            size.rows += 1;
            continue;
        }
        let Some(range) = StoredRange::new(&source.prefix, range) else { continue };
        match &view {
            Some(view) => add(&mut size, share(source, view, &range)?),
            None => add(&mut size, share(source, &View::roughly(source, &range), &range)?),
        }
    }
    Ok(size)
}

fn share(source: &ReadSource, view: &View, range: &StoredRange) -> StoreResult<TableSize> {
    let mut size = TableSize::default();
    view.memtable_shares(source, range).into_iter().for_each(|share| add(&mut size, share));
    for run in &view.runs {
        add(&mut size, run_share(view, run, range)?);
    }
    Ok(size)
}

fn run_share(view: &View, run: &Run, range: &StoredRange) -> StoreResult<TableSize> {
    let mut size = TableSize::default();
    for known in run.within(range).known() {
        let meta = &known.table().metadata;
        let (blocks, all) = if range.covers(meta.key_range.min(), meta.key_range.max()) {
            (1, 1)
        } else {
            known.share(&view.files, range)?
        };
        let share = |of: u64| of.saturating_mul(blocks).div_ceil(all.max(1));
        add(&mut size, TableSize { rows: share(meta.item_count), bytes: share(meta.file_size) });
    }
    Ok(size)
}

fn add(size: &mut TableSize, more: TableSize) {
    size.rows += more.rows;
    size.bytes += more.bytes;
}
