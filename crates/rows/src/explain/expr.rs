//! Prints expressions as SQL.

use super::Shown;
use crate::expr::{Comparison, RowExpr, SubqueryValue};
use bind::tree::ColId;
use builtins::FuncId;
use types::Datum;

impl Shown<'_> {
    /// The expression as an operand, in parentheses if needed.
    pub(super) fn operand(&self, expr: &RowExpr, cols: &[ColId]) -> String {
        match expr {
            RowExpr::And(_) | RowExpr::Or(_) => format!("({})", self.text(expr, cols)),
            _ => self.text(expr, cols),
        }
    }

    /// The expression over rows of `cols`.
    pub(super) fn text(&self, expr: &RowExpr, cols: &[ColId]) -> String {
        let one = |expr: &RowExpr| self.operand(expr, cols);
        match expr {
            RowExpr::Col(at) => cols.get(*at).map_or_else(|| "?".to_owned(), |col| self.name(*col)),
            RowExpr::Outer(slot) => self.program.slots.get(*slot).map_or_else(|| "?".to_owned(), |col| self.name(*col)),
            RowExpr::Param(at) => self.values.params.get(*at).map_or_else(|| format!("${}", at + 1), constant),
            RowExpr::Const(value) => constant(value),
            RowExpr::TransactionTime => "now()".to_owned(),
            RowExpr::Call(callee, args) => self.call(callee.func, args, cols),
            RowExpr::Outside(func, _, args) => self.call(*func, args, cols),
            RowExpr::Compare(by, sides) => format!("{} {} {}", one(&sides.0), sign(by), one(&sides.1)),
            RowExpr::And(list) => self.list(list, " AND ", cols),
            RowExpr::Or(list) => self.list(list, " OR ", cols),
            RowExpr::Not(arg) => format!("NOT {}", one(arg)),
            RowExpr::IsNull(arg) => format!("{} IS NULL", one(arg)),
            RowExpr::Is(arg, test) => format!("{} IS {}", one(arg), test.words()),
            RowExpr::Case(arms, other) => {
                let arms = arms.iter().map(|(when, then)| format!(" WHEN {} THEN {}", one(when), one(then)));
                let other = other.as_ref().map_or_else(String::new, |other| format!(" ELSE {}", one(other)));
                format!("CASE{}{other} END", arms.collect::<String>())
            }
            RowExpr::Coalesce(list) => format!("coalesce({})", self.list(list, ", ", cols)),
            RowExpr::Extreme(max, _, list) => {
                format!("{}({})", if *max { "greatest" } else { "least" }, self.list(list, ", ", cols))
            }
            RowExpr::NullIf(_, args) => format!("nullif({}, {})", one(&args.1), one(&args.2)),
            RowExpr::Distinct(_, sides, negated) => {
                format!("{} IS {}DISTINCT FROM {}", one(&sides.0), if *negated { "NOT " } else { "" }, one(&sides.1))
            }
            RowExpr::InList(_, arg, list, negated) => {
                format!("{}{} IN ({})", one(arg), if *negated { " NOT" } else { "" }, self.list(list, ", ", cols))
            }
            RowExpr::AnyArray(by, sides, all) => {
                format!("{} {} {}({})", one(&sides.0), sign(by), if *all { "ALL" } else { "ANY" }, one(&sides.1))
            }
            RowExpr::RowCompare(op, pairs) => {
                let side = |left: bool| {
                    let parts: Vec<String> = pairs.iter().map(|(_, _, a, b)| one(if left { a } else { b })).collect();
                    parts.join(", ")
                };
                format!("({}) {} ({})", side(true), op.sign(), side(false))
            }
            RowExpr::Array(list) => format!("ARRAY[{}]", self.list(list, ", ", cols)),
            RowExpr::Element(array, at) => format!("{}[{}]", one(array), self.list(at, "][", cols)),
            RowExpr::Fit(ty, arg, _) | RowExpr::Parse(ty, arg) => format!("{}::{}", one(arg), ty.sql_name()),
            RowExpr::Print(_, arg) => format!("{}::text", one(arg)),
            RowExpr::Form(_, arg) => self.text(arg, cols),
            RowExpr::Subquery(number, made) => self.subquery(*number, made, cols),
        }
    }

    fn list(&self, list: &[RowExpr], between: &str, cols: &[ColId]) -> String {
        list.iter().map(|item| self.operand(item, cols)).collect::<Vec<_>>().join(between)
    }

    fn call(&self, func: FuncId, args: &[RowExpr], cols: &[ColId]) -> String {
        let sign = builtins::operator_of(func);
        match (sign, args) {
            (Some(sign), [left, right]) => {
                format!("({} {} {})", self.operand(left, cols), sign.name, self.operand(right, cols))
            }
            (Some(sign), [operand]) => format!("{}{}", sign.name, self.operand(operand, cols)),
            _ => {
                let name = builtins::function(func).map_or("?", |function| function.name);
                format!("{name}({})", self.list(args, ", ", cols))
            }
        }
    }

    fn subquery(&self, number: usize, made: &SubqueryValue, cols: &[ColId]) -> String {
        let name = format!("(Subquery {})", number + 1);
        match made {
            SubqueryValue::Scalar => name,
            SubqueryValue::Exists => format!("EXISTS {name}"),
            SubqueryValue::Array => format!("ARRAY{name}"),
            SubqueryValue::Quantified(left, all) => {
                let sign = left.first().map_or("=", |(by, _)| sign(by));
                let left: Vec<String> = left.iter().map(|(_, expr)| self.operand(expr, cols)).collect();
                let word = if *all { "ALL" } else { "ANY" };
                format!("{} {sign} {word} {name}", left.join(", "))
            }
        }
    }
}

fn constant(value: &Datum) -> String {
    match value {
        // In quotes, like PostgreSQL.
        Datum::Float4(_) | Datum::Float8(_) => format!("'{value}'"),
        _ => value.to_literal(),
    }
}

fn sign(by: &Comparison) -> &'static str {
    match by {
        Comparison::Inline(op) => op.sign(),
        Comparison::Call(callee) => builtins::operator_of(callee.func).map_or("?", |operator| operator.name),
    }
}
