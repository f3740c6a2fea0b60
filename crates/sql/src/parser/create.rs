//! CREATE TABLE, CREATE SCHEMA, and the dispatch of other kinds of objects.

use super::column::KeyDef;
use super::{Cursor, Parse, absent, column, index, materialized, sequence, unsupported, view};
use crate::Statement;
use crate::phoenix::{options, split_on::split_on};
use crate::statement::{
    AsQuery, CheckDef, ColumnDef, CreateTable, ForeignKeyDef, PrimaryKeyDef, StorageHint, TableLike, TableOption,
    UniqueDef,
};
use sqlparser::ast::Expr;
use sqlparser::tokenizer::{Location, Token};

/// CREATE ….
pub(super) fn create(c: &mut Cursor<'_>) -> Parse<Statement> {
    if c.at_nth(1, "TABLE") || c.at_all(&["CREATE", "UNLOGGED", "TABLE"]) {
        return create_table(c);
    }
    if c.at_nth(1, "SCHEMA") {
        return create_schema(c);
    }
    if index::at_create(c) {
        return index::create_index(c);
    }
    if view::at_create(c) {
        return view::create_view(c);
    }
    if materialized::at_create(c) {
        return materialized::create(c);
    }
    if c.at_nth(1, "SEQUENCE") {
        return sequence::create_sequence(c);
    }
    if c.at_nth(1, "EXTENSION") {
        return absent::create_extension(c);
    }
    Err(unsupported::statement(c))
}

fn create_schema(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["CREATE", "SCHEMA"])?;
    let if_not_exists = c.if_not_exists();
    if c.at("AUTHORIZATION") {
        return Err(c.unsupported("CREATE SCHEMA AUTHORIZATION"));
    }
    let name = c.name()?;
    if c.at("AUTHORIZATION") {
        return Err(c.unsupported("CREATE SCHEMA … AUTHORIZATION"));
    }
    if c.at("CREATE") || c.at("GRANT") {
        return Err(c.unsupported("CREATE SCHEMA with statements inside"));
    }
    Ok(Statement::CreateSchema { name, if_not_exists })
}

/// The elements in the parentheses of CREATE TABLE.
#[derive(Default)]
pub(super) struct Elements {
    /// The table's name.
    pub(super) table: String,
    /// Columns with their types.
    pub(super) columns: Vec<ColumnDef>,
    /// Columns without types, as CREATE TABLE AS has them.
    pub(super) names: Vec<String>,
    /// LIKE.
    pub(super) likes: Vec<TableLike>,
    /// The primary key, of a column or of the table.
    pub(super) key: Option<PrimaryKeyDef>,
    /// CHECK constraints of the table.
    pub(super) checks: Vec<CheckDef>,
    /// UNIQUE constraints of the table.
    pub(super) uniques: Vec<UniqueDef>,
    /// Foreign keys of the table.
    pub(super) foreign_keys: Vec<ForeignKeyDef>,
}

impl Elements {
    /// Sets the primary key; a second one is an error. `place` is where this one begins.
    pub(super) fn set_key(&mut self, c: &Cursor<'_>, place: Option<Location>, key: KeyDef) -> Parse<()> {
        if self.key.is_some() || self.uniques.iter().any(|unique| unique.primary) {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", self.table);
            return Err(c.table_at(place, &message));
        }
        match key {
            KeyDef::Rowkey(key) => self.key = Some(key),
            KeyDef::Deferrable(unique) => self.uniques.push(unique),
        }
        Ok(())
    }
}

fn create_table(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CREATE")?;
    let mut hints: Vec<StorageHint> = c.eat("UNLOGGED").then_some(StorageHint::Unlogged).into_iter().collect();
    c.need("TABLE")?;
    let if_not_exists = c.if_not_exists();
    let name = c.object_name()?;
    if c.at("PARTITION") || c.at("OF") {
        return Err(c.unsupported("CREATE TABLE … PARTITION OF"));
    }
    let mut elements = Elements { table: name.name.clone(), ..Elements::default() };
    let listed = c.eat_token(&Token::LParen);
    if listed && !c.eat_token(&Token::RParen) {
        c.list(|c| column::element(c, &mut elements))?;
        c.need_token(&Token::RParen)?;
    }
    let (table_options, split) = tail(c)?;
    if c.eat("TABLESPACE") {
        hints.push(StorageHint::Tablespace(c.name()?));
    }
    refuse_tail(c)?;
    let as_query = as_query(c, &mut elements, listed)?;
    let Elements { columns, likes, key, checks, uniques, foreign_keys, .. } = elements;
    let (options, split_on) = (table_options, split);
    let table = CreateTable {
        if_not_exists,
        name,
        columns,
        likes,
        key,
        checks,
        uniques,
        foreign_keys,
        options,
        hints,
        split_on,
        as_query,
    };
    Ok(Statement::CreateTable(Box::new(table)))
}

/// Parses `WITH (…)`, `SALT_BUCKETS = 8, …` and `SPLIT ON (…)`, each once, in any order.
fn tail(c: &mut Cursor<'_>) -> Parse<(Vec<TableOption>, Vec<Vec<Expr>>)> {
    let (mut with, mut bare, mut split) = (None, None, None);
    loop {
        let place = c.location();
        if with.is_none() && c.at("WITH") && matches!(c.peek_nth(1), Token::LParen) {
            c.next();
            with = Some((place, options::with(c)?));
        } else if split.is_none() && c.at_all(&["SPLIT", "ON"]) {
            split = Some(split_on(c)?);
        } else if bare.is_none() && options::at_bare(c) {
            bare = Some((place, options::bare(c)?));
        } else {
            break;
        }
    }
    let mut all: Vec<TableOption> = Vec::new();
    for (place, options) in with.into_iter().chain(bare) {
        for option in options {
            if all.iter().any(|other| (&other.family, &other.name) == (&option.family, &option.name)) {
                return Err(c.invalid_at(place, &format!("parameter \"{}\" specified more than once", option.name)));
            }
            all.push(option);
        }
    }
    Ok((all, split.unwrap_or_default()))
}

fn refuse_tail(c: &Cursor<'_>) -> Parse<()> {
    let tails = ["INHERITS", "PARTITION", "USING", "WITHOUT", "ON", "NOVERIFY", "COLUMN_QUALIFIER_COUNTER", "LIKE"];
    match tails.iter().find(|word| c.at(word)) {
        Some(word) => Err(c.unsupported(format!("CREATE TABLE … {word}"))),
        None => Ok(()),
    }
}

/// Parses AS query, if it comes next. Columns have types in a table without it, and only names in a table with it.
fn as_query(c: &mut Cursor<'_>, elements: &mut Elements, listed: bool) -> Parse<Option<AsQuery>> {
    if !c.eat("AS") {
        return if elements.names.is_empty() && listed { Ok(None) } else { Err(c.syntax()) };
    }
    let constraints = elements.checks.len() + elements.uniques.len() + elements.foreign_keys.len();
    if !elements.columns.is_empty() || !elements.likes.is_empty() || constraints > 0 {
        return Err(c.invalid("CREATE TABLE AS takes column names without types"));
    }
    if c.at("EXECUTE") {
        return Err(c.unsupported("CREATE TABLE … AS EXECUTE"));
    }
    let query = c.query()?;
    let no_data = c.eat_all(&["WITH", "NO", "DATA"]);
    if !no_data {
        c.eat_all(&["WITH", "DATA"]);
    }
    Ok(Some(AsQuery { columns: std::mem::take(&mut elements.names), query, with_data: !no_data }))
}
