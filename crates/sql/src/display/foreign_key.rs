//! Foreign keys as text.

use super::{names, when};
use crate::statement::names::quote;
use crate::statement::{ForeignKeyDef, ReferentialAction};
use std::fmt::{self, Display, Formatter};

impl Display for ForeignKeyDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}

impl ForeignKeyDef {
    /// Of a table, with its columns, or of a column.
    pub(super) fn write(&self, f: &mut Formatter<'_>, of_table: bool) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "CONSTRAINT {} ", quote(name))?;
        }
        if of_table {
            write!(f, "FOREIGN KEY {} ", names(&self.columns))?;
        }
        write!(f, "REFERENCES {}", self.parent)?;
        if !self.parent_columns.is_empty() {
            write!(f, " {}", names(&self.parent_columns))?;
        }
        f.write_str(when(self.full, " MATCH FULL"))?;
        if self.on_delete != ReferentialAction::NoAction {
            write!(f, " ON DELETE {}", self.on_delete.words())?;
        }
        if !self.set_columns.is_empty() {
            write!(f, " {}", names(&self.set_columns))?;
        }
        if self.on_update != ReferentialAction::NoAction {
            write!(f, " ON UPDATE {}", self.on_update.words())?;
        }
        f.write_str(when(self.deferrable, " DEFERRABLE"))?;
        f.write_str(when(self.deferred, " INITIALLY DEFERRED"))?;
        f.write_str(when(self.not_valid, " NOT VALID"))
    }
}
