//! Syntax trees as text.

use crate::lexer::written;
use sqlparser::ast::{Expr, Ident, ObjectName, Value, ValueWithSpan, VisitMut, VisitorMut};
use std::fmt::Display;
use std::ops::ControlFlow;

/// Returns a query or an expression as text that parses to the same tree.
pub fn printed<T: Clone + Display + VisitMut>(tree: &T) -> String {
    let mut tree = tree.clone();
    let _ = tree.visit(&mut DoubledQuotes);
    written(tree.to_string())
}

/// Doubles the quotes within strings and quoted names. `Display` of sqlparser 0.62 doubles a quote only if neither a
/// quote follows nor a backslash precedes, because it takes these for escapes: `'a''''b'` would become `'a''b'`, and
/// `'\'''` would not end. Quotes that are doubled already it prints as they are.
struct DoubledQuotes;

impl DoubledQuotes {
    fn name(ident: &mut Ident) {
        if let Some(quote) = ident.quote_style {
            ident.value = doubled(&ident.value, quote);
        }
    }
}

fn doubled(text: &str, quote: char) -> String {
    text.replace(quote, &format!("{quote}{quote}"))
}

impl VisitorMut for DoubledQuotes {
    type Break = ();

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
        if let Value::SingleQuotedString(text) = &mut value.value {
            *text = doubled(text, '\'');
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        for part in &mut name.0 {
            if let sqlparser::ast::ObjectNamePart::Identifier(ident) = part {
                Self::name(ident);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(ident) => Self::name(ident),
            Expr::CompoundIdentifier(idents) => idents.iter_mut().for_each(Self::name),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_names_with_quotes_parse_to_themselves() {
        let texts = [
            r#"SELECT 'a''''b', '\''', '''', '''''''', DATE 'x''''y', a LIKE '\''%' ESCAPE '\' FROM "t""""u" WHERE "a""""b" = ''"#,
            r#"SELECT "x"."y""\" FROM "x" LIMIT 1"#,
        ];
        for text in texts {
            let query = crate::parse_query(text).unwrap();
            let printed = printed(query.as_ref());
            assert_eq!(crate::parse_query(&printed).unwrap(), query, "{printed}");
        }
    }
}
