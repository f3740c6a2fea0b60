//! CREATE, ALTER, DROP, TRUNCATE as text.

use super::{List, literal, names, when};
use crate::statement::names::quote;
use crate::statement::*;
use std::fmt::{self, Display, Formatter};
use types::DataType;

/// Statements that are one line.
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
        Statement::ChangeOwner(it) => write!(f, "{it}"),
        Statement::Comment(it) => write!(f, "{it}"),
        Statement::Truncate { names, restart_identity, cascade } => {
            let restart = when(*restart_identity, " RESTART IDENTITY");
            write!(f, "TRUNCATE TABLE {}{restart}{}", List(names), when(*cascade, " CASCADE"))
        }
        _ => Err(fmt::Error),
    }
}

impl Display for CreateTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let unlogged = when(self.hints.contains(&StorageHint::Unlogged), "UNLOGGED ");
        write!(f, "CREATE {unlogged}TABLE {}{}", when(self.if_not_exists, "IF NOT EXISTS "), self.name)?;
        let mut elements: Vec<String> = self.columns.iter().map(ToString::to_string).collect();
        for like in self.likes.iter().rev() {
            elements.insert(like.at.min(elements.len()), like.to_string());
        }
        if let Some(as_query) = &self.as_query {
            elements.extend(as_query.columns.iter().map(|name| quote(name)));
        }
        elements.extend(self.key.iter().map(ToString::to_string));
        elements.extend(self.checks.iter().map(ToString::to_string));
        elements.extend(self.uniques.iter().map(ToString::to_string));
        elements.extend(self.foreign_keys.iter().map(ToString::to_string));
        if !elements.is_empty() || self.as_query.is_none() {
            write!(f, " ({})", elements.join(", "))?;
        }
        if !self.options.is_empty() {
            write!(f, " WITH ({})", List(&self.options))?;
        }
        split_on(f, &self.split_on)?;
        for hint in &self.hints {
            if let StorageHint::Tablespace(name) = hint {
                write!(f, " TABLESPACE {}", quote(name))?;
            }
        }
        if let Some(as_query) = &self.as_query {
            write!(f, " AS {}{}", as_query.query, when(!as_query.with_data, " WITH NO DATA"))?;
        }
        Ok(())
    }
}

/// SPLIT ON with its points, if there are some.
pub(super) fn split_on(f: &mut Formatter<'_>, points: &[Vec<sqlparser::ast::Expr>]) -> fmt::Result {
    if points.is_empty() {
        return Ok(());
    }
    let points: Vec<String> = points.iter().map(|point| format!("({})", List(point))).collect();
    write!(f, " SPLIT ON ({})", points.join(", "))
}

impl Display for ColumnDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(family) = &self.family {
            write!(f, "{}.", quote(family))?;
        }
        let ty = match (&self.generated, self.data_type) {
            (Some(Generated::Serial), DataType::SmallInt) => "smallserial".to_owned(),
            (Some(Generated::Serial), DataType::Integer) => "serial".to_owned(),
            (Some(Generated::Serial), _) => "bigserial".to_owned(),
            (_, ty) => ty.column_name(),
        };
        write!(f, "{} {ty}", quote(&self.name))?;
        if let Some(default) = &self.default {
            write!(f, " DEFAULT {}", default.text)?;
        }
        f.write_str(when(self.null, " NULL"))?;
        match &self.generated {
            Some(Generated::Serial) => {}
            Some(identity) => write!(f, "{identity}")?,
            None => f.write_str(when(self.not_null, " NOT NULL"))?,
        }
        if let Some(computed) = &self.computed {
            write!(f, " GENERATED ALWAYS AS ({}) STORED", computed.text)?;
        }
        self.checks.iter().try_for_each(|check| write!(f, " {check}"))?;
        self.uniques.iter().try_for_each(|unique| {
            f.write_str(" ")?;
            unique.write(f, false)
        })?;
        self.foreign_keys.iter().try_for_each(|key| {
            f.write_str(" ")?;
            key.write(f, false)
        })
    }
}

impl Display for CheckDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "CONSTRAINT {} ", quote(name))?;
        }
        write!(f, "CHECK ({}){}", self.text, when(self.not_valid, " NOT VALID"))
    }
}

impl Display for PrimaryKeyDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "CONSTRAINT {} ", quote(name))?;
        }
        write!(f, "PRIMARY KEY ({})", List(&self.parts))
    }
}

impl Display for KeyPartDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", quote(&self.column), when(self.descending, " DESC"))?;
        match self.nulls_first {
            Some(true) => f.write_str(" NULLS FIRST"),
            Some(false) => f.write_str(" NULLS LAST"),
            None => Ok(()),
        }
    }
}

impl Display for TableOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(family) = &self.family {
            write!(f, "{}.", quote(family))?;
        }
        write!(f, "{} = {}", quote(&self.name), self.value)
    }
}

