//! Prints expressions over a table as PostgreSQL does: each literal with its type, each cast explicit.
//!
//! `pretty` omits parentheses that are not needed. Functions that once had SQL syntax of their own (`EXTRACT`) are
//! printed as calls. Source: `ruleutils.c`.

use crate::over_table::TableExpression;
use crate::tree::{CastContext, ColId, Kind, Scalar};
use builtins::{FuncId, Ty, TypeId};
use catalog::Table;
use types::ident::quote;
use types::{Datum, text};

/// Prints the expression over the columns of `table`. Returns `None` for a form that is not supported.
pub fn deparse(expr: &TableExpression, table: &Table, pretty: bool) -> Option<String> {
    let name = |id: ColId| {
        let (at, _) = expr.cols.iter().find(|(_, own)| *own == id)?;
        table.columns.get(*at).map(|column| quote(&column.name).into_owned())
    };
    Printer { name: &name, pretty }.expr(&expr.value)
}

struct Printer<'a> {
    name: &'a dyn Fn(ColId) -> Option<String>,
    pretty: bool,
}

impl Printer<'_> {
    fn expr(&self, value: &Scalar) -> Option<String> {
        match &value.kind {
            Kind::Col(col) => (self.name)(col.id),
            Kind::Const(datum) => Some(constant(datum, value.ty)),
            Kind::Call { func, args } => self.call(*func, args),
            Kind::Cast { arg, context, .. } => self.cast(arg, value.ty, *context),
            Kind::And(all) => self.chain(all, " AND ", value),
            Kind::Or(any) => self.chain(any, " OR ", value),
            Kind::Not(inner) => match &inner.kind {
                Kind::IsNull(arg) => Some(self.outer(format!("{} IS NOT NULL", self.operand(arg, value)?))),
                _ => Some(self.outer(format!("NOT {}", self.operand(inner, value)?))),
            },
            Kind::IsNull(arg) => Some(self.outer(format!("{} IS NULL", self.operand(arg, value)?))),
            Kind::Is { arg, test } => Some(self.outer(format!("{} IS {}", self.operand(arg, value)?, test.words()))),
            Kind::Coalesce(list) => Some(format!("COALESCE({})", self.list(list)?)),
            Kind::Extreme { max, args, .. } => {
                Some(format!("{}({})", if *max { "GREATEST" } else { "LEAST" }, self.list(args)?))
            }
            Kind::NullIf { args, .. } => Some(format!("NULLIF({}, {})", self.expr(&args.0)?, self.expr(&args.1)?)),
            Kind::Distinct { left, right, negated, .. } => {
                let (left, right) = (self.operand(left, value)?, self.operand(right, value)?);
                let distinct = self.outer(format!("{left} IS DISTINCT FROM {right}"));
                Some(if *negated { self.outer(format!("NOT {distinct}")) } else { distinct })
            }
            Kind::InList { arg, list, negated, .. } => {
                let (op, quantifier) = if *negated { ("<>", "ALL") } else { ("=", "ANY") };
                let array = format!("ARRAY[{}]", self.list(list)?);
                Some(self.outer(format!("{} {op} {quantifier} ({array})", self.operand(arg, value)?)))
            }
            Kind::Case { arms, other } => self.case(arms, other.as_deref()),
            _ => None,
        }
    }

    /// Adds the parentheses around an operation, unless printing is pretty.
    fn outer(&self, text: String) -> String {
        if self.pretty { text } else { format!("({text})") }
    }

    fn list(&self, values: &[Scalar]) -> Option<String> {
        let values: Option<Vec<String>> = values.iter().map(|value| self.expr(value)).collect();
        Some(values?.join(", "))
    }

    fn chain(&self, values: &[Scalar], word: &str, whole: &Scalar) -> Option<String> {
        let values: Option<Vec<String>> = values.iter().map(|value| self.operand(value, whole)).collect();
        Some(self.outer(values?.join(word)))
    }

    fn call(&self, func: FuncId, args: &[Scalar]) -> Option<String> {
        let whole = Scalar { kind: Kind::Call { func, args: args.to_vec() }, ty: Ty::BOOL, span: Default::default() };
        if let Some(operator) = builtins::operator_of(func) {
            return match args {
                [left, right] => {
                    let (left, right) = (self.operand(left, &whole)?, self.last_operand(right, &whole)?);
                    Some(self.outer(format!("{left} {} {right}", operator.name)))
                }
                [arg] => Some(self.outer(format!("{} {}", operator.name, self.operand(arg, &whole)?))),
                _ => None,
            };
        }
        let name = builtins::function(func)?.name;
        if let ("timezone", [zone, time]) = (name, args) {
            let (time, zone) = (self.operand(time, &whole)?, self.operand(zone, &whole)?);
            return Some(self.outer(format!("{time} AT TIME ZONE {zone}")));
        }
        Some(format!("{}({})", quote_function(name), self.list(args)?))
    }

    fn cast(&self, arg: &Scalar, to: Ty, context: CastContext) -> Option<String> {
        let to = to.sql_name();
        if let Kind::Const(datum) = &arg.kind
            && context == CastContext::Explicit
            && arg.ty.id == TypeId::UNKNOWN
        {
            return Some(format!("{}::{to}", literal(datum, Ty::TEXT)));
        }
        let bare = self.expr(arg)?;
        let simple = matches!(arg.kind, Kind::Col(_) | Kind::Const(_)) || bare.ends_with(')') && is_call(arg);
        Some(if self.pretty && simple { format!("{bare}::{to}") } else { format!("({bare})::{to}") })
    }

    fn case(&self, arms: &[(Scalar, Scalar)], other: Option<&Scalar>) -> Option<String> {
        let mut text = "CASE".to_owned();
        let gap = if self.pretty { "\n    " } else { " " };
        for (condition, value) in arms {
            text.push_str(&format!("{gap}WHEN {} THEN {}", self.expr(condition)?, self.expr(value)?));
        }
        let other = match other {
            Some(other) => self.expr(other)?,
            None => "NULL".to_owned(),
        };
        text.push_str(&format!("{gap}ELSE {other}{}END", if self.pretty { "\n" } else { " " }));
        Some(text)
    }

    /// Prints an operand, in parentheses where pretty printing needs them.
    fn operand(&self, value: &Scalar, parent: &Scalar) -> Option<String> {
        self.inner(value, parent, true)
    }

    fn last_operand(&self, value: &Scalar, parent: &Scalar) -> Option<String> {
        self.inner(value, parent, false)
    }

    fn inner(&self, value: &Scalar, parent: &Scalar, first: bool) -> Option<String> {
        let text = self.expr(value)?;
        Some(if self.pretty && needs_parentheses(value, parent, first) { format!("({text})") } else { text })
    }
}

