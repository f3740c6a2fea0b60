//! The tree as text, a line for each node, for tests and EXPLAIN.

use super::{Body, Bound, ColId, CteBody, FrameBound, Key, Kind, Query, Rel, Rows, Scalar, SubqueryKind};
use std::fmt::{self, Display, Formatter, Write};
use types::Datum;

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.body {
            Body::Query(query) => write!(f, "{query}"),
            Body::Exprs(exprs) => writeln!(f, "{}", list(exprs)),
            Body::Insert(insert) => write!(f, "{insert}"),
            Body::Lock(locked) => write!(f, "{locked}"),
            Body::Update(update) | Body::Delete(update) => write!(f, "{update}"),
        }?;
        for (at, ty) in self.params.iter().enumerate() {
            writeln!(f, "${}: {}", at + 1, ty.sql_name())?;
        }
        Ok(())
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let outputs: Vec<String> =
            self.outputs.iter().map(|output| format!("{} {}", output.col, output.name)).collect();
        writeln!(f, "outputs {}", outputs.join(", "))?;
        write_rel(f, &self.rel, 0)?;
        for cte in &self.ctes {
            let (how, rel) = match &cte.body {
                CteBody::Inline(rel) => ("inline", rel),
                CteBody::Either(rel) => ("inline or once", rel),
                CteBody::Materialized(rel) => ("once", rel),
                CteBody::Recursive { base, materialized: false, .. } => ("recursive", base),
                CteBody::Recursive { base, .. } => ("recursive once", base),
            };
            writeln!(f, "with w{} {} {how}", cte.id.0, cols(&cte.cols))?;
            write_rel(f, rel, 1)?;
        }
        Ok(())
    }
}

impl Display for ColId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.index())
    }
}

impl Display for Rel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_rel(f, self, 0)
    }
}

/// Writes a node and its inputs, indented by level.
fn write_rel(f: &mut Formatter<'_>, rel: &Rel, depth: usize) -> fmt::Result {
    writeln!(f, "{}{}", "  ".repeat(depth), headline(rel))?;
    let mut outcome = Ok(());
    let mut subqueries = Vec::new();
    rel.each_scalar(&mut |value| collect_subqueries(value, &mut subqueries));
    for subquery in subqueries {
        writeln!(f, "{}subquery", "  ".repeat(depth + 1))?;
        write_rel(f, subquery, depth + 2)?;
    }
    rel.each_input(&mut |input| {
        if outcome.is_ok() {
            outcome = write_rel(f, input, depth + 1);
        }
    });
    outcome
}

fn collect_subqueries<'t>(value: &'t Scalar, into: &mut Vec<&'t Rel>) {
    if let Kind::Subquery(subquery) = &value.kind {
        into.push(&subquery.rel);
    }
    value.each_operand(&mut |operand| collect_subqueries(operand, into));
}

