//! Phoenix's ADD … CASCADE INDEX: includes added columns in indexes of the table and rebuilds their entries. Unlike
//! Phoenix, it supports local indexes.

use super::step::Step;
use crate::Session;
use crate::ddl::rewrite::Rewrite;
use crate::error::{EngineResult, Fault};
use catalog::{Index, Table};

impl Session {
    /// `indexes` are index names; `None` means all indexes without a constraint. Returns `None` if there is no column
    /// or index to change.
    pub(super) fn included_columns(
        &mut self,
        (old, now): (&Table, &Table),
        columns: &[String],
        indexes: Option<&[String]>,
        rewrite: &mut Rewrite,
    ) -> EngineResult<Option<Step>> {
        let is_new = |name: &&String| old.column_by_name(name).is_none() && now.column_by_name(name).is_some();
        let columns: Vec<String> = columns.iter().filter(is_new).cloned().collect();
        let found: Vec<&Index> = match indexes {
            None => now.indexes.iter().filter(|index| index.constraint.is_none()).collect(),
            Some(names) => names.iter().map(|name| named(now, name)).collect::<EngineResult<_>>()?,
        };
        let oids: Vec<u32> = found.iter().map(|index| index.oid).collect();
        if columns.is_empty() || oids.is_empty() {
            return Ok(None);
        }
        rewrite.entries.extend(&oids);
        Ok(Some(Step::Include(oids, columns)))
    }
}

fn named<'t>(table: &'t Table, name: &str) -> EngineResult<&'t Index> {
    let found = table.index(name);
    found.ok_or_else(|| Fault::NoSuchIndex { name: name.to_string() }.into())
}
