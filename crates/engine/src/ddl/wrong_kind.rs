//! 42809: a name refers to another kind of relation than the statement expects.

use crate::Session;
use crate::error::Fault;
use catalog::{Catalog, RelationKind};
use sql::ObjectName;

/// The error of a statement about `wanted`, such as "an index", with a hint at the DROP command for `found`.
pub(super) fn wrong_kind(name: &str, wanted: &str, found: RelationKind) -> Fault {
    let hint = match found {
        RelationKind::Table => "Use DROP TABLE to remove a table.",
        RelationKind::MaterializedView => "Use DROP MATERIALIZED VIEW to remove a materialized view.",
        RelationKind::View => "Use DROP VIEW to remove a view.",
        RelationKind::Sequence => "Use DROP SEQUENCE to remove a sequence.",
        RelationKind::Index => "Use DROP INDEX to remove an index.",
    };
    Fault::WrongObject { message: format!("\"{name}\" is not {wanted}"), hint: Some(hint) }
}

/// The plural in PostgreSQL's error details.
pub(super) fn plural(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Table => "tables",
        RelationKind::MaterializedView => "materialized views",
        RelationKind::View => "views",
        RelationKind::Sequence => "sequences",
        RelationKind::Index => "indexes",
    }
}

impl Session {
    /// The kind of the relation that a name refers to.
    pub(super) fn relation_kind(&self, catalog: &Catalog, name: &ObjectName) -> Option<RelationKind> {
        self.schemas_of(catalog, name).iter().find_map(|schema| catalog.relation_kind(schema, &name.name))
    }
}
