//! CREATE, ALTER, DROP, TRUNCATE as text.

use super::foreign_key::write_foreign_key;
use super::index::write_unique;
use super::{List, Printed, literal, names, quote, when};
use crate::sql::*;
use std::fmt::{self, Display, Formatter};
use types::DataType;

/// Prints statements of one line.
pub(super) fn write_short(statement: &Statement, f: &mut Formatter<'_>) -> fmt::Result {
    match statement {
        Statement::CreateSchema { name, if_not_exists } => {
            write!(f, "CREATE SCHEMA {}{}", when(*if_not_exists, "IF NOT EXISTS "), quote(name))
        }
        Statement::DropTable { names, if_exists, cascade } => {
            write!(f, "DROP TABLE {}{}{}", when(*if_exists, "IF EXISTS "), List(names), when(*cascade, " CASCADE"))
        }
        Statement::DropSchema { names, if_exists, cascade } => {
            let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
            write!(f, "DROP SCHEMA {}{}{}", when(*if_exists, "IF EXISTS "), List(&names), when(*cascade, " CASCADE"))
        }
        Statement::RenameSchema { name, to } => write!(f, "ALTER SCHEMA {} RENAME TO {}", quote(name), quote(to)),
        Statement::ChangeOwner(it) => Printed(it).fmt(f),
        Statement::Comment(it) => it.fmt(f),
        Statement::Truncate { names, restart_identity, cascade } => {
            let restart = when(*restart_identity, " RESTART IDENTITY");
            write!(f, "TRUNCATE TABLE {}{restart}{}", List(names), when(*cascade, " CASCADE"))
        }
        _ => Err(fmt::Error),
    }
}

impl Display for Printed<'_, CreateTable> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let unlogged = when(self.0.hints.contains(&StorageHint::Unlogged), "UNLOGGED ");
        write!(f, "CREATE {unlogged}TABLE {}{}", when(self.0.if_not_exists, "IF NOT EXISTS "), self.0.name)?;
        let mut elements: Vec<String> = printed::<ColumnDef>(&self.0.columns).collect();
        for like in self.0.likes.iter().rev() {
            elements.insert(like.at.min(elements.len()), Printed(like).to_string());
        }
        if let Some(as_query) = &self.0.as_query {
            elements.extend(as_query.columns.iter().map(|name| quote(name)));
        }
        elements.extend(self.0.key.iter().map(|key| Printed(key).to_string()));
        elements.extend(printed::<CheckDef>(&self.0.checks));
        elements.extend(printed::<UniqueDef>(&self.0.uniques));
        elements.extend(printed::<ForeignKeyDef>(&self.0.foreign_keys));
        if !elements.is_empty() || self.0.as_query.is_none() {
            write!(f, " ({})", elements.join(", "))?;
        }
        if !self.0.options.is_empty() {
            write!(f, " WITH ({})", List(&self.0.options))?;
        }
        split_on(f, &self.0.split_on)?;
        for hint in &self.0.hints {
            if let StorageHint::Tablespace(name) = hint {
                write!(f, " TABLESPACE {}", quote(name))?;
            }
        }
        if let Some(as_query) = &self.0.as_query {
            write!(f, " AS {}{}", as_query.query, when(!as_query.with_data, " WITH NO DATA"))?;
        }
        Ok(())
    }
}

fn printed<T>(parts: &[T]) -> impl Iterator<Item = String>
where
    for<'a> Printed<'a, T>: Display,
{
    parts.iter().map(|part| Printed(part).to_string())
}

/// Prints SPLIT ON with its split points, if there are any.
pub(super) fn split_on(f: &mut Formatter<'_>, points: &[Vec<ast::Expr>]) -> fmt::Result {
    if points.is_empty() {
        return Ok(());
    }
    let points: Vec<String> = points.iter().map(|point| format!("({})", List(point))).collect();
    write!(f, " SPLIT ON ({})", points.join(", "))
}

impl Display for Printed<'_, ColumnDef> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(family) = &self.0.family {
            write!(f, "{}.", quote(family))?;
        }
        let ty = match (&self.0.generated, self.0.data_type) {
            (Some(Generated::Serial), DataType::SmallInt) => "smallserial".to_owned(),
            (Some(Generated::Serial), DataType::Integer) => "serial".to_owned(),
            (Some(Generated::Serial), _) => "bigserial".to_owned(),
            (_, ty) => ty.column_name(),
        };
        write!(f, "{} {ty}", quote(&self.0.name))?;
        if let Some(default) = &self.0.default {
            write!(f, " DEFAULT {}", default.text)?;
        }
        f.write_str(when(self.0.null, " NULL"))?;
        match &self.0.generated {
            Some(Generated::Serial) => {}
            Some(identity) => Printed(identity).fmt(f)?,
            None => f.write_str(when(self.0.not_null, " NOT NULL"))?,
        }
        if let Some(computed) = &self.0.computed {
            write!(f, " GENERATED ALWAYS AS ({}) STORED", computed.text)?;
        }
        self.0.checks.iter().try_for_each(|check| write!(f, " {}", Printed(check)))?;
        self.0.uniques.iter().try_for_each(|unique| {
            f.write_str(" ")?;
            write_unique(unique, f, false)
        })?;
        self.0.foreign_keys.iter().try_for_each(|key| {
            f.write_str(" ")?;
            write_foreign_key(key, f, false)
        })
    }
}

