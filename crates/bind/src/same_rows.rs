//! Equivalence of relations: the columns that each of them adds correspond to each other by position.

use crate::binder::Scanned;
use crate::same::{all_equal, equal, same_datum};
use crate::tree::{
    AggCall, ColId, ColSet, Frame, FrameBound, Key, Rel, RelId, Rows, Scalar, SetCall, WindowCall, WindowSpec,
};
use std::collections::HashMap;

/// Corresponding columns of two relations.
pub(crate) struct Pairs<'a> {
    /// By id in the first relation; outer columns correspond to themselves.
    known: HashMap<ColId, ColId>,
    /// Are relations equal only if they are copies, with the same column ids?
    copies: bool,
    /// Is a volatile call equal to one that is written alike?
    calls: bool,
    scans: &'a [Scanned],
    oids: &'a [Option<ColId>],
}

impl<'a> Pairs<'a> {
    pub(crate) fn of_copies() -> Self {
        Self { known: HashMap::new(), copies: true, calls: false, scans: &[], oids: &[] }
    }

    /// As [`Self::of_copies`], where volatile calls that are written alike are one.
    pub(crate) fn of_texts() -> Self {
        Self { calls: true, ..Self::of_copies() }
    }

    /// Is a volatile call equal to one that is written alike?
    pub(crate) fn equates_calls(&self) -> bool {
        self.calls
    }

    /// Compares relations with different column ids: `scans` has those of tables, `oids` the `tableoid` of computed
    /// relations.
    pub(crate) fn of(scans: &'a [Scanned], oids: &'a [Option<ColId>]) -> Self {
        Self { known: HashMap::new(), copies: false, calls: false, scans, oids }
    }

    pub(crate) fn are_one(&self, a: ColId, b: ColId) -> bool {
        self.known.get(&a).copied().unwrap_or(a) == b
    }

