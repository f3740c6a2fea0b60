//! Table properties after the column list: `SALT_BUCKETS = 8, a.VERSIONS = 5`, and the same inside `WITH (…)`.

use crate::parser::{Cursor, Parse};
use crate::statement::{OptionValue, TableOption};
use sqlparser::tokenizer::Token;

/// Parses one `name = value`. Inside WITH, a name alone means true.
pub(crate) fn option(c: &mut Cursor<'_>, value_needed: bool) -> Parse<TableOption> {
    let first = c.any_word()?;
    let (family, name) = if c.eat_token(&Token::Period) { (Some(first), c.any_word()?) } else { (None, first) };
    let name = name.to_ascii_lowercase();
    if !value_needed && !matches!(c.peek(), Token::Eq) {
        return Ok(TableOption { family, name, value: OptionValue::Bool(true) });
    }
    c.need_token(&Token::Eq)?;
    Ok(TableOption { family, name, value: value(c)? })
}

/// Does `name =` or `family.name =` come next?
pub(crate) fn at_bare(c: &Cursor<'_>) -> bool {
    matches!(c.peek(), Token::Word(_)) && matches!(c.peek_nth(1), Token::Eq | Token::Period)
}

/// Parses `name = value, …`.
pub(crate) fn bare(c: &mut Cursor<'_>) -> Parse<Vec<TableOption>> {
    c.list(|c| option(c, true))
}

/// Parses `WITH ( name = value, … )`, after WITH.
pub(crate) fn with(c: &mut Cursor<'_>) -> Parse<Vec<TableOption>> {
    c.parenthesised(|c| option(c, false))
}

/// Returns the first name that is given twice.
pub(crate) fn repeated(options: &[TableOption]) -> Option<&str> {
    let named = |option: &TableOption| (option.family.clone(), option.name.clone());
    let twice = |at: usize, option: &TableOption| options.iter().take(at).any(|other| named(other) == named(option));
    options.iter().enumerate().find(|(at, option)| twice(*at, option)).map(|(_, option)| option.name.as_str())
}

fn value(c: &mut Cursor<'_>) -> Parse<OptionValue> {
    let negative = c.eat_token(&Token::Minus);
    if !negative {
        c.eat_token(&Token::Plus);
    }
    let found = match c.peek() {
        Token::Number(digits, _) => OptionValue::Number(format!("{}{digits}", if negative { "-" } else { "" })),
        _ if negative => return Err(c.expected("a number")),
        Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => OptionValue::Text(text.clone()),
        Token::Word(word) if word.quote_style.is_some() => OptionValue::Word(word.value.clone()),
        Token::Word(word) => match word.value.to_ascii_uppercase().as_str() {
            "TRUE" => OptionValue::Bool(true),
            "FALSE" => OptionValue::Bool(false),
            "NULL" => OptionValue::Null,
            _ => OptionValue::Word(word.value.clone()),
        },
        _ => return Err(c.expected("a value")),
    };
    c.next();
    Ok(found)
}
