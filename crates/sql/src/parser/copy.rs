//! COPY: options in parentheses, and the keyword options from before PostgreSQL 9.0 that psql's `\copy` sends.

use super::explain::boolean;
use super::update::selection;
use super::{Cursor, Parse, dispatch};
use crate::Statement;
use crate::statement::{Copy, CopyColumns, CopyDirection, CopyFormat, CopyHeader, CopyOptions, CopyTarget};
use sqlparser::tokenizer::{Location, Token};

/// COPY t [(a, b)] FROM STDIN, COPY t TO STDOUT, COPY (query) TO STDOUT.
pub(super) fn copy(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("COPY")?;
    if c.at("BINARY") {
        return Err(c.unsupported_hint("COPY BINARY t", "Use COPY t … WITH (FORMAT binary)."));
    }
    let target = if c.eat_token(&Token::LParen) {
        let target = copied(c)?;
        c.need_token(&Token::RParen)?;
        target
    } else {
        let name = c.object_name()?;
        let columns = if matches!(c.peek(), Token::LParen) { c.parenthesised(Cursor::name)? } else { Vec::new() };
        CopyTarget::Table { name, columns }
    };
    let direction = direction(c, &target)?;
    let mut options = CopyOptions::default();
    let with = c.eat("WITH");
    let mut given = Given::default();
    if matches!(c.peek(), Token::LParen) {
        c.parenthesised(|c| modern(c, &mut options, &mut given, direction))?;
    } else {
        let mut any = false;
        while legacy(c, &mut options, &mut given)? {
            any = true;
        }
        if with && !any {
            return Err(c.syntax());
        }
    }
    check(c, &options, &given)?;
    check_direction(c, direction, &given)?;
    let place = c.location();
    let (selection, current_of) = selection(c)?;
    if current_of.is_some() {
        return Err(c.unsupported("COPY … WHERE CURRENT OF"));
    }
    if selection.is_some() && direction == CopyDirection::ToStdout {
        return Err(c.invalid_at(place, "WHERE clause not allowed with COPY TO"));
    }
    Ok(Statement::Copy(Box::new(Copy { target, direction, options, selection })))
}

/// Parses a query, or a statement that returns rows.
fn copied(c: &mut Cursor<'_>) -> Parse<CopyTarget> {
    let verbs = ["SELECT", "VALUES", "TABLE", "WITH", "INSERT", "UPSERT", "UPDATE", "DELETE"];
    if !verbs.iter().any(|verb| c.at(verb)) && !matches!(c.peek(), Token::LParen) {
        return Err(c.syntax());
    }
    Ok(match dispatch::statement(c)? {
        Statement::Query(query) => CopyTarget::Query(query),
        other => CopyTarget::Statement(Box::new(other)),
    })
}

fn direction(c: &mut Cursor<'_>, target: &CopyTarget) -> Parse<CopyDirection> {
    if c.at("FROM") && !matches!(target, CopyTarget::Table { .. }) {
        return Err(c.syntax());
    }
    let from = c.eat("FROM");
    if !from {
        c.need("TO")?;
    }
    if c.at("PROGRAM") || matches!(c.peek(), Token::SingleQuotedString(_)) {
        let what = if c.at("PROGRAM") { "COPY with a program" } else { "COPY with a file of the server" };
        return Err(c.unsupported_hint(what, "Use psql's \\copy, or COPY … FROM STDIN and TO STDOUT."));
    }
    match from {
        true if c.eat("STDIN") || c.eat("STDOUT") => Ok(CopyDirection::FromStdin),
        false if c.eat("STDOUT") || c.eat("STDIN") => Ok(CopyDirection::ToStdout),
        true => Err(c.expected("STDIN")),
        false => Err(c.expected("STDOUT")),
    }
}

/// The options given, with the position of each for errors.
#[derive(Default)]
struct Given {
    names: Vec<(String, Option<Location>)>,
}

impl Given {
    fn add(&mut self, c: &Cursor<'_>, name: &str, place: Option<Location>) -> Parse<()> {
        if self.place(name).is_some() {
            return Err(c.invalid_at(place, "conflicting or redundant options"));
        }
        self.names.push((name.to_owned(), place));
        Ok(())
    }

    fn place(&self, name: &str) -> Option<Option<Location>> {
        self.names.iter().find(|(given, _)| given == name).map(|(_, place)| *place)
    }
}

fn modern(c: &mut Cursor<'_>, options: &mut CopyOptions, given: &mut Given, direction: CopyDirection) -> Parse<()> {
    let place = c.location();
    let name = c.any_word()?;
    given.add(c, &name, place)?;
    let from = direction == CopyDirection::FromStdin;
    match name.as_str() {
        "format" => options.format = format(c)?,
        "delimiter" => options.delimiter = Some(one_byte(c, "delimiter")?),
        "null" => options.null = Some(c.string()?),
        "header" => options.header = header(c, from)?,
        "quote" => options.quote = Some(one_byte(c, "quote")?),
        "escape" => options.escape = Some(one_byte(c, "escape")?),
        "force_quote" => options.force_quote = columns(c)?,
        "force_not_null" => options.force_not_null = columns(c)?,
        "force_null" => options.force_null = columns(c)?,
        "encoding" => encoding(c)?,
        "freeze" => options.freeze = boolean(c)?,
        _ => return Err(c.invalid_at(place, &format!("option \"{name}\" not recognized"))),
    }
    Ok(())
}

