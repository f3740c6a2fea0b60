//! Statements of PostgreSQL and Phoenix that Bennu does not have: known ones are named, all others are syntax errors.

use super::{Cursor, Fault};
use sqlparser::tokenizer::Token;

/// First words of statements of PostgreSQL and Phoenix.
const STATEMENTS: &[&str] = &[
    "GRANT",
    "REVOKE",
    "REASSIGN",
    "CALL",
    "DO",
    "CHECKPOINT",
    "CLUSTER",
    "IMPORT",
    "LISTEN",
    "NOTIFY",
    "LOAD",
    "MERGE",
    "SECURITY",
    "CREATE",
    "DROP",
    "ALTER",
    "LIST",
    "USE",
    "ADD",
    "DELETE",
];

/// Words after CREATE, DROP and ALTER that are not the kind of object.
const MODIFIERS: &[&str] = &[
    "OR",
    "REPLACE",
    "TEMP",
    "TEMPORARY",
    "UNLOGGED",
    "GLOBAL",
    "LOCAL",
    "UNIQUE",
    "RECURSIVE",
    "TRUSTED",
    "PROCEDURAL",
    "IMMUTABLE",
    "UNCOVERED",
    "MATERIALIZED",
    "FOREIGN",
    "CONSTRAINT",
    "EVENT",
    "ACCESS",
    "DEFAULT",
    "TEXT",
    "USER",
    "OPERATOR",
    "LARGE",
];

/// Kinds of objects of PostgreSQL and Phoenix.
const OBJECTS: &[&str] = &[
    "AGGREGATE",
    "CAST",
    "CDC",
    "COLLATION",
    "CONVERSION",
    "DATABASE",
    "DOMAIN",
    "EXTENSION",
    "FUNCTION",
    "GROUP",
    "INDEX",
    "LANGUAGE",
    "METHOD",
    "OBJECT",
    "OPERATOR",
    "OWNED",
    "POLICY",
    "PRIVILEGES",
    "PROCEDURE",
    "PUBLICATION",
    "ROLE",
    "ROUTINE",
    "RULE",
    "SCHEMA",
    "SEARCH",
    "SEQUENCE",
    "SERVER",
    "SESSION",
    "STATISTICS",
    "SUBSCRIPTION",
    "SYSTEM",
    "TABLE",
    "TABLESPACE",
    "TRANSFORM",
    "TRIGGER",
    "TYPE",
    "USER",
    "VIEW",
    "WRAPPER",
    "DATA",
    "CLASS",
    "FAMILY",
    "MAPPING",
    "PARSER",
    "DICTIONARY",
    "TEMPLATE",
    "CONFIGURATION",
];

/// Returns the error for a statement that no grammar accepts.
pub(super) fn statement(c: &Cursor<'_>) -> Box<Fault> {
    let Some(verb) = word(c, 0).filter(|verb| STATEMENTS.contains(&verb.as_str())) else { return c.syntax() };
    if !matches!(verb.as_str(), "CREATE" | "DROP" | "ALTER") {
        return c.unsupported(verb);
    }
    let mut name = verb;
    for n in 1.. {
        let Some(next) = word(c, n) else { break };
        if OBJECTS.contains(&next.as_str()) && !(MODIFIERS.contains(&next.as_str()) && follows_modifier(c, n)) {
            return c.unsupported(format!("{name} {next}"));
        }
        if !MODIFIERS.contains(&next.as_str()) {
            break;
        }
        name = format!("{name} {next}");
    }
    // After CREATE, DROP or ALTER, the second word is the unexpected one.
    c.syntax_nth(1)
}

fn follows_modifier(c: &Cursor<'_>, n: usize) -> bool {
    word(c, n + 1).is_some_and(|next| OBJECTS.contains(&next.as_str()))
}

fn word(c: &Cursor<'_>, n: usize) -> Option<String> {
    match c.peek_nth(n) {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_ascii_uppercase()),
        _ => None,
    }
}
