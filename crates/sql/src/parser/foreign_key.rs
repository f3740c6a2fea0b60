//! FOREIGN KEY and REFERENCES.

use super::{Cursor, Parse};
use crate::statement::{ForeignKeyDef, ReferentialAction};
use sqlparser::tokenizer::Token;

/// Parses `FOREIGN KEY (…) REFERENCES …` of a table, after its name if it has one.
pub(super) fn table_foreign_key(c: &mut Cursor<'_>, name: Option<String>) -> Parse<ForeignKeyDef> {
    c.need_all(&["FOREIGN", "KEY"])?;
    let columns = c.parenthesised(Cursor::name)?;
    references(c, name, columns)
}

/// Parses `REFERENCES …` of a column.
pub(super) fn column_foreign_key(c: &mut Cursor<'_>, name: Option<String>, column: &str) -> Parse<ForeignKeyDef> {
    references(c, name, vec![column.to_owned()])
}

/// Parses `REFERENCES t [(…)] [MATCH …] [ON DELETE …] [ON UPDATE …] [DEFERRABLE] [INITIALLY …] [NOT VALID]`.
fn references(c: &mut Cursor<'_>, name: Option<String>, columns: Vec<String>) -> Parse<ForeignKeyDef> {
    c.need("REFERENCES")?;
    let parent = c.object_name()?;
    let listed = matches!(c.peek(), Token::LParen);
    let parent_columns = if listed { c.parenthesised(Cursor::name)? } else { Vec::new() };
    let mut key = ForeignKeyDef {
        name,
        columns,
        parent,
        parent_columns,
        full: match_full(c)?,
        on_delete: ReferentialAction::NoAction,
        set_columns: Vec::new(),
        on_update: ReferentialAction::NoAction,
        deferrable: false,
        deferred: false,
        not_valid: false,
    };
    actions(c, &mut key)?;
    (key.deferrable, key.deferred, key.not_valid) = timing(c)?;
    Ok(key)
}

fn match_full(c: &mut Cursor<'_>) -> Parse<bool> {
    if !c.eat("MATCH") {
        return Ok(false);
    }
    if c.at("PARTIAL") {
        return Err(c.unsupported("MATCH PARTIAL"));
    }
    let full = c.eat("FULL");
    if !full && !c.eat("SIMPLE") {
        return Err(c.expected("FULL or SIMPLE"));
    }
    Ok(full)
}

/// Parses `ON DELETE …` and `ON UPDATE …`, each once, in any order.
fn actions(c: &mut Cursor<'_>, key: &mut ForeignKeyDef) -> Parse<()> {
    let (mut on_delete, mut on_update) = (false, false);
    while c.at("ON") {
        if !on_delete && c.eat_all(&["ON", "DELETE"]) {
            on_delete = true;
            key.on_delete = action(c)?;
            let sets = matches!(key.on_delete, ReferentialAction::SetNull | ReferentialAction::SetDefault);
            if sets && matches!(c.peek(), Token::LParen) {
                key.set_columns = c.parenthesised(Cursor::name)?;
            }
        } else if !on_update && c.eat_all(&["ON", "UPDATE"]) {
            on_update = true;
            key.on_update = action(c)?;
            if matches!(c.peek(), Token::LParen) {
                return Err(c.unsupported(format!("a column list with {} ON UPDATE", key.on_update.words())));
            }
        } else {
            return Err(c.syntax());
        }
    }
    Ok(())
}

fn action(c: &mut Cursor<'_>) -> Parse<ReferentialAction> {
    let all = [
        ReferentialAction::NoAction,
        ReferentialAction::Restrict,
        ReferentialAction::Cascade,
        ReferentialAction::SetNull,
        ReferentialAction::SetDefault,
    ];
    for action in all {
        if c.eat_all(&action.words().split(' ').collect::<Vec<_>>()) {
            return Ok(action);
        }
    }
    Err(c.expected("NO ACTION, RESTRICT, CASCADE, SET NULL or SET DEFAULT"))
}

/// Parses when it is checked (DEFERRABLE, INITIALLY DEFERRED), and whether existing rows may violate it (NOT VALID).
pub(super) fn timing(c: &mut Cursor<'_>) -> Parse<(bool, bool, bool)> {
    let place = c.location();
    let (mut deferrable, mut deferred, mut not_valid, mut not_deferrable) = (false, false, false, false);
    loop {
        if c.eat_all(&["NOT", "DEFERRABLE"]) {
            not_deferrable = true;
        } else if c.eat("DEFERRABLE") {
            deferrable = true;
        } else if c.eat_all(&["INITIALLY", "DEFERRED"]) {
            deferred = true;
        } else if c.eat_all(&["INITIALLY", "IMMEDIATE"]) {
            deferred = false;
        } else if c.eat_all(&["NOT", "VALID"]) {
            not_valid = true;
        } else {
            break;
        }
    }
    if not_deferrable && deferrable {
        return Err(c.invalid_at(place, "conflicting constraint properties"));
    }
    if not_deferrable && deferred {
        return Err(c.invalid_at(place, "constraint declared INITIALLY DEFERRED must be DEFERRABLE"));
    }
    Ok((deferrable || deferred, deferred, not_valid))
}
