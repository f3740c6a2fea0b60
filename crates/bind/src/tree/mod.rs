//! The bound tree: what a statement means, without names.
//!
//! Columns have ids that are unique in a statement; operators refer to columns by id and never by position. Aggregates,
//! window functions and set-returning calls exist only in their nodes, elsewhere they are columns.

mod display;
mod display_dml;
mod dml;
mod ids;
mod locked_rows;
mod rel;
mod scalar;
mod walk;

pub use dml::{Assignments, ElementChange, Insert, InsertSource, NewValue, OnConflict, Target, TargetRow, Update};
pub use ids::{ColId, CteId, ParamId, RelId, Span};
pub use locked_rows::{LockedRows, LockedTable};
pub use rel::{
    AggCall, ApplyKind, ColSet, Frame, FrameBound, FrameMode, JoinKind, Key, Rel, Rows, SetCall, SetOpKind, WindowCall,
    WindowSpec,
};
pub use scalar::{
    BoolTest, CastContext, CastVia, ColRef, Kind, PhoenixForm, Scalar, SessionValue, Subquery, SubqueryKind,
};

use builtins::{FuncId, Ty, Volatility};
use catalog::TableOid;
use std::collections::{BTreeMap, BTreeSet};

/// A bound statement.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The statement itself.
    pub body: Body,
    /// All its columns, by id.
    pub cols: Vec<ColInfo>,
    /// Types of `$1`, `$2`, ….
    pub params: Vec<Ty>,
    /// The privileges that it needs.
    pub needs: Needs,
    /// Properties of the whole statement.
    pub facts: Facts,
}

impl Bound {
    /// Returns the CTEs that subqueries of row expressions read.
    pub fn row_ctes(&self) -> &[Cte] {
        match &self.body {
            Body::Query(query) => &query.ctes,
            Body::Insert(insert) => &insert.ctes,
            Body::Update(update) | Body::Delete(update) => &update.source.ctes,
            _ => &[],
        }
    }

    /// Returns the properties of a column.
    pub fn col(&self, id: ColId) -> Option<&ColInfo> {
        self.cols.get(id.index())
    }
}

/// The statement itself.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per statement, and most are queries")]
pub enum Body {
    /// SELECT, VALUES, TABLE.
    Query(Query),
    /// INSERT and UPSERT.
    Insert(Box<Insert>),
    /// UPDATE.
    Update(Box<Update>),
    /// DELETE: an update that sets nothing.
    Delete(Box<Update>),
    /// SELECT … FOR UPDATE and other locking clauses.
    Lock(Box<LockedRows>),
    /// Expressions over given rows: CHECK, DEFAULT, generated columns, index keys.
    Exprs(Vec<Scalar>),
}

/// A query with its outputs.
#[derive(Clone, Debug)]
pub struct Query {
    /// WITH.
    pub ctes: Vec<Cte>,
    /// Its rows.
    pub rel: Rel,
    /// Its output columns.
    pub outputs: Vec<Output>,
}

/// An output column.
#[derive(Clone, Debug)]
pub struct Output {
    /// The column.
    pub col: ColId,
    /// Its name; two outputs may have the same.
    pub name: String,
}

/// A CTE.
#[derive(Clone, Debug)]
pub struct Cte {
    /// Its id.
    pub id: CteId,
    /// Its columns.
    pub cols: Vec<ColId>,
    /// Its rows.
    pub body: CteBody,
}

/// How the rows of a CTE are computed.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few per statement")]
pub enum CteBody {
    /// Once per reference: NOT MATERIALIZED, or it reads columns of the enclosing query.
    Inline(Rel),
    /// Once per reference or once in all: the rows are the same.
    Either(Rel),
    /// Once in all: MATERIALIZED, or volatile.
    Materialized(Rel),
    /// WITH RECURSIVE.
    Recursive {
        /// The non-recursive term.
        base: Rel,
        /// The recursive term, over the rows of the previous iteration.
        step: Rel,
        /// Columns of `step`, in the order of the CTE's columns.
        step_cols: Vec<ColId>,
        /// UNION, not UNION ALL.
        distinct: bool,
        /// Computed once for all references: it is volatile.
        materialized: bool,
    },
}

/// Properties of a column.
#[derive(Clone, Debug)]
pub struct ColInfo {
    /// Its name, for EXPLAIN and messages.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// May it be NULL?
    pub nullable: bool,
    /// The table's column that it is, by oid and attribute number, for RowDescription.
    pub origin: Option<(TableOid, i16)>,
}

/// The tables that a statement uses and the functions that it calls, for privilege checks.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Tables, and how they are used.
    pub relations: BTreeMap<TableOid, Use>,
    /// Functions that it calls.
    pub functions: BTreeSet<FuncId>,
    /// Does it call functions of the embedding program?
    pub own_functions: bool,
}

/// How a table is used.
#[derive(Clone, Debug, Default)]
pub struct Use {
    /// Is it named by the statement itself, and not only by views that it reads?
    pub direct: bool,
    /// Ordinals of the columns that are read.
    pub selected: BTreeSet<usize>,
    /// Ordinals of the columns that are inserted.
    pub inserted: BTreeSet<usize>,
    /// Ordinals of the columns that are updated.
    pub updated: BTreeSet<usize>,
    /// Are rows deleted?
    pub deleted: bool,
}

/// Properties of a whole statement.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The highest volatility of its calls.
    pub volatility: Volatility,
    /// Does its meaning depend on the session (time zone, DateStyle, search path)?
    pub session_bound: bool,
    /// Does it read computed relations, or values that only the catalogs can interpret?
    pub catalogs: bool,
}
