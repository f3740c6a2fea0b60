//! CREATE INDEX, DROP INDEX, ALTER INDEX, REINDEX, CHECK INDEX, and UNIQUE constraints.

use super::column::nulls_order;
use super::foreign_key::timing;
use super::{Cursor, Parse, drop};
use crate::Statement;
use crate::phoenix::{options, split_on};
use crate::statement::{
    AlterAction, CheckIndexes, ColumnName, CreateIndex, IndexChange, IndexPartDef, IndexPartOf, KeyPartDef, ObjectName,
    OptionValue, Reindex, TableOption, UniqueDef, WrittenExpr,
};
use sqlparser::ast::Expr;
use sqlparser::tokenizer::Token;

/// Does CREATE INDEX come next?
pub(super) fn at_create(c: &Cursor<'_>) -> bool {
    let kind = |n: usize| ["UNIQUE", "LOCAL", "UNCOVERED"].iter().any(|word| c.at_nth(n, word));
    (1..4).find(|n| !kind(*n)).is_some_and(|n| c.at_nth(n, "INDEX"))
}

/// CREATE [UNIQUE] INDEX [IF NOT EXISTS] [name] ON [ONLY] t [USING btree] (…) …, and Phoenix's
/// CREATE [UNCOVERED] [LOCAL] INDEX ….
pub(super) fn create_index(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CREATE")?;
    let (mut unique, mut local, mut uncovered) = (false, false, false);
    while !c.eat("INDEX") {
        let kind = if c.at("LOCAL") {
            &mut local
        } else if c.at("UNCOVERED") {
            &mut uncovered
        } else if c.at("UNIQUE") {
            &mut unique
        } else {
            return Err(c.expected("INDEX"));
        };
        if std::mem::replace(kind, true) {
            return Err(c.syntax());
        }
        c.next();
    }
    if unique && (local || uncovered) {
        return Err(c.unsupported("a UNIQUE index that is LOCAL or UNCOVERED"));
    }
    let concurrently = c.eat("CONCURRENTLY");
    let place = c.location();
    let if_not_exists = c.if_not_exists();
    let name = if c.at("ON") { None } else { Some(c.name()?) };
    if if_not_exists && name.is_none() {
        return Err(c.invalid_at(place, "IF NOT EXISTS needs a name of the index"));
    }
    c.need("ON")?;
    c.eat("ONLY"); // There is no inheritance.
    let table = c.object_name()?;
    let method = if c.eat("USING") { Some(c.name()?) } else { None };
    let mut families = Vec::new();
    let parts = c.parenthesised(|c| part(c, &mut families))?;
    let include = include(c, &mut families)?;
    let nulls_not_distinct = nulls_not_distinct(c)?;
    if uncovered && !include.is_empty() {
        return Err(c.invalid("an UNCOVERED index includes no columns"));
    }
    let mut options = with(c)?;
    let tail = tail(c, &mut options)?;
    let Tail { tablespace, predicate, split_on, is_async } = tail;
    let index = CreateIndex {
        unique,
        concurrently,
        is_async,
        if_not_exists,
        name,
        table,
        method,
        parts,
        include,
        families,
        nulls_not_distinct,
        options,
        tablespace,
        predicate,
        local,
        uncovered,
        split_on,
    };
    Ok(Statement::CreateIndex(Box::new(index)))
}

/// What may stand behind an index's columns.
#[derive(Default)]
struct Tail {
    tablespace: Option<String>,
    predicate: Option<WrittenExpr>,
    split_on: Vec<Vec<Expr>>,
    is_async: bool,
}

/// TABLESPACE, WHERE, Phoenix's ASYNC, properties and SPLIT ON.
fn tail(c: &mut Cursor<'_>, options: &mut Vec<TableOption>) -> Parse<Tail> {
    let mut tail = Tail::default();
    if c.eat("TABLESPACE") {
        tail.tablespace = Some(c.name()?);
    }
    if c.eat("WHERE") {
        tail.predicate = Some(c.written_expr()?);
    }
    tail.is_async = c.eat("ASYNC");
    if options::at_bare(c) {
        options.extend(options::bare(c)?);
    }
    tail.split_on = split_on::split_on(c)?;
    tail.is_async |= !tail.is_async && c.eat("ASYNC");
    Ok(tail)
}

/// `{column | expression} [COLLATE c] [opclass] [ASC | DESC] [NULLS FIRST | LAST]`.
fn part(c: &mut Cursor<'_>, families: &mut Vec<ColumnName>) -> Parse<IndexPartDef> {
    let of = if at_family(c) { IndexPartOf::Column(of_family(c, families)?) } else { part_of(c)? };
    collation(c)?;
    let class = operator_class(c)?;
    let descending = c.eat("DESC");
    if !descending {
        c.eat("ASC");
    }
    Ok(IndexPartDef { of, class, descending, nulls_first: nulls_order(c) })
}