fn headline(rel: &Rel) -> String {
    match rel {
        Rel::OneRow => "OneRow".to_owned(),
        Rel::Values { cols: of, rows: Rows::Const(rows) } => {
            format!("Values {} of {} constant rows", cols(of), rows.len())
        }
        Rel::Values { cols: of, rows: Rows::Exprs(rows) } => {
            let rows: Vec<String> = rows.iter().map(|row| format!("({})", list(row))).collect();
            format!("Values {} {}", cols(of), rows.join(", "))
        }
        Rel::Scan { table, cols, .. } => {
            let cols = cols.iter().map(|(at, col)| {
                format!("{col} {}", table.columns.get(*at).map_or("row id", |column| column.name.as_str()))
            });
            format!("Scan {} [{}]", table.name, cols.collect::<Vec<_>>().join(", "))
        }
        Rel::Computed { relation, .. } => format!("Computed {}.{}", relation.schema, relation.name),
        Rel::CteScan { cte, cols } => {
            let cols: Vec<String> = cols.iter().map(|(of, here)| format!("{here} of {of}")).collect();
            format!("CteScan w{} [{}]", cte.0, cols.join(", "))
        }
        Rel::Filter { all, .. } => format!("Filter {}", list(all)),
        Rel::Project { exprs, .. } => format!("Project {}", assigned(exprs)),
        Rel::Join { kind, on, .. } => format!("Join {kind:?} on {}", list(on)),
        Rel::Apply { kind, on, free, .. } => format!("Apply {kind:?} on {} of {}", list(on), cols(free)),
        Rel::Aggregate { keys, sets, calls, groupings, .. } => {
            let mut calls: Vec<String> =
                calls.iter().map(|(col, call)| format!("{col} = {}", aggregate(call))).collect();
            calls.extend(groupings.iter().map(|(col, of)| format!("{col} = grouping({})", bare(of))));
            let sets: Vec<String> = sets.iter().map(|set| cols(&set.iter().copied().collect::<Vec<_>>())).collect();
            let sets = if sets.is_empty() { String::new() } else { format!(" sets {}", sets.join(", ")) };
            format!("Aggregate by {}{sets} {}", cols(keys), calls.join(", ")).trim_end().to_owned()
        }
        Rel::Window { spec, calls, .. } => {
            let calls: Vec<String> =
                calls.iter().map(|(col, call)| format!("{col} = {}", function_name(call.func))).collect();
            let frame = [bound(&spec.frame.start), bound(&spec.frame.end)].join(" to ");
            format!("Window by {} {} {frame} {}", cols(&spec.partition), sort(&spec.order), calls.join(", "))
        }
        Rel::Unnest { calls, .. } => {
            let calls = calls
                .iter()
                .map(|call| format!("{} = {}({})", cols(&call.cols), function_name(call.func), list(&call.args)));
            format!("Unnest {}", calls.collect::<Vec<_>>().join(", "))
        }
        Rel::Distinct { on, order, .. } => {
            let order = order.as_ref().map(|order| format!(" first by {}", sort(order)));
            format!("Distinct {}{}", cols(on), order.unwrap_or_default())
        }
        Rel::Sort { keys, .. } => format!("Sort {}", sort(keys)),
        Rel::Limit { offset, count, .. } => {
            let part = |word, value: &Option<Scalar>| value.as_ref().map(|value| format!(" {word} {value}"));
            format!("Limit{}{}", part("offset", offset).unwrap_or_default(), part("count", count).unwrap_or_default())
        }
        Rel::SetOp { op, all, cols, .. } => {
            let cols: Vec<String> = cols.iter().map(|(col, left, right)| format!("{col} = {left}, {right}")).collect();
            format!("{op:?}{} [{}]", if *all { " all" } else { "" }, cols.join("; "))
        }
    }
}

fn aggregate(call: &super::AggCall) -> String {
    let mut text =
        format!("{}({}{}", function_name(call.func), if call.distinct { "distinct " } else { "" }, bare(&call.args));
    if !call.order.is_empty() {
        let _ = write!(text, " by {}", sort(&call.order));
    }
    text.push(')');
    if let Some(filter) = call.filter {
        let _ = write!(text, " where {filter}");
    }
    text
}

fn bound(bound: &FrameBound) -> String {
    match bound {
        FrameBound::Unbounded => "unbounded".to_owned(),
        FrameBound::Current => "current".to_owned(),
        FrameBound::Preceding(value) => format!("{value} preceding"),
        FrameBound::Following(value) => format!("{value} following"),
    }
}

fn bare(cols: &[ColId]) -> String {
    cols.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn cols(cols: &[ColId]) -> String {
    format!("[{}]", bare(cols))
}

fn sort(keys: &[Key]) -> String {
    let key = |key: &Key| {
        let nulls = if key.nulls_first == key.desc {
            ""
        } else if key.nulls_first {
            " nulls first"
        } else {
            " nulls last"
        };
        format!("{}{}{nulls}", key.col, if key.desc { " desc" } else { "" })
    };
    format!("[{}]", keys.iter().map(key).collect::<Vec<_>>().join(", "))
}

fn assigned(exprs: &[(ColId, Scalar)]) -> String {
    exprs.iter().map(|(col, value)| format!("{col} = {value}")).collect::<Vec<_>>().join(", ")
}

pub(super) fn list(values: &[Scalar]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn function_name(func: builtins::FuncId) -> String {
    builtins::function(func).map_or_else(|| format!("function {}", func.0), |function| function.name.to_owned())
}

impl Display for Scalar {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Col(col) => write!(f, "{}{}", "^".repeat(usize::from(col.level)), col.id),
            Kind::Const(value) => write_constant(f, self, value),
            Kind::Param(id) => write!(f, "${}", id.0 + 1),
            Kind::Session(value) => write!(f, "{value:?}"),
            Kind::Call { func, args } => write!(f, "{}({})", function_name(*func), list(args)),
            Kind::Phoenix { form, args } => write!(f, "{form:?}({})", list(args)),
            Kind::Own { function, args } => write!(f, "{}({})", function.name, list(args)),
            Kind::Cast { arg, .. } => write!(f, "{arg}::{}", self.ty.sql_name()),
            Kind::And(all) => write!(f, "and({})", list(all)),
            Kind::Or(all) => write!(f, "or({})", list(all)),
            Kind::Not(arg) => write!(f, "not({arg})"),
            Kind::IsNull(arg) => write!(f, "is_null({arg})"),
            Kind::Is { arg, test } => write!(f, "is({arg}, {test:?})"),
            _ => write_other(f, self),
        }
    }
}

