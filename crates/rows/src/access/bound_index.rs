//! Expressions and predicates of a table's indexes, bound once per version of the table and cached with it.

use bind::{TableExpression, bind_stored_expression};
use catalog::{Index, Table};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The expressions and the predicate of an index.
#[derive(Debug)]
pub(crate) struct BoundIndex {
    /// For each part its expression, if it is one.
    pub(crate) parts: Vec<Option<TableExpression>>,
    pub(crate) predicate: Option<TableExpression>,
}

/// The bound indexes of a table, by index OID; an index that cannot be bound is left out.
#[derive(Debug)]
pub(crate) struct BoundIndexes(BTreeMap<u32, BoundIndex>);

impl BoundIndexes {
    /// The bound indexes of this version of the table.
    pub(crate) fn of(table: &Arc<Table>) -> Arc<Self> {
        if let Some(known) = table.derived.get::<Self>() {
            return known;
        }
        let all = table.indexes.iter().filter_map(|index| Some((index.oid, bound(table, index)?)));
        table.derived.keep(Self(all.collect()))
    }

    pub(crate) fn get(&self, index: u32) -> Option<&BoundIndex> {
        self.0.get(&index)
    }
}

fn bound(table: &Arc<Table>, index: &Index) -> Option<BoundIndex> {
    let over = |text: &str| bind_stored_expression(table, text);
    let part = |part: &catalog::IndexPart| match part.expression() {
        Some(expression) => Some(Some(over(&expression.text)?)),
        None => Some(None),
    };
    let parts = index.parts.iter().map(part).collect::<Option<Vec<_>>>()?;
    let predicate = match &index.predicate {
        Some(predicate) => Some(over(&predicate.text)?),
        None => None,
    };
    Some(BoundIndex { parts, predicate })
}
