//! Column definitions and table constraints: the elements of CREATE TABLE.

use super::check::check_def;
use super::collation;
use super::create::Elements;
use super::data_type::{column_type, serial};
use super::foreign_key::{column_foreign_key, table_foreign_key};
use super::index::{column_unique, constraint_storage, table_unique, timing_of};
use super::like::table_like;
use super::sequence::identity;
use super::{Cursor, Parse};
use crate::statement::{AlterAction, ColumnDef, Generated, KeyPartDef, PrimaryKeyDef, UniqueDef, WrittenExpr};
use sqlparser::tokenizer::{Location, Token};

/// Parses a column or a constraint.
pub(super) fn element(c: &mut Cursor<'_>, elements: &mut Elements) -> Parse<()> {
    if c.at("LIKE") {
        let like = table_like(c, elements.columns.len())?;
        elements.likes.push(like);
        return Ok(());
    }
    if table_constraint(c, elements)? {
        return Ok(());
    }
    if matches!(c.peek(), Token::Word(_)) && matches!(c.peek_nth(1), Token::Comma | Token::RParen) {
        elements.names.push(c.name()?);
        return Ok(());
    }
    let (def, key) = column_def(c)?;
    if let Some(InlineKey { key, place }) = key {
        elements.set_key(c, place, key)?;
    }
    elements.columns.push(def);
    // In Phoenix, the comma before the table's constraint is optional.
    if c.at("CONSTRAINT") {
        table_constraint(c, elements)?;
    }
    Ok(())
}

/// PRIMARY KEY after a column.
pub(super) struct InlineKey {
    /// The key of the column, with its order.
    pub(super) key: KeyDef,
    /// Its position.
    pub(super) place: Option<Location>,
}

/// `[a.]v type [NOT NULL] [DEFAULT x] [PRIMARY KEY [DESC]]`.
pub(super) fn column_def(c: &mut Cursor<'_>) -> Parse<(ColumnDef, Option<InlineKey>)> {
    let name = c.column_name()?;
    let serial = serial(c);
    let place = c.location();
    let data_type = if let Some(ty) = serial { ty } else { column_type(c)? };
    if !data_type.is_storable() {
        return Err(c.unsupported_at(place, format!("a column of type {data_type}")));
    }
    let mut def = ColumnDef {
        family: name.family,
        name: name.name,
        data_type,
        null: false,
        not_null: serial.is_some(),
        default: None,
        generated: serial.map(|_| Generated::Serial),
        computed: None,
        checks: Vec::new(),
        uniques: Vec::new(),
        foreign_keys: Vec::new(),
    };
    let mut key = None;
    // A constraint name in front of PRIMARY KEY (…) belongs to the table, not to the column.
    while !is_table_key(c) {
        let place = c.location();
        let constraint = if c.eat("CONSTRAINT") { Some(c.name()?) } else { None };
        let named = constraint.is_some();
        if !value_clause(c, place, &mut def)? && !column_constraint(c, place, constraint, &mut def, &mut key)? {
            refuse_column_clause(c)?;
            if named {
                return Err(c.syntax());
            }
            break;
        }
        if def.null && def.not_null {
            let message = format!("conflicting NULL/NOT NULL declarations for column \"{}\"", def.name);
            return Err(c.invalid_at(place, &message));
        }
    }
    let sources = [("default", def.default.is_some()), ("identity", def.generated.is_some())];
    let sources = sources.into_iter().filter_map(|(word, is_there)| is_there.then_some(word)).collect::<Vec<_>>();
    match (sources.as_slice(), &def.computed) {
        ([_, _], _) => Err(c.invalid(&format!("both default and identity specified for column \"{}\"", def.name))),
        ([other], Some(_)) => {
            let message = format!("both {other} and generation expression specified for column \"{}\"", def.name);
            Err(c.invalid(&message))
        }
        _ => Ok((def, key)),
    }
}

