//! Names in sight: the relations of a query's FROM, those of the queries around it, and the queries of WITH.

mod lookup;
mod missing;
mod table_oid;

use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::{BindErrorKind, BindResult};
use crate::row_locks::Locking;
use crate::select::{PendingAggregate, PendingGrouping, PendingWindow};
use crate::tree::{ColId, CteId, RelId, Scalar, SetCall, Span};
use builtins::Ty;
use catalog::{Column, TableOid};
use sql::ast;
use std::collections::BTreeMap;

/// One query and what its clauses may name.
#[derive(Debug)]
pub(crate) struct Scope {
    /// In the order of FROM; the columns that USING merges stand in front of their relations.
    pub(crate) items: Vec<ScopeItem>,
    /// May items of FROM that are not joined yet be named? Only within LATERAL.
    pub(crate) lateral: bool,
    /// The clause that is bound.
    pub(crate) clause: Clause,
    /// Aggregates of this query, found so far.
    pub(crate) aggregates: Vec<PendingAggregate>,
    /// Calls of GROUPING, found so far.
    pub(crate) groupings: Vec<PendingGrouping>,
    /// Arguments in front of WITHIN GROUP that are part of conditions of aggregates: they may read keys of groups only.
    pub(crate) direct: Vec<Scalar>,
    /// Is the place within an argument of an aggregate of this query?
    pub(crate) in_aggregate: bool,
    /// Window functions of this query, found so far.
    pub(crate) windows: Vec<PendingWindow>,
    /// Is the place within a window function's arguments or its window?
    pub(crate) in_window: bool,
    /// Set-returning calls in the list of this query, found so far.
    pub(crate) sets: Vec<SetCall>,
    /// The windows of WINDOW, each with all that it takes over.
    pub(crate) named_windows: Vec<(String, ast::WindowSpec)>,
    /// All relations of FROM, in sight or not: alias, and name if it is a table.
    known: Vec<(String, Option<String>)>,
    /// Locking clauses that its FROM is under.
    pub(crate) locks: Vec<Locking>,
}

/// A relation of FROM, or the columns that USING merges.
#[derive(Clone, Debug)]
pub(crate) struct ScopeItem {
    /// By which columns are qualified; merged columns have none.
    pub(crate) name: Option<String>,
    /// The table that it is, unless it has an alias: by what `schema.table.column` means.
    pub(crate) table: Option<TableOid>,
    pub(crate) columns: ItemColumns,
    /// Columns that only a qualified name reaches, by index, since USING merges them.
    pub(crate) qualified_only: Vec<usize>,
    /// It stands in a FROM that is not complete: only LATERAL sees it.
    pub(crate) pending: bool,
    /// It is on the left of a right or full join, so that naming it within LATERAL is an error.
    pub(crate) lateral_error: bool,
}

/// Columns of an item.
#[derive(Clone, Debug)]
pub(crate) enum ItemColumns {
    /// Those of a table; the first, hidden ones among them, have other names if the alias has a list.
    Table { rel: RelId, renamed: Vec<String> },
    /// Those of a computed relation.
    Computed { reference: usize, oid: u32, columns: Vec<(String, ColId)> },
    /// Columns that are made already.
    Named(Vec<(String, ColId)>),
}

/// A query of WITH.
#[derive(Clone, Debug)]
pub(crate) struct CteEntry {
    pub(crate) name: String,
    pub(crate) id: CteId,
    pub(crate) columns: Vec<(String, ColId)>,
    pub(crate) state: CteState,
    /// Columns of queries around it that it reads: query and column.
    pub(crate) free: Vec<(usize, ColId)>,
}

/// What a reference to a query of WITH reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CteState {
    /// Its rows.
    Ready,
    /// Nothing yet: it comes later in WITH RECURSIVE.
    NotYet,
    /// Nothing: it is the query's own first term, or one of another form than that of a recursive query.
    Own {
        /// Has it two terms?
        is_union: bool,
    },
    /// The rows that a recursive query has found last.
    Working {
        /// So many subqueries are around the second term: within further ones in expressions it cannot be read.
        boundaries: usize,
        /// Was it read? It is once.
        is_read: bool,
    },
}

/// Where a subquery begins: columns from outside that it reads.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// So many queries are around it.
    pub(crate) depth: usize,
    /// By id; the level is that of the query that holds the subquery.
    pub(crate) free: BTreeMap<ColId, u8>,
    /// Does it stand in an expression, and not in FROM or WITH?
    pub(crate) in_expression: bool,
}

