//! Short constructors for the bound tree.

use bind::tree::*;
use builtins::{FuncId, Ty, TypeId, Volatility};
use catalog::Table;
use std::sync::Arc;
use types::Datum;

pub const BOOL: u32 = 16;
pub const INT4: u32 = 23;
pub const INT8: u32 = 20;
pub const TEXT: u32 = 25;

pub fn ty(oid: u32) -> Ty {
    Ty { id: TypeId(oid), typmod: -1, digits: None }
}

pub fn id(index: usize) -> ColId {
    ColId::at(index).unwrap()
}

fn scalar(kind: Kind, oid: u32) -> Scalar {
    Scalar { kind, ty: ty(oid), span: Span::default() }
}

pub fn col(index: usize, oid: u32) -> Scalar {
    scalar(Kind::Col(ColRef { id: id(index), level: 0 }), oid)
}

pub fn int(value: i32) -> Scalar {
    scalar(Kind::Const(Datum::Int4(value)), INT4)
}

pub fn text(value: &str) -> Scalar {
    scalar(Kind::Const(Datum::Text(value.to_owned())), TEXT)
}

pub fn null(oid: u32) -> Scalar {
    scalar(Kind::Const(Datum::Null), oid)
}

pub fn param(at: u16, oid: u32) -> Scalar {
    scalar(Kind::Param(ParamId(at)), oid)
}

pub fn call(func: FuncId, left: Scalar, right: Scalar, oid: u32) -> Scalar {
    scalar(Kind::Call { func, args: vec![left, right] }, oid)
}

pub fn is(func: FuncId, left: Scalar, right: Scalar) -> Scalar {
    call(func, left, right, BOOL)
}

pub fn of(kind: Kind, oid: u32) -> Scalar {
    scalar(kind, oid)
}

pub fn any(list: Vec<Scalar>) -> Scalar {
    scalar(Kind::Or(list), BOOL)
}

pub fn in_list(arg: Scalar, list: Vec<Scalar>) -> Scalar {
    scalar(Kind::InList { eq: super::functions::EQ, arg: Box::new(arg), list, negated: false }, BOOL)
}

pub fn subquery(kind: SubqueryKind, rel: Rel, cols: Vec<ColId>, free: &[usize], oid: u32) -> Scalar {
    let free = free.iter().map(|at| ColRef { id: id(*at), level: 1 }).collect();
    scalar(Kind::Subquery(Box::new(Subquery { kind, rel, cols, free })), oid)
}

/// All columns of a table; their ids start at `first`.
pub fn scan(table: &Arc<Table>, first: usize) -> Rel {
    let cols = (0..table.columns.len()).map(|at| (at, id(first + at))).collect();
    Rel::Scan { table: Arc::clone(table), rel: RelId(first as u32), cols }
}

pub fn filter(input: Rel, all: Vec<Scalar>) -> Rel {
    Rel::Filter { input: Box::new(input), all }
}

pub fn project(input: Rel, exprs: Vec<(usize, Scalar)>) -> Rel {
    Rel::Project { input: Box::new(input), exprs: exprs.into_iter().map(|(at, expr)| (id(at), expr)).collect() }
}

pub fn join(kind: JoinKind, left: Rel, right: Rel, on: Vec<Scalar>) -> Rel {
    Rel::Join { kind, left: Box::new(left), right: Box::new(right), on }
}

pub fn sort(input: Rel, keys: Vec<Key>) -> Rel {
    Rel::Sort { input: Box::new(input), keys }
}

pub fn key(at: usize, desc: bool) -> Key {
    Key { col: id(at), desc, nulls_first: desc }
}

pub fn limit(input: Rel, offset: Option<Scalar>, count: Option<Scalar>) -> Rel {
    Rel::Limit { input: Box::new(input), offset, count, ties: Vec::new() }
}

pub fn aggregate(input: Rel, keys: &[usize], calls: Vec<(usize, AggCall)>) -> Rel {
    let keys = keys.iter().map(|at| id(*at)).collect();
    let calls = calls.into_iter().map(|(at, call)| (id(at), call)).collect();
    Rel::Aggregate { input: Box::new(input), keys, sets: Vec::new(), calls, groupings: Vec::new() }
}

pub fn agg(func: FuncId, args: &[usize]) -> AggCall {
    AggCall {
        func,
        args: args.iter().map(|at| id(*at)).collect(),
        direct: Vec::new(),
        distinct: false,
        filter: None,
        order: Vec::new(),
        ty: ty(INT8),
    }
}

/// A query with these columns as its outputs.
pub fn query(rel: Rel, outputs: &[usize]) -> Bound {
    with(Vec::new(), rel, outputs)
}

pub fn with(ctes: Vec<Cte>, rel: Rel, outputs: &[usize]) -> Bound {
    let outputs = outputs.iter().map(|at| Output { col: id(*at), name: format!("c{at}") }).collect();
    let facts = Facts { volatility: Volatility::Immutable, session_bound: false, catalogs: false };
    let needs = Needs::default();
    Bound { body: Body::Query(Query { ctes, rel, outputs }), cols: Vec::new(), params: Vec::new(), needs, facts }
}
