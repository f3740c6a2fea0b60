//! The physical schema of a table: its key schema and its fragment layouts.

use crate::{Column, LayoutDef, Table};
use fragment::{Layout, LayoutColumn};
use rowkey::{KeyPart, KeySchema};

impl Table {
    /// The schema of its rowkeys.
    pub fn key_schema(&self) -> KeySchema {
        let part = |(at, column): (usize, &Column)| {
            let part = self.key.get(at);
            KeyPart {
                ty: column.ty,
                descending: part.is_some_and(|part| part.descending),
                nullable: !column.not_null,
                nulls_first: part.is_some_and(|part| part.nulls_first),
            }
        };
        let parts = self.key_columns().enumerate().map(part).collect();
        let salted_by_row = self.salt_hash == crate::table::SALT_OF_ROW;
        KeySchema { parts, salt_buckets: self.salt_buckets, salted_by_row }
    }

    /// The layout with that id; `None` if the table never had it.
    pub fn layout(&self, id: u16) -> Option<Layout> {
        self.layout_def(id).map(LayoutDef::to_layout)
    }
}

impl LayoutDef {
    /// The layout for the fragment crate. A column's qualifier is its id.
    pub fn to_layout(&self) -> Layout {
        let columns = self.columns.iter().map(|(id, ty)| LayoutColumn {
            qualifier: id.0,
            width: ty.fixed_width().and_then(|width| u16::try_from(width).ok()),
        });
        Layout::new(self.id, columns.collect())
    }
}
