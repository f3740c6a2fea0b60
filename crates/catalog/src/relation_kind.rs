//! The kind of a relation name. Tables, views, sequences and indexes of a schema share one namespace.

use crate::Catalog;

/// A kind of relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// A table.
    Table,
    /// A materialized view.
    MaterializedView,
    /// A view.
    View,
    /// A sequence.
    Sequence,
    /// An index, also the index of a primary key, which is stored as the table itself.
    Index,
}

impl Catalog {
    /// The kind of the relation of that name in that schema.
    pub fn relation_kind(&self, schema: &str, name: &str) -> Option<RelationKind> {
        if let Some(table) = self.table(schema, name) {
            return Some(match table.materialized {
                Some(_) => RelationKind::MaterializedView,
                None => RelationKind::Table,
            });
        }
        if self.view(schema, name).is_some() {
            return Some(RelationKind::View);
        }
        if self.sequence(schema, name).is_some() {
            return Some(RelationKind::Sequence);
        }
        let has_key = || self.tables_in(schema).any(|table| table.key_name.as_deref() == Some(name));
        (self.index(schema, name).is_some() || has_key()).then_some(RelationKind::Index)
    }

    /// Whether a relation of any kind has that name in that schema.
    pub fn has_relation(&self, schema: &str, name: &str) -> bool {
        self.relation_kind(schema, name).is_some()
    }
}
