//! Rewrites equivalent forms of queries and expressions to one form.
//!
//! - `FETCH FIRST n ROWS ONLY` becomes `LIMIT n`; `x LIKE ANY (ARRAY[p, q])` becomes `x LIKE p OR x LIKE q` for a plain
//!   `x`.
//! - `x::pg_catalog.text` becomes `x::text`, and `'ab'::bpchar` becomes `'ab'::char(2)`.
//! - `COLLATE "C"` and `COLLATE pg_catalog.default` are removed: text is compared by bytes anyway.
//! - Long chains of AND or of OR become balanced trees, so that their depth is the logarithm of their length.
//! - `- -1` becomes `-(-1)`, since it must not print as a comment.
//! - `N'x'` and `U&'x'` become `'x'`.
//! - The call that the lexer inserts into a SELECT without columns is removed.

use crate::dialect::BennuDialect;
use crate::lexer::NO_COLUMNS;
use sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, CharacterLength, DataType, Expr, LimitClause, ObjectName, Query, Select,
    SelectItem, UnaryOperator, Value, ValueWithSpan, VisitorMut,
};
use sqlparser::parser::Parser;
use std::ops::ControlFlow;

/// The rewriter, for a walk over a statement.
pub(crate) struct Rewriter;

impl VisitorMut for Rewriter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        fetch_to_limit(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        select.projection.retain(|item| !is_no_column(item));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        strip_collation(expr);
        balance(expr);
        expand_like_any(expr);
        match expr {
            Expr::UnaryOp { op, expr } if !matches!(op, UnaryOperator::Not) => separate(expr),
            Expr::Cast { expr, data_type, .. } => {
                plain_type(data_type);
                infer_bpchar_length(expr, data_type);
            }
            Expr::TypedString(typed) => plain_type(&mut typed.data_type),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
        if let Value::NationalStringLiteral(text) | Value::UnicodeStringLiteral(text) = &mut value.value {
            value.value = Value::SingleQuotedString(std::mem::take(text));
        }
        ControlFlow::Continue(())
    }
}

fn is_no_column(item: &SelectItem) -> bool {
    let SelectItem::UnnamedExpr(Expr::Function(call)) = item else { return false };
    matches!(call.name.0.as_slice(), [part] if part.as_ident().is_some_and(|name| name.value == NO_COLUMNS))
}

/// Adds parentheses between two signs: `- -1` would print as `--1`, which is a comment.
fn separate(operand: &mut Expr) {
    if matches!(operand, Expr::UnaryOp { .. }) {
        let inner = std::mem::replace(operand, Expr::value(Value::Null));
        *operand = Expr::Nested(Box::new(inner));
    }
}

/// Replaces FETCH by LIMIT. FETCH with WITH TIES, with PERCENT or beside LIMIT stays, and is checked later.
fn fetch_to_limit(query: &mut Query) {
    let Some(fetch) = &query.fetch else { return };
    if fetch.with_ties || fetch.percent {
        return;
    }
    let offset = match &mut query.limit_clause {
        None => None,
        Some(LimitClause::LimitOffset { limit: None, offset, limit_by }) if limit_by.is_empty() => offset.take(),
        Some(_) => return,
    };
    let one = || Expr::value(Value::Number("1".into(), false));
    let limit = query.fetch.take().map(|fetch| fetch.quantity.unwrap_or_else(one));
    query.limit_clause = Some(LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() });
}

/// `x LIKE ANY (ARRAY[p, q])` becomes `x LIKE p OR x LIKE q`, from which key ranges can be derived. A computed `x`
/// stays with the operator, which evaluates it once.
fn expand_like_any(expr: &mut Expr) {
    let (Expr::AnyOp { left, compare_op, right, .. } | Expr::AllOp { left, compare_op, right }) = &*expr else {
        return;
    };
    let (negated, any_case) = match compare_op {
        BinaryOperator::PGLikeMatch => (false, false),
        BinaryOperator::PGNotLikeMatch => (true, false),
        BinaryOperator::PGILikeMatch => (false, true),
        BinaryOperator::PGNotILikeMatch => (true, true),
        _ => return,
    };
    if !is_plain(left) {
        return;
    }
    let Some(patterns) = elements(right).filter(|patterns| !patterns.is_empty()) else { return };
    let op = if matches!(expr, Expr::AnyOp { .. }) { BinaryOperator::Or } else { BinaryOperator::And };
    let like = |pattern: Expr| {
        let (expr, pattern) = (Box::new(Expr::Nested(left.clone())), Box::new(Expr::Nested(Box::new(pattern))));
        match any_case {
            true => Expr::ILike { negated, any: false, expr, pattern, escape_char: None },
            false => Expr::Like { negated, any: false, expr, pattern, escape_char: None },
        }
    };
    let both = |a: Expr, b: Expr| Expr::BinaryOp { left: Box::new(a), op: op.clone(), right: Box::new(b) };
    if let Some(likes) = patterns.into_iter().map(like).reduce(both) {
        *expr = Expr::Nested(Box::new(likes));
    }
}

