//! ORDER BY, where the key gives it.

use super::conditions::KeyCondition;
use crate::dml::{Literal, Target, column_at, folded, literal};
use sql::ast::{Expr, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, SelectItem};

/// What the rows are to be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Nothing.
    Any,
    /// The key, from its first row on.
    Key,
    /// The key, from its last row on.
    Reverse,
}

/// What ORDER BY may name.
pub(super) struct Names<'a> {
    pub(super) target: &'a Target,
    pub(super) alias: &'a str,
    pub(super) projection: &'a [SelectItem],
    /// The columns that are selected.
    pub(super) wanted: &'a [usize],
}

impl Order {
    /// `None`: an order that the key does not give.
    pub(super) fn compile(order: Option<&OrderBy>, names: &Names<'_>, conditions: &[KeyCondition]) -> Option<Self> {
        let Some(OrderBy { kind, interpolate: None }) = order else {
            return order.is_none().then_some(Self::Any);
        };
        let OrderByKind::Expressions(list) = kind else { return None };
        let mut wanted = Vec::with_capacity(list.len());
        for item in list {
            let OrderByExpr { expr, options, with_fill: None } = item else { return None };
            wanted.push((names.column(expr)?, options));
        }
        let gives = |reverse| key_gives(names.target, &wanted, conditions, reverse);
        match (gives(false), gives(true)) {
            (true, _) => Some(Self::Key),
            (false, true) => Some(Self::Reverse),
            (false, false) => None,
        }
    }
}

/// Are the rows in that order when the key is read in that direction? Parts with one value are in any order.
fn key_gives(target: &Target, wanted: &[(usize, &OrderByOptions)], conditions: &[KeyCondition], reverse: bool) -> bool {
    let fixed = |part: usize| conditions.iter().any(|condition| condition.part == part && condition.is_equality());
    let key = target.codec.key_columns();
    let mut parts = key.iter().zip(&target.codec.key_schema().parts).enumerate().filter(|(part, _)| !fixed(*part));
    wanted.iter().all(|(at, options)| {
        let own = key.iter().position(|column| column == at);
        if own.is_some_and(fixed) {
            return true;
        }
        let Some((_, (column, part))) = parts.next() else {
            // Behind the whole key there is nothing left to be sorted.
            return true;
        };
        let descending = options.asc == Some(false);
        let nulls_first = options.nulls_first.unwrap_or(descending);
        column == at
            && descending == (part.descending != reverse)
            && (!part.nullable || nulls_first == (part.nulls_first != reverse))
    })
}

impl Names<'_> {
    /// The column that an item names: by its number or name in the select list, or by its own name.
    fn column(&self, expr: &Expr) -> Option<usize> {
        if let Some(Literal::Number(number)) = literal(expr) {
            return self.wanted.get(number.parse::<usize>().ok()?.checked_sub(1)?).copied();
        }
        if let Expr::Identifier(name) = expr {
            let name = folded(name);
            let renamed = self.projection.iter().any(|item| match item {
                SelectItem::ExprWithAlias { alias, .. } => folded(alias) == name,
                _ => false,
            });
            if renamed {
                // Names of the select list come first; which column that is matters too seldom.
                return None;
            }
        }
        column_at(self.target, self.alias, expr)
    }
}
