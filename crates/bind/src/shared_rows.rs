//! Computes joined rows once that a query groups and that a subquery of its HAVING reads again.
//!
//! ```text
//!   Filter  sum > (Aggregate max (Join …))             Filter  sum > (Aggregate max (CteScan j))
//!     Aggregate sum BY k                        →        Aggregate sum BY k
//!       Join …                                             CteScan j            j: Join …
//! ```
//!
//! Computing a join costs more than materializing its rows. The rows of a single table are scanned twice instead: each
//! scan reads its own columns only.

use crate::binder::Binder;
use crate::error::BindResult;
use crate::same::is_stable;
use crate::same_rows::Pairs;
use crate::tree::{ColId, Cte, CteBody, JoinKind, Kind, Query, Rel, RelId, Scalar};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Replaces such rows by a materialized CTE.
pub(crate) fn share(binder: &mut Binder<'_>, query: &mut Query) -> BindResult<()> {
    // Two joins have at least two tables each.
    if binder.scans.len() < 4 {
        return Ok(());
    }
    let Query { ctes, rel, .. } = query;
    in_rel(binder, ctes, rel)
}

fn in_rel(binder: &mut Binder<'_>, ctes: &mut Vec<Cte>, rel: &mut Rel) -> BindResult<()> {
    if let Rel::Filter { input, all } = rel
        && let Some(mut grouped) = Grouped::of(input)
    {
        all.iter_mut().try_for_each(|condition| in_condition(binder, ctes, &mut grouped, condition))?;
    }
    let mut done = Ok(());
    rel.each_input_mut(&mut |input| {
        if done.is_ok() {
            done = in_rel(binder, ctes, input);
        }
    });
    done
}

fn in_condition(
    binder: &mut Binder<'_>,
    ctes: &mut Vec<Cte>,
    grouped: &mut Grouped<'_>,
    condition: &mut Scalar,
) -> BindResult<()> {
    if let Kind::Subquery(subquery) = &mut condition.kind
        && subquery.free.is_empty()
        && let Some(mut others) = Grouped::of(&mut subquery.rel)
        && is_shareable(binder, grouped.rows, others.rows)
    {
        return replace(binder, ctes, grouped, &mut others);
    }
    let mut done = Ok(());
    condition.each_operand_mut(&mut |operand| {
        if done.is_ok() {
            done = in_condition(binder, ctes, grouped, operand);
        }
    });
    done
}

/// The input rows of an aggregate, below the projection of its arguments.
struct Grouped<'t> {
    rows: &'t mut Rel,
    /// Columns of the rows that are read above them.
    wanted: HashSet<ColId>,
}

