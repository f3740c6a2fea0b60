//! ALTER TABLE, ALTER SCHEMA and ALTER VIEW; the actions of ALTER MATERIALIZED VIEW.

use super::check::check_def;
use super::column::{InlineKey, column_def, primary_key, refuse_constraint};
use super::foreign_key::table_foreign_key;
use super::{
    Cursor, Parse, alter_hint as hint, collation, data_type, drop, index, materialized, owner, sequence, unsupported,
};
use crate::Statement;
use crate::phoenix::options;
use crate::statement::{AlterAction, AlterTable, ObjectName, OwnedObject};
use sqlparser::tokenizer::Token;

/// ALTER ….
pub(super) fn alter(c: &mut Cursor<'_>) -> Parse<Statement> {
    if c.at_nth(1, "TABLE") {
        return alter_table(c);
    }
    if c.at_nth(1, "SCHEMA") {
        c.need_all(&["ALTER", "SCHEMA"])?;
        let name = c.name()?;
        if c.at("OWNER") {
            return owner::owner_to(c, OwnedObject::Schema(name), false);
        }
        c.need_all(&["RENAME", "TO"])?;
        return Ok(Statement::RenameSchema { name, to: c.name()? });
    }
    if c.at_nth(1, "SEQUENCE") {
        return sequence::alter_sequence(c);
    }
    if c.at_nth(1, "INDEX") {
        return index::alter_index(c);
    }
    if c.at_all(&["ALTER", "MATERIALIZED", "VIEW"]) {
        return materialized::alter(c);
    }
    if c.at_nth(1, "VIEW") {
        return alter_view(c);
    }
    Err(unsupported::statement(c))
}

/// Parses ALTER VIEW. Only the name of a view can change; OWNER TO is accepted for the current user.
fn alter_view(c: &mut Cursor<'_>) -> Parse<Statement> {
    let place = c.location();
    c.need_all(&["ALTER", "VIEW"])?;
    let if_exists = c.if_exists();
    let name = c.object_name()?;
    if c.at("OWNER") {
        return owner::owner_to(c, OwnedObject::View(name), if_exists);
    }
    if c.eat_all(&["RENAME", "TO"]) {
        return Ok(Statement::RenameView { name, if_exists, to: c.name()? });
    }
    Err(c.unsupported_at(place, "ALTER VIEW"))
}

fn alter_table(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["ALTER", "TABLE"])?;
    let if_exists = c.if_exists();
    c.eat("ONLY"); // There is no inheritance.
    let name = c.object_name()?;
    c.eat_token(&Token::Mul);
    altered(c, name, if_exists, false, OwnedObject::Table)
}

/// Parses the actions after the name.
pub(super) fn altered(
    c: &mut Cursor<'_>,
    name: ObjectName,
    if_exists: bool,
    materialized: bool,
    owned: fn(ObjectName) -> OwnedObject,
) -> Parse<Statement> {
    if c.at("OWNER") {
        return owner::owner_to(c, owned(name), if_exists);
    }
    let actions = match renaming(c)? {
        Some(action) => vec![action],
        None => actions(c)?,
    };
    Ok(Statement::AlterTable(Box::new(AlterTable { name, if_exists, materialized, actions })))
}

/// RENAME … and SET SCHEMA, which cannot be combined with other actions.
fn renaming(c: &mut Cursor<'_>) -> Parse<Option<AlterAction>> {
    if c.at("SET") && c.at_nth(1, "SCHEMA") && !matches!(c.peek_nth(2), Token::Eq) {
        c.need_all(&["SET", "SCHEMA"])?;
        return Ok(Some(AlterAction::SetSchema { schema: c.name()? }));
    }
    if !c.eat("RENAME") {
        return Ok(None);
    }
    if c.eat("TO") {
        return Ok(Some(AlterAction::RenameTable { to: c.name()? }));
    }
    if c.eat("CONSTRAINT") {
        let from = c.name()?;
        c.need("TO")?;
        return Ok(Some(AlterAction::RenameConstraint { from, to: c.name()? }));
    }
    c.eat("COLUMN");
    let from = c.name()?;
    c.need("TO")?;
    Ok(Some(AlterAction::RenameColumn { from, to: c.name()? }))
}