/// Is it a name, a constant or a parameter?
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_plain(inner),
        expr => matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_)),
    }
}

/// Returns the elements of an array constructor.
fn elements(array: &Expr) -> Option<Vec<Expr>> {
    match array {
        Expr::Nested(inner) => elements(inner),
        Expr::Array(array) => Some(array.elem.clone()),
        _ => None,
    }
}

/// Removes collations that are the same as the default.
fn strip_collation(expr: &mut Expr) {
    while let Expr::Collate { expr: inner, collation } = expr {
        let parts: Vec<&str> =
            collation.0.iter().filter_map(|part| part.as_ident()).map(|i| i.value.as_str()).collect();
        let plain = match parts.as_slice() {
            [name] | ["pg_catalog", name] => matches!(*name, "C" | "POSIX" | "default" | "ucs_basic"),
            _ => false,
        };
        if !plain {
            return;
        }
        *expr = std::mem::replace(inner, Expr::value(Value::Null));
    }
}

fn strip_pg_catalog(name: &mut ObjectName) {
    let qualified = name.0.len() == 2
        && name.0.first().and_then(|part| part.as_ident()).is_some_and(|i| i.value.eq_ignore_ascii_case("pg_catalog"));
    if qualified {
        name.0.remove(0);
    }
}

/// Removes the schema of `pg_catalog.text`: sqlparser knows types only by their unqualified names.
fn plain_type(data_type: &mut DataType) {
    if let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = data_type {
        return plain_type(element);
    }
    let DataType::Custom(name, modifiers) = data_type else { return };
    let before = name.0.len();
    strip_pg_catalog(name);
    if name.0.len() == before {
        return;
    }
    let text = if modifiers.is_empty() { name.to_string() } else { format!("{name}({})", modifiers.join(",")) };
    let dialect = BennuDialect::for_tokens(&[]);
    let read = Parser::new(&dialect).try_with_sql(&text).and_then(|mut parser| parser.parse_data_type());
    if let Ok(plain) = read {
        *data_type = plain;
    }
}

/// `'ab'::bpchar`, as dumps write defaults of `char(n)`, becomes `'ab'::char(2)`.
fn infer_bpchar_length(operand: &Expr, data_type: &mut DataType) {
    let DataType::Custom(name, modifiers) = &*data_type else { return };
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = operand else { return };
    if modifiers.is_empty() && name.to_string().eq_ignore_ascii_case("bpchar") {
        let length = u64::try_from(text.chars().count().max(1)).unwrap_or(u64::MAX);
        *data_type = DataType::Char(Some(CharacterLength::IntegerLength { length, unit: None }));
    }
}

/// Chains of at most this many operands are not balanced: EXPLAIN shows them in the order of the text.
const SHORT_CHAIN: usize = 64;

/// Balances a chain of AND or of OR. Both are associative, and SQL promises no order of evaluation.
fn balance(expr: &mut Expr) {
    let Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } = expr else { return };
    let op = op.clone();
    let mut length = 1;
    let mut at = &*expr;
    while let Expr::BinaryOp { left, op: here, .. } = at
        && *here == op
    {
        length += 1;
        at = left;
    }
    if length <= SHORT_CHAIN {
        return;
    }
    // From the last operand to the first, since the chain leans to the left.
    let mut operands = Vec::with_capacity(length);
    let mut rest = std::mem::replace(expr, Expr::value(Value::Null));
    loop {
        match rest {
            Expr::BinaryOp { left, op: here, right } if here == op => {
                operands.push(*right);
                rest = *left;
            }
            first => {
                operands.push(first);
                break;
            }
        }
    }
    operands.reverse();
    *expr = join(operands, &op);
}

/// Joins neighbors pairwise until one tree is left.
fn join(mut trees: Vec<Expr>, op: &BinaryOperator) -> Expr {
    while trees.len() > 1 {
        let mut joined = Vec::with_capacity(trees.len().div_ceil(2));
        let mut pairs = trees.into_iter();
        while let Some(left) = pairs.next() {
            joined.push(match pairs.next() {
                Some(right) => Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) },
                None => left,
            });
        }
        trees = joined;
    }
    trees.pop().unwrap_or_else(|| Expr::value(Value::Null))
}