impl Display for OptionValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            // Quoted, so that its case stays and TRUE as a word is not the value TRUE.
            Self::Word(word) => write!(f, "\"{}\"", word.replace('"', "\"\"")),
            Self::Text(text) => f.write_str(&literal(text)),
            Self::Number(digits) => f.write_str(digits),
            Self::Bool(true) => f.write_str("TRUE"),
            Self::Bool(false) => f.write_str("FALSE"),
            Self::Null => f.write_str("NULL"),
        }
    }
}

impl Display for AlterTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = if self.materialized { "MATERIALIZED VIEW" } else { "TABLE" };
        write!(f, "ALTER {kind} {}{} {}", when(self.if_exists, "IF EXISTS "), self.name, List(&self.actions))
    }
}

impl Display for ChangeOwner {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_exists = when(self.if_exists, "IF EXISTS ");
        match &self.object {
            OwnedObject::Table(name) => write!(f, "ALTER TABLE {if_exists}{name}")?,
            OwnedObject::View(name) => write!(f, "ALTER VIEW {if_exists}{name}")?,
            OwnedObject::MaterializedView(name) => write!(f, "ALTER MATERIALIZED VIEW {if_exists}{name}")?,
            OwnedObject::Sequence(name) => write!(f, "ALTER SEQUENCE {if_exists}{name}")?,
            OwnedObject::Schema(name) => write!(f, "ALTER SCHEMA {}", quote(name))?,
        }
        match &self.to {
            Some(role) => write!(f, " OWNER TO {}", quote(role)),
            None => f.write_str(" OWNER TO CURRENT_USER"),
        }
    }
}

impl Display for AlterAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddColumn { if_not_exists, def } => {
                write!(f, "ADD COLUMN {}{def}", when(*if_not_exists, "IF NOT EXISTS "))
            }
            Self::AddKey(key) => write!(f, "ADD {key}"),
            Self::AddCheck(check) => write!(f, "ADD {check}"),
            Self::AddUnique(unique) => write!(f, "ADD {unique}"),
            Self::UniqueUsingIndex { name, index, deferrable, deferred } => {
                using_index(f, name.as_deref(), ("UNIQUE", index), (*deferrable, *deferred))
            }
            Self::KeyUsingIndex { name, index, deferrable, deferred } => {
                using_index(f, name.as_deref(), ("PRIMARY KEY", index), (*deferrable, *deferred))
            }
            Self::AddForeignKey(key) => write!(f, "ADD {key}"),
            Self::ValidateConstraint { name } => write!(f, "VALIDATE CONSTRAINT {}", quote(name)),
            Self::DropConstraint { if_exists, name, cascade } => {
                let if_exists = when(*if_exists, "IF EXISTS ");
                write!(f, "DROP CONSTRAINT {if_exists}{}{}", quote(name), when(*cascade, " CASCADE"))
            }
            Self::DropColumn { if_exists, column, cascade } => {
                write!(f, "DROP COLUMN {}{column}{}", when(*if_exists, "IF EXISTS "), when(*cascade, " CASCADE"))
            }
            Self::RenameColumn { from, to } => write!(f, "RENAME COLUMN {} TO {}", quote(from), quote(to)),
            Self::RenameTable { to } => write!(f, "RENAME TO {}", quote(to)),
            Self::RenameConstraint { from, to } => write!(f, "RENAME CONSTRAINT {} TO {}", quote(from), quote(to)),
            Self::SetSchema { schema } => write!(f, "SET SCHEMA {}", quote(schema)),
            Self::SetDefault { column, default } => {
                write!(f, "ALTER COLUMN {} SET DEFAULT {}", quote(column), default.text)
            }
            Self::DropDefault { column } => write!(f, "ALTER COLUMN {} DROP DEFAULT", quote(column)),
            Self::SetNotNull { column } => write!(f, "ALTER COLUMN {} SET NOT NULL", quote(column)),
            Self::DropNotNull { column } => write!(f, "ALTER COLUMN {} DROP NOT NULL", quote(column)),
            Self::AddIdentity { column, generated } => write!(f, "ALTER COLUMN {} ADD{generated}", quote(column)),
            Self::DropIdentity { column, if_exists } => {
                write!(f, "ALTER COLUMN {} DROP IDENTITY{}", quote(column), when(*if_exists, " IF EXISTS"))
            }
            Self::DropExpression { column, if_exists } => {
                write!(f, "ALTER COLUMN {} DROP EXPRESSION{}", quote(column), when(*if_exists, " IF EXISTS"))
            }
            Self::SetType { column, data_type, using } => {
                write!(f, "ALTER COLUMN {} TYPE {}", quote(column), data_type.column_name())?;
                using.iter().try_for_each(|using| write!(f, " USING {}", using.text))
            }
            Self::SetOptions(options) => write!(f, "SET ({})", List(options)),
            Self::ResetOptions(options) => write!(f, "RESET {}", names(options)),
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

impl Display for TableLike {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "LIKE {}", self.source)?;
        for (option, word) in LikeOption::ALL {
            f.write_str(&match self.including.contains(&option) {
                true => format!(" INCLUDING {word}"),
                false => String::new(),
            })?;
        }
        Ok(())
    }
}