impl Scope {
    pub(crate) fn new() -> Self {
        Self {
            items: Vec::new(),
            lateral: false,
            clause: Clause::From,
            aggregates: Vec::new(),
            groupings: Vec::new(),
            direct: Vec::new(),
            in_aggregate: false,
            windows: Vec::new(),
            in_window: false,
            sets: Vec::new(),
            named_windows: Vec::new(),
            known: Vec::new(),
            locks: Vec::new(),
        }
    }
}

impl ScopeItem {
    pub(crate) fn new(name: Option<String>, table: Option<TableOid>, columns: ItemColumns) -> Self {
        Self { name, table, columns, qualified_only: Vec::new(), pending: true, lateral_error: false }
    }
}

/// A column of the scope: its place, and what a star or a join needs of it.
#[derive(Clone, Debug)]
pub(crate) struct Visible {
    pub(crate) name: String,
    /// Item and column in it.
    pub(crate) place: (usize, usize),
}

impl Binder<'_> {
    pub(crate) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::new());
        }
        let last = self.scopes.len() - 1;
        // There is one now.
        #[expect(clippy::indexing_slicing, reason = "the stack is not empty")]
        &mut self.scopes[last]
    }

    /// Runs `bind` for one clause of the innermost query.
    pub(crate) fn in_clause<T>(
        &mut self,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> BindResult<T>,
    ) -> BindResult<T> {
        let before = std::mem::replace(&mut self.scope().clause, clause);
        let bound = bind(self);
        self.scope().clause = before;
        bound
    }

    /// Tells the scope of a relation, in sight or not, for hints.
    pub(crate) fn remember(&mut self, name: &str, table: Option<&str>) {
        self.scope().known.push((name.to_owned(), table.map(str::to_owned)));
    }

    /// Checks that no two relations have one name, at the end of FROM or of a join.
    pub(crate) fn check_aliases(&self, items: &[ScopeItem], more: &[ScopeItem]) -> BindResult<()> {
        for item in more {
            let Some(name) = &item.name else { continue };
            let same = |other: &&ScopeItem| {
                let both_tables = other.table.zip(item.table);
                // One name in two schemas is no conflict.
                other.name.as_ref() == Some(name) && both_tables.is_none_or(|(a, b)| a == b)
            };
            if items.iter().find(same).is_some() {
                return self.error(BindErrorKind::DuplicateAlias { name: name.clone() }, Span::default());
            }
        }
        Ok(())
    }

    /// How many columns an item has.
    pub(crate) fn width(&self, item: &ScopeItem) -> usize {
        match &item.columns {
            ItemColumns::Table { rel, .. } => self.table_columns(*rel).len(),
            ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => columns.len(),
        }
    }

    fn table_columns(&self, rel: RelId) -> &[Column] {
        self.scans.get(rel.0 as usize).map_or(&[], |scanned| scanned.table.columns.as_slice())
    }

    /// Name of a column of an item; `None` for the hidden row id.
    pub(crate) fn column_name<'s>(&'s self, item: &'s ScopeItem, at: usize) -> Option<&'s str> {
        match &item.columns {
            ItemColumns::Table { rel, renamed } => {
                let column = self.table_columns(*rel).get(at).filter(|column| !column.hidden)?;
                Some(renamed.get(at).unwrap_or(&column.name))
            }
            ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => {
                columns.get(at).map(|(name, _)| name.as_str())
            }
        }
    }

    /// The columns that `*` shows of these items.
    pub(crate) fn visible(&self, items: &[ScopeItem]) -> Vec<Visible> {
        let mut all = Vec::new();
        for (item_at, item) in items.iter().enumerate() {
            for at in 0..self.width(item) {
                if item.qualified_only.contains(&at) {
                    continue;
                }
                if let Some(name) = self.column_name(item, at) {
                    all.push(Visible { name: name.to_owned(), place: (item_at, at) });
                }
            }
        }
        all
    }

    /// The id of a column of an item, which is in use from now on.
    pub(crate) fn item_col(&mut self, item: &ItemColumns, at: usize) -> BindResult<ColId> {
        match item {
            ItemColumns::Table { rel, .. } => self.table_col(*rel, at),
            ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => match columns.get(at) {
                Some((_, id)) => Ok(*id),
                None => Err(self.internal("a column that is out of range")),
            },
        }
    }

    /// Type of a column.
    pub(crate) fn col_ty(&self, id: ColId) -> Ty {
        let unknown = crate::binder::plain(builtins::TypeId::UNKNOWN);
        self.cols.get(id.index()).map_or(unknown, |info| info.ty)
    }
}