impl<'t> Grouped<'t> {
    /// Returns the input rows of the topmost aggregate.
    fn of(rel: &'t mut Rel) -> Option<Self> {
        match rel {
            Rel::Filter { input, .. }
            | Rel::Project { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Limit { input, .. } => Self::of(input),
            Rel::Aggregate { input, keys, calls, .. } => {
                let mut wanted: HashSet<ColId> = keys.iter().copied().collect();
                for (_, call) in calls {
                    wanted.extend(call.args.iter().chain(&call.filter));
                    wanted.extend(call.order.iter().map(|key| key.col));
                    call.direct.iter().for_each(|value| value.each_column(&mut |col| _ = wanted.insert(col)));
                }
                Some(Self::below(input, wanted))
            }
            _ => None,
        }
    }

    fn below(rel: &'t mut Rel, mut wanted: HashSet<ColId>) -> Self {
        match rel {
            Rel::Project { input, exprs } => {
                exprs.iter().for_each(|(_, value)| value.each_column(&mut |col| _ = wanted.insert(col)));
                Self::below(input, wanted)
            }
            rows => Self { rows, wanted },
        }
    }
}

fn is_shareable(binder: &Binder<'_>, grouped: &Rel, read: &Rel) -> bool {
    is_join(grouped)
        && is_of_tables(grouped)
        && is_stable(grouped)
        && Pairs::of(&binder.scans, &binder.computed).same_rows(grouped, read)
}

fn is_join(rel: &Rel) -> bool {
    match rel {
        Rel::Filter { input, .. } => is_join(input),
        Rel::Join { .. } => true,
        _ => false,
    }
}

/// Does it consist of joins and filters of tables, without subqueries, so that all its columns can be read above?
fn is_of_tables(rel: &Rel) -> bool {
    let is_known = match rel {
        Rel::Scan { .. } | Rel::Filter { .. } => true,
        Rel::Join { kind, .. } => matches!(kind, JoinKind::Inner | JoinKind::Left | JoinKind::Right | JoinKind::Full),
        _ => false,
    };
    let mut plain = is_known;
    rel.each_scalar(&mut |value| plain = plain && !value.has_subquery());
    rel.each_input(&mut |input| plain = plain && is_of_tables(input));
    plain
}

fn replace(
    binder: &mut Binder<'_>,
    ctes: &mut Vec<Cte>,
    grouped: &mut Grouped<'_>,
    others: &mut Grouped<'_>,
) -> BindResult<()> {
    let mut definition = Definition { binder, of_grouped: Vec::new(), of_others: Vec::new() };
    let mut rel = grouped.rows.clone();
    definition.name_columns(&mut rel, others.rows)?;
    let Definition { mut of_grouped, mut of_others, .. } = definition;
    rename(&mut rel, &of_grouped.iter().map(|(own, col)| (*col, *own)).collect());
    // Columns that only the join conditions read are not materialized.
    of_grouped.retain(|(_, col)| grouped.wanted.contains(col));
    of_others.retain(|(_, col)| others.wanted.contains(col));
    let cols: BTreeSet<ColId> = of_grouped.iter().chain(&of_others).map(|(own, _)| *own).collect();
    let cte = binder.new_cte();
    ctes.push(Cte { id: cte, cols: cols.into_iter().collect(), body: CteBody::Materialized(rel) });
    *grouped.rows = Rel::CteScan { cte, cols: of_grouped };
    *others.rows = Rel::CteScan { cte, cols: of_others };
    Ok(())
}

/// The definition of the CTE: a copy of the rows with columns of its own.
struct Definition<'d, 'a> {
    binder: &'d mut Binder<'a>,
    /// Own column, column of the grouped rows.
    of_grouped: Vec<(ColId, ColId)>,
    /// Own column, column of the subquery's rows.
    of_others: Vec<(ColId, ColId)>,
}

impl Definition<'_, '_> {
    /// Gives `rel`, a copy of the grouped rows, its own table references; `others` has the same structure.
    fn name_columns(&mut self, rel: &mut Rel, others: &Rel) -> BindResult<()> {
        match (rel, others) {
            (Rel::Scan { table, rel, .. }, Rel::Scan { rel: other, .. }) => {
                let own = self.binder.new_rel(table.clone());
                self.name_scan(own, *rel, *other)?;
                *rel = own;
                Ok(())
            }
            (Rel::Filter { input, .. }, Rel::Filter { input: other, .. }) => self.name_columns(input, other),
            (Rel::Join { left, right, .. }, Rel::Join { left: l, right: r, .. }) => {
                self.name_columns(left, l)?;
                self.name_columns(right, r)
            }
            _ => Err(self.binder.internal("shared rows of another form")),
        }
    }

    fn name_scan(&mut self, own: RelId, grouped: RelId, other: RelId) -> BindResult<()> {
        let scanned = |rel: RelId| self.binder.scans.get(rel.0 as usize).cloned();
        let (Some(grouped), Some(other)) = (scanned(grouped), scanned(other)) else {
            return Err(self.binder.internal("a reference to no table"));
        };
        if let Some(scanned) = self.binder.scans.get_mut(own.0 as usize) {
            scanned.nullable = grouped.nullable;
        }
        for (ordinal, (first, second)) in grouped.ids.into_iter().zip(other.ids).enumerate() {
            if first.or(second).is_some() {
                let col = self.binder.table_col(own, ordinal)?;
                self.of_grouped.extend(first.map(|first| (col, first)));
                self.of_others.extend(second.map(|second| (col, second)));
            }
        }
        Ok(())
    }
}

fn rename(rel: &mut Rel, names: &HashMap<ColId, ColId>) {
    rel.each_scalar_mut(&mut |value| rename_value(value, names));
    rel.each_input_mut(&mut |input| rename(input, names));
}

fn rename_value(value: &mut Scalar, names: &HashMap<ColId, ColId>) {
    if let Kind::Col(col) = &mut value.kind
        && let Some(own) = names.get(&col.id)
    {
        col.id = *own;
    }
    value.each_operand_mut(&mut |operand| rename_value(operand, names));
}
