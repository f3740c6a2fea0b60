//! ALTER … OWNER TO.

use super::ObjectName;

/// ALTER TABLE, VIEW, SEQUENCE or SCHEMA … OWNER TO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeOwner {
    /// The object.
    pub object: OwnedObject,
    /// No error when it is absent.
    pub if_exists: bool,
    /// The role; `None` means CURRENT_USER or one of its synonyms.
    pub to: Option<String>,
}

/// An object with an owner, by the keyword of the statement.
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
