//! The bound tree: what a statement means, without names.
//!
//! Columns have ids that are unique in a statement; operators refer to columns by id and never by position. Aggregates,
//! window functions and set-returning calls exist in their nodes only, elsewhere they are columns.

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
    /// What it does.
    pub body: Body,
    /// All its columns, by id.
    pub cols: Vec<ColInfo>,
    /// Types of `$1`, `$2`, ….
    pub params: Vec<Ty>,
    /// What it may only do with privileges.
    pub needs: Needs,
    /// What is known of it as a whole.
    pub facts: Facts,
}

impl Bound {
    /// Queries of WITH that expressions over rows at hand read in their subqueries.
    pub fn row_ctes(&self) -> &[Cte] {
        match &self.body {
            Body::Query(query) => &query.ctes,
            Body::Insert(insert) => &insert.ctes,
            Body::Update(update) | Body::Delete(update) => &update.source.ctes,
            _ => &[],
        }
    }

    /// What is known of a column.
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
    /// SELECT … FOR UPDATE and its like.
    Lock(Box<LockedRows>),
    /// Expressions over one table: CHECK, DEFAULT, generated columns, index keys.
    Exprs(Vec<Scalar>),
}

/// A query with its outputs.
#[derive(Clone, Debug)]
pub struct Query {
    /// WITH.
    pub ctes: Vec<Cte>,
    /// Its rows.
    pub rel: Rel,
    /// Columns that it answers with.
    pub outputs: Vec<Output>,
}

/// A column of an answer.
#[derive(Clone, Debug)]
pub struct Output {
    /// The column.
    pub col: ColId,
    /// Its name; two outputs may have the same.
    pub name: String,
}

/// A query of WITH.
#[derive(Clone, Debug)]
pub struct Cte {
    /// Its id.
    pub id: CteId,
    /// Its columns.
    pub cols: Vec<ColId>,
    /// Its rows.
    pub body: CteBody,
}

/// How the rows of a CTE come about.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few per statement")]
pub enum CteBody {
    /// Computed where it is read: NOT MATERIALIZED, or it has columns of the query around it.
    Inline(Rel),
    /// Computed where it is read, or once: its rows are the same.
    Either(Rel),
    /// Computed once: MATERIALIZED, or volatile.
    Materialized(Rel),
    /// WITH RECURSIVE.
    Recursive {
        /// The first rows.
        base: Rel,
        /// The next rows, from the last ones.
        step: Rel,
        /// Columns of `step`, in the order of the CTE's.
        step_cols: Vec<ColId>,
        /// UNION and not UNION ALL.
        distinct: bool,
        /// Computed once, however often it is read: it is volatile.
        materialized: bool,
    },
}

/// What is known of a column.
#[derive(Clone, Debug)]
pub struct ColInfo {
    /// For EXPLAIN and messages.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// May it be NULL?
    pub nullable: bool,
    /// The table's column that it is, by oid and attribute number, as RowDescription tells it.
    pub origin: Option<(TableOid, i16)>,
}

/// What a statement reads, writes and calls.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Tables, by what is done with them.
    pub relations: BTreeMap<TableOid, Use>,
    /// Functions that it calls.
    pub functions: BTreeSet<FuncId>,
    /// Does it call functions of the embedding program?
    pub own_functions: bool,
}

/// What is done with a table.
#[derive(Clone, Debug, Default)]
pub struct Use {
    /// Is it named by the statement itself, and not only by views that it reads?
    pub direct: bool,
    /// Ordinals of columns that are read.
    pub selected: BTreeSet<usize>,
    /// That are inserted.
    pub inserted: BTreeSet<usize>,
    /// That are updated.
    pub updated: BTreeSet<usize>,
    /// Are rows deleted?
    pub deleted: bool,
}

/// What is known of a statement as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The highest of its calls.
    pub volatility: Volatility,
    /// Does its meaning depend on the session (time zone, DateStyle, search path)?
    pub session_bound: bool,
    /// Does it read computed relations, or have values that only catalogs give a meaning?
    pub catalogs: bool,
}
