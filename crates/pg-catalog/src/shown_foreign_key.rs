//! Foreign keys as listed in PostgreSQL's catalogs.

use crate::shown_index::ShownIndex;
use crate::source::{Source, shown_columns};
use catalog::{Column, ColumnId, ForeignKey, ReferentialAction, Table};
use std::sync::Arc;

/// A foreign key with both its tables.
pub(crate) struct ShownForeignKey<'a> {
    pub(crate) table: &'a Arc<Table>,
    pub(crate) key: &'a ForeignKey,
    pub(crate) parent: &'a Arc<Table>,
}

impl<'a> ShownForeignKey<'a> {
    /// The foreign keys of a table.
    pub(crate) fn all_of(source: &'a Source, table: &'a Arc<Table>) -> impl Iterator<Item = Self> {
        table.foreign_keys.iter().filter_map(move |key| {
            let parent = source.catalog.table_by_oid(key.parent)?;
            Some(Self { table, key, parent })
        })
    }

    /// The referencing columns, with their numbers.
    pub(crate) fn columns(&self) -> Vec<(i16, &'a Column)> {
        numbered(self.table, &self.key.columns)
    }

    /// The referenced columns, with their numbers.
    pub(crate) fn parent_columns(&self) -> Vec<(i16, &'a Column)> {
        numbered(self.parent, &self.key.parent_columns)
    }

    /// The columns that ON DELETE sets, with their numbers; empty means all.
    pub(crate) fn set_columns(&self) -> Vec<(i16, &'a Column)> {
        numbered(self.table, &self.key.set_columns)
    }

    /// The unique index over the referenced columns.
    pub(crate) fn parent_index(&self) -> Option<ShownIndex<'a>> {
        ShownIndex::all_of(self.parent).find(|index| index.oid == self.key.parent_index)
    }

    /// `FOREIGN KEY (…) REFERENCES …`.
    pub(crate) fn definition(&self, source: &Source, qualified: bool) -> String {
        let list = |columns: Vec<(i16, &Column)>| {
            let names: Vec<String> = columns.iter().map(|(_, column)| source.quote(&column.name)).collect();
            format!("({})", names.join(", "))
        };
        let schema = match qualified {
            true => format!("{}.", source.quote(source.catalog.schema_name(self.parent))),
            false => String::new(),
        };
        let (columns, parent_columns) = (list(self.columns()), list(self.parent_columns()));
        let mut text =
            format!("FOREIGN KEY {columns} REFERENCES {schema}{}{parent_columns}", source.quote(&self.parent.name));
        if self.key.full {
            text.push_str(" MATCH FULL");
        }
        for (event, action) in [("UPDATE", self.key.on_update), ("DELETE", self.key.on_delete)] {
            if action != ReferentialAction::NoAction {
                text.push_str(&format!(" ON {event} {}", action.words()));
            }
        }
        if !self.key.set_columns.is_empty() {
            text.push_str(&format!(" {}", list(self.set_columns())));
        }
        for (holds, words) in [
            (self.key.deferrable, " DEFERRABLE"),
            (self.key.deferred, " INITIALLY DEFERRED"),
            (!self.key.validated, " NOT VALID"),
        ] {
            text.push_str(if holds { words } else { "" });
        }
        text
    }
}

/// An action in `pg_constraint`.
pub(crate) fn action_code(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "a",
        ReferentialAction::Restrict => "r",
        ReferentialAction::Cascade => "c",
        ReferentialAction::SetNull => "n",
        ReferentialAction::SetDefault => "d",
    }
}

fn numbered<'a>(table: &'a Table, ids: &[ColumnId]) -> Vec<(i16, &'a Column)> {
    ids.iter().filter_map(|id| shown_columns(table).find(|(_, column)| column.id == *id)).collect()
}