fn actions(c: &mut Cursor<'_>) -> Parse<Vec<AlterAction>> {
    let mut actions = action(c)?;
    while c.eat_token(&Token::Comma) {
        // Phoenix continues without the verb: ADD a x, b y; DROP COLUMN a, b.
        match actions.last() {
            Some(&AlterAction::AddColumn { if_not_exists, .. }) if !at_verb(c) => {
                actions.extend(add_column(c, if_not_exists)?);
            }
            Some(&AlterAction::DropColumn { if_exists, .. }) if !at_verb(c) => {
                actions.push(drop_column(c, if_exists)?);
            }
            _ => actions.extend(action(c)?),
        }
    }
    let place = c.location();
    if let Some(indexes) = cascade_index(c)? {
        let added = |action: &AlterAction| match action {
            AlterAction::AddColumn { def, .. } => Some(def.name.clone()),
            _ => None,
        };
        let columns: Vec<String> = actions.iter().filter_map(added).collect();
        if columns.is_empty() {
            return Err(c.invalid_at(place, "CASCADE INDEX needs a column that is added"));
        }
        if actions.iter().any(|action| matches!(action, AlterAction::AddKey(_))) {
            return Err(c.unsupported_at(place, "CASCADE INDEX of a column of the primary key"));
        }
        actions.push(AlterAction::CascadeIndex { columns, indexes });
    }
    Ok(actions)
}

/// Parses `CASCADE INDEX ALL` or `CASCADE INDEX i, j` at the end of a Phoenix statement. Returns the indexes, `None`
/// for all.
fn cascade_index(c: &mut Cursor<'_>) -> Parse<Option<Option<Vec<String>>>> {
    if !c.eat_all(&["CASCADE", "INDEX"]) {
        return Ok(None);
    }
    if c.eat("ALL") {
        return Ok(Some(None));
    }
    let mut names = vec![c.name()?];
    while c.eat_token(&Token::Comma) {
        names.push(c.name()?);
    }
    Ok(Some(Some(names)))
}

/// Does another action begin here? A column may be named `add`, but then its type follows.
fn at_verb(c: &Cursor<'_>) -> bool {
    let opens = |words: &[&str]| words.iter().any(|word| c.at_nth(1, word));
    (c.at("ADD")
        && (opens(&["COLUMN", "IF", "CONSTRAINT", "CHECK", "UNIQUE", "FOREIGN", "EXCLUDE"])
            || matches!(c.peek_nth(2), Token::Word(_))))
        || c.at_all(&["VALIDATE", "CONSTRAINT"])
        || (c.at("DROP") && matches!(c.peek_nth(1), Token::Word(_)))
        || (c.at("ALTER") && matches!(c.peek_nth(1), Token::Word(_)))
        || (c.at("SET") && matches!(c.peek_nth(1), Token::Word(_) | Token::LParen))
        || (c.at("RESET") && matches!(c.peek_nth(1), Token::LParen))
}

/// Parses one action. ADD COLUMN with PRIMARY KEY makes two.
fn action(c: &mut Cursor<'_>) -> Parse<Vec<AlterAction>> {
    if !c.eat("ADD") {
        return Ok(vec![change(c)?]);
    }
    let name = if c.eat("CONSTRAINT") { Some(c.name()?) } else { None };
    if let Some(action) = add_constraint(c, name)? {
        return Ok(vec![action]);
    }
    c.eat("COLUMN");
    let if_not_exists = c.if_not_exists();
    add_column(c, if_not_exists)
}

/// Parses an action other than ADD.
fn change(c: &mut Cursor<'_>) -> Parse<AlterAction> {
    if c.eat_all(&["DROP", "CONSTRAINT"]) {
        let if_exists = c.if_exists();
        let name = c.name()?;
        return Ok(AlterAction::DropConstraint { if_exists, name, cascade: drop::cascade(c) });
    }
    if c.eat("DROP") {
        c.eat("COLUMN");
        let if_exists = c.if_exists();
        return drop_column(c, if_exists);
    }
    if c.eat_all(&["VALIDATE", "CONSTRAINT"]) {
        return Ok(AlterAction::ValidateConstraint { name: c.name()? });
    }
    if c.eat_all(&["ALTER", "CONSTRAINT"]) {
        let name = c.name()?;
        let (deferrable, deferred) = index::timing_of(c, "FOREIGN KEY")?;
        return Ok(AlterAction::AlterConstraint { name, deferrable, deferred });
    }
    if c.eat("ALTER") {
        c.eat("COLUMN");
        return alter_column(c);
    }
    if c.eat("RESET") {
        let names = c.parenthesised(Cursor::any_word)?;
        return Ok(AlterAction::ResetOptions(names.iter().map(|name| name.to_ascii_lowercase()).collect()));
    }
    if let Some(action) = hint::of_table(c)? {
        return Ok(action);
    }
    if c.at("SET") { set_options(c) } else { Err(refused(c)) }
}

