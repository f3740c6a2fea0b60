//! A catalog on a model store, and helpers to create tables.

use catalog::{Catalog, CatalogCache, CatalogResult, NewColumn, NewKeyPart, NewTable, Table};
use std::sync::Arc;
use store::Store;
use store_testkit::ModelStore;
use types::DataType;

pub fn new_store() -> Arc<dyn Store> {
    Arc::new(ModelStore::new())
}

pub async fn open(store: &Arc<dyn Store>) -> Arc<CatalogCache> {
    CatalogCache::open(Arc::clone(store)).await.unwrap()
}

pub fn column(name: &str, ty: DataType) -> NewColumn {
    NewColumn::new(name, ty)
}

/// `name (k1 integer, k2 text, a integer, b text, PRIMARY KEY (k1, k2))` in `public`.
pub fn new_table(name: &str) -> NewTable {
    let mut table = NewTable::new("public", name);
    table.columns = vec![
        column("k1", DataType::Integer),
        column("k2", DataType::Text),
        column("a", DataType::Integer),
        column("b", DataType::Text),
    ];
    table.key = vec![NewKeyPart::ascending("k1"), NewKeyPart::ascending("k2")];
    table
}

pub async fn create(cache: &CatalogCache, new: NewTable) -> CatalogResult<Arc<Table>> {
    cache.change(|draft| draft.create_table(new)).await
}

/// The whole catalog as text, for comparison.
pub fn shown(catalog: &Catalog) -> String {
    format!("{catalog:#?}")
}

pub fn names<'a>(columns: impl Iterator<Item = &'a catalog::Column>) -> Vec<&'a str> {
    columns.map(|column| column.name.as_str()).collect()
}
