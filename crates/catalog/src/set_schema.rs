//! ALTER TABLE … SET SCHEMA: a table moves to another schema with its indexes and the sequences of its columns.

use crate::{CatalogResult, Draft, SchemaId, Sequence, Table, TableOid, ViewQuery};
use std::sync::Arc;

impl Draft {
    /// SET SCHEMA. Does nothing if the table is already in that schema. `queries` are those of the views that read it,
    /// with its new name.
    ///
    /// # Errors
    /// [`crate::CatalogError::NoSuchTable`], [`crate::CatalogError::NoSuchSchema`], [`crate::CatalogError::ReservedName`];
    /// [`crate::CatalogError::DuplicateTable`] if one of its names is taken there; [`crate::CatalogError::Unsupported`]
    /// for a view without a new query.
    pub fn set_schema(&mut self, oid: TableOid, name: &str, queries: &[ViewQuery]) -> CatalogResult<Arc<Table>> {
        let schema = self.schema_entry(name)?.def.id;
        let old = self.table(oid)?;
        if old.schema == schema {
            return Ok(old);
        }
        let what = self.described(oid);
        self.follow((oid, None), &what, queries)?;
        self.check_names_are_free(&old, name)?;
        self.move_sequences(&old, schema, name)?;
        // `put_table` removes the old entry by oid, so the table can change its schema.
        let table = Table { schema, ..old.as_ref().clone() };
        Ok(self.put_table(table))
    }

    /// Checks that the names of the table, its primary key and its indexes are free in the schema.
    fn check_names_are_free(&self, table: &Table, schema: &str) -> CatalogResult<()> {
        let indexes = table.indexes.iter().map(|index| &index.name);
        let mut names = std::iter::once(&table.name).chain(&table.key_name).chain(indexes);
        names.try_for_each(|name| self.check_name_is_free(schema, name))
    }

    fn move_sequences(&mut self, table: &Table, to: SchemaId, name: &str) -> CatalogResult<()> {
        let owned = |it: &&Arc<Sequence>| it.owner.is_some_and(|owner| owner.table == table.oid);
        let owned: Vec<Arc<Sequence>> = self.next.sequences.values().filter(owned).cloned().collect();
        for sequence in owned {
            self.check_name_is_free(name, &sequence.name)?;
            let change = |sequence: &mut Sequence| -> CatalogResult<()> {
                sequence.schema = to;
                Ok(())
            };
            self.alter_sequence(sequence.oid, change)?;
        }
        Ok(())
    }
}
