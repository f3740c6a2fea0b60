//! COMMENT ON: texts attached to databases, schemas, relations, columns and constraints.
//!
//! A comment belongs to an oid and a number, as in `pg_description`: 0 for the object itself, else the number of a
//! column (its id in a table, its position from 1 in a view). The comments of one object are one row of the catalog and
//! are dropped with the object.

use crate::catalog::{DATABASE_OID, PUBLIC_SCHEMA_ID};
use crate::{Catalog, CatalogError, CatalogResult, Draft, Table, TableOid};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The comment on the schema `public` of a new database, as in PostgreSQL.
const PUBLIC_COMMENT: &str = "standard public schema";

/// Distinguishes the oid of a primary key's constraint from the oid of its index. The oid counter does not reach this
/// bit.
const KEY_CONSTRAINT: u32 = 1 << 30;

/// The comments of one object by column number, 0 for the object itself. An empty text means no comment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Comments {
    texts: BTreeMap<u16, String>,
}

/// The object or column of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentTarget {
    /// The object.
    pub oid: u32,
    /// The number of one of its columns; 0 for the object itself.
    pub column: u16,
}

impl CommentTarget {
    /// The object itself.
    pub fn object(oid: u32) -> Self {
        Self { oid, column: 0 }
    }
}

impl Table {
    /// The oid of the primary key's constraint; `None` with a hidden row id.
    pub fn key_constraint_oid(&self) -> Option<u32> {
        self.key_oid.map(|index| KEY_CONSTRAINT | index)
    }

    /// The oids of the table, its indexes and its constraints.
    fn oids(&self) -> impl Iterator<Item = u32> {
        let key = self.key_oid.into_iter().chain(self.key_constraint_oid());
        let checks = self.checks.iter().map(|check| check.oid);
        let indexes = self.indexes.iter().flat_map(|index| [Some(index.oid), index.constraint]).flatten();
        let references = self.foreign_keys.iter().map(|key| key.oid);
        std::iter::once(self.oid.0).chain(key).chain(checks).chain(references).chain(indexes)
    }
}

impl Catalog {
    /// The comment of an object or a column.
    pub fn comment(&self, of: CommentTarget) -> Option<&str> {
        match self.comments.get(&of.oid).and_then(|comments| comments.texts.get(&of.column)) {
            Some(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            None => (of == CommentTarget::object(PUBLIC_SCHEMA_ID.0)).then_some(PUBLIC_COMMENT),
        }
    }

    /// All comments.
    pub fn comments(&self) -> impl Iterator<Item = (CommentTarget, &str)> {
        let of = |oid: u32, comments: &Arc<Comments>| -> Vec<CommentTarget> {
            comments.texts.keys().map(|column| CommentTarget { oid, column: *column }).collect()
        };
        let kept = self.comments.iter().flat_map(move |(oid, comments)| of(*oid, comments));
        let public = CommentTarget::object(PUBLIC_SCHEMA_ID.0);
        let default = (!self.has_comment_row(public)).then_some(public);
        default.into_iter().chain(kept).filter_map(|target| Some((target, self.comment(target)?)))
    }

    fn has_comment_row(&self, of: CommentTarget) -> bool {
        self.comments.get(&of.oid).is_some_and(|comments| comments.texts.contains_key(&of.column))
    }

    /// Oids of all objects that can have comments.
    fn commentable(&self) -> BTreeSet<u32> {
        let tables = self.tables().flat_map(|table| table.oids());
        let views = self.views().map(|view| view.oid.0);
        let sequences = self.sequences().map(|sequence| sequence.oid.0);
        let schemas = self.schemas().map(|schema| schema.id.0);
        tables.chain(views).chain(sequences).chain(schemas).chain([DATABASE_OID]).collect()
    }

    fn has_column(&self, relation: u32, number: u16) -> bool {
        let oid = TableOid(relation);
        match (self.table_by_oid(oid), self.view_by_oid(oid)) {
            (Some(table), _) => table.columns.iter().any(|column| column.id.0 == number),
            (None, Some(view)) => usize::from(number) <= view.columns.len(),
            (None, None) => false,
        }
    }
}

impl Draft {
    /// COMMENT ON: `None` or an empty text removes the comment.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: dropped since the caller looked it up.
    pub fn set_comment(&mut self, of: CommentTarget, text: Option<&str>) -> CatalogResult<()> {
        if !self.next.commentable().contains(&of.oid) {
            return Err(CatalogError::dropped(of.oid));
        }
        let text = text.unwrap_or_default();
        let comments = Arc::make_mut(self.next.comments.entry(of.oid).or_default());
        if text.is_empty() && of.oid != PUBLIC_SCHEMA_ID.0 {
            comments.texts.remove(&of.column);
        } else {
            comments.texts.insert(of.column, text.to_string());
        }
        if comments.texts.is_empty() {
            self.next.comments.remove(&of.oid);
        }
        self.dirty.comments.insert(of.oid);
        Ok(())
    }

    /// Removes the comments of objects that this draft has dropped.
    pub(crate) fn drop_orphaned_comments(&mut self) {
        if self.next.comments.is_empty() {
            return;
        }
        let there = self.next.commentable();
        let mut lost: Vec<CommentTarget> = Vec::new();
        for (oid, comments) in &self.next.comments {
            let gone = |column: &u16| !there.contains(oid) || (*column != 0 && !self.next.has_column(*oid, *column));
            lost.extend(comments.texts.keys().filter(|it| gone(it)).map(|it| CommentTarget { oid: *oid, column: *it }));
        }
        for CommentTarget { oid, column } in lost {
            let Some(comments) = self.next.comments.get_mut(&oid).map(Arc::make_mut) else { continue };
            comments.texts.remove(&column);
            if comments.texts.is_empty() {
                self.next.comments.remove(&oid);
            }
            self.dirty.comments.insert(oid);
        }
    }
}
