//! RETURNING: the result rows of a write statement.

use super::row_exprs::{Exprs, Scope};
use super::target::Row;
use crate::ColumnDesc;
use crate::error::EngineResult;
use std::sync::Arc;
use types::Datum;

/// A compiled RETURNING.
#[derive(Debug)]
pub(crate) struct Returning {
    pub(crate) columns: Arc<Vec<ColumnDesc>>,
    items: Vec<Item>,
    exprs: Exprs,
}

#[derive(Debug)]
pub(super) enum Item {
    /// A column of the row.
    Column(usize),
    /// A computed value.
    Computed(usize),
    /// A column of a joined table.
    Joined(usize),
}

impl Returning {
    pub(super) fn new(columns: Arc<Vec<ColumnDesc>>, items: Vec<Item>, exprs: Exprs) -> Self {
        Self { columns, items, exprs }
    }

    pub(crate) fn needs_context(&self) -> bool {
        self.exprs.needs_context()
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        self.exprs.is_cacheable()
    }

    /// Result rows for written rows, each given with its columns of joined tables.
    pub(crate) async fn rows(&self, rows: &[(Row, Row)], scope: &Scope<'_>) -> EngineResult<Vec<Row>> {
        if self.exprs.is_empty() {
            return Ok(rows.iter().map(|(row, joined)| self.answer(row, joined, &[])).collect());
        }
        let pairs: Vec<[&[Datum]; 2]> = rows.iter().map(|(row, joined)| [row.as_slice(), joined]).collect();
        let pairs: Vec<&[&[Datum]]> = pairs.iter().map(<[_; 2]>::as_slice).collect();
        let computed = self.exprs.eval_rows(scope, &pairs).await?;
        let rows = rows.iter().zip(computed);
        Ok(rows.map(|((row, joined), computed)| self.answer(row, joined, &computed)).collect())
    }

    fn answer(&self, row: &[Datum], joined: &[Datum], computed: &[Datum]) -> Row {
        let value = |item: &Item| match item {
            Item::Column(at) => row.get(*at),
            Item::Computed(at) => computed.get(*at),
            Item::Joined(at) => joined.get(*at),
        };
        self.items.iter().map(|item| value(item).cloned().unwrap_or(Datum::Null)).collect()
    }
}
