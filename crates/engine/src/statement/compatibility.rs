//! Statements of PostgreSQL's dumps and tools that are accepted without effect, with a notice.
//!
//! - DROP … IF EXISTS of kinds of objects that Bennu lacks: no such object exists, except in the system catalog.
//! - CREATE EXTENSION of extensions that are not needed.
//! - Storage options: UNLOGGED, TABLESPACE, storage parameters, FREEZE.

use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use sql::{AbsentObject, CreateExtension, DropAbsent, Naming, StorageHint};

/// Extensions that dumps create because PostgreSQL always has them.
const ALWAYS_THERE: &[&str] = &["plpgsql"];

impl Session {
    pub(crate) async fn drop_absent(&mut self, drop: &DropAbsent) -> EngineResult<String> {
        let command = drop.kind.command();
        for object in &drop.objects {
            self.running().check()?;
            let (noun, name) = (drop.kind.noun, &object.name.name);
            if let Some(table) =
                object.table.as_ref().filter(|table| !self.has_relation(&self.engine.catalog().current(), table))
            {
                self.skipped("00000", &format!("relation \"{}\" does not exist", table.name));
                continue;
            }
            if drop.kind.naming == Naming::Relation && self.has_relation(&self.engine.catalog().current(), &object.name)
            {
                let message = format!("\"{name}\" is not a {noun}");
                return fail(Fault::WrongObject { message, hint: None });
            }
            if self.system_has(drop, name).await? {
                return fail(Fault::Unsupported { feature: format!("{command} {name}") });
            }
            self.skipped("00000", &missing(noun, drop.kind.naming, object));
        }
        Ok(command)
    }

    pub(crate) fn create_extension(&mut self, create: &CreateExtension) -> EngineResult<String> {
        let name = &create.name;
        if !create.if_not_exists || !ALWAYS_THERE.contains(&name.as_str()) {
            return fail(Fault::NoSuchExtension { name: name.clone() });
        }
        self.without_effect(&format!("extension \"{name}\""), "there are no functions of users");
        Ok("CREATE EXTENSION".to_string())
    }

    /// Reports storage options of a statement that have no effect.
    pub(crate) fn hints_without_effect(&mut self, hints: &[StorageHint]) {
        for hint in hints {
            match hint {
                StorageHint::Unlogged => self.without_effect("UNLOGGED", "all tables are logged"),
                StorageHint::Tablespace(name) => self.tablespace_without_effect(Some(name)),
            }
        }
    }

    /// Reports that TABLESPACE has no effect.
    pub(crate) fn tablespace_without_effect(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.without_effect(&format!("TABLESPACE \"{name}\""), "all tables are in the data folder");
        }
    }

    /// Reports that an index parameter has no effect.
    pub(crate) fn page_parameter_without_effect(&mut self, name: &str) {
        self.without_effect(&format!("parameter \"{name}\" of an index"), "entries are not kept in pages");
    }

    /// Reports storage parameters that have no effect.
    pub(crate) fn parameters_without_effect<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        for (name, reason) in catalog::without_effect(names) {
            self.without_effect(&format!("parameter \"{name}\""), reason);
        }
    }

    pub(crate) fn without_effect(&mut self, what: &str, reason: &str) {
        self.notices.info("00000", format!("{what} has no effect: {reason}"));
    }

    /// Whether the system catalog has an object of that name. Users cannot create objects of these kinds.
    async fn system_has(&mut self, drop: &DropAbsent, name: &str) -> EngineResult<bool> {
        let Some((catalog, column)) = drop.kind.catalog else { return Ok(false) };
        let literal = name.replace('\'', "''");
        let query = format!("SELECT 1 FROM pg_catalog.{catalog} WHERE {column} = '{literal}' LIMIT 1");
        Ok(!self.own_query(&query).await?.is_empty())
    }
}

fn missing(noun: &str, naming: Naming, object: &AbsentObject) -> String {
    let AbsentObject { name, arguments, table } = object;
    match (naming, table) {
        (_, Some(table)) => format!("{noun} \"{}\" for relation \"{}\" does not exist", name.name, table.name),
        (Naming::Arguments, None) => format!("{noun} {}{arguments} does not exist", name.name),
        (_, None) => format!("{noun} \"{}\" does not exist", name.name),
    }
}
