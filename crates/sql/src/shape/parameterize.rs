//! Replaces literals of a statement by parameters.

use super::{LiteralValue, Shape};
use crate::lexer::byte_of;
use crate::statement::{Assignment, InsertSource, InsertValue, OnDuplicate, walk};
use crate::{Conflict, ConflictAction, Insert, Statement};
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value, VisitorMut};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A statement, and the literals that its parameters replace.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameterized {
    /// The statement with `$1`, `$2`, ….
    pub statement: Statement,
    /// The index in [`Shape::literals`] of each parameter's literal.
    pub literals: Vec<usize>,
}

/// Replaces the literals that have the same meaning as parameters; `text` is the part of the text that [`Shape::span`]
/// names. Returns `None` for a statement of another kind, or
/// one that has parameters.
#[must_use]
pub fn parameterize(text: &str, shape: &Shape, statement: &Statement) -> Option<Parameterized> {
    if crate::placeholders(statement) > 0 {
        return None;
    }
    let at_byte = shape.literals.iter().enumerate().map(|(at, literal)| (literal.span.start, at)).collect();
    let mut replace = Replace { text, shape, at_byte, literals: Vec::new() };
    let mut statement = statement.clone();
    match &mut statement {
        Statement::Query(_) | Statement::LockingSelect(_) | Statement::Delete(_) => {}
        Statement::Insert(insert) => replace.insert(insert),
        Statement::Update(update) => replace.assignments(&mut update.assignments),
        _ => return None,
    }
    let _ = walk::mutable::statement(&mut statement, &mut replace);
    Some(Parameterized { statement, literals: replace.literals })
}

struct Replace<'s> {
    text: &'s str,
    shape: &'s Shape,
    /// Indexes of the literals by their first byte.
    at_byte: HashMap<usize, usize>,
    literals: Vec<usize>,
}

impl Replace<'_> {
    fn insert(&mut self, insert: &mut Insert) {
        if let InsertSource::Values(rows) = &mut insert.source {
            rows.iter_mut().flatten().for_each(|value| self.value(value));
        }
        if let Some(Conflict { action: ConflictAction::DoUpdate { assignments, .. }, .. }) = &mut insert.on_conflict {
            self.assignments(assignments);
        }
        if let Some(OnDuplicate::Update(assignments)) = &mut insert.on_duplicate {
            self.assignments(assignments);
        }
    }

    fn assignments(&mut self, assignments: &mut [Assignment]) {
        for assignment in assignments {
            match assignment {
                Assignment::One { value, .. } => self.value(value),
                Assignment::Row { values, .. } => values.iter_mut().for_each(|value| self.value(value)),
                Assignment::Element { .. } | Assignment::Subquery { .. } => {}
            }
        }
    }

    fn value(&mut self, value: &mut InsertValue) {
        if let InsertValue::Expr(expr) = value {
            self.expr(expr);
        }
    }

    /// Replaces an operand that is a literal of the text, or a row of literals.
    fn operand(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Tuple(items) => items.iter_mut().for_each(|item| self.operand(item)),
            other => self.expr(other),
        }
    }

    /// Replaces an expression that is a literal of the text.
    fn expr(&mut self, expr: &mut Expr) {
        let Expr::Value(value) = expr else { return };
        if value.span.start.line == 0 {
            return;
        }
        let Some(&at) = self.at_byte.get(&byte_of(self.text, value.span.start)) else { return };
        let Some(literal) = self.shape.literals.get(at) else { return };
        let same = match (&value.value, &literal.value) {
            (Value::Number(digits, false), LiteralValue::Int4(_) | LiteralValue::Int8(_)) => {
                self.text.get(literal.span.clone()) == Some(digits.as_str())
            }
            (Value::SingleQuotedString(string), LiteralValue::Text(text)) => string == text,
            _ => false,
        };
        if same {
            self.literals.push(at);
            value.value = Value::Placeholder(format!("${}", self.literals.len()));
        }
    }
}

/// Does the operator treat a parameter of a type as it treats a literal of that type?
fn is_plain(op: &BinaryOperator) -> bool {
    use BinaryOperator as O;
    matches!(
        op,
        O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq | O::Plus | O::Minus | O::Multiply | O::Divide | O::Modulo
    )
}

impl VisitorMut for Replace<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::BinaryOp { left, op, right } if is_plain(op) => {
                self.operand(left);
                self.operand(right);
            }
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => self.expr(expr),
            Expr::Between { low, high, .. } => {
                self.expr(low);
                self.expr(high);
            }
            Expr::InList { list, .. } => list.iter_mut().for_each(|item| self.operand(item)),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statement with parameters, and the literals that they stand for.
    fn parameters(text: &str) -> (String, Vec<String>) {
        let shape = Shape::of(text).unwrap();
        let parsed = crate::parse(text).unwrap().remove(0);
        let own = &text[shape.span.clone()];
        let found = parameterize(own, &shape, &parsed.statement).unwrap();
        let written = found.literals.iter().map(|at| own[shape.literals[*at].span.clone()].to_owned());
        let shown = match &found.statement {
            Statement::Query(query) => query.to_string(),
            other => format!("{other:?}"),
        };
        (shown, written.collect())
    }

    #[test]
    fn literals_beside_operators_and_in_lists_become_parameters() {
        let (shown, literals) =
            parameters("SELECT a + 1 FROM t WHERE k = 42 AND s IN ('x', 'y''z') AND b BETWEEN 2 AND -3");
        assert_eq!(shown, "SELECT a + $1 FROM t WHERE k = $2 AND s IN ($3, $4) AND b BETWEEN $5 AND -$6");
        let (shown, _) = parameters("SELECT a FROM t WHERE (a, b) > (1, 'x')");
        assert_eq!(shown, "SELECT a FROM t WHERE (a, b) > ($1, $2)");
        assert_eq!(literals, ["1", "42", "'x'", "'y''z'", "2", "3"]);
    }

    #[test]
    fn literals_with_a_meaning_of_their_own_stay() {
        let text = "SELECT 7, round(x, 2), DATE '2020-01-01', CAST(a AS numeric(8,2)) FROM t WHERE s LIKE 'a%' \
                    GROUP BY (1, 2) ORDER BY 2 LIMIT 10 OFFSET 3";
        let (_, literals) = parameters(text);
        assert_eq!(literals, [] as [&str; 0]);
    }

    #[test]
    fn blanks_around_a_statement_do_not_move_its_literals() {
        for text in [
            "  INSERT INTO t VALUES (1,2) ; ",
            "\n\n SELECT 1 FROM t WHERE a IN (1,2)",
            "\t( SELECT 1 FROM t WHERE (a, b) = (1,2))",
        ] {
            assert_eq!(parameters(text).1, ["1", "2"], "{text:?}");
        }
    }

    #[test]
    fn assigned_values_become_parameters() {
        let (_, literals) =
            parameters("INSERT INTO t (a, b) VALUES (1, 'x'), (2, DEFAULT) ON CONFLICT (a) DO UPDATE SET b = 'y'");
        assert_eq!(literals, ["1", "'x'", "2", "'y'"]);
        let (_, literals) = parameters("UPDATE t SET a = a + 5, (b, c) = ('x', 3) WHERE k = 9");
        assert_eq!(literals, ["'x'", "3", "5", "9"]);
    }
}
