//! Schemas, tables, views and sequences: stored as rows of the store, cached as one immutable value per version.
//!
//! ```text
//!   DDL ──> Draft ──> new Catalog value (version + 1) ──one WriteBatch──> store ──> swapped into the cache
//!   statement ──> CatalogCache::current() : Arc<Catalog>, which never changes under it
//! ```
//!
//! [`row_codec`] encodes table rows as keys and fragments, and decodes them.
//!
//! Invariants:
//! - Ids of tables, columns, layouts and storage generations are never reused.
//! - Renaming or dropping a column touches no row; ADD COLUMN with a default is instant (the default is stored as
//!   [`Column::missing`] and read for rows written before).
//! - A row is decoded with the layout that its fragment names; the table keeps old layouts.
//!
//! Read next: `query` (plans over these tables).

mod cache;
mod catalog;
mod change_log;
mod check;
mod column;
mod comment;
mod definition;
mod derived;
mod draft;
mod error;
mod foreign_key;
mod index;
mod intent;
mod job;
mod materialized;
mod property;
mod relation_kind;
pub mod row_codec;
mod row_error;
mod row_id;
mod row_reader;
mod sequence;
mod sequence_values;
mod set_schema;
mod shape;
mod statistics;
mod stored;
mod stored_datum;
mod table;
mod view;

pub use cache::{CatalogCache, FOLLOW, Turn};
pub use catalog::{
    Catalog, DATABASE_NAME, DATABASE_OID, FIRST_USER_OID, MAX_COLUMNS, PUBLIC_SCHEMA, PUBLIC_SCHEMA_ID,
    RESERVED_SCHEMAS, SYSTEM_TABLE,
};
pub use change_log::{ALL_GROUPS_COLUMN, ChangeLog, Incremental};
pub use check::{Check, NewCheck};
pub use column::{Column, ColumnId, Identity, sequence_reference};
pub use comment::CommentTarget;
pub use definition::{NewColumn, NewDefault, NewKeyPart, NewTable};
pub use derived::Derived;
pub use draft::{
    ConstraintKind, Draft, IndexText, NewIndex, NewIndexExpr, NewIndexPart, NewPartOf, PreparedIndex, PreparedRewrite,
    PreparedTable, is_binary_coercible,
};
pub use error::{CatalogError, CatalogResult};
pub use foreign_key::{ForeignKey, NewForeignKey};
pub use index::{Index, IndexExpr, IndexPart, IndexRefresh, IndexState, PartOf, key_preserves_value};
pub use job::{JobCounts, JobRecord, JobState};
pub use materialized::Materialized;
pub use property::{
    ANALYZE_SCALE_FACTOR, ANALYZE_THRESHOLD, AUTO_ANALYZE, GUIDE_POSTS_WIDTH, check_new as check_properties,
    without_effect,
};
pub use relation_kind::RelationKind;
pub use row_codec::RowCodec;
pub use row_error::{RowError, RowResult};
pub use row_id::{ROW_ID_COLUMN, RowIdBlock, RowIds};
pub use row_reader::{Cell, RowReader};
pub use sequence::{Counting, NewSequence, Sequence, SequenceOwner};
pub use sequence_values::{SequenceValue, SequenceValues};
pub use statistics::{
    Changes, ColumnStatistics, CommonValue, Guidepost, IndexStatistics, Live, Size, TableStatistics, Value,
    ValueStatistics,
};
pub use stored::FORMAT;
pub use table::{KEY_CODEC, KeyColumn, LayoutDef, SALT_HASH, SchemaDef, SchemaId, Table, TableOid};
pub use types::ReferentialAction;
pub use view::{NewView, View, ViewColumn, ViewQuery, ViewRead};
