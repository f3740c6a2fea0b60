//! Compiled foreign keys that checks share: a statement removes many keys, but they belong to few foreign keys.

use super::relations::Relation;
use catalog::{Catalog, Table};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compiled foreign keys by OID.
#[derive(Debug, Default)]
pub(super) struct SharedRelations(BTreeMap<u32, Arc<Relation>>);

impl SharedRelations {
    /// The foreign key with that OID, if it is known and as the catalog defines it.
    pub(super) fn get(&self, catalog: &Catalog, key: u32) -> Option<Arc<Relation>> {
        let known = self.0.get(&key)?;
        let child = catalog.table_by_oid(known.child.oid)?;
        let parent = catalog.table_by_oid(known.key.parent)?;
        known.is_defined_by(child, parent, catalog.schema_name(child)).then(|| Arc::clone(known))
    }

    /// Shares a foreign key, in place of an older definition.
    pub(super) fn add(&mut self, relation: &Arc<Relation>) {
        self.0.insert(relation.key.oid, Arc::clone(relation));
    }

    /// Replaces the foreign key by the known one of the same definition, or shares it.
    pub(super) fn share(&mut self, relation: &mut Arc<Relation>) {
        let known = self.0.entry(relation.key.oid).or_insert_with(|| Arc::clone(relation));
        match known.is_same(relation) {
            true => *relation = Arc::clone(known),
            false => *known = Arc::clone(relation),
        }
    }
}

impl Relation {
    fn is_same(&self, other: &Self) -> bool {
        self.is_defined_by(&other.child, &other.parent.table, &other.schema)
    }

    /// Whether it was compiled from these versions of its tables. A schema is renamed without a new version of its
    /// tables.
    fn is_defined_by(&self, child: &Table, parent: &Table, schema: &str) -> bool {
        let of_child = (self.child.oid, self.child.version) == (child.oid, child.version);
        let of_parent = (self.parent.table.oid, self.parent.table.version) == (parent.oid, parent.version);
        of_child && of_parent && self.schema == schema
    }
}