/// Does a column with its family come next (`a.v`), as in Phoenix? A function in a schema has parentheses behind it.
fn at_family(c: &Cursor<'_>) -> bool {
    matches!(c.peek(), Token::Word(_))
        && matches!(c.peek_nth(1), Token::Period)
        && matches!(c.peek_nth(3), Token::Comma | Token::RParen | Token::Word(_))
}

/// The column's name; with its family it is kept to be looked at where the table is known.
fn of_family(c: &mut Cursor<'_>, families: &mut Vec<ColumnName>) -> Parse<String> {
    let column = c.column_name()?;
    families.push(column.clone());
    Ok(column.name)
}

/// A name alone is a column; so is one in parentheses. Phoenix wants no parentheses around expressions.
pub(super) fn part_of(c: &mut Cursor<'_>) -> Parse<IndexPartOf> {
    let is_name = matches!(c.peek(), Token::Word(_));
    if is_name && matches!(c.peek_nth(1), Token::Period) {
        return Err(c.unsupported("a column family in an index"));
    }
    if is_name && matches!(c.peek_nth(1), Token::Comma | Token::RParen | Token::Word(_)) && !c.at("CASE") {
        return Ok(IndexPartOf::Column(c.name()?));
    }
    let WrittenExpr { expr, text } = c.written_expr()?;
    Ok(match expr {
        Expr::Nested(inner) if matches!(inner.as_ref(), Expr::Identifier(_)) => column_or(*inner, text),
        expr @ Expr::Nested(_) => IndexPartOf::Expression(Box::new(WrittenExpr { expr, text }.without_parentheses())),
        expr => IndexPartOf::Expression(Box::new(WrittenExpr { expr, text })),
    })
}

fn column_or(expr: Expr, text: String) -> IndexPartOf {
    match expr {
        Expr::Identifier(name) if name.quote_style.is_some() => IndexPartOf::Column(name.value),
        Expr::Identifier(name) => IndexPartOf::Column(name.value.to_ascii_lowercase()),
        expr => IndexPartOf::Expression(Box::new(WrittenExpr { expr, text })),
    }
}

/// Text is in the order of its bytes, which is that of `C`.
fn collation(c: &mut Cursor<'_>) -> Parse<()> {
    if !c.eat("COLLATE") {
        return Ok(());
    }
    let place = c.location();
    let name = c.object_name()?;
    match name.name.as_str() {
        "C" | "POSIX" | "default" | "ucs_basic" if name.schema.as_deref().is_none_or(|it| it == "pg_catalog") => Ok(()),
        other => Err(c.unsupported_at(place, format!("collation \"{other}\" in an index"))),
    }
}

/// Which of them there are, and for which types, is known where the index is made.
fn operator_class(c: &mut Cursor<'_>) -> Parse<Option<String>> {
    let follows = ["ASC", "DESC", "NULLS"].iter().any(|word| c.at(word));
    if follows || !matches!(c.peek(), Token::Word(_)) {
        return Ok(None);
    }
    let place = c.location();
    let ObjectName { schema, name, .. } = c.object_name()?;
    if schema.is_some_and(|schema| schema != "pg_catalog") || matches!(c.peek(), Token::LParen) {
        return Err(c.unsupported_at(place, format!("operator class \"{name}\" of an index")));
    }
    Ok(Some(name))
}

fn include(c: &mut Cursor<'_>, families: &mut Vec<ColumnName>) -> Parse<Vec<String>> {
    if !c.eat("INCLUDE") {
        return Ok(Vec::new());
    }
    c.parenthesised(|c| {
        if matches!(c.peek(), Token::LParen) || matches!(c.peek_nth(1), Token::LParen) {
            return Err(c.unsupported("an expression among included columns"));
        }
        if at_family(c) { of_family(c, families) } else { c.name() }
    })
}

/// `NULLS [NOT] DISTINCT`.
fn nulls_not_distinct(c: &mut Cursor<'_>) -> Parse<bool> {
    if c.eat_all(&["NULLS", "NOT", "DISTINCT"]) {
        return Ok(true);
    }
    c.eat_all(&["NULLS", "DISTINCT"]);
    Ok(false)
}

fn with(c: &mut Cursor<'_>) -> Parse<Vec<TableOption>> {
    if !c.at("WITH") {
        return Ok(Vec::new());
    }
    c.next();
    options::with(c)
}

