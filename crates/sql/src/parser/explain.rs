//! EXPLAIN.

use super::{Cursor, Parse, dispatch};
use crate::Statement;
use crate::statement::{Explain, ExplainFormat};
use sqlparser::tokenizer::Token;

/// Parses EXPLAIN [ANALYZE] [VERBOSE] … and EXPLAIN (option, …) ….
pub(super) fn explain(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("EXPLAIN")?;
    if c.at_all(&["WITH", "REGIONS"]) {
        return Err(c.unsupported_hint("EXPLAIN WITH REGIONS", "EXPLAIN always names the regions."));
    }
    let mut explain = Explain {
        analyze: false,
        verbose: false,
        costs: None,
        timing: true,
        summary: None,
        format: ExplainFormat::Text,
        statement: Box::new(Statement::Commit { chain: false }),
    };
    if matches!(c.peek(), Token::LParen) && !is_query(c) {
        c.parenthesised(|c| option(c, &mut explain))?;
    } else {
        explain.analyze = c.eat("ANALYZE") || c.eat("ANALYSE");
        explain.verbose = c.eat("VERBOSE");
    }
    let no_plan = c.syntax();
    for verb in ["REFRESH", "MERGE"] {
        if c.at(verb) {
            return Err(c.unsupported(format!("EXPLAIN {verb}")));
        }
    }
    if !EXPLAINED.iter().any(|verb| c.at(verb)) && !matches!(c.peek(), Token::LParen) {
        return Err(c.syntax());
    }
    explain.statement = Box::new(dispatch::statement(c)?);
    if !has_plan(&explain.statement) {
        return Err(no_plan);
    }
    Ok(Statement::Explain(Box::new(explain)))
}

/// First words of the statements that EXPLAIN takes.
const EXPLAINED: [&str; 11] =
    ["SELECT", "VALUES", "TABLE", "WITH", "INSERT", "UPSERT", "UPDATE", "DELETE", "EXECUTE", "DECLARE", "CREATE"];

/// Of the statements that begin with CREATE only those with a query have a plan.
fn has_plan(statement: &Statement) -> bool {
    match statement {
        Statement::CreateTable(create) => create.as_query.is_some(),
        Statement::CreateMaterializedView(_)
        | Statement::Query(_)
        | Statement::LockingSelect(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Execute { .. }
        | Statement::DeclareCursor(_) => true,
        _ => false,
    }
}

fn is_query(c: &Cursor<'_>) -> bool {
    ["SELECT", "VALUES", "WITH", "TABLE"].iter().any(|word| c.at_nth(1, word)) || matches!(c.peek_nth(1), Token::LParen)
}

fn option(c: &mut Cursor<'_>, explain: &mut Explain) -> Parse<()> {
    let place = c.location();
    let name = c.any_word()?;
    match name.as_str() {
        "analyze" | "analyse" => explain.analyze = boolean(c)?,
        "verbose" => explain.verbose = boolean(c)?,
        "costs" => explain.costs = Some(boolean(c)?),
        "timing" => explain.timing = boolean(c)?,
        "summary" => explain.summary = Some(boolean(c)?),
        "format" => explain.format = format(c)?,
        "buffers" | "settings" | "wal" | "generic_plan" | "memory" | "serialize" => {
            if boolean(c)? {
                return Err(c.unsupported_at(place, format!("EXPLAIN option {}", name.to_ascii_uppercase())));
            }
        }
        _ => return Err(c.invalid_at(place, &format!("unrecognized EXPLAIN option \"{name}\""))),
    }
    Ok(())
}

fn format(c: &mut Cursor<'_>) -> Parse<ExplainFormat> {
    let place = c.location();
    let name = match c.next() {
        Token::Word(word) => word.value.to_ascii_lowercase(),
        Token::SingleQuotedString(text) => text.to_ascii_lowercase(),
        _ => return Err(c.syntax()),
    };
    match name.as_str() {
        "text" => Ok(ExplainFormat::Text),
        "json" => Ok(ExplainFormat::Json),
        "xml" => Ok(ExplainFormat::Xml),
        "yaml" => Ok(ExplainFormat::Yaml),
        _ => Err(c.parameter_at(place, &format!("unrecognized value for EXPLAIN option \"format\": \"{name}\""))),
    }
}

/// Parses ON, OFF, TRUE, FALSE, 1, 0, or nothing, which means ON.
pub(super) fn boolean(c: &mut Cursor<'_>) -> Parse<bool> {
    let place = c.location();
    let text = match c.peek() {
        Token::Comma | Token::RParen | Token::EOF => return Ok(true),
        Token::Word(word) => word.value.to_ascii_lowercase(),
        Token::SingleQuotedString(text) => text.to_ascii_lowercase(),
        Token::Number(digits, _) => digits.clone(),
        _ => return Err(c.syntax()),
    };
    c.next();
    match text.as_str() {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(c.invalid_at(place, "option requires a Boolean value")),
    }
}
