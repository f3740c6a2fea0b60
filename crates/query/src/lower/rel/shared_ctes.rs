//! Chooses the CTEs that are materialized because that costs less than computing each reference.
//!
//! PostgreSQL materializes a CTE as soon as it is referenced twice. Inlined, it may return fewer rows, because the
//! conditions of each reference are pushed down. So a CTE is materialized if it is referenced several times, its rows
//! are the result of an aggregate, window or similar node that costs more than storing them, and no reference has a
//! condition that can be pushed down through that node. (Dynamic filters of joins are pushed down, too: NOT
//! MATERIALIZED preserves those.)
//!
//! ```text
//!   WITH r AS (SELECT k, sum(v) AS s FROM t GROUP BY k)
//!   r WHERE s = (SELECT max(s) FROM r)               materialized
//!   r WHERE k = 1   UNION ALL   r WHERE k = 2        inlined: two short scans
//! ```

use ::bind::tree::{ColId, Cte, CteBody, CteId, Kind, Query, Rel, Scalar};
use std::collections::{HashMap, HashSet};

/// The CTEs of a statement that are materialized.
pub(in crate::lower) fn of(query: &Query) -> HashSet<CteId> {
    let mut readers = Readers::default();
    for cte in &query.ctes {
        match &cte.body {
            CteBody::Inline(rel) | CteBody::Either(rel) | CteBody::Materialized(rel) => readers.in_rel(rel),
            CteBody::Recursive { base, step, .. } => {
                readers.in_rel(base);
                readers.in_rel(step);
            }
        }
    }
    readers.in_rel(&query.rel);
    query.ctes.iter().filter(|cte| readers.share(cte)).map(|cte| cte.id).collect()
}

/// The references of each CTE, and the columns of each condition.
#[derive(Default)]
struct Readers<'b> {
    scans: HashMap<CteId, Vec<&'b [(ColId, ColId)]>>,
    conditions: Vec<Vec<ColId>>,
}

impl<'b> Readers<'b> {
    fn in_rel(&mut self, rel: &'b Rel) {
        match rel {
            Rel::CteScan { cte, cols } => self.scans.entry(*cte).or_default().push(cols),
            Rel::Filter { all, .. } | Rel::Join { on: all, .. } => self.conditions.extend(all.iter().map(columns)),
            _ => {}
        }
        rel.each_scalar(&mut |value| self.in_scalar(value));
        rel.each_input(&mut |input| self.in_rel(input));
    }

    fn in_scalar(&mut self, value: &'b Scalar) {
        if let Kind::Subquery(subquery) = &value.kind {
            self.in_rel(&subquery.rel);
        }
        value.each_operand(&mut |operand| self.in_scalar(operand));
    }

    fn share(&self, cte: &Cte) -> bool {
        let CteBody::Either(rel) = &cte.body else { return false };
        let Some(scans) = self.scans.get(&cte.id).filter(|scans| scans.len() > 1) else { return false };
        let Some(open) = open_columns(rel) else { return false };
        let is_open =
            |scan: &[(ColId, ColId)], col: &ColId| scan.iter().any(|(inner, here)| here == col && open.contains(inner));
        let narrows = |scan: &[(ColId, ColId)]| {
            let mut conditions = self.conditions.iter().filter(|cols| !cols.is_empty());
            conditions.any(|cols| cols.iter().all(|col| is_open(scan, col)))
        };
        !scans.iter().any(|scan| narrows(scan))
    }
}

/// The columns that a condition reads.
fn columns(condition: &Scalar) -> Vec<ColId> {
    let mut found = match &condition.kind {
        Kind::Col(col) => vec![col.id],
        Kind::Subquery(subquery) => subquery.free.iter().map(|col| col.id).collect(),
        _ => Vec::new(),
    };
    condition.each_operand(&mut |operand| found.extend(columns(operand)));
    found
}

/// The columns on which conditions can be pushed down through the node; `None` if computing the rows costs no more than
/// storing them.
fn open_columns(rel: &Rel) -> Option<HashSet<ColId>> {
    match rel {
        Rel::Aggregate { keys, .. } => Some(keys.iter().copied().collect()),
        Rel::Window { spec, .. } => Some(spec.partition.iter().copied().collect()),
        Rel::Distinct { on, .. } => Some(on.iter().copied().collect()),
        Rel::SetOp { all: false, cols, .. } => Some(cols.iter().map(|(col, _, _)| *col).collect()),
        Rel::Limit { .. } => Some(HashSet::new()),
        Rel::Filter { input, .. } | Rel::Sort { input, .. } => open_columns(input),
        Rel::Project { input, exprs } => {
            let mut open = open_columns(input)?;
            for (id, value) in exprs {
                if columns(value).iter().all(|col| open.contains(col)) {
                    open.insert(*id);
                }
            }
            Some(open)
        }
        _ => None,
    }
}