/// Decides as `isSimpleNode` of `ruleutils.c`.
fn needs_parentheses(value: &Scalar, parent: &Scalar, first: bool) -> bool {
    let (own, above) = (operator_name(value), operator_name(parent));
    match (&value.kind, &parent.kind) {
        (Kind::Call { .. }, Kind::And(_) | Kind::Or(_) | Kind::Not(_)) => false,
        (Kind::Call { .. }, _) => match (own, above) {
            (None, _) => false,
            (Some("*" | "/" | "%"), Some("+" | "-")) => false,
            (Some("*" | "/" | "%"), Some("*" | "/" | "%")) | (Some("+" | "-"), Some("+" | "-")) => !first,
            (Some(_), _) => true,
        },
        (Kind::And(_), Kind::Or(_)) => false,
        (Kind::And(_), _) | (Kind::Or(_), _) => true,
        (Kind::Not(_) | Kind::IsNull(_) | Kind::Is { .. }, Kind::And(_) | Kind::Or(_) | Kind::Not(_)) => false,
        (Kind::Not(_) | Kind::IsNull(_) | Kind::Is { .. } | Kind::Distinct { .. } | Kind::InList { .. }, _) => {
            !matches!(parent.kind, Kind::And(_) | Kind::Or(_) | Kind::Not(_))
        }
        _ => false,
    }
}

fn operator_name(value: &Scalar) -> Option<&'static str> {
    match &value.kind {
        Kind::Call { func, .. } => builtins::operator_of(*func).map(|operator| operator.name),
        _ => None,
    }
}

fn is_call(value: &Scalar) -> bool {
    matches!(&value.kind, Kind::Call { func, .. } if builtins::operator_of(*func).is_none())
}

/// Quotes function names that are keywords of the grammar.
fn quote_function(name: &str) -> String {
    match name {
        "substring" | "overlay" | "position" | "left" | "right" | "timestamp" | "time" | "interval" | "numeric" => {
            format!("\"{name}\"")
        }
        name => quote(name).into_owned(),
    }
}

/// Prints a literal with its type, unless its form implies the type.
fn constant(datum: &Datum, ty: Ty) -> String {
    let plain = Ty { typmod: -1, ..ty };
    match datum {
        Datum::Null => format!("NULL::{}", plain.sql_name()),
        Datum::Bool(value) => value.to_string(),
        Datum::Int4(value) if *value >= 0 => value.to_string(),
        Datum::Numeric(_) if ty.typmod == -1 => {
            let text = printed(datum, plain);
            if text.starts_with(|digit: char| digit.is_ascii_digit()) && text.contains('.') {
                return text;
            }
            format!("'{text}'::numeric")
        }
        datum => format!("{}::{}", literal(datum, plain), ty.sql_name()),
    }
}

fn literal(datum: &Datum, ty: Ty) -> String {
    format!("'{}'", printed(datum, ty).replace('\'', "''"))
}

fn printed(datum: &Datum, ty: Ty) -> String {
    let mut out = String::new();
    match (ty.data_type(), datum) {
        (Some(ty), datum) => text::print(&ty, datum, &mut out),
        (None, Datum::Text(text)) => out.push_str(text),
        (None, _) => {}
    }
    out
}
