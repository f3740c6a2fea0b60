//! Checks that a change leaves no definition that names a dropped relation.
//!
//! Definitions are made of what a session has looked up before its turn to change the catalog. Another session may have
//! dropped it since.

use super::Draft;
use crate::{CatalogError, CatalogResult, FIRST_USER_OID, TableOid, ViewRead};

impl Draft {
    /// Checks the relations that changed views read, and the sequences of changed columns.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub(crate) fn check_links(&self) -> CatalogResult<()> {
        for view in self.dirty.views.iter().filter_map(|oid| self.next.view_by_oid(*oid)) {
            self.check_reads(&view.reads)?;
        }
        for table in self.dirty.tables.iter().filter_map(|oid| self.next.table_by_oid(*oid)) {
            if let Some(materialized) = &table.materialized {
                self.check_reads(&materialized.reads)?;
            }
            let sequences =
                table.columns.iter().flat_map(|column| column.sequence.iter().chain(&column.default_sequences));
            for sequence in sequences {
                if self.next.sequence_by_oid(*sequence).is_none() {
                    return Err(CatalogError::dropped(sequence.0));
                }
            }
        }
        Ok(())
    }

    fn check_reads(&self, reads: &[ViewRead]) -> CatalogResult<()> {
        // System catalogs have smaller oids, and cannot be dropped.
        match reads.iter().find(|read| read.relation.0 >= FIRST_USER_OID && !self.has_relation(read.relation)) {
            Some(read) => Err(CatalogError::dropped(read.relation.0)),
            None => Ok(()),
        }
    }

    fn has_relation(&self, oid: TableOid) -> bool {
        self.next.table_by_oid(oid).is_some()
            || self.next.view_by_oid(oid).is_some()
            || self.next.sequence_by_oid(oid).is_some()
    }
}