impl Display for Printed<'_, CheckDef> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.0.name {
            write!(f, "CONSTRAINT {} ", quote(name))?;
        }
        write!(f, "CHECK ({}){}", self.0.text, when(self.0.not_valid, " NOT VALID"))
    }
}

impl Display for Printed<'_, PrimaryKeyDef> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.0.name {
            write!(f, "CONSTRAINT {} ", quote(name))?;
        }
        write!(f, "PRIMARY KEY ({})", List(&self.0.parts))?;
        if !self.0.options.is_empty() {
            write!(f, " WITH ({})", List(&self.0.options))?;
        }
        super::index::tablespace_of(f, self.0.tablespace.as_deref())
    }
}

impl Display for Printed<'_, KeyPartDef> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", quote(&self.0.column), when(self.0.descending, " DESC"))?;
        match self.0.nulls_first {
            Some(true) => f.write_str(" NULLS FIRST"),
            Some(false) => f.write_str(" NULLS LAST"),
            None => Ok(()),
        }
    }
}

impl Display for Printed<'_, TableOption> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(family) = &self.0.family {
            write!(f, "{}.", quote(family))?;
        }
        write!(f, "{} = {}", quote(&self.0.name), Printed(&self.0.value))
    }
}

impl Display for Printed<'_, OptionValue> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            // Quoted, so that its case stays and the word TRUE differs from the value TRUE.
            OptionValue::Word(word) => write!(f, "\"{}\"", word.replace('"', "\"\"")),
            OptionValue::Text(text) => f.write_str(&literal(text)),
            OptionValue::Number(digits) => f.write_str(digits),
            OptionValue::Bool(true) => f.write_str("TRUE"),
            OptionValue::Bool(false) => f.write_str("FALSE"),
            OptionValue::Null => f.write_str("NULL"),
        }
    }
}

impl Display for Printed<'_, AlterTable> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = if self.0.materialized { "MATERIALIZED VIEW" } else { "TABLE" };
        // CASCADE INDEX is not an action of its own in the text.
        let is_cascade = |action: &&AlterAction| matches!(action, AlterAction::CascadeIndex { .. });
        let (cascade, actions): (Vec<_>, Vec<_>) =
            self.0.actions.iter().cloned().partition(|action| is_cascade(&action));
        write!(f, "ALTER {kind} {}{} {}", when(self.0.if_exists, "IF EXISTS "), self.0.name, List(&actions))?;
        cascade.iter().try_for_each(|action| write!(f, " {}", Printed(action)))
    }
}

impl Display for Printed<'_, ChangeOwner> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_exists = when(self.0.if_exists, "IF EXISTS ");
        match &self.0.object {
            OwnedObject::Table(name) => write!(f, "ALTER TABLE {if_exists}{name}")?,
            OwnedObject::View(name) => write!(f, "ALTER VIEW {if_exists}{name}")?,
            OwnedObject::MaterializedView(name) => write!(f, "ALTER MATERIALIZED VIEW {if_exists}{name}")?,
            OwnedObject::Sequence(name) => write!(f, "ALTER SEQUENCE {if_exists}{name}")?,
            OwnedObject::Schema(name) => write!(f, "ALTER SCHEMA {}", quote(name))?,
        }
        match &self.0.to {
            Some(role) => write!(f, " OWNER TO {}", quote(role)),
            None => f.write_str(" OWNER TO CURRENT_USER"),
        }
    }
}

