//! Views and sequences in a catalog change, and dependencies between relations.

use crate::view::{NewView, ViewQuery};
use crate::{
    CatalogError, CatalogResult, Column, ColumnId, Draft, NewSequence, Sequence, SequenceOwner, Table, TableOid, View,
    ViewRead,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::interrupt;

impl Draft {
    /// CREATE VIEW.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::DuplicateTable`].
    pub fn create_view(&mut self, new: NewView) -> CatalogResult<Arc<View>> {
        let schema = self.schema_entry(&new.schema)?.def.id;
        self.check_name_is_free(&new.schema, &new.name)?;
        let NewView { name, columns, query, search_path, reads, .. } = new;
        let (oid, version) = (TableOid(self.take_oid()?), self.next.version);
        Ok(self.put_view(View { oid, schema, name, columns, query, search_path, reads, version }))
    }

    /// CREATE OR REPLACE VIEW of an existing view.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: dropped since the caller looked it up.
    pub fn replace_view(&mut self, oid: TableOid, new: NewView) -> CatalogResult<Arc<View>> {
        let old = self.next.views.get(&oid).cloned();
        let Some(old) = old else { return Err(CatalogError::dropped(oid.0)) };
        let NewView { columns, query, search_path, reads, .. } = new;
        let (schema, name, version) = (old.schema, old.name.clone(), self.next.version);
        Ok(self.put_view(View { oid, schema, name, columns, query, search_path, reads, version }))
    }

    /// ALTER VIEW … RENAME TO. `queries` are those of the views that read it, with its new name.
    ///
    /// # Errors
    /// [`CatalogError::DuplicateTable`], [`CatalogError::NoSuchTable`]; [`CatalogError::Unsupported`] for a view without
    /// a new query.
    pub fn rename_view(&mut self, oid: TableOid, to: &str, queries: &[ViewQuery]) -> CatalogResult<Arc<View>> {
        let Some(old) = self.next.views.get(&oid).cloned() else { return Err(CatalogError::dropped(oid.0)) };
        let schema = self.next.schema_by_id(old.schema).map(|schema| schema.name.clone()).unwrap_or_default();
        self.check_name_is_free(&schema, to)?;
        let what = self.described(oid);
        self.follow((oid, None), &what, queries)?;
        let (name, version) = (to.to_string(), self.next.version);
        Ok(self.put_view(View { name, version, ..old.as_ref().clone() }))
    }

    fn put_view(&mut self, view: View) -> Arc<View> {
        let view = Arc::new(view);
        self.next.views.insert(view.oid, Arc::clone(&view));
        self.dirty.views.insert(view.oid);
        view
    }

    /// CREATE SEQUENCE.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::DuplicateTable`].
    pub fn create_sequence(&mut self, new: NewSequence) -> CatalogResult<Arc<Sequence>> {
        let schema = self.schema_entry(&new.schema)?.def.id;
        self.check_name_is_free(&new.schema, &new.name)?;
        let NewSequence { name, counting, owner, .. } = new;
        let oid = TableOid(self.take_oid()?);
        let crate::Counting { ty, start, increment, min, max, cache, cycle } = counting;
        let (first, generation, version) = (start, 0, self.next.version);
        let sequence = Sequence {
            oid,
            schema,
            name,
            ty,
            start,
            increment,
            min,
            max,
            cache,
            cycle,
            owner,
            first,
            generation,
            version,
        };
        Ok(self.put_sequence(sequence))
    }

    /// ALTER SEQUENCE: applies `change`.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::DuplicateTable`] for a name that is taken; errors of `change`.
    pub fn alter_sequence(
        &mut self,
        oid: TableOid,
        change: impl FnOnce(&mut Sequence) -> CatalogResult<()>,
    ) -> CatalogResult<Arc<Sequence>> {
        let old = self.next.sequences.get(&oid).cloned();
        let Some(old) = old else { return Err(CatalogError::dropped(oid.0)) };
        let mut sequence = old.as_ref().clone();
        change(&mut sequence)?;
        if sequence.name != old.name {
            let schema = self.next.schema_by_id(old.schema).map(|schema| schema.name.clone()).unwrap_or_default();
            self.check_name_is_free(&schema, &sequence.name)?;
        }
        sequence.version = self.next.version;
        Ok(self.put_sequence(sequence))
    }

    /// TRUNCATE … RESTART IDENTITY: restarts the sequences of a table's columns.
    ///
    /// # Errors
    /// As [`Self::alter_sequence`].
    pub fn restart_sequences(&mut self, table: TableOid) -> CatalogResult<()> {
        let owned = self.next.sequences.values().filter(|it| it.owner.is_some_and(|owner| owner.table == table));
        for (oid, start) in owned.map(|sequence| (sequence.oid, sequence.start)).collect::<Vec<_>>() {
            self.restart_sequence(oid, start)?;
        }
        Ok(())
    }

    /// Restarts a sequence with `first`.
    ///
    /// # Errors
    /// As [`Self::alter_sequence`].
    pub fn restart_sequence(&mut self, oid: TableOid, first: i64) -> CatalogResult<()> {
        let restart = |sequence: &mut Sequence| {
            (sequence.first, sequence.generation) = (first, sequence.generation + 1);
            Ok(())
        };
        self.alter_sequence(oid, restart).map(drop)
    }

    fn put_sequence(&mut self, sequence: Sequence) -> Arc<Sequence> {
        let sequence = Arc::new(sequence);
        self.next.sequences.insert(sequence.oid, Arc::clone(&sequence));
        self.dirty.sequences.insert(sequence.oid);
        sequence
    }

    /// DROP VIEW, DROP TABLE, DROP SEQUENCE: drops these relations, and with `cascade` all that depends on them.
    /// Returns kind and name of the dependents that were dropped.
    ///
    /// # Errors
    /// [`CatalogError::DependentObjects`], [`CatalogError::NoSuchTable`].
    pub fn drop_relations(&mut self, oids: &[TableOid], cascade: bool) -> CatalogResult<Vec<String>> {
        let named: BTreeSet<TableOid> = oids.iter().copied().collect();
        let mut going = named.clone();
        let (mut others, mut defaults) = (Vec::new(), Vec::new());
        let mut queue: Vec<TableOid> = oids.to_vec();
        while let Some(oid) = queue.pop() {
            interrupt::spend(1 + self.next.sequences.len() + self.next.views.len() + self.next.tables.len())?;
            if self.described(oid).is_empty() {
                return Err(CatalogError::dropped(oid.0));
            }
            // The sequences of a table's columns are dropped with it, also without CASCADE.
            let owned = self.next.sequences.values().filter(|it| it.owner.is_some_and(|owner| owner.table == oid));
            for sequence in owned.map(|sequence| sequence.oid).collect::<Vec<_>>() {
                if going.insert(sequence) {
                    queue.push(sequence);
                }
            }
            let readers = self.next.readers().filter(|(_, reads)| reads.iter().any(|read| read.relation == oid));
            for view in readers.map(|(view, _)| view).collect::<Vec<_>>() {
                if going.insert(view) {
                    others.push((view, oid));
                    queue.push(view);
                }
            }
            self.refuse_identity(oid, &named)?;
            defaults.extend(self.release_defaults(oid, &going, (&self.described(oid), cascade))?);
        }
        if !cascade && let Some((_, first)) = others.first() {
            let dependents = others.iter().map(|(view, _)| self.described(*view)).collect();
            return Err(CatalogError::DependentObjects { what: self.described(*first), dependents });
        }
        let mut dropped: Vec<String> = others.iter().map(|(view, _)| self.described(*view)).collect();
        dropped.extend(defaults);
        for oid in &going {
            let what = self.described(*oid);
            dropped.extend(self.release_parent(*oid, None, &going, (&what, cascade))?);
        }
        for oid in going {
            interrupt::spend(1 + self.next.schemas.len())?;
            self.remove_relation(oid)?;
        }
        Ok(dropped)
    }

    /// Handles views that depend on `what`, which is dropped: with `cascade` they are dropped and returned with all that
    /// depends on them, otherwise they are an error.
    ///
    /// # Errors
    /// [`CatalogError::DependentObjects`] of `what`.
    pub fn release_views(&mut self, what: &str, views: &[TableOid], cascade: bool) -> CatalogResult<Vec<String>> {
        let mut dependents: Vec<String> = views.iter().map(|view| self.described(*view)).collect();
        if !cascade && !dependents.is_empty() {
            return Err(CatalogError::DependentObjects { what: what.to_string(), dependents });
        }
        dependents.extend(self.drop_relations(views, true)?);
        Ok(dependents)
    }

    /// Refuses to drop the sequence of an identity column without its column.
    fn refuse_identity(&self, oid: TableOid, named: &BTreeSet<TableOid>) -> CatalogResult<()> {
        let Some(sequence) = self.next.sequences.get(&oid) else { return Ok(()) };
        match sequence.owner {
            Some(owner) if owner.identity && named.contains(&oid) && !named.contains(&owner.table) => {
                let column = self.next.table_by_oid(owner.table).and_then(|table| table.column(owner.column));
                Err(CatalogError::RequiredBy {
                    what: format!("sequence {}", sequence.name),
                    by: format!(
                        "column {} of {}",
                        column.map(|column| column.name.as_str()).unwrap_or_default(),
                        self.described(owner.table)
                    ),
                })
            }
            _ => Ok(()),
        }
    }

    /// Handles defaults that take values of a sequence that is dropped, except in tables of `going`. With `cascade`,
    /// drops and returns the defaults; otherwise they are an error.
    ///
    /// # Errors
    /// [`CatalogError::DependentObjects`] of `what`.
    fn release_defaults(
        &mut self,
        oid: TableOid,
        going: &BTreeSet<TableOid>,
        (what, cascade): (&str, bool),
    ) -> CatalogResult<Vec<String>> {
        if !self.next.sequences.contains_key(&oid) {
            return Ok(Vec::new());
        }
        let uses = |column: &Column| column.takes_values_of(oid);
        let tables = self.next.tables().filter(|table| !going.contains(&table.oid) && table.columns.iter().any(uses));
        let tables: Vec<Arc<Table>> = tables.cloned().collect();
        let named = tables.iter().flat_map(|table| {
            let columns = table.columns.iter().filter(|column| uses(column));
            columns.map(|column| format!("default value for column {} of {}", column.name, self.described(table.oid)))
        });
        let dependents: Vec<String> = named.collect();
        if !cascade && !dependents.is_empty() {
            return Err(CatalogError::DependentObjects { what: what.to_string(), dependents });
        }
        for table in tables {
            let mut table = table.as_ref().clone();
            for column in table.columns.iter_mut().filter(|column| uses(column)) {
                (column.sequence, column.default) = (None, None);
                column.default_sequences.clear();
            }
            self.put_table(table);
        }
        Ok(dependents)
    }

    fn remove_relation(&mut self, oid: TableOid) -> CatalogResult<()> {
        if self.next.views.remove(&oid).is_some() {
            self.dirty.views.insert(oid);
        } else if self.next.sequences.remove(&oid).is_some() {
            self.dirty.sequences.insert(oid);
        } else {
            self.drop_table(oid)?;
        }
        Ok(())
    }

    /// Refuses to change a table that views read; with `column`, only if they read that column.
    ///
    /// # Errors
    /// [`CatalogError::DependentObjects`].
    pub(crate) fn check_unread(&self, table: &Table, column: Option<ColumnId>) -> CatalogResult<()> {
        let dependents = self.readers_of(table.oid, column);
        if dependents.is_empty() {
            return Ok(());
        }
        let column = column.and_then(|id| table.column(id)).map(|column| format!("column {} of ", column.name));
        let what = format!("{}{}", column.unwrap_or_default(), self.described(table.oid));
        Err(CatalogError::DependentObjects { what, dependents })
    }

    /// The views that read a relation, as named in errors; with `column`, only those that read that column.
    fn readers_of(&self, relation: TableOid, column: Option<ColumnId>) -> Vec<String> {
        self.reading(relation, column).into_iter().map(|view| self.described(view)).collect()
    }

    /// The views that read a relation; with `column`, only those that read that column.
    pub(crate) fn reading(&self, relation: TableOid, column: Option<ColumnId>) -> Vec<TableOid> {
        let reads = |(_, reads): &(TableOid, &[ViewRead])| {
            let of_relation = |read: &&ViewRead| read.relation == relation;
            reads.iter().filter(of_relation).any(|read| column.is_none_or(|column| read.columns.contains(&column)))
        };
        self.next.readers().filter(reads).map(|(view, _)| view).collect()
    }

    /// Gives the views that read a relation, or a column of it, the queries with its new name. `what` is the relation or
    /// column, for errors.
    ///
    /// # Errors
    /// [`CatalogError::Unsupported`] for a view without a new query, or that has another query by now.
    pub(crate) fn follow(
        &mut self,
        (relation, column): (TableOid, Option<ColumnId>),
        what: &str,
        queries: &[ViewQuery],
    ) -> CatalogResult<()> {
        let mut others = Vec::new();
        for view in self.reading(relation, column) {
            match queries.iter().find(|query| query.view == view) {
                Some(query) if self.set_query(query)? => {}
                _ => others.push(self.described(view)),
            }
        }
        if others.is_empty() { Ok(()) } else { Err(renamed_under_views(what, &others)) }
    }

    /// Returns false if the view has another query by now.
    fn set_query(&mut self, query: &ViewQuery) -> CatalogResult<bool> {
        let ViewQuery { view, old, new } = query;
        if let Some(stored) = self.next.views.get(view).cloned() {
            let same = stored.query == *old;
            if same {
                let version = self.next.version;
                self.put_view(View { query: new.clone(), version, ..stored.as_ref().clone() });
            }
            return Ok(same);
        }
        let table = self.table(*view)?;
        let same =
            table.materialized.as_ref().is_some_and(|stored| stored.query == *old && stored.incremental.is_none());
        if same {
            self.change_materialized(*view, |stored| stored.query.clone_from(new))?;
        }
        Ok(same)
    }

    /// Drops the sequences of a dropped column. With `cascade`, also drops and returns the defaults that take their
    /// values.
    ///
    /// # Errors
    /// [`CatalogError::DependentObjects`] of `what`, or of the sequence.
    pub(crate) fn drop_owned(
        &mut self,
        (table, column): (TableOid, ColumnId),
        what: Option<&str>,
        cascade: bool,
    ) -> CatalogResult<Vec<String>> {
        let is_owned = |owner: SequenceOwner| owner.table == table && owner.column == column;
        let owned: Vec<TableOid> =
            self.next.sequences.values().filter(|it| it.owner.is_some_and(is_owned)).map(|it| it.oid).collect();
        let mut dropped = Vec::new();
        for oid in owned {
            let what = what.map_or_else(|| self.described(oid), str::to_owned);
            dropped.extend(self.release_defaults(oid, &BTreeSet::new(), (&what, cascade))?);
            self.next.sequences.remove(&oid);
            self.dirty.sequences.insert(oid);
        }
        Ok(dropped)
    }
}

/// The error for renaming a relation or column that views read whose text would keep the old name.
pub(crate) fn renamed_under_views(what: &str, views: &[String]) -> CatalogError {
    CatalogError::Unsupported { feature: format!("renaming {what}, which {} reads", views.join(", ")) }
}
