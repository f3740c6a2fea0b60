//! Actions of ALTER TABLE about storage and replication, which dumps contain. They have no effect, and cause a NOTICE.

use super::sequence::integer;
use super::{Cursor, Parse};
use crate::phoenix::options;
use crate::statement::AlterAction;
use sqlparser::tokenizer::Token;

/// Parses such an action after ALTER COLUMN and the name.
pub(super) fn of_column(c: &mut Cursor<'_>, column: &str) -> Parse<Option<AlterAction>> {
    let from = c.location();
    let options_follow = matches!(c.peek_nth(1), Token::LParen);
    let reason = if c.eat_all(&["SET", "STATISTICS"]) {
        integer(c)?;
        "ANALYZE looks at all columns alike"
    } else if c.eat_all(&["SET", "STORAGE"]) {
        let (place, word) = (c.location(), c.any_word()?);
        if !["plain", "external", "extended", "main"].contains(&word.to_ascii_lowercase().as_str()) {
            return Err(c.parameter_at(place, &format!("invalid storage type \"{word}\"")));
        }
        "the values of a row are kept together"
    } else if c.eat_all(&["SET", "COMPRESSION"]) {
        c.any_word()?;
        "values are not compressed one by one"
    } else if options_follow && c.eat("SET") {
        options::with(c)?;
        "ANALYZE counts distinct values itself"
    } else if options_follow && c.eat("RESET") {
        c.parenthesised(Cursor::any_word)?;
        "ANALYZE counts distinct values itself"
    } else {
        return Ok(None);
    };
    let words = c.text_since(from);
    Ok(Some(AlterAction::WithoutEffect { column: Some(column.to_string()), index: None, words, reason }))
}

/// Parses such an action of the table.
pub(super) fn of_table(c: &mut Cursor<'_>) -> Parse<Option<AlterAction>> {
    let from = c.location();
    let is_property = matches!(c.peek_nth(2), Token::Eq);
    let mut index = None;
    let reason = if c.eat_all(&["CLUSTER", "ON"]) {
        index = Some(c.name()?);
        "rows are kept in the order of their key"
    } else if c.eat_all(&["SET", "WITHOUT", "CLUSTER"]) {
        "rows are kept in the order of their key"
    } else if c.eat_all(&["SET", "WITHOUT", "OIDS"]) {
        "rows have no oids"
    } else if !is_property && (c.eat_all(&["SET", "LOGGED"]) || c.eat_all(&["SET", "UNLOGGED"])) {
        "all tables are logged"
    } else if !is_property && c.eat_all(&["SET", "TABLESPACE"]) {
        c.name()?;
        "all tables are in the data folder"
    } else if c.eat_all(&["REPLICA", "IDENTITY"]) {
        if c.eat_all(&["USING", "INDEX"]) {
            index = Some(c.name()?);
        } else if !["DEFAULT", "FULL", "NOTHING"].iter().any(|word| c.eat(word)) {
            return Err(c.expected("USING INDEX, FULL, NOTHING or DEFAULT"));
        }
        "there is no logical replication"
    } else {
        return Ok(None);
    };
    let words = c.text_since(from);
    Ok(Some(AlterAction::WithoutEffect { column: None, index, words, reason }))
}