/// Parses one option of the old syntax, if one comes next.
fn legacy(c: &mut Cursor<'_>, options: &mut CopyOptions, given: &mut Given) -> Parse<bool> {
    let place = c.location();
    let Token::Word(word) = c.peek() else { return Ok(false) };
    let word = word.value.to_ascii_lowercase();
    let name = match word.as_str() {
        "csv" | "binary" => "format",
        "delimiter" | "delimiters" => "delimiter",
        "null" | "header" | "quote" | "escape" | "encoding" | "freeze" => word.as_str(),
        "force" if c.at_nth(1, "QUOTE") => "force_quote",
        "force" if c.at_nth(1, "NOT") => "force_not_null",
        "force" => "force_null",
        _ => return Ok(false),
    };
    given.add(c, name, place)?;
    c.next();
    match name {
        "format" => options.format = if word == "csv" { CopyFormat::Csv } else { CopyFormat::Binary },
        "header" => options.header = CopyHeader::On,
        "freeze" => options.freeze = true,
        "force_quote" => {
            c.need("QUOTE")?;
            options.force_quote = bare_columns(c)?;
        }
        "force_not_null" => {
            c.need_all(&["NOT", "NULL"])?;
            options.force_not_null = bare_columns(c)?;
        }
        "force_null" => {
            c.need("NULL")?;
            options.force_null = bare_columns(c)?;
        }
        _ => {
            c.eat("AS");
            match name {
                "delimiter" => options.delimiter = Some(one_byte(c, "delimiter")?),
                "null" => options.null = Some(c.string()?),
                "quote" => options.quote = Some(one_byte(c, "quote")?),
                "escape" => options.escape = Some(one_byte(c, "escape")?),
                _ => encoding(c)?,
            }
        }
    }
    Ok(true)
}

fn format(c: &mut Cursor<'_>) -> Parse<CopyFormat> {
    let place = c.location();
    let name = match c.next() {
        Token::Word(word) => word.value.to_ascii_lowercase(),
        Token::SingleQuotedString(text) => text.to_ascii_lowercase(),
        _ => return Err(c.invalid_at(place, "COPY option FORMAT needs a name")),
    };
    match name.as_str() {
        "text" => Ok(CopyFormat::Text),
        "csv" => Ok(CopyFormat::Csv),
        "binary" => Ok(CopyFormat::Binary),
        _ => Err(c.parameter_at(place, &format!("COPY format \"{name}\" not recognized"))),
    }
}

fn header(c: &mut Cursor<'_>, from: bool) -> Parse<CopyHeader> {
    let place = c.location();
    if c.eat("MATCH") {
        return if from {
            Ok(CopyHeader::Match)
        } else {
            Err(c.not_allowed_at(place, "cannot use \"match\" with HEADER in COPY TO"))
        };
    }
    Ok(if boolean(c)? { CopyHeader::On } else { CopyHeader::Off })
}

fn one_byte(c: &mut Cursor<'_>, option: &str) -> Parse<u8> {
    let place = c.location();
    match c.string()?.as_bytes() {
        [b'\n' | b'\r'] => Err(c.parameter_at(place, &format!("COPY {option} cannot be newline or carriage return"))),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err(c.not_allowed_at(place, &format!("COPY {option} must be a single one-byte character"))),
    }
}

fn encoding(c: &mut Cursor<'_>) -> Parse<()> {
    let place = c.location();
    let name = c.string()?;
    match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "utf8" | "unicode" => Ok(()),
        _ => Err(c.unsupported_at(place, format!("COPY encoding \"{name}\""))),
    }
}

fn columns(c: &mut Cursor<'_>) -> Parse<CopyColumns> {
    if c.eat_token(&Token::Mul) {
        return Ok(CopyColumns::All);
    }
    c.parenthesised(Cursor::name).map(CopyColumns::Named)
}

fn bare_columns(c: &mut Cursor<'_>) -> Parse<CopyColumns> {
    if c.eat_token(&Token::Mul) {
        return Ok(CopyColumns::All);
    }
    c.list(Cursor::name).map(CopyColumns::Named)
}

/// Refuses options of the other direction.
fn check_direction(c: &Cursor<'_>, direction: CopyDirection, given: &Given) -> Parse<()> {
    let (names, way): (&[&str], _) = match direction {
        CopyDirection::FromStdin => (&["force_quote"], "TO"),
        CopyDirection::ToStdout => (&["force_not_null", "force_null", "freeze"], "FROM"),
    };
    match names.iter().find_map(|name| given.place(name).map(|place| (name, place))) {
        Some((name, place)) => {
            Err(c.not_allowed_at(place, &format!("COPY {} only available using COPY {way}", name.replace('_', " "))))
        }
        None => Ok(()),
    }
}

/// Checks PostgreSQL's rules between options.
fn check(c: &Cursor<'_>, options: &CopyOptions, given: &Given) -> Parse<()> {
    let csv_only = ["quote", "escape", "force_quote", "force_not_null", "force_null"];
    if options.format != CopyFormat::Csv
        && let Some((name, place)) = csv_only.iter().find_map(|name| given.place(name).map(|place| (name, place)))
    {
        let name = name.replace('_', " ");
        return Err(c.not_allowed_at(place, &format!("COPY {name} available only in CSV mode")));
    }
    if options.format == CopyFormat::Binary
        && let Some((name, place)) =
            ["delimiter", "null", "header"].iter().find_map(|name| given.place(name).map(|place| (name, place)))
    {
        return Err(c.invalid_at(place, &format!("cannot specify {} in BINARY mode", name.to_ascii_uppercase())));
    }
    let delimiter = options.delimiter.unwrap_or(if options.format == CopyFormat::Csv { b',' } else { b'\t' });
    if options.format == CopyFormat::Csv && delimiter == options.quote.unwrap_or(b'"') {
        return Err(c.parameter_at(given.place("quote").flatten(), "COPY delimiter and quote must be different"));
    }
    Ok(())
}
