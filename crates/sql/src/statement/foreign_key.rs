//! Foreign keys.

use super::ObjectName;
pub use types::ReferentialAction;

/// A foreign key of CREATE TABLE or ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeyDef {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// The referencing columns, in order.
    pub columns: Vec<String>,
    /// The referenced table.
    pub parent: ObjectName,
    /// The referenced columns; empty means its primary key.
    pub parent_columns: Vec<String>,
    /// MATCH FULL: either all columns are NULL or none is.
    pub full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// The columns that ON DELETE SET NULL and SET DEFAULT set; empty means all.
    pub set_columns: Vec<String>,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// NOT VALID: existing rows are not checked.
    pub not_valid: bool,
}