fn write_constant(f: &mut Formatter<'_>, value: &Scalar, datum: &Datum) -> fmt::Result {
    match (datum, value.ty.data_type()) {
        (Datum::Null, _) => write!(f, "null::{}", value.ty.sql_name()),
        (datum, Some(ty)) => {
            let mut text = String::new();
            types::text::print(&ty, datum, &mut text);
            match datum {
                Datum::Int4(_) | Datum::Bool(_) => f.write_str(&text),
                _ => write!(f, "'{text}'::{}", value.ty.sql_name()),
            }
        }
        (datum, None) => write!(f, "{datum:?}"),
    }
}

fn write_other(f: &mut Formatter<'_>, value: &Scalar) -> fmt::Result {
    match &value.kind {
        Kind::Case { arms, other } => {
            f.write_str("case(")?;
            for (condition, value) in arms {
                write!(f, "{condition}: {value}; ")?;
            }
            match other {
                Some(other) => write!(f, "{other})"),
                None => f.write_str("null)"),
            }
        }
        Kind::CaseOf { operand, arms, other, .. } => {
            write!(f, "case_of({operand}; ")?;
            for (of, value) in arms {
                write!(f, "{of}: {value}; ")?;
            }
            match other {
                Some(other) => write!(f, "{other})"),
                None => f.write_str("null)"),
            }
        }
        Kind::Coalesce(args) => write!(f, "coalesce({})", list(args)),
        Kind::Extreme { max, args, .. } => write!(f, "{}({})", if *max { "greatest" } else { "least" }, list(args)),
        Kind::NullIf { args, .. } => write!(f, "nullif({}, {})", args.0, args.1),
        Kind::Distinct { left, right, negated, .. } => {
            write!(f, "{}({left}, {right})", if *negated { "not_distinct" } else { "distinct" })
        }
        Kind::InList { arg, list: items, negated, .. } => {
            write!(f, "{}({arg}: {})", if *negated { "not_in" } else { "in" }, list(items))
        }
        Kind::AnyArray { op, arg, array, all } => {
            write!(f, "{}({}, {arg}, {array})", if *all { "all" } else { "any" }, function_name(*op))
        }
        Kind::Row(items) => write!(f, "row({})", list(items)),
        Kind::Field(row, at) => write!(f, "field({row}, {at})"),
        Kind::RowCompare { op, pairs } => {
            let pairs: Vec<String> = pairs.iter().map(|(_, _, left, right)| format!("{left}, {right}")).collect();
            write!(f, "rows({op:?}: {})", pairs.join("; "))
        }
        Kind::Array(items) => write!(f, "array({})", list(items)),
        Kind::Element { array, at } => write!(f, "element({array}: {})", list(at)),
        Kind::Slice { array, bounds } => {
            let text = |bound: &Option<Scalar>| bound.as_ref().map(ToString::to_string).unwrap_or_default();
            let bounds: Vec<String> =
                bounds.iter().map(|(low, high)| format!("{}:{}", text(low), text(high))).collect();
            write!(f, "slice({array}: {})", bounds.join(", "))
        }
        Kind::Subquery(subquery) => {
            let kind = match &subquery.kind {
                SubqueryKind::Scalar => "scalar".to_owned(),
                SubqueryKind::Exists => "exists".to_owned(),
                SubqueryKind::ArrayOf => "array_of".to_owned(),
                SubqueryKind::Quantified { left, all, .. } => {
                    format!("{} {}", if *all { "all of" } else { "any of" }, list(left))
                }
            };
            write!(f, "({kind} {})", cols(&subquery.cols))
        }
        _ => Ok(()),
    }
}