/// Parses the constraint after ADD, if it is one; after a constraint name it must be.
fn add_constraint(c: &mut Cursor<'_>, name: Option<String>) -> Parse<Option<AlterAction>> {
    refuse_constraint(c)?;
    let foreign = c.at("FOREIGN") && (name.is_some() || c.at_nth(1, "KEY"));
    Ok(Some(if c.at("CHECK") {
        AlterAction::AddCheck(Box::new(check_def(c, name)?))
    } else if c.at_all(&["UNIQUE", "USING", "INDEX"]) {
        index::unique_using(c, name)?
    } else if c.at("UNIQUE") {
        AlterAction::AddUnique(index::table_unique(c, name)?)
    } else if foreign {
        AlterAction::AddForeignKey(Box::new(table_foreign_key(c, name)?))
    } else if c.at_all(&["PRIMARY", "KEY", "USING", "INDEX"]) {
        index::key_using(c, name)?
    } else if name.is_some() || c.at_all(&["PRIMARY", "KEY"]) {
        primary_key(c, name)?.added()
    } else {
        return Ok(None);
    }))
}

fn add_column(c: &mut Cursor<'_>, if_not_exists: bool) -> Parse<Vec<AlterAction>> {
    let (def, key) = column_def(c)?;
    let mut actions = vec![AlterAction::AddColumn { if_not_exists, def: Box::new(def) }];
    match key {
        Some(InlineKey { place, .. }) if if_not_exists => {
            return Err(c.unsupported_at(place, "ALTER TABLE … ADD COLUMN IF NOT EXISTS of a key column"));
        }
        Some(InlineKey { key, .. }) => actions.push(key.added()),
        None => {}
    }
    Ok(actions)
}

fn drop_column(c: &mut Cursor<'_>, if_exists: bool) -> Parse<AlterAction> {
    let column = c.column_name()?;
    Ok(AlterAction::DropColumn { if_exists, column, cascade: drop::cascade(c) })
}

fn alter_column(c: &mut Cursor<'_>) -> Parse<AlterAction> {
    let column = c.name()?;
    if c.eat_all(&["SET", "DEFAULT"]) {
        return Ok(AlterAction::SetDefault { column, default: Box::new(c.written_expr()?) });
    }
    if c.eat_all(&["DROP", "DEFAULT"]) {
        return Ok(AlterAction::DropDefault { column });
    }
    if c.eat_all(&["SET", "NOT", "NULL"]) {
        return Ok(AlterAction::SetNotNull { column });
    }
    if c.eat_all(&["DROP", "NOT", "NULL"]) {
        return Ok(AlterAction::DropNotNull { column });
    }
    if c.eat_all(&["ADD", "GENERATED"]) {
        return Ok(AlterAction::AddIdentity { column, generated: sequence::identity(c)? });
    }
    if c.eat_all(&["DROP", "IDENTITY"]) {
        return Ok(AlterAction::DropIdentity { column, if_exists: c.if_exists() });
    }
    if let Some(change) = sequence::identity_change(c)? {
        return Ok(AlterAction::ChangeIdentity { column, change: Box::new(change) });
    }
    if c.eat_all(&["DROP", "EXPRESSION"]) {
        return Ok(AlterAction::DropExpression { column, if_exists: c.if_exists() });
    }
    if c.eat("TYPE") || c.eat_all(&["SET", "DATA", "TYPE"]) {
        let data_type = data_type::data_type(c)?;
        if c.at("COLLATE") {
            collation::of_type(c, data_type)?;
        }
        let using = if c.eat("USING") { Some(Box::new(c.written_expr()?)) } else { None };
        return Ok(AlterAction::SetType { column, data_type, using });
    }
    if let Some(action) = hint::of_column(c, &column)? {
        return Ok(action);
    }
    Err(c.expected("SET DEFAULT, DROP DEFAULT, SET NOT NULL or DROP NOT NULL"))
}

fn set_options(c: &mut Cursor<'_>) -> Parse<AlterAction> {
    if c.at_nth(1, "ACCESS") && !matches!(c.peek_nth(2), Token::Eq) {
        return Err(c.unsupported("ALTER TABLE … SET ACCESS"));
    }
    c.need("SET")?;
    if matches!(c.peek(), Token::LParen) {
        return Ok(AlterAction::SetOptions(options::with(c)?));
    }
    if !options::at_bare(c) {
        return Err(c.expected("a property"));
    }
    Ok(AlterAction::SetOptions(options::bare(c)?))
}

fn refused(c: &Cursor<'_>) -> Box<super::Fault> {
    let words = ["OWNER", "ENABLE", "DISABLE", "FORCE", "NO", "ATTACH", "DETACH", "INHERIT", "OF", "NOT", "RENAME"];
    match words.iter().find(|word| c.at(word)) {
        Some(word) => c.unsupported(format!("ALTER TABLE … {word}")),
        None => c.syntax(),
    }
}
