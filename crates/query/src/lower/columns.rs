//! The names of columns in a plan.
//!
//! DataFusion's rules generate names of their own and sometimes compare unqualified names, so all computed columns of a
//! statement have distinct names, and none has a name that a rule generates.

use super::COMPUTED;
use super::error::LowerResult;
use crate::error::QueryError;
use ::bind::tree::ColId;
use datafusion::common::{Column, TableReference};
use std::collections::{HashMap, HashSet};

/// The names assigned so far.
#[derive(Default)]
pub(super) struct Columns {
    by_id: HashMap<ColId, Column>,
    computed: HashSet<String>,
    qualifiers: HashSet<String>,
}

impl Columns {
    /// The column of an id that a node below outputs.
    pub(super) fn get(&self, id: ColId) -> LowerResult<&Column> {
        let missing = || QueryError::internal(format!("column {} out of scope", id.index()));
        self.by_id.get(&id).ok_or_else(missing)
    }

    /// A new qualifier for a reference to a table of that name.
    pub(super) fn qualifier(&mut self, table: &str) -> TableReference {
        let taken = |name: &str| name == COMPUTED || self.qualifiers.contains(name);
        let name = unique(table, &taken);
        self.qualifiers.insert(name.clone());
        TableReference::bare(name)
    }

    /// Registers a table's column.
    pub(super) fn of_table(&mut self, id: ColId, table: &TableReference, name: &str) {
        self.by_id.insert(id, Column::new(Some(table.clone()), name));
    }

    /// Registers a computed column; it is named `name` if that is unused.
    pub(super) fn computed(&mut self, id: ColId, name: &str) -> Column {
        let column = self.nameless(name);
        self.by_id.insert(id, column.clone());
        column
    }

    /// Registers another column for an id; returns the previous one.
    pub(super) fn replace(&mut self, id: ColId, column: Column) -> LowerResult<Column> {
        let missing = || QueryError::internal(format!("column {} out of scope", id.index()));
        self.by_id.insert(id, column).ok_or_else(missing)
    }

    /// A column without an id.
    pub(super) fn nameless(&mut self, name: &str) -> Column {
        let shown: String = name.chars().take(LONGEST).collect();
        let shown = if is_invented(&shown) { format!("{shown}_") } else { shown };
        let name = unique(&shown, &|name: &str| self.computed.contains(name));
        self.computed.insert(name.clone());
        Column::new(Some(TableReference::bare(COMPUTED)), name)
    }
}

/// The longest name, in characters.
const LONGEST: usize = 80;

fn unique(name: &str, taken: &dyn Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    let numbered = (1_u64..).map(|number| format!("{name}_{number}"));
    numbered.into_iter().find(|name| !taken(name)).unwrap_or_default()
}

/// Is it a name that DataFusion's rules generate?
fn is_invented(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    name == "mark" || name.starts_with("__") || numbered("alias") || numbered("group_alias_") || name.is_empty()
}