/// `UNIQUE USING INDEX name`, behind the name of the constraint.
pub(super) fn unique_using(c: &mut Cursor<'_>, name: Option<String>) -> Parse<AlterAction> {
    c.need_all(&["UNIQUE", "USING", "INDEX"])?;
    let index = c.name()?;
    let (deferrable, deferred) = timing_of(c, "UNIQUE")?;
    Ok(AlterAction::UniqueUsingIndex { name, index, deferrable, deferred })
}

/// `PRIMARY KEY USING INDEX i`.
pub(super) fn key_using(c: &mut Cursor<'_>, name: Option<String>) -> Parse<AlterAction> {
    c.need_all(&["PRIMARY", "KEY", "USING", "INDEX"])?;
    let index = c.name()?;
    let (deferrable, deferred) = timing_of(c, "PRIMARY KEY")?;
    Ok(AlterAction::KeyUsingIndex { name, index, deferrable, deferred })
}

/// `[[NOT] DEFERRABLE] [INITIALLY …]`, and never NOT VALID.
pub(super) fn timing_of(c: &mut Cursor<'_>, kind: &str) -> Parse<(bool, bool)> {
    let place = c.location();
    let (deferrable, deferred, not_valid) = timing(c)?;
    if not_valid {
        return Err(c.invalid_at(place, &format!("{kind} constraints cannot be marked NOT VALID")));
    }
    Ok((deferrable, deferred))
}

/// `UNIQUE [NULLS [NOT] DISTINCT] (…)` of a table.
pub(super) fn table_unique(c: &mut Cursor<'_>, name: Option<String>) -> Parse<UniqueDef> {
    if c.at_all(&["UNIQUE", "USING", "INDEX"]) {
        return Err(c.unsupported("UNIQUE USING INDEX"));
    }
    c.need("UNIQUE")?;
    let nulls_not_distinct = nulls_not_distinct(c)?;
    let parts = c.parenthesised(Cursor::name)?.into_iter().map(ascending).collect();
    let mut families = Vec::new();
    let include = include(c, &mut families)?;
    if !families.is_empty() {
        return Err(c.unsupported("a column family in a UNIQUE constraint"));
    }
    unique_tail(c, UniqueDef { name, parts, include, nulls_not_distinct, ..UniqueDef::default() })
}

/// `UNIQUE [NULLS [NOT] DISTINCT]` of a column.
pub(super) fn column_unique(c: &mut Cursor<'_>, name: Option<String>, column: &str) -> Parse<UniqueDef> {
    c.need("UNIQUE")?;
    let nulls_not_distinct = nulls_not_distinct(c)?;
    let parts = vec![ascending(column.to_owned())];
    unique_tail(c, UniqueDef { name, parts, nulls_not_distinct, ..UniqueDef::default() })
}

fn ascending(column: String) -> KeyPartDef {
    KeyPartDef { column, descending: false, nulls_first: None }
}

fn unique_tail(c: &mut Cursor<'_>, mut unique: UniqueDef) -> Parse<UniqueDef> {
    (unique.options, unique.tablespace) = constraint_storage(c)?;
    (unique.deferrable, unique.deferred) = timing_of(c, "UNIQUE")?;
    Ok(unique)
}

/// `[WITH (…)] [USING INDEX TABLESPACE name]` of a constraint.
pub(super) fn constraint_storage(c: &mut Cursor<'_>) -> Parse<(Vec<TableOption>, Option<String>)> {
    let options = with(c)?;
    let tablespace = if c.eat_all(&["USING", "INDEX", "TABLESPACE"]) { Some(c.name()?) } else { None };
    Ok((options, tablespace))
}

/// DROP INDEX.
pub(super) fn drop_index(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["DROP", "INDEX"])?;
    let concurrently = c.eat("CONCURRENTLY");
    let if_exists = c.if_exists();
    let names = c.list(Cursor::object_name)?;
    let table = match names.as_slice() {
        [ObjectName { schema: None, .. }] if c.eat("ON") => Some(c.object_name()?),
        _ => None,
    };
    let cascade = drop::cascade(c);
    Ok(Statement::DropIndex { names, table, if_exists, cascade, concurrently })
}

/// ALTER INDEX … RENAME TO, and Phoenix's ALTER INDEX … ON ….
pub(super) fn alter_index(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["ALTER", "INDEX"])?;
    let if_exists = c.if_exists();
    let name = c.object_name()?;
    if name.schema.is_none() && c.eat("ON") {
        let table = c.object_name()?;
        return Ok(Statement::AlterIndex { name: name.name, table, if_exists, change: change(c)? });
    }
    if let Some((options, tablespace)) = parameters(c)? {
        return Ok(Statement::SetIndexOptions { name, if_exists, options, tablespace });
    }
    let others = ["SET", "ATTACH", "ALTER", "DEPENDS", "NO", "ON", "OWNER"];
    if let Some(word) = others.iter().find(|word| c.at(word)) {
        return Err(c.unsupported(format!("ALTER INDEX … {word}")));
    }
    c.need_all(&["RENAME", "TO"])?;
    Ok(Statement::RenameIndex { name, if_exists, to: c.name()? })
}

