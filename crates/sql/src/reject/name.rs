//! Invalid names: sqlparser accepts nearly every word as a name, and strings as aliases.

use super::{Refusal, Verdict};
use crate::lexer::keyword::is_reserved;
use crate::parser::FaultKind;
use sqlparser::ast::Ident;
use std::ops::ControlFlow;

/// Refuses reserved words without quotes, and strings, as the name of a table or its alias.
pub(super) fn check_name(name: &Ident) -> Verdict {
    if name.quote_style.is_none() && is_reserved(&name.value) { syntax(name) } else { check_label(name) }
}

/// Refuses strings as the label of a column: `SELECT 'a' 'b'`. After AS, all words are valid.
pub(super) fn check_label(name: &Ident) -> Verdict {
    if name.quote_style == Some('\'') { syntax(name) } else { ControlFlow::Continue(()) }
}

fn syntax(name: &Ident) -> Verdict {
    let kind = FaultKind::Syntax { near: Some(name.to_string()), expected: Some("a name".to_owned()) };
    ControlFlow::Break(Refusal { kind, place: name.span.into() })
}
