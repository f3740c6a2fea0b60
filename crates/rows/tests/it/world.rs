//! A model store with tables, and functions that run bound trees.

use super::functions;
use bind::tree::Bound;
use builtins::{Env, TimeZone};
use catalog::{CatalogCache, NewColumn, NewIndex, NewIndexPart, NewKeyPart, NewPartOf, NewTable, RowCodec, Table};
use index::{IndexChoice, IndexCodec};
use rows::{Answer, Input, Limits, Options, RowsError, WhyNot, compile};
use std::sync::Arc;
use store::{CommitNo, Durability, FamilyId, Mutation, Store, WriteBatch};
use store_testkit::{ModelStore, RecordingStore};
use txn::ReadView;
use types::{DataType, Datum};

pub struct World {
    pub store: Arc<RecordingStore>,
    pub catalog: Arc<CatalogCache>,
}

pub fn env() -> Env {
    Env { zone: TimeZone::UTC, transaction_time: 5, statement_time: 6 }
}

pub const UNLIMITED: Limits = Limits { rows: u64::MAX, bytes: usize::MAX };

impl World {
    pub async fn new() -> Self {
        let store = Arc::new(RecordingStore::new(Arc::new(ModelStore::new())));
        let catalog = CatalogCache::open(store.clone()).await.unwrap();
        Self { store, catalog }
    }

    /// A table with the columns `a integer`, `b text`, `v integer`, `w text` and the key `(a, b)`; `descending` applies
    /// to `b`.
    pub async fn table(&self, name: &str, salt: Option<u16>, descending: bool) -> Arc<Table> {
        let mut new = NewTable::new("public", name);
        new.salt_buckets = salt;
        for (name, ty) in
            [("a", DataType::Integer), ("b", DataType::Text), ("v", DataType::Integer), ("w", DataType::Text)]
        {
            new.columns.push(NewColumn::new(name, ty));
        }
        for (column, descending) in [("a", false), ("b", descending)] {
            new.key.push(NewKeyPart { column: column.to_owned(), descending, nulls_first: None });
        }
        self.catalog.change(|draft| draft.create_table(new)).await.unwrap()
    }

    pub async fn insert(&self, table: &Arc<Table>, rows: &[Vec<Datum>]) {
        let mutations =
            rows.iter().flat_map(|row| std::iter::once(replace(table, row)).chain(entries(table, row))).collect();
        let batch = WriteBatch { mutations, ..WriteBatch::default() };
        let commit = self.store.apply(batch, Durability::Sync).await.unwrap();
        self.store.sync(commit).await.unwrap();
    }

    /// Creates an index on an empty table: its columns, each descending or not, and the included columns.
    pub async fn index(
        &self,
        table: &Arc<Table>,
        parts: &[(&str, bool)],
        include: &[&str],
        unique: bool,
    ) -> Arc<Table> {
        let part = |(column, descending): &(&str, bool)| NewIndexPart {
            of: NewPartOf::Column((*column).to_owned()),
            descending: *descending,
            nulls_first: *descending,
        };
        let new = NewIndex {
            unique,
            parts: parts.iter().map(part).collect(),
            include: include.iter().map(|column| (*column).to_owned()).collect(),
            ..NewIndex::default()
        };
        let prepared = self.catalog.change(|draft| draft.prepare_index(table.oid, new)).await.unwrap();
        self.catalog.change(|draft| draft.publish_index(&prepared)).await.unwrap()
    }

    pub async fn view(&self) -> ReadView {
        let snapshot = self.store.snapshot(CommitNo(0)).await.unwrap();
        ReadView::plain(self.store.clone(), snapshot)
    }

    /// Runs a tree as a program.
    pub async fn run(&self, bound: &Bound) -> Vec<Vec<Datum>> {
        self.try_run(bound, &[], Limits::default()).await.unwrap().rows
    }

    pub async fn try_run(&self, bound: &Bound, params: &[Datum], limits: Limits) -> Result<Answer, RowsError> {
        let functions = functions::Table::new(false);
        let program = compile(bound, &functions, Options { full_scans: false, ..Options::default() }).unwrap();
        let (view, env) = (self.view().await, env());
        program.run(&functions, Input { view: &view, env: &env, params, limits }).await
    }

    /// Runs a tree by full scans and nested loops: no function is known as a predicate.
    pub async fn reference(&self, bound: &Bound) -> Result<Vec<Vec<Datum>>, RowsError> {
        self.as_program(bound, true, IndexChoice::Off).await
    }

    /// Runs a tree by keys and indexes, and by full scans if there are none.
    pub async fn keyed(&self, bound: &Bound, choice: IndexChoice) -> Result<Vec<Vec<Datum>>, RowsError> {
        self.as_program(bound, false, choice).await
    }

    async fn as_program(
        &self,
        bound: &Bound,
        plain: bool,
        index_choice: IndexChoice,
    ) -> Result<Vec<Vec<Datum>>, RowsError> {
        let functions = functions::Table::new(plain);
        let program =
            compile(bound, &functions, Options { full_scans: true, index_choice, ..Options::default() }).unwrap();
        let (view, env) = (self.view().await, env());
        let input = Input { view: &view, env: &env, params: &[], limits: UNLIMITED };
        Ok(program.run(&functions, input).await?.rows)
    }
}

pub fn why_not(bound: &Bound) -> WhyNot {
    compile(bound, &functions::Table::new(false), Options { full_scans: false, ..Options::default() }).unwrap_err()
}

pub fn replace(table: &Arc<Table>, row: &[Datum]) -> Mutation {
    let codec = RowCodec::new(table).unwrap();
    Mutation::Replace {
        table: table.storage_id(),
        family: FamilyId(0),
        key: codec.encode_key(row).unwrap().into(),
        fragment: codec.encode_fragment(row).unwrap(),
    }
}

/// The entries of a row in all indexes.
fn entries(table: &Arc<Table>, row: &[Datum]) -> Vec<Mutation> {
    let entry = |index: &catalog::Index| {
        let entry = IndexCodec::new(table, index).unwrap().entry(row).unwrap().unwrap();
        let (key, fragment) = (entry.key, entry.fragment.to_vec());
        Mutation::Replace { table: index.storage_id(), family: FamilyId(0), key, fragment }
    };
    table.indexes.iter().map(entry).collect()
}

/// A row of [`World::table`].
pub fn row(a: i32, b: &str, v: Option<i32>, w: &str) -> Vec<Datum> {
    vec![Datum::Int4(a), Datum::Text(b.to_owned()), v.map_or(Datum::Null, Datum::Int4), Datum::Text(w.to_owned())]
}