/// `SET (…)`, `RESET (…)` and `SET TABLESPACE`.
fn parameters(c: &mut Cursor<'_>) -> Parse<Option<(Vec<TableOption>, Option<String>)>> {
    if c.at("SET") && matches!(c.peek_nth(1), Token::LParen) {
        c.next();
        return Ok(Some((options::with(c)?, None)));
    }
    if c.eat_all(&["SET", "TABLESPACE"]) {
        return Ok(Some((Vec::new(), Some(c.name()?))));
    }
    if !c.eat("RESET") {
        return Ok(None);
    }
    let reset = |name: String| TableOption { family: None, name: name.to_ascii_lowercase(), value: OptionValue::Null };
    Ok(Some((c.parenthesised(Cursor::any_word)?.into_iter().map(reset).collect(), None)))
}

/// `{USABLE | UNUSABLE | DISABLE | ACTIVE | REBUILD [ALL]} [ASYNC] [[SET] properties]`.
fn change(c: &mut Cursor<'_>) -> Parse<IndexChange> {
    let change = if c.eat("USABLE") || c.eat("ACTIVE") {
        IndexChange::Usable
    } else if c.eat("UNUSABLE") {
        IndexChange::Unusable
    } else if c.eat("DISABLE") {
        IndexChange::Disable
    } else if c.eat("REBUILD") {
        c.eat("ALL");
        if c.eat("ASYNC") { IndexChange::RebuildAsync } else { IndexChange::Rebuild }
    } else if c.at("CONSISTENCY") {
        return consistency(c);
    } else if c.at("SET") || options::at_bare(c) {
        return Err(c.unsupported("ALTER INDEX … with properties"));
    } else {
        return Err(c.expected("USABLE, UNUSABLE, DISABLE, ACTIVE or REBUILD"));
    };
    if c.at("ASYNC") {
        return Err(c.invalid("ASYNC stands behind REBUILD only"));
    }
    if c.at("SET") || options::at_bare(c) {
        return Err(c.unsupported("ALTER INDEX … with properties"));
    }
    Ok(change)
}

/// `CONSISTENCY = {STRONG | EVENTUAL}`.
fn consistency(c: &mut Cursor<'_>) -> Parse<IndexChange> {
    c.need("CONSISTENCY")?;
    c.need_token(&Token::Eq)?;
    if c.at("EVENTUAL") {
        return Err(c.unsupported("ALTER INDEX … CONSISTENCY = EVENTUAL"));
    }
    c.need("STRONG")?;
    Ok(IndexChange::Strong)
}

/// REINDEX [(CONCURRENTLY)] {INDEX | TABLE | SCHEMA | DATABASE} [CONCURRENTLY] name.
pub(super) fn reindex(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("REINDEX")?;
    let mut concurrently = false;
    if matches!(c.peek(), Token::LParen) {
        for option in c.parenthesised(reindex_option)? {
            concurrently = option;
        }
    }
    if c.at("SYSTEM") {
        return Err(c.unsupported("REINDEX SYSTEM"));
    }
    let kind = if c.eat("TABLE") {
        Reindex::Table
    } else if c.eat("SCHEMA") {
        Reindex::Schema
    } else if c.eat("DATABASE") {
        Reindex::Database
    } else {
        c.need("INDEX")?;
        Reindex::Index
    };
    concurrently |= c.eat("CONCURRENTLY");
    Ok(Statement::Reindex { kind, name: c.object_name()?, concurrently })
}

/// The one option of REINDEX, CONCURRENTLY: is it on?
fn reindex_option(c: &mut Cursor<'_>) -> Parse<bool> {
    if !c.eat("CONCURRENTLY") {
        return Err(c.unsupported("REINDEX with options other than CONCURRENTLY"));
    }
    if c.eat("FALSE") || c.eat("OFF") {
        return Ok(false);
    }
    let _ = c.eat("TRUE") || c.eat("ON");
    Ok(true)
}

/// CHECK {INDEX | TABLE} name [REPAIR].
pub(super) fn check(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CHECK")?;
    let kind = if c.eat("TABLE") {
        Reindex::Table
    } else {
        c.need("INDEX")?;
        Reindex::Index
    };
    Ok(Statement::CheckIndexes(CheckIndexes { kind, name: c.object_name()?, repair: c.eat("REPAIR") }))
}
