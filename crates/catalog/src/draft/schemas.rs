//! Schemas in a catalog change.

use super::Draft;
use crate::catalog::{RESERVED_SCHEMAS, Schema};
use crate::{CatalogError, CatalogResult, SchemaDef, SchemaId, TableOid};
use std::collections::BTreeSet;

impl Draft {
    /// CREATE SCHEMA.
    ///
    /// # Errors
    /// [`CatalogError::DuplicateSchema`], [`CatalogError::ReservedName`].
    pub fn create_schema(&mut self, name: &str) -> CatalogResult<SchemaDef> {
        check_schema_name(name)?;
        if self.next.schemas.contains_key(name) {
            return Err(CatalogError::DuplicateSchema { name: name.to_string() });
        }
        let def = SchemaDef { id: SchemaId(self.take_oid()?), name: name.to_string() };
        self.dirty.schemas.insert(def.id);
        self.next.schemas.insert(name.to_string(), Schema { def: def.clone(), tables: Default::default() });
        Ok(def)
    }

    /// DROP SCHEMA; with `cascade`, also the relations in it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::DependentObjects`], [`CatalogError::ReservedName`].
    pub fn drop_schema(&mut self, name: &str, cascade: bool) -> CatalogResult<()> {
        if RESERVED_SCHEMAS.contains(&name) {
            check_schema_name(name)?;
        }
        let id = self.schema_entry(name)?.def.id;
        let inside = self.next.relations_in(id);
        if !cascade && !inside.is_empty() {
            return Err(CatalogError::DependentObjects {
                what: format!("schema {name}"),
                dependents: inside.iter().map(|oid| self.described(*oid)).collect(),
            });
        }
        self.drop_relations(&inside, true)?;
        self.next.schemas.remove(name);
        self.dirty.schemas.insert(id);
        Ok(())
    }

    /// ALTER SCHEMA … RENAME TO.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::DuplicateSchema`], [`CatalogError::ReservedName`];
    /// [`CatalogError::Unsupported`] if views read its relations: the text of a view has the old schema name.
    pub fn rename_schema(&mut self, name: &str, to: &str) -> CatalogResult<()> {
        check_schema_name(name)?;
        let id = self.schema_entry(name)?.def.id;
        check_schema_name(to)?;
        if self.next.schemas.contains_key(to) {
            return Err(CatalogError::DuplicateSchema { name: to.to_string() });
        }
        let inside: BTreeSet<TableOid> = self.next.relations_in(id).into_iter().collect();
        let reader = self.next.readers().find(|(_, reads)| reads.iter().any(|it| inside.contains(&it.relation)));
        if let Some(view) = reader.map(|(view, _)| view) {
            let feature = format!("renaming schema {name}, which {} reads", self.described(view));
            return Err(CatalogError::Unsupported { feature });
        }
        if let Some(mut schema) = self.next.schemas.remove(name) {
            schema.def.name = to.to_string();
            self.next.schemas.insert(to.to_string(), schema);
            self.dirty.schemas.insert(id);
        }
        Ok(())
    }

    pub(crate) fn schema_entry(&self, name: &str) -> CatalogResult<&Schema> {
        self.next.schemas.get(name).ok_or_else(|| {
            if RESERVED_SCHEMAS.contains(&name) {
                reserved_schema(name, "it belongs to the system")
            } else {
                CatalogError::NoSuchSchema { name: name.to_string() }
            }
        })
    }
}

fn check_schema_name(name: &str) -> CatalogResult<()> {
    if name.starts_with("pg_") {
        return Err(reserved_schema(name, "the prefix \"pg_\" is reserved for system schemas"));
    }
    if RESERVED_SCHEMAS.contains(&name) {
        return Err(reserved_schema(name, "it belongs to the system"));
    }
    Ok(())
}

fn reserved_schema(name: &str, reason: &'static str) -> CatalogError {
    CatalogError::ReservedName { what: "schema", name: name.to_string(), reason }
}
