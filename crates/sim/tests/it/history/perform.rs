//! Performs a step.

use super::ledger::Ledger;
use super::row;
use super::step::{Ending, Step};
use std::time::Duration;
use store::{
    BulkLoad, Durability, FamilyId, FamilySpec, LoadRows, LoadTable, Mutation, OnDuplicate, Store, StoreResult,
    TableChange, TableId, TableSpec, WriteBatch,
};
use store_fjall::{FjallStore, Options};

/// Thresholds so small that flushes, loads and large commits happen constantly.
pub(crate) fn options() -> Options {
    Options {
        cache_bytes: 1 << 20,
        memtable_entries: 300,
        idle_flush: Duration::from_millis(60),
        buffered_sync_interval: Duration::from_millis(2),
        large_commit_bytes: 3_000,
        small_load_bytes: 1_500,
        load_buffer_bytes: 4_000,
        ..Options::default()
    }
}

/// Performs `step` on the store, whose content is `before`. A successful step is durable.
///
/// # Errors
/// Those of the store.
pub(crate) async fn perform(store: &FjallStore, before: &Ledger, step: &Step) -> StoreResult<()> {
    let writer = before.step + 1;
    match step {
        Step::Create { table, families } => tables(store, vec![create(*table, *families)]).await,
        Step::Drop { table } => tables(store, vec![TableChange::Drop(TableId(*table))]).await,
        Step::Truncate { table, by } => {
            let families = before.tables.get(table).map_or(1, |old| old.families);
            tables(store, vec![TableChange::Drop(TableId(*table)), create(*by, families)]).await
        }
        Step::Write { puts, deletes, synced } => {
            let target = |table: u32, number: u64| {
                let family = FamilyId(before.tables[&table].family_of(number));
                (TableId(table), family, row::key(number).into())
            };
            let puts = puts.iter().map(|&(id, number)| {
                let (table, family, key) = target(id, number);
                Mutation::Replace { table, family, key, fragment: row::fragment(number, writer) }
            });
            let deletes = deletes.iter().map(|&(id, number)| {
                let (table, family, key) = target(id, number);
                Mutation::Delete { table, family, key }
            });
            let mutations = puts.chain(deletes).collect();
            write(store, WriteBatch { mutations, ..WriteBatch::default() }, *synced).await
        }
        Step::Load { ending, .. } => {
            let load = begin_load(store, before, step).await?;
            if *ending == Ending::Abandon { Ok(()) } else { load.finish().await.map(drop) }
        }
        Step::Flush { table, major } => store.flush(TableId(*table), *major).await,
        Step::Pause => {
            tokio::time::sleep(Duration::from_millis(45)).await;
            Ok(())
        }
    }
}

/// A load with all its rows, not finished.
///
/// # Errors
/// Those of the store.
pub(crate) async fn begin_load(store: &FjallStore, before: &Ledger, step: &Step) -> StoreResult<Box<dyn BulkLoad>> {
    let Step::Load { table, beside, rows, replace, ending } = step else { panic!("{step:?} is no load") };
    let on_duplicate = if *replace { OnDuplicate::Replace } else { OnDuplicate::Fail };
    let writer = before.step + 1;
    let mut load = store.bulk_load(TableId(*table), on_duplicate).await?;
    let again = (*ending == Ending::Duplicate).then_some(rows.first);
    for other in beside {
        load.add_table(LoadTable { table: TableId(*other), on_duplicate, unique: None })?;
    }
    for number in rows.numbers().chain(again) {
        let family = FamilyId(before.tables[table].family_of(number));
        load.write(family, &row::key(number), &row::fragment(number, writer)).await?;
    }
    for other in beside {
        // In reverse order, in blocks.
        let mut numbers: Vec<u64> = rows.numbers().collect();
        numbers.reverse();
        for number in numbers {
            let family = FamilyId(before.tables[other].family_of(number));
            let mut block = LoadRows::default();
            block.push(&row::key(number), &row::fragment(number, writer));
            load.write_rows_of(TableId(*other), family, block).await?;
        }
    }
    Ok(load)
}

/// Creates tables with one family, durably.
///
/// # Errors
/// Those of the store.
pub(crate) async fn create_tables(store: &FjallStore, ids: &[u32]) -> StoreResult<()> {
    tables(store, ids.iter().map(|id| create(*id, 1)).collect()).await
}

/// Writes rows to tables with one family in one batch, durably.
///
/// # Errors
/// Those of the store.
pub(crate) async fn put_rows(
    store: &FjallStore,
    rows: impl Iterator<Item = (u32, u64)>,
    writer: u64,
) -> StoreResult<()> {
    let put = |(table, number): (u32, u64)| {
        let (key, fragment) = (row::key(number).into(), row::fragment(number, writer));
        Mutation::Replace { table: TableId(table), family: FamilyId(0), key, fragment }
    };
    write(store, WriteBatch { mutations: rows.map(put).collect(), ..WriteBatch::default() }, true).await
}

fn create(table: u32, families: u16) -> TableChange {
    let families = (0..families).map(|id| FamilySpec::new(FamilyId(id))).collect();
    TableChange::Create(TableSpec { id: TableId(table), families, splits: vec![] })
}

async fn tables(store: &FjallStore, tables: Vec<TableChange>) -> StoreResult<()> {
    write(store, WriteBatch { tables, ..WriteBatch::default() }, true).await
}

async fn write(store: &FjallStore, batch: WriteBatch, synced: bool) -> StoreResult<()> {
    if !synced {
        return store.apply(batch, Durability::Buffered).await.map(drop);
    }
    let commit = store.apply(batch, Durability::Sync).await?;
    store.sync(commit).await
}
