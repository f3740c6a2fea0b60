//! CREATE, ALTER and DROP SEQUENCE, and the options that identity columns share with them.

use super::data_type::data_type;
use super::{Cursor, Parse, drop, owner};
use crate::Statement;
use crate::statement::{
    AlterSequence, CreateSequence, Generated, IdentityChange, ObjectName, OwnedObject, SequenceChange, SequenceOptions,
};
use sqlparser::tokenizer::Token;

/// CREATE SEQUENCE.
pub(super) fn create_sequence(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["CREATE", "SEQUENCE"])?;
    let if_not_exists = c.if_not_exists();
    let name = c.object_name()?;
    let options = plain_options(c)?;
    if options.restart.is_some() {
        return Err(c.syntax());
    }
    Ok(Statement::CreateSequence(Box::new(CreateSequence { if_not_exists, name, options })))
}

/// ALTER SEQUENCE.
pub(super) fn alter_sequence(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["ALTER", "SEQUENCE"])?;
    let if_exists = c.if_exists();
    let name = c.object_name()?;
    let change = if c.eat_all(&["RENAME", "TO"]) {
        SequenceChange::Rename { to: c.name()? }
    } else if c.at("SET") {
        return Err(c.unsupported("ALTER SEQUENCE … SET"));
    } else if c.at_all(&["OWNER", "TO"]) {
        return owner::owner_to(c, OwnedObject::Sequence(name), if_exists);
    } else if c.at_end() {
        return Err(c.syntax());
    } else {
        SequenceChange::Options(Box::new(plain_options(c)?))
    };
    Ok(Statement::AlterSequence(Box::new(AlterSequence { name, if_exists, change })))
}

/// DROP SEQUENCE.
pub(super) fn drop_sequence(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["DROP", "SEQUENCE"])?;
    let if_exists = c.if_exists();
    let names = c.list(Cursor::object_name)?;
    let cascade = drop::cascade(c);
    Ok(Statement::DropSequence { names, if_exists, cascade })
}

/// Parses `{ALWAYS | BY DEFAULT} AS IDENTITY [(options)]`, after GENERATED.
pub(super) fn identity(c: &mut Cursor<'_>) -> Parse<Generated> {
    let always = c.eat("ALWAYS");
    if !always {
        c.need_all(&["BY", "DEFAULT"])?;
    }
    c.need("AS")?;
    if always && matches!(c.peek(), Token::LParen) {
        return Err(c.unsupported("GENERATED column"));
    }
    c.need("IDENTITY")?;
    let mut found = SequenceOptions::default();
    if c.eat_token(&Token::LParen) {
        found = options(c)?;
        c.need_token(&Token::RParen)?;
    }
    Ok(Generated::Identity { always, options: Box::new(found) })
}

/// Parses options of a sequence whose name is given already.
fn plain_options(c: &mut Cursor<'_>) -> Parse<SequenceOptions> {
    let options = options(c)?;
    match options.name {
        Some(_) => Err(c.invalid("invalid sequence option SEQUENCE NAME")),
        None => Ok(options),
    }
}

/// Parses options in any order, each once.
fn options(c: &mut Cursor<'_>) -> Parse<SequenceOptions> {
    let mut found = SequenceOptions::default();
    while option(c, &mut found)? {}
    Ok(found)
}

/// Parses changes of an identity column: `SET GENERATED {ALWAYS | BY DEFAULT}`, `SET option` and `RESTART`, in any
/// order. Returns `None` if none of them begins here.
pub(super) fn identity_change(c: &mut Cursor<'_>) -> Parse<Option<IdentityChange>> {
    let (mut change, mut any) = (IdentityChange::default(), false);
    loop {
        let place = c.location();
        if c.eat_all(&["SET", "GENERATED"]) {
            let always = c.eat("ALWAYS");
            if !always {
                c.need_all(&["BY", "DEFAULT"])?;
            }
            if change.always.replace(always).is_some() {
                return Err(c.invalid_at(place, "conflicting or redundant options"));
            }
        } else if c.at("RESTART") {
            option(c, &mut change.options)?;
        } else if c.at("SET") && OPTIONS.iter().any(|word| c.at_nth(1, word)) {
            c.next();
            option(c, &mut change.options)?;
        } else {
            return Ok(any.then_some(change));
        }
        any = true;
    }
}

/// The first words of options.
const OPTIONS: &[&str] = &["INCREMENT", "NO", "MINVALUE", "MAXVALUE", "START", "RESTART", "CACHE", "CYCLE"];

/// Parses one option; a repeated one is an error. Returns false if none begins here.
fn option(c: &mut Cursor<'_>, found: &mut SequenceOptions) -> Parse<bool> {
    let place = c.location();
    let first = if c.eat("AS") {
        let ty = data_type(c)?;
        found.data_type.replace(ty).is_none()
    } else if c.eat("INCREMENT") {
        c.eat("BY");
        found.increment.replace(integer(c)?).is_none()
    } else if c.eat_all(&["NO", "MINVALUE"]) {
        found.min.replace(None).is_none()
    } else if c.eat("MINVALUE") {
        found.min.replace(Some(integer(c)?)).is_none()
    } else if c.eat_all(&["NO", "MAXVALUE"]) {
        found.max.replace(None).is_none()
    } else if c.eat("MAXVALUE") {
        found.max.replace(Some(integer(c)?)).is_none()
    } else if c.eat("START") {
        c.eat("WITH");
        found.start.replace(integer(c)?).is_none()
    } else if c.eat("RESTART") {
        let with = c.eat("WITH") || matches!(c.peek(), Token::Number(..) | Token::Minus);
        let at = if with { Some(integer(c)?) } else { None };
        found.restart.replace(at).is_none()
    } else if c.eat("CACHE") {
        found.cache.replace(integer(c)?).is_none()
    } else if c.eat_all(&["NO", "CYCLE"]) {
        found.cycle.replace(false).is_none()
    } else if c.eat("CYCLE") {
        found.cycle.replace(true).is_none()
    } else if c.eat_all(&["OWNED", "BY"]) {
        found.owned_by.replace(owned_by(c)?).is_none()
    } else if c.eat_all(&["SEQUENCE", "NAME"]) {
        found.name.replace(c.object_name()?).is_none()
    } else {
        return Ok(false);
    };
    if first { Ok(true) } else { Err(c.invalid_at(place, "conflicting or redundant options")) }
}

pub(super) fn integer(c: &mut Cursor<'_>) -> Parse<i64> {
    let negative = c.eat_token(&Token::Minus);
    if !negative {
        c.eat_token(&Token::Plus);
    }
    let Token::Number(digits, _) = c.peek() else { return Err(c.syntax()) };
    let text = if negative { format!("-{digits}") } else { digits.clone() };
    let Ok(value) = text.parse() else { return Err(c.expected("a bigint")) };
    c.next();
    Ok(value)
}

/// Parses `NONE`, or `[[d.]s.]table.column`.
fn owned_by(c: &mut Cursor<'_>) -> Parse<Option<(ObjectName, String)>> {
    if c.eat("NONE") {
        return Ok(None);
    }
    let mut parts = vec![c.name()?];
    while c.eat_token(&Token::Period) {
        parts.push(c.name()?);
    }
    let (Some(column), Some(name)) = (parts.pop(), parts.pop()) else {
        return Err(c.invalid("invalid OWNED BY option: specify OWNED BY table.column or OWNED BY NONE"));
    };
    let (schema, database) = (parts.pop(), parts.pop());
    if !parts.is_empty() {
        return Err(c.syntax());
    }
    Ok(Some((ObjectName { database, schema, ..ObjectName::bare(name) }, column)))
}