    pub(crate) fn all_correspond(&self, a: &[ColId], b: &[ColId]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.are_one(*a, *b))
    }

    /// Records that two columns correspond. Returns false if they cannot.
    fn pair(&mut self, a: ColId, b: ColId) -> bool {
        self.known.insert(a, b);
        !self.copies || a == b
    }

    fn pair_all(&mut self, a: &[ColId], b: &[ColId]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.pair(*a, *b))
    }

    pub(crate) fn same_rows(&mut self, a: &Rel, b: &Rel) -> bool {
        match (a, b) {
            (Rel::OneRow, Rel::OneRow) => true,
            (Rel::Values { cols, rows }, Rel::Values { cols: others, rows: other_rows }) => {
                self.same_values(rows, other_rows) && self.pair_all(cols, others)
            }
            (Rel::Scan { table, rel, .. }, Rel::Scan { table: other, rel: other_rel, .. }) => {
                table.oid == other.oid && self.pair_scans(*rel, *other_rel)
            }
            (
                Rel::Computed { relation, cols, reference, .. },
                Rel::Computed { relation: other, cols: others, reference: of, .. },
            ) => {
                let oid = |reference: usize| self.oids.get(reference).copied().flatten();
                let oids = oid(*reference).zip(oid(*of));
                relation == other && self.pair_all(cols, others) && oids.is_none_or(|(a, b)| self.pair(a, b))
            }
            (Rel::CteScan { cte, cols }, Rel::CteScan { cte: other, cols: others }) => {
                let mut both = cols.iter().zip(others);
                cte == other && cols.len() == others.len() && both.all(|(a, b)| a.0 == b.0 && self.pair(a.1, b.1))
            }
            (Rel::Filter { input, all }, Rel::Filter { input: other, all: others }) => {
                self.same_rows(input, other) && all_equal(all, others, self)
            }
            (Rel::Project { input, exprs }, Rel::Project { input: other, exprs: others }) => {
                let mut both = exprs.iter().zip(others);
                self.same_rows(input, other)
                    && exprs.len() == others.len()
                    && both.all(|(a, b)| equal(&a.1, &b.1, self) && self.pair(a.0, b.0))
            }
            _ => self.same_joins(a, b),
        }
    }

    fn same_joins(&mut self, a: &Rel, b: &Rel) -> bool {
        match (a, b) {
            (Rel::Join { kind, left, right, on }, Rel::Join { kind: other_kind, left: l, right: r, on: others }) => {
                kind == other_kind && self.same_rows(left, l) && self.same_rows(right, r) && all_equal(on, others, self)
            }
            (
                Rel::Apply { kind, outer, inner, on, free },
                Rel::Apply { kind: other_kind, outer: o, inner: i, on: others, free: other_free },
            ) => {
                kind == other_kind
                    && self.same_rows(outer, o)
                    && self.same_rows(inner, i)
                    && all_equal(on, others, self)
                    && self.all_correspond(free, other_free)
            }
            (
                Rel::SetOp { op, all, left, right, cols },
                Rel::SetOp { op: other_op, all: other_all, left: l, right: r, cols: others },
            ) => {
                let heads = op == other_op && all == other_all && cols.len() == others.len();
                heads
                    && self.same_rows(left, l)
                    && self.same_rows(right, r)
                    && cols
                        .iter()
                        .zip(others)
                        .all(|(a, b)| self.are_one(a.1, b.1) && self.are_one(a.2, b.2) && self.pair(a.0, b.0))
            }
            _ => self.same_groups(a, b),
        }
    }

    fn same_groups(&mut self, a: &Rel, b: &Rel) -> bool {
        match (a, b) {
            (
                Rel::Aggregate { input, keys, sets, calls, groupings },
                Rel::Aggregate { input: other, keys: k, sets: s, calls: c, groupings: g },
            ) => {
                self.same_rows(input, other)
                    && self.all_correspond(keys, k)
                    && self.same_sets(sets, s)
                    && calls.len() == c.len()
                    && calls.iter().zip(c).all(|(a, b)| self.same_aggregate(&a.1, &b.1) && self.pair(a.0, b.0))
                    && groupings.len() == g.len()
                    && groupings.iter().zip(g).all(|(a, b)| self.all_correspond(&a.1, &b.1) && self.pair(a.0, b.0))
            }
            (Rel::Window { input, spec, calls }, Rel::Window { input: other, spec: s, calls: c }) => {
                self.same_rows(input, other)
                    && self.same_window(spec, s)
                    && calls.len() == c.len()
                    && calls.iter().zip(c).all(|(a, b)| self.same_window_call(&a.1, &b.1) && self.pair(a.0, b.0))
            }
            _ => self.same_order(a, b),
        }
    }

    fn same_order(&mut self, a: &Rel, b: &Rel) -> bool {
        match (a, b) {
            (
                Rel::Unnest { input, calls, ordinality, outer },
                Rel::Unnest { input: other, calls: c, ordinality: o, outer: other_outer },
            ) => {
                self.same_rows(input, other)
                    && outer == other_outer
                    && calls.len() == c.len()
                    && calls.iter().zip(c).all(|(a, b)| self.same_set(a, b))
                    && self.pair_all(ordinality.as_slice(), o.as_slice())
            }
            (Rel::Distinct { input, on, order }, Rel::Distinct { input: other, on: others, order: o }) => {
                let orders = |pairs: &Self| match (order, o) {
                    (Some(a), Some(b)) => pairs.same_keys(a, b),
                    (None, None) => true,
                    _ => false,
                };
                self.same_rows(input, other) && self.all_correspond(on, others) && orders(self)
            }
            (Rel::Sort { input, keys }, Rel::Sort { input: other, keys: others }) => {
                self.same_rows(input, other) && self.same_keys(keys, others)
            }
            (Rel::Limit { input, offset, count, ties }, Rel::Limit { input: other, offset: o, count: c, ties: t }) => {
                self.same_rows(input, other)
                    && all_equal(offset.as_slice(), o.as_slice(), self)
                    && all_equal(count.as_slice(), c.as_slice(), self)
                    && self.same_keys(ties, t)
            }
            _ => false,
        }
    }

    fn same_values(&mut self, a: &Rows, b: &Rows) -> bool {
        match (a, b) {
            (Rows::Const(a), Rows::Const(b)) => {
                let row =
                    |(a, b): (&Vec<_>, &Vec<_>)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_datum(a, b));
                a.len() == b.len() && a.iter().zip(b).all(row)
            }
            (Rows::Exprs(a), Rows::Exprs(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| all_equal(a, b, self))
            }
            _ => false,
        }
    }

    /// Columns of tables get ids on first use: a column that only one of the relations reads corresponds to none.
    fn pair_scans(&mut self, a: RelId, b: RelId) -> bool {
        if self.copies {
            return a == b;
        }
        let scans = self.scans;
        let ids = |rel: RelId| scans.get(rel.0 as usize).map_or(&[][..], |scanned| scanned.ids.as_slice());
        ids(a).iter().zip(ids(b)).filter_map(|(a, b)| a.zip(*b)).all(|(a, b)| self.pair(a, b))
    }

    fn same_sets(&self, a: &[ColSet], b: &[ColSet]) -> bool {
        let named =
            |set: &ColSet| -> ColSet { set.iter().map(|col| self.known.get(col).copied().unwrap_or(*col)).collect() };
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| named(a) == *b)
    }

    fn same_keys(&self, a: &[Key], b: &[Key]) -> bool {
        let one =
            |(a, b): (&Key, &Key)| self.are_one(a.col, b.col) && (a.desc, a.nulls_first) == (b.desc, b.nulls_first);
        a.len() == b.len() && a.iter().zip(b).all(one)
    }

    fn same_aggregate(&mut self, a: &AggCall, b: &AggCall) -> bool {
        (a.func, a.distinct, a.ty) == (b.func, b.distinct, b.ty)
            && self.all_correspond(&a.args, &b.args)
            && self.all_correspond(a.filter.as_slice(), b.filter.as_slice())
            && self.same_keys(&a.order, &b.order)
            && all_equal(&a.direct, &b.direct, self)
    }

    fn same_window(&mut self, a: &WindowSpec, b: &WindowSpec) -> bool {
        self.all_correspond(&a.partition, &b.partition)
            && self.same_keys(&a.order, &b.order)
            && self.same_frame(&a.frame, &b.frame)
    }

    fn same_frame(&mut self, a: &Frame, b: &Frame) -> bool {
        a.mode == b.mode && self.same_bound(&a.start, &b.start) && self.same_bound(&a.end, &b.end)
    }

    fn same_bound(&mut self, a: &FrameBound, b: &FrameBound) -> bool {
        match (a, b) {
            (FrameBound::Unbounded, FrameBound::Unbounded) | (FrameBound::Current, FrameBound::Current) => true,
            (FrameBound::Preceding(a), FrameBound::Preceding(b))
            | (FrameBound::Following(a), FrameBound::Following(b)) => equal(a, b, self),
            _ => false,
        }
    }

    fn same_window_call(&self, a: &WindowCall, b: &WindowCall) -> bool {
        (a.func, a.ty) == (b.func, b.ty)
            && self.all_correspond(&a.args, &b.args)
            && self.all_correspond(a.filter.as_slice(), b.filter.as_slice())
    }

    fn same_set(&mut self, a: &SetCall, b: &SetCall) -> bool {
        let args: (&[Scalar], &[Scalar]) = (&a.args, &b.args);
        a.func == b.func && all_equal(args.0, args.1, self) && self.pair_all(&a.cols, &b.cols)
    }
}
