//! DROP … IF EXISTS of kinds of objects that Bennu does not have, and CREATE EXTENSION.

use super::{Cursor, Parse, drop};
use crate::Statement;
use crate::statement::{ABSENT_KINDS, AbsentObject, CreateExtension, DropAbsent, Naming};
use sqlparser::tokenizer::Token;

/// Parses the statement, if it is one of these.
pub(super) fn drop_absent(c: &mut Cursor<'_>) -> Parse<Option<Statement>> {
    let is_next = |words: &[&str]| {
        let behind = words.len() + 1;
        words.iter().enumerate().all(|(n, word)| c.at_nth(n + 1, word)) && c.at_nth(behind, "IF")
    };
    let Some(kind) = ABSENT_KINDS.iter().find(|kind| is_next(kind.words)) else { return Ok(None) };
    c.need("DROP")?;
    c.need_all(kind.words)?;
    c.need_all(&["IF", "EXISTS"])?;
    let objects = match kind.naming {
        // A statement drops only one of these.
        Naming::OfTable => vec![object(c, kind.naming)?],
        naming => c.list(|c| object(c, naming))?,
    };
    drop::cascade(c);
    Ok(Some(Statement::DropAbsent(DropAbsent { kind, objects })))
}

fn object(c: &mut Cursor<'_>, naming: Naming) -> Parse<AbsentObject> {
    let name = c.object_name()?;
    let from = c.location();
    if naming == Naming::Arguments && matches!(c.peek(), Token::LParen) {
        skip_parentheses(c)?;
        return Ok(AbsentObject { name, arguments: c.text_since(from), table: None });
    }
    let arguments = if naming == Naming::Arguments { "()".to_owned() } else { String::new() };
    let table = if naming == Naming::OfTable {
        c.need("ON")?;
        Some(c.object_name()?)
    } else {
        None
    };
    Ok(AbsentObject { name, arguments, table })
}

fn skip_parentheses(c: &mut Cursor<'_>) -> Parse<()> {
    let mut depth = 0_usize;
    loop {
        match c.peek() {
            Token::EOF => return Err(c.syntax()),
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        c.next();
        if depth == 0 {
            return Ok(());
        }
    }
}

/// CREATE EXTENSION [IF NOT EXISTS] name [WITH] [SCHEMA s] [VERSION v] [CASCADE].
pub(super) fn create_extension(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["CREATE", "EXTENSION"])?;
    let if_not_exists = c.if_not_exists();
    let name = c.name()?;
    c.eat("WITH");
    loop {
        if c.eat("SCHEMA") {
            c.name()?;
        } else if c.eat("VERSION") {
            if c.string().is_err() {
                c.name()?;
            }
        } else if !c.eat("CASCADE") {
            break;
        }
    }
    Ok(Statement::CreateExtension(CreateExtension { name, if_not_exists }))
}
