//! Fixtures of the benches with one large table.

use bennu_store_fjall::{FjallStore, Options};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{Durability, FamilyId, FamilySpec, Store, TableChange, TableId, TableSpec, WriteBatch};

pub(crate) const TABLE: TableId = TableId(1);
pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// A store with the table in an empty folder.
pub(crate) async fn store(folder: &Path) -> Arc<FjallStore> {
    let store = FjallStore::open(folder, Options::default()).unwrap();
    let spec = TableSpec { id: TABLE, families: vec![FamilySpec::new(FAMILY)], splits: vec![] };
    let made = WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() };
    let made = store.apply(made, Durability::Sync).await.unwrap();
    store.sync(made).await.unwrap();
    store
}

/// CPU time of this process so far, which is more precise than wall time on a busy machine.
pub(crate) fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
