//! Rebuilds batches of a scan with other fragments.

use store::{RowBatch, RowBatchBuilder};

/// The rows of `batch` with `change` applied to each fragment. The caller sets whether they are undecided.
pub(crate) fn rebuilt(batch: &RowBatch, change: impl Fn(&[u8]) -> Vec<u8>) -> RowBatchBuilder {
    let mut rows = RowBatchBuilder::default();
    batch.fragments().for_each(|fragment| rows.push_fragment(&change(fragment)));
    batch.keys().for_each(|key| rows.push_key(key, &[]));
    if rows.is_empty() {
        rows.push_rows(batch.len());
    }
    rows
}
