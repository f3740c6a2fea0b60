//! ALTER … OWNER TO.

use super::ObjectName;

/// ALTER TABLE, VIEW, SEQUENCE or SCHEMA … OWNER TO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeOwner {
    /// What gets an owner.
    pub object: OwnedObject,
    /// No error when it is absent.
    pub if_exists: bool,
    /// The role; `None` is CURRENT_USER and its like.
    pub to: Option<String>,
}

/// What has an owner, by the word that the statement calls it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedObject {
    /// TABLE, which also means a view or a sequence.
    Table(ObjectName),
    /// VIEW.
    View(ObjectName),
    /// MATERIALIZED VIEW.
    MaterializedView(ObjectName),
    /// SEQUENCE.
    Sequence(ObjectName),
    /// SCHEMA.
    Schema(String),
}