impl Display for Printed<'_, AlterAction> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            AlterAction::AddColumn { if_not_exists, def } => {
                write!(f, "ADD COLUMN {}{}", when(*if_not_exists, "IF NOT EXISTS "), Printed(def))
            }
            AlterAction::CascadeIndex { indexes: None, .. } => f.write_str("CASCADE INDEX ALL"),
            AlterAction::CascadeIndex { indexes: Some(indexes), .. } => {
                let quoted: Vec<String> = indexes.iter().map(|name| quote(name)).collect();
                write!(f, "CASCADE INDEX {}", quoted.join(", "))
            }
            AlterAction::ChangeIdentity { column, change } => {
                write!(f, "ALTER COLUMN {}", quote(column))?;
                if let Some(always) = change.always {
                    f.write_str(if always { " SET GENERATED ALWAYS" } else { " SET GENERATED BY DEFAULT" })?;
                }
                let options = &change.options;
                // Each option except RESTART has its own SET.
                let restart = SequenceOptions { restart: options.restart, ..SequenceOptions::default() };
                let others = [
                    SequenceOptions { increment: options.increment, ..SequenceOptions::default() },
                    SequenceOptions { min: options.min, ..SequenceOptions::default() },
                    SequenceOptions { max: options.max, ..SequenceOptions::default() },
                    SequenceOptions { start: options.start, ..SequenceOptions::default() },
                    SequenceOptions { cache: options.cache, ..SequenceOptions::default() },
                    SequenceOptions { cycle: options.cycle, ..SequenceOptions::default() },
                ];
                for other in others.iter().filter(|other| **other != SequenceOptions::default()) {
                    write!(f, " SET{}", Printed(other))?;
                }
                write!(f, "{}", Printed(&restart))
            }
            AlterAction::WithoutEffect { column: Some(column), words, .. } => {
                write!(f, "ALTER COLUMN {} {words}", quote(column))
            }
            AlterAction::WithoutEffect { words, .. } => f.write_str(words),
            AlterAction::AddKey(key) => write!(f, "ADD {}", Printed(key)),
            AlterAction::AddCheck(check) => write!(f, "ADD {}", Printed(check)),
            AlterAction::AddUnique(unique) => write!(f, "ADD {}", Printed(unique)),
            AlterAction::UniqueUsingIndex { name, index, deferrable, deferred } => {
                using_index(f, name.as_deref(), ("UNIQUE", index), (*deferrable, *deferred))
            }
            AlterAction::KeyUsingIndex { name, index, deferrable, deferred } => {
                using_index(f, name.as_deref(), ("PRIMARY KEY", index), (*deferrable, *deferred))
            }
            AlterAction::AddForeignKey(key) => write!(f, "ADD {}", Printed(key)),
            AlterAction::AlterConstraint { name, deferrable, deferred } => {
                write!(f, "ALTER CONSTRAINT {}", quote(name))?;
                f.write_str(if *deferrable { " DEFERRABLE" } else { " NOT DEFERRABLE" })?;
                f.write_str(when(*deferred, " INITIALLY DEFERRED"))
            }
            AlterAction::ValidateConstraint { name } => write!(f, "VALIDATE CONSTRAINT {}", quote(name)),
            AlterAction::DropConstraint { if_exists, name, cascade } => {
                let if_exists = when(*if_exists, "IF EXISTS ");
                write!(f, "DROP CONSTRAINT {if_exists}{}{}", quote(name), when(*cascade, " CASCADE"))
            }
            AlterAction::DropColumn { if_exists, column, cascade } => {
                write!(f, "DROP COLUMN {}{column}{}", when(*if_exists, "IF EXISTS "), when(*cascade, " CASCADE"))
            }
            AlterAction::RenameColumn { from, to } => write!(f, "RENAME COLUMN {} TO {}", quote(from), quote(to)),
            AlterAction::RenameTable { to } => write!(f, "RENAME TO {}", quote(to)),
            AlterAction::RenameConstraint { from, to } => {
                write!(f, "RENAME CONSTRAINT {} TO {}", quote(from), quote(to))
            }
            AlterAction::SetSchema { schema } => write!(f, "SET SCHEMA {}", quote(schema)),
            AlterAction::SetDefault { column, default } => {
                write!(f, "ALTER COLUMN {} SET DEFAULT {}", quote(column), default.text)
            }
            AlterAction::DropDefault { column } => write!(f, "ALTER COLUMN {} DROP DEFAULT", quote(column)),
            AlterAction::SetNotNull { column } => write!(f, "ALTER COLUMN {} SET NOT NULL", quote(column)),
            AlterAction::DropNotNull { column } => write!(f, "ALTER COLUMN {} DROP NOT NULL", quote(column)),
            AlterAction::AddIdentity { column, generated } => {
                write!(f, "ALTER COLUMN {} ADD{}", quote(column), Printed(generated))
            }
            AlterAction::DropIdentity { column, if_exists } => {
                write!(f, "ALTER COLUMN {} DROP IDENTITY{}", quote(column), when(*if_exists, " IF EXISTS"))
            }
            AlterAction::DropExpression { column, if_exists } => {
                write!(f, "ALTER COLUMN {} DROP EXPRESSION{}", quote(column), when(*if_exists, " IF EXISTS"))
            }
            AlterAction::SetType { column, data_type, using } => {
                write!(f, "ALTER COLUMN {} TYPE {}", quote(column), data_type.column_name())?;
                using.iter().try_for_each(|using| write!(f, " USING {}", using.text))
            }
            AlterAction::SetOptions(options) => write!(f, "SET ({})", List(options)),
            AlterAction::ResetOptions(options) => write!(f, "RESET {}", names(options)),
        }
    }
}

fn using_index(
    f: &mut Formatter<'_>,
    name: Option<&str>,
    (kind, index): (&str, &str),
    (deferrable, deferred): (bool, bool),
) -> fmt::Result {
    f.write_str("ADD ")?;
    if let Some(name) = name {
        write!(f, "CONSTRAINT {} ", quote(name))?;
    }
    write!(f, "{kind} USING INDEX {}", quote(index))?;
    write!(f, "{}{}", when(deferrable, " DEFERRABLE"), when(deferred, " INITIALLY DEFERRED"))
}

impl Display for Printed<'_, TableLike> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "LIKE {}", self.0.source)?;
        for (option, word) in LikeOption::ALL {
            f.write_str(&match self.0.including.contains(&option) {
                true => format!(" INCLUDING {word}"),
                false => String::new(),
            })?;
        }
        Ok(())
    }
}
