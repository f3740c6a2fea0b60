//! A catalog change as the rows that it writes.

use super::Counters;
use super::format::{json_of, table_json};
use super::row::{FAMILY, Kind, fragment_of, put};
use crate::{Catalog, CatalogResult, Draft, SYSTEM_TABLE, SequenceValue};
use serde::Serialize;
use std::sync::Arc;
use store::{Bytes, CommitNo, Condition, Mutation, TableChange, WriteBatch};

/// A catalog change, ready to be written.
pub(crate) struct Change {
    /// The next version.
    pub(crate) catalog: Catalog,
    pub(crate) tables: Vec<TableChange>,
    /// Keys and JSON of all changed rows, except the counters row; `None` deletes the row.
    pub(crate) rows: Vec<(Bytes, Option<Vec<u8>>)>,
}

impl Change {
    /// The change as one batch, conditional on the counters row that commit `last` wrote.
    pub(crate) fn batch(&self, last: CommitNo) -> CatalogResult<WriteBatch> {
        let unchanged =
            Condition { table: SYSTEM_TABLE, family: FAMILY, key: Kind::Counters.key(0), expect: Some(last) };
        let mut mutations = vec![put(Kind::Counters, 0, &Counters::of(&self.catalog))?];
        for (key, json) in &self.rows {
            let (table, family, key) = (SYSTEM_TABLE, FAMILY, key.clone());
            mutations.push(match json {
                Some(json) => Mutation::Replace { table, family, key, fragment: fragment_of(json)? },
                None => Mutation::Delete { table, family, key },
            });
        }
        Ok(WriteBatch { tables: self.tables.clone(), conditions: vec![unchanged], mutations })
    }
}

impl Draft {
    /// Drops storage that a crashed process had prepared.
    pub(crate) fn drop_staged(&mut self) -> CatalogResult<()> {
        for storage in std::mem::take(&mut self.next.staged) {
            self.dirty.staged.insert(storage);
            self.stores.push(TableChange::Drop(store::TableId(storage)));
        }
        Ok(())
    }

    pub(crate) fn changes_something(&self) -> bool {
        let dirty = &self.dirty;
        let relations = dirty.tables.is_empty() && dirty.views.is_empty() && dirty.sequences.is_empty();
        let rows = !(dirty.schemas.is_empty() && relations && dirty.comments.is_empty() && dirty.staged.is_empty());
        rows || !self.stores.is_empty() || !self.jobs.is_empty()
    }

    /// Returns the next version and the changes of the store.
    ///
    /// # Errors
    /// As [`Draft::check_links`]; a definition that cannot be written.
    pub(crate) fn finish(mut self) -> CatalogResult<Change> {
        self.check_links()?;
        self.drop_orphaned_comments();
        let Self { next, dirty, stores: tables, jobs, .. } = self;
        let mut rows = Vec::new();
        for job in &jobs {
            rows.push(row_of(Kind::Job, job.id, Some(job))?);
        }
        for id in dirty.schemas {
            rows.push(row_of(Kind::Schema, id.0, next.schema_by_id(id))?);
        }
        for oid in dirty.tables {
            let json = next.table_by_oid(oid).map(|table| table_json(table)).transpose()?;
            if json.is_none() {
                rows.push((Kind::Statistics.key(oid.0), None));
            }
            rows.push((Kind::Table.key(oid.0), json));
        }
        for oid in dirty.views {
            rows.push(row_of(Kind::View, oid.0, next.view_by_oid(oid).map(Arc::as_ref))?);
        }
        for oid in dirty.sequences {
            let sequence = next.sequence_by_oid(oid).map(Arc::as_ref);
            rows.push(row_of(Kind::Sequence, oid.0, sequence)?);
            if sequence.is_none() {
                rows.push(row_of::<SequenceValue>(Kind::SequenceValue, oid.0, None)?);
            }
        }
        for oid in dirty.comments {
            rows.push(row_of(Kind::Comments, oid, next.comments.get(&oid).map(Arc::as_ref))?);
        }
        for storage in dirty.staged {
            rows.push(row_of(Kind::Staged, storage, next.staged.get(&storage))?);
        }
        Ok(Change { catalog: next, tables, rows })
    }
}

fn row_of<T: Serialize>(kind: Kind, id: u32, value: Option<&T>) -> CatalogResult<(Bytes, Option<Vec<u8>>)> {
    Ok((kind.key(id), value.map(|value| json_of(kind, id, value)).transpose()?))
}
