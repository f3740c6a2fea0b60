//! Scopes: the relations of a query's FROM, those of the enclosing queries, and CTEs.

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

/// The scope of one query: what its clauses can reference.
#[derive(Debug)]
pub(crate) struct Scope {
    /// In the order of FROM; the columns that USING merges precede their relations.
    pub(crate) items: Vec<ScopeItem>,
    /// Can items of FROM that are not joined yet be referenced? Only within LATERAL.
    pub(crate) lateral: bool,
    /// The clause that is being bound.
    pub(crate) clause: Clause,
    /// Aggregates of this query, found so far.
    pub(crate) aggregates: Vec<PendingAggregate>,
    /// Calls of GROUPING, found so far.
    pub(crate) groupings: Vec<PendingGrouping>,
    /// Direct arguments of hypothetical-set aggregates: they may read group keys only.
    pub(crate) direct: Vec<Scalar>,
    /// Is an argument of an aggregate being bound?
    pub(crate) in_aggregate: bool,
    /// Window functions of this query, found so far.
    pub(crate) windows: Vec<PendingWindow>,
    /// Is an argument or the window of a window function being bound?
    pub(crate) in_window: bool,
    /// Set-returning calls of this query, found so far.
    pub(crate) sets: Vec<SetCall>,
    /// The windows of the WINDOW clause, each with the clauses that it copies from others.
    pub(crate) named_windows: Vec<(String, ast::WindowSpec)>,
    /// All relations of FROM, in scope or not: alias, and name if it is a table.
    known: Vec<(String, Option<String>)>,
    /// Locking clauses that apply to its FROM.
    pub(crate) locks: Vec<Locking>,
}

/// A relation of FROM, or the columns that USING merges.
#[derive(Clone, Debug)]
pub(crate) struct ScopeItem {
    /// The qualifier of its columns; merged columns have none.
    pub(crate) name: Option<String>,
    /// The table, unless it has an alias: `schema.table.column` refers to it.
    pub(crate) table: Option<TableOid>,
    pub(crate) columns: ItemColumns,
    /// Indexes of columns that only a qualified name references, since USING merges them.
    pub(crate) qualified_only: Vec<usize>,
    /// It is in a FROM that is not complete: only LATERAL sees it.
    pub(crate) pending: bool,
    /// It is on the left of a right or full join, so that a LATERAL reference to it is an error.
    pub(crate) lateral_error: bool,
}

/// The columns of an item.
#[derive(Clone, Debug)]
pub(crate) enum ItemColumns {
    /// Columns of a table, and the names of the first ones (hidden ones included) if the alias has a column list.
    Table { rel: RelId, renamed: Vec<String> },
    /// Columns of a computed relation.
    Computed { reference: usize, oid: u32, columns: Vec<(String, ColId)> },
    /// Columns that exist already.
    Named(Vec<(String, ColId)>),
}

/// A CTE.
#[derive(Clone, Debug)]
pub(crate) struct CteEntry {
    pub(crate) name: String,
    pub(crate) id: CteId,
    pub(crate) columns: Vec<(String, ColId)>,
    pub(crate) state: CteState,
    /// Outer columns that it reads: index of the scope and column.
    pub(crate) free: Vec<(usize, ColId)>,
}

/// What a reference to a CTE reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CteState {
    /// Its rows.
    Ready,
    /// Nothing: the CTE is bound later in WITH RECURSIVE.
    NotYet,
    /// Nothing: the reference is in the CTE's non-recursive term, or the CTE does not have the form of a recursive
    /// query.
    Own {
        /// Is it a UNION?
        is_union: bool,
    },
    /// The work table: the rows of the previous iteration.
    Working {
        /// Number of boundaries around the recursive term: within further subqueries of expressions it cannot be read.
        boundaries: usize,
        /// Was it read? A second reference is an error.
        is_read: bool,
    },
}

/// The boundary of a subquery, with the outer columns that it reads.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// Number of enclosing scopes.
    pub(crate) depth: usize,
    /// By id; the level is seen from the query that contains the subquery.
    pub(crate) free: BTreeMap<ColId, u8>,
    /// Is the subquery in an expression, rather than in FROM or WITH?
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

/// A column that `*`, USING or NATURAL finds.
#[derive(Clone, Debug)]
pub(crate) struct Visible {
    pub(crate) name: String,
    /// Indexes of the item and of the column in it.
    pub(crate) place: (usize, usize),
}

impl Binder<'_> {
    pub(crate) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::new());
        }
        let last = self.scopes.len() - 1;
        // The stack is not empty now.
        #[expect(clippy::indexing_slicing, reason = "the stack is not empty")]
        &mut self.scopes[last]
    }

    /// Runs `bind` in a clause of the innermost query.
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

    /// Records a relation of FROM, in scope or not, for hints.
    pub(crate) fn remember(&mut self, name: &str, table: Option<&str>) {
        self.scope().known.push((name.to_owned(), table.map(str::to_owned)));
    }

    /// Checks that no two relations have the same name, at the end of FROM or of a join.
    pub(crate) fn check_aliases(&self, items: &[ScopeItem], more: &[ScopeItem]) -> BindResult<()> {
        for item in more {
            let Some(name) = &item.name else { continue };
            let same = |other: &&ScopeItem| {
                let both_tables = other.table.zip(item.table);
                // The same name in two schemas is not a conflict.
                other.name.as_ref() == Some(name) && both_tables.is_none_or(|(a, b)| a == b)
            };
            if items.iter().find(same).is_some() {
                return self.error(BindErrorKind::DuplicateAlias { name: name.clone() }, Span::default());
            }
        }
        Ok(())
    }

    /// Returns the number of columns of an item.
    pub(crate) fn width(&self, item: &ScopeItem) -> usize {
        match &item.columns {
            ItemColumns::Table { rel, .. } => self.table_columns(*rel).len(),
            ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => columns.len(),
        }
    }

    fn table_columns(&self, rel: RelId) -> &[Column] {
        self.scans.get(rel.0 as usize).map_or(&[], |scanned| scanned.table.columns.as_slice())
    }

    /// Returns the name of a column of an item; `None` for a hidden column.
    pub(crate) fn column_name<'s>(&'s self, item: &'s ScopeItem, at: usize) -> Option<&'s str> {
        match &item.columns {
            ItemColumns::Table { rel, renamed } => {
                let scanned = self.scans.get(rel.0 as usize)?;
                let column = scanned.table.columns.get(at).filter(|column| !column.hidden)?;
                let named = scanned.recorded.as_ref().is_none_or(|recorded| recorded.contains(&column.id));
                if !named {
                    return None;
                }
                Some(renamed.get(at).unwrap_or(&column.name))
            }
            ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => {
                columns.get(at).map(|(name, _)| name.as_str())
            }
        }
    }

    /// Returns the columns of these items that `*` expands to.
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

    /// Returns the id of a column of an item, and marks the column as used.
    pub(crate) fn item_col(&mut self, item: &ItemColumns, at: usize) -> BindResult<ColId> {
        match item {
            ItemColumns::Table { rel, .. } => self.table_col(*rel, at),
            ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => match columns.get(at) {
                Some((_, id)) => Ok(*id),
                None => Err(self.internal("a column that is out of range")),
            },
        }
    }

    /// Returns the type of a column.
    pub(crate) fn col_ty(&self, id: ColId) -> Ty {
        let unknown = crate::binder::plain(builtins::TypeId::UNKNOWN);
        self.cols.get(id.index()).map_or(unknown, |info| info.ty)
    }
}
