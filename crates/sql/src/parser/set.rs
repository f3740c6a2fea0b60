//! SET, SHOW, RESET.

use super::{Cursor, Parse, transaction};
use crate::Statement;
use crate::phoenix::show_tables::show_tables;
use crate::statement::SettingValue;
use sqlparser::tokenizer::Token;

/// Parses SET [SESSION | LOCAL] name = value, and the special forms of SQL.
pub(super) fn set(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("SET")?;
    if c.eat_all(&["SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"]) {
        return Ok(Statement::SetTransaction { modes: transaction::modes(c)?, session: true });
    }
    let local = c.eat("LOCAL");
    if !local && c.at("SESSION") && !matches!(c.peek_nth(1), Token::Eq) && !c.at_nth(1, "TO") {
        c.next();
    }
    if c.at("TRANSACTION") && !matches!(c.peek_nth(1), Token::Eq) {
        c.next();
        if c.eat("SNAPSHOT") {
            return Ok(Statement::SetTransactionSnapshot(c.string()?));
        }
        return Ok(Statement::SetTransaction { modes: transaction::modes(c)?, session: false });
    }
    if !local && c.at("CONSTRAINTS") && !matches!(c.peek_nth(1), Token::Eq) && !c.at_nth(1, "TO") {
        return set_constraints(c);
    }
    refuse_special(c)?;
    if c.eat_all(&["TIME", "ZONE"]) {
        let value = if c.eat("LOCAL") { SettingValue::Default } else { value(c)? };
        return Ok(Statement::Set { name: "timezone".into(), value, local });
    }
    if c.at("NAMES") && !matches!(c.peek_nth(1), Token::Eq) && !c.at_nth(1, "TO") {
        c.next();
        let value = if c.at_end() { SettingValue::Default } else { value(c)? };
        return Ok(Statement::Set { name: "client_encoding".into(), value, local });
    }
    if c.at("SCHEMA") && matches!(c.peek_nth(1), Token::SingleQuotedString(_)) {
        c.next();
        return Ok(Statement::Set { name: "search_path".into(), value: value(c)?, local });
    }
    let name = name(c)?;
    if !c.eat_token(&Token::Eq) && !c.eat("TO") {
        return Err(c.expected("= or TO"));
    }
    Ok(Statement::Set { name, value: value(c)?, local })
}

fn set_constraints(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CONSTRAINTS")?;
    let names = if c.eat("ALL") { Vec::new() } else { c.list(Cursor::object_name)? };
    let deferred = c.eat("DEFERRED");
    if !deferred && !c.eat("IMMEDIATE") {
        return Err(c.expected("DEFERRED or IMMEDIATE"));
    }
    Ok(Statement::SetConstraints { names, deferred })
}

fn refuse_special(c: &Cursor<'_>) -> Parse<()> {
    let plain = matches!(c.peek_nth(1), Token::Eq) || c.at_nth(1, "TO");
    if c.at("ROLE") && !plain {
        return Err(c.unsupported("SET ROLE"));
    }
    if c.at("AUTHORIZATION") && !plain {
        return Err(c.unsupported("SET SESSION AUTHORIZATION"));
    }
    if c.at_all(&["XML", "OPTION"]) {
        return Err(c.unsupported("SET XML OPTION"));
    }
    Ok(())
}

/// Parses the name of a setting: `work_mem`, `my.setting`.
fn name(c: &mut Cursor<'_>) -> Parse<String> {
    let mut name = c.any_word()?;
    while c.eat_token(&Token::Period) {
        name.push('.');
        name.push_str(&c.any_word()?);
    }
    Ok(name.to_ascii_lowercase())
}

fn value(c: &mut Cursor<'_>) -> Parse<SettingValue> {
    if c.eat("DEFAULT") {
        return Ok(SettingValue::Default);
    }
    Ok(SettingValue::Values(c.list(one_value)?))
}

fn one_value(c: &mut Cursor<'_>) -> Parse<String> {
    let sign = if c.eat_token(&Token::Minus) { "-" } else { "" };
    if sign.is_empty() {
        c.eat_token(&Token::Plus);
    }
    match c.peek() {
        Token::Number(digits, _) => {
            let value = format!("{sign}{digits}");
            c.next();
            Ok(value)
        }
        _ if !sign.is_empty() => Err(c.expected("a number")),
        Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => {
            let value = text.clone();
            c.next();
            Ok(value)
        }
        Token::Word(word) if word.value.eq_ignore_ascii_case("interval") && word.quote_style.is_none() => {
            Err(c.unsupported("an interval as the value of a setting"))
        }
        Token::Word(_) => c.any_word(),
        _ => Err(c.expected("a value")),
    }
}

/// Parses SHOW name | ALL | JOBS | TABLES | SCHEMAS.
pub(super) fn show(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("SHOW")?;
    if c.at_all(&["CREATE", "TABLE"]) {
        return Err(c.unsupported("SHOW CREATE TABLE"));
    }
    if c.at("JOBS") {
        c.next();
        return Ok(Statement::ShowJobs);
    }
    if let Some(query) = show_tables(c)? {
        return Ok(query);
    }
    setting_or_all(c).map(Statement::Show)
}

/// Parses RESET name | ALL.
pub(super) fn reset(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("RESET")?;
    setting_or_all(c).map(Statement::Reset)
}

fn setting_or_all(c: &mut Cursor<'_>) -> Parse<Option<String>> {
    if c.eat("ALL") {
        return Ok(None);
    }
    if c.eat_all(&["TIME", "ZONE"]) {
        return Ok(Some("timezone".into()));
    }
    if c.eat_all(&["TRANSACTION", "ISOLATION", "LEVEL"]) {
        return Ok(Some("transaction_isolation".into()));
    }
    if c.eat_all(&["SESSION", "AUTHORIZATION"]) {
        return Ok(Some("session_authorization".into()));
    }
    name(c).map(Some)
}
