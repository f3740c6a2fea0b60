//! DECLARE, FETCH, MOVE and CLOSE.

use super::{Cursor, Parse, dispatch};
use crate::Statement;
use crate::locking_subqueries::has_locking_subquery;
use crate::statement::{DeclareCursor, Discard, FetchCursor, LockingSelect};
use sqlparser::tokenizer::Token;

/// Parses DECLARE name [INSENSITIVE | ASENSITIVE] [NO SCROLL] CURSOR [WITHOUT HOLD] FOR query.
pub(super) fn declare(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("DECLARE")?;
    let name = c.name()?;
    while !c.at("CURSOR") {
        // Every cursor reads the snapshot of its DECLARE, so these options change nothing.
        if c.eat_all(&["NO", "SCROLL"]) || c.eat("INSENSITIVE") || c.eat("ASENSITIVE") {
            continue;
        }
        return Err(match () {
            () if c.at("SCROLL") => c.unsupported_hint("SCROLL", "Declare it NO SCROLL: cursors go forward only."),
            () if c.at("BINARY") => c.unsupported("BINARY CURSOR"),
            () => c.syntax(),
        });
    }
    c.need("CURSOR")?;
    if c.at_all(&["WITH", "HOLD"]) {
        return Err(c.unsupported("WITH HOLD"));
    }
    c.eat_all(&["WITHOUT", "HOLD"]);
    c.need("FOR")?;
    let start = c.location();
    // Checked first, since nested DECLAREs would exhaust the stack.
    if !["SELECT", "VALUES", "TABLE", "WITH"].iter().any(|verb| c.at(verb)) && !matches!(c.peek(), Token::LParen) {
        return Err(c.unsupported_at(start, "a cursor over a statement that is no query"));
    }
    match dispatch::statement(c)? {
        Statement::Query(query) => {
            let (text, locks) = (c.text_since(start), Vec::new());
            Ok(Statement::DeclareCursor(Box::new(DeclareCursor { name, query, locks, text })))
        }
        Statement::LockingSelect(select) => {
            let LockingSelect { query, locks } = *select;
            if has_locking_subquery(&Statement::Query(query.clone())) {
                return Err(c.unsupported_at(start, "a locking clause in a subquery of a cursor"));
            }
            let text = c.text_since(start);
            Ok(Statement::DeclareCursor(Box::new(DeclareCursor { name, query, locks, text })))
        }
        _ => Err(c.unsupported_at(start, "a cursor over a statement that is no query")),
    }
}

/// Parses FETCH and MOVE [direction] [FROM | IN] name.
pub(super) fn fetch(c: &mut Cursor<'_>) -> Parse<Statement> {
    let moves = c.at("MOVE");
    c.next();
    let count = direction(c)?;
    if !c.eat("FROM") {
        c.eat("IN");
    }
    Ok(Statement::Fetch(FetchCursor { name: c.name()?, count, moves }))
}

/// Parses the number of rows to move forward; `None` means all.
fn direction(c: &mut Cursor<'_>) -> Parse<Option<u64>> {
    // A word before the name of a cursor is a direction; a word alone is the name.
    if matches!(c.peek_nth(1), Token::EOF) {
        return Ok(Some(1));
    }
    if let Some(word) =
        ["BACKWARD", "PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE"].into_iter().find(|word| c.at(word))
    {
        return Err(c.unsupported(format!("FETCH {word}")));
    }
    if c.eat("NEXT") {
        return Ok(Some(1));
    }
    c.eat("FORWARD");
    if c.eat("ALL") {
        return Ok(None);
    }
    let place = c.location();
    let negative = c.eat_token(&Token::Minus);
    let Token::Number(digits, _) = c.peek() else {
        return if negative { Err(c.expected("a number")) } else { Ok(Some(1)) };
    };
    let Ok(count) = digits.parse::<u64>() else { return Err(c.expected("a whole number")) };
    c.next();
    match count {
        0 => Err(c.unsupported_at(place, "FETCH 0")),
        _ if negative => Err(c.unsupported_at(place, "FETCH BACKWARD")),
        count => Ok(Some(count)),
    }
}

/// Parses CLOSE name and CLOSE ALL.
pub(super) fn close(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CLOSE")?;
    if c.eat("ALL") { Ok(Statement::Discard(Discard::Cursors)) } else { Ok(Statement::CloseCursor(c.name()?)) }
}
