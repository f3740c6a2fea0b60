//! Foreign keys.

use super::ObjectName;

/// A foreign key of CREATE TABLE or ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeyDef {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// The columns that refer, in order.
    pub columns: Vec<String>,
    /// The table that is referred to.
    pub parent: ObjectName,
    /// Its columns; none means its primary key.
    pub parent_columns: Vec<String>,
    /// MATCH FULL: either all columns are NULL or none is.
    pub full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// The columns that ON DELETE SET NULL and SET DEFAULT set; none means all.
    pub set_columns: Vec<String>,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// NOT VALID: rows that are there are not checked.
    pub not_valid: bool,
}

/// What becomes of rows that refer to a row which goes away or gets another key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferentialAction {
    /// There may be none when it is checked.
    #[default]
    NoAction,
    /// There may be none, at once.
    Restrict,
    /// They go away or get the new key.
    Cascade,
    /// They refer to nothing.
    SetNull,
    /// They refer to what their defaults say.
    SetDefault,
}

impl ReferentialAction {
    /// In SQL.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }
}
