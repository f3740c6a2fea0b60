//! Foreign keys as text.

use super::{Printed, names, quote, when};
use crate::sql::{ForeignKeyDef, ReferentialAction};
use std::fmt::{self, Display, Formatter};

impl Display for Printed<'_, ForeignKeyDef> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_foreign_key(self.0, f, true)
    }
}

/// Writes a foreign key: of a table, with its columns, or of a column.
pub(super) fn write_foreign_key(it: &ForeignKeyDef, f: &mut Formatter<'_>, of_table: bool) -> fmt::Result {
    if let Some(name) = &it.name {
        write!(f, "CONSTRAINT {} ", quote(name))?;
    }
    if of_table {
        write!(f, "FOREIGN KEY {} ", names(&it.columns))?;
    }
    write!(f, "REFERENCES {}", it.parent)?;
    if !it.parent_columns.is_empty() {
        write!(f, " {}", names(&it.parent_columns))?;
    }
    f.write_str(when(it.full, " MATCH FULL"))?;
    if it.on_delete != ReferentialAction::NoAction {
        write!(f, " ON DELETE {}", it.on_delete.words())?;
    }
    if !it.set_columns.is_empty() {
        write!(f, " {}", names(&it.set_columns))?;
    }
    if it.on_update != ReferentialAction::NoAction {
        write!(f, " ON UPDATE {}", it.on_update.words())?;
    }
    f.write_str(when(it.deferrable, " DEFERRABLE"))?;
    f.write_str(when(it.deferred, " INITIALLY DEFERRED"))?;
    f.write_str(when(it.not_valid, " NOT VALID"))
}
