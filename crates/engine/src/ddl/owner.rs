//! ALTER … OWNER TO: accepts only the session's role, which owns everything, and changes nothing.

use super::view::shown;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::Catalog;
use sql::{ChangeOwner, ObjectName, OwnedObject};

impl Session {
    pub(super) fn change_owner(&mut self, change: &ChangeOwner) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let missing = match &change.object {
            OwnedObject::Schema(name) => {
                catalog.must_get_schema(name)?;
                None
            }
            OwnedObject::View(name) => self.find_view(&catalog, name)?.is_none().then_some(name),
            OwnedObject::MaterializedView(name) => self.find_materialized(&catalog, name)?.is_none().then_some(name),
            OwnedObject::Sequence(name) => self.find_sequence(&catalog, name)?.is_none().then_some(name),
            OwnedObject::Table(name) => (!self.is_relation(&catalog, name)?).then_some(name),
        };
        if let Some(name) = missing {
            if !change.if_exists {
                return fail(Fault::NoSuchObject { kind: "relation", name: shown(name) });
            }
            self.skipped("00000", &format!("relation \"{}\" does not exist", name.name));
            return Ok(());
        }
        match &change.to {
            Some(role) if *role != self.user => fail(Fault::NoSuchRole { name: role.clone() }),
            _ => Ok(()),
        }
    }

    /// Whether a relation exists. ALTER TABLE … OWNER TO accepts views and sequences too.
    fn is_relation(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<bool> {
        super::check_database(name)?;
        if let Some(schema) = &name.schema {
            super::refuse_system_schema(schema, &name.name)?;
        }
        Ok(self.has_relation(catalog, name))
    }
}
