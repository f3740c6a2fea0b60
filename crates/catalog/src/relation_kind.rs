//! What a name stands for in a schema, where tables, views, sequences and indexes share one set of names.

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
    /// An index. That of a primary key is the table itself, and its name is that of a relation all the same.
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

    /// Does a relation of any kind have that name in that schema?
    pub fn has_relation(&self, schema: &str, name: &str) -> bool {
        self.relation_kind(schema, name).is_some()
    }
}