/// Parses a clause about the values of a column, if one begins here: nullability, default, generation, collation.
fn value_clause(c: &mut Cursor<'_>, place: Option<Location>, def: &mut ColumnDef) -> Parse<bool> {
    let given_once = |c: &Cursor<'_>, is_there: bool, what: &str| match is_there {
        true => Err(c.invalid_at(place, &format!("multiple {what} specified for column \"{}\"", def.name))),
        false => Ok(()),
    };
    if c.eat_all(&["NOT", "NULL"]) {
        def.not_null = true;
    } else if c.eat("NULL") {
        def.null = true;
    } else if c.eat("DEFAULT") {
        given_once(c, def.default.is_some() || matches!(def.generated, Some(Generated::Serial)), "default values")?;
        def.default = Some(c.written_expr()?);
    } else if c.at_all(&["GENERATED", "ALWAYS", "AS"]) && matches!(c.peek_nth(3), Token::LParen) {
        given_once(c, def.computed.is_some(), "generation clauses")?;
        def.computed = Some(computed(c)?);
    } else if c.eat("GENERATED") {
        given_once(c, def.generated.is_some(), "identity specifications")?;
        def.generated = Some(identity(c)?);
        def.not_null = true;
    } else if c.at("COLLATE") {
        collation::of_type(c, def.data_type)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Parses a constraint of a column, if one begins here.
fn column_constraint(
    c: &mut Cursor<'_>,
    place: Option<Location>,
    name: Option<String>,
    def: &mut ColumnDef,
    key: &mut Option<InlineKey>,
) -> Parse<bool> {
    if c.eat_all(&["PRIMARY", "KEY"]) {
        if key.is_some() {
            return Err(c.table_at(place, "multiple primary keys for one table are not allowed"));
        }
        let parts = vec![key_order(c, def.name.clone())?];
        *key = Some(InlineKey { key: key_tail(c, PrimaryKeyDef { name, parts, ..PrimaryKeyDef::default() })?, place });
    } else if c.at("CHECK") {
        def.checks.push(check_def(c, name)?);
    } else if c.at("UNIQUE") && !matches!(c.peek_nth(1), Token::LParen) {
        def.uniques.push(column_unique(c, name, &def.name)?);
    } else if c.at("REFERENCES") {
        def.foreign_keys.push(column_foreign_key(c, name, &def.name)?);
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// `GENERATED ALWAYS AS (expression) STORED`.
fn computed(c: &mut Cursor<'_>) -> Parse<WrittenExpr> {
    c.need_all(&["GENERATED", "ALWAYS", "AS"])?;
    c.need_token(&Token::LParen)?;
    let expression = c.written_expr()?.without_parentheses();
    c.need_token(&Token::RParen)?;
    c.need("STORED")?;
    Ok(expression)
}

fn is_table_key(c: &Cursor<'_>) -> bool {
    let behind = if c.at_nth(2, "PRIMARY") && c.at_nth(3, "KEY") { 4 } else { 3 };
    let named = c.at("CONSTRAINT") && (behind == 4 || c.at_nth(2, "UNIQUE"));
    if c.at("CONSTRAINT") && c.at_nth(2, "FOREIGN") {
        return true;
    }
    named && matches!(c.peek_nth(behind), Token::LParen)
}

fn refuse_column_clause(c: &Cursor<'_>) -> Parse<()> {
    let clauses = [
        ("STORAGE", "STORAGE of a column"),
        ("COMPRESSION", "COMPRESSION of a column"),
        ("DEFERRABLE", "DEFERRABLE"),
        ("INITIALLY", "INITIALLY"),
        ("ENCODED_QUALIFIER", "ENCODED_QUALIFIER"),
        ("ROW_TIMESTAMP", "ROW_TIMESTAMP"),
    ];
    refuse_constraint(c)?;
    match clauses.iter().find(|(word, _)| c.at(word)) {
        Some((_, feature)) => Err(c.unsupported(*feature)),
        None => Ok(()),
    }
}

/// Refuses constraints that Bennu does not have.
pub(super) fn refuse_constraint(c: &Cursor<'_>) -> Parse<()> {
    if c.at("EXCLUDE") { Err(c.unsupported("EXCLUDE constraint")) } else { Ok(()) }
}

/// Parses `[CONSTRAINT name] PRIMARY KEY (…)`, `UNIQUE (…)`, `CHECK (…)` and `FOREIGN KEY (…)`.
fn table_constraint(c: &mut Cursor<'_>, elements: &mut Elements) -> Parse<bool> {
    let name = if c.eat("CONSTRAINT") { Some(c.name()?) } else { None };
    refuse_constraint(c)?;
    if c.at_all(&["PRIMARY", "KEY"]) {
        let place = c.location();
        let key = primary_key(c, name)?;
        elements.set_key(c, place, key)?;
        return Ok(true);
    }
    if c.at("CHECK") {
        elements.checks.push(check_def(c, name)?);
        return Ok(true);
    }
    if c.at("UNIQUE") {
        elements.uniques.push(table_unique(c, name)?);
        return Ok(true);
    }
    if c.at_all(&["FOREIGN", "KEY"]) {
        elements.foreign_keys.push(table_foreign_key(c, name)?);
        return Ok(true);
    }
    if name.is_some() {
        return Err(c.syntax());
    }
    Ok(false)
}

/// A primary key: the rowkey, or if deferrable a constraint beside a hidden row id.
pub(super) enum KeyDef {
    Rowkey(PrimaryKeyDef),
    Deferrable(UniqueDef),
}

impl KeyDef {
    /// Returns the action ADD PRIMARY KEY.
    pub(super) fn added(self) -> AlterAction {
        match self {
            Self::Rowkey(key) => AlterAction::AddKey(key),
            Self::Deferrable(unique) => AlterAction::AddUnique(unique),
        }
    }
}

/// `PRIMARY KEY (…)`.
pub(super) fn primary_key(c: &mut Cursor<'_>, name: Option<String>) -> Parse<KeyDef> {
    c.need_all(&["PRIMARY", "KEY"])?;
    if c.at("USING") {
        return Err(c.unsupported("PRIMARY KEY … USING"));
    }
    let parts = c.parenthesised(key_part)?;
    key_tail(c, PrimaryKeyDef { name, parts, ..PrimaryKeyDef::default() })
}

/// `[WITH (…)] [USING INDEX TABLESPACE …] [[NOT] DEFERRABLE] [INITIALLY …]`.
fn key_tail(c: &mut Cursor<'_>, mut key: PrimaryKeyDef) -> Parse<KeyDef> {
    if c.at("INCLUDE") {
        return Err(c.unsupported("PRIMARY KEY … INCLUDE"));
    }
    (key.options, key.tablespace) = constraint_storage(c)?;
    let (deferrable, deferred) = timing_of(c, "PRIMARY KEY")?;
    if !deferrable {
        return Ok(KeyDef::Rowkey(key));
    }
    Ok(KeyDef::Deferrable(UniqueDef {
        name: key.name,
        primary: true,
        parts: key.parts,
        options: key.options,
        tablespace: key.tablespace,
        deferrable,
        deferred,
        ..UniqueDef::default()
    }))
}

fn key_part(c: &mut Cursor<'_>) -> Parse<KeyPartDef> {
    if matches!(c.peek(), Token::LParen) || matches!(c.peek_nth(1), Token::LParen) {
        return Err(c.unsupported("an expression in a primary key"));
    }
    let column = c.name()?;
    if matches!(c.peek(), Token::Period) {
        return Err(c.unsupported("a key column in a column family"));
    }
    key_order(c, column)
}

/// `[ASC | DESC] [NULLS FIRST | NULLS LAST]`.
pub(super) fn key_order(c: &mut Cursor<'_>, column: String) -> Parse<KeyPartDef> {
    let descending = c.eat("DESC");
    if !descending {
        c.eat("ASC");
    }
    let nulls_first = nulls_order(c);
    if c.at("ROW_TIMESTAMP") {
        return Err(c.unsupported("ROW_TIMESTAMP"));
    }
    Ok(KeyPartDef { column, descending, nulls_first })
}

/// `[NULLS FIRST | NULLS LAST]`.
pub(super) fn nulls_order(c: &mut Cursor<'_>) -> Option<bool> {
    if c.eat_all(&["NULLS", "FIRST"]) {
        Some(true)
    } else if c.eat_all(&["NULLS", "LAST"]) {
        Some(false)
    } else {
        None
    }
}
