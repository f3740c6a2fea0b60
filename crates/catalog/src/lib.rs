//! Schemas and tables: kept as rows of the store, cached as one immutable value per version.
//!
//! ```text
//!   DDL ──> Change ──> new Catalog value (version + 1) ──one WriteBatch──> store ──> swapped into the cache
//!   statement ──> CatalogCache::current() : Arc<Catalog>, which never changes under it
//! ```
//!
//! Invariants:
//! - Ids of tables, columns, layouts and storage generations are never used again.
//! - Rename and drop of a column touch no row; ADD COLUMN with a default is instant (the default is
//!   kept as [`Column::missing`] and read for rows written before it).
//! - A row is decoded with the layout that its fragment names; old layouts stay in the table.
//!
//! Read next: `query` (plans over these tables).

mod column;
mod table;

pub use column::{Column, ColumnId};
pub use table::{KeyColumn, LayoutDef, SchemaDef, SchemaId, Table, TableOid};
