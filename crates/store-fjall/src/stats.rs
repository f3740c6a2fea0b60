//! Metrics. Names are stable; counters end in `_total`.

use crate::inner::Inner;
use crate::memtables::flush::all_keyspaces;
use fjall::AbstractTree;
use store::StoreStats;

/// Collects all metrics.
pub(crate) fn collect(inner: &Inner) -> StoreStats {
    let pipeline = &inner.pipeline;
    let db = &pipeline.db;
    let state = pipeline.publisher.newest();
    let keyspaces = all_keyspaces(inner);
    let entries: usize = keyspaces.iter().map(|keyspace| keyspace.tree.active_memtable().len()).sum();
    let sealed: usize = keyspaces.iter().map(|keyspace| keyspace.sealed_memtable_count()).sum();
    let tables: usize = keyspaces.iter().map(|keyspace| keyspace.table_count()).sum();
    let mut values = vec![
        ("commits_total", pipeline.commits()),
        ("rows_written_total", pipeline.rows_written()),
        ("syncs_total", pipeline.group_sync.syncs()),
        ("write_pauses_total", inner.admission.pauses()),
        ("last_commit", state.commit.0),
        ("durable_commit", pipeline.publisher.durable().0),
        ("published_commit", pipeline.publisher.published().commit.0),
        ("memtable_bytes", inner.memtables.unflushed()),
        ("retained_memtable_bytes", inner.memtables.retained()),
        ("memtable_entries", entries as u64),
        ("sealed_memtables", sealed as u64),
        ("journal_bytes", db.journal_disk_space().unwrap_or_default()),
        ("journals", db.journal_count() as u64),
        ("block_cache_bytes", db.cache_size()),
        ("block_cache_capacity_bytes", db.cache_capacity()),
        ("disk_bytes", db.disk_space().unwrap_or_default()),
        ("sorted_tables", tables as u64),
        ("compactions_total", inner.compactions.done()),
        ("compactions_active", inner.compactions.active()),
        ("flushes_waiting", db.outstanding_flushes() as u64),
        ("keyspaces", keyspaces.len() as u64),
        ("tables", state.tables.len() as u64),
        ("purges_waiting", inner.reclaim.lock().slots.len() as u64),
        ("read_only", u64::from(pipeline.read_only.is_set())),
    ];
    values.extend(pipeline.lock_times.figures());
    values.extend(inner.snapshots.figures());
    StoreStats { values }
}
