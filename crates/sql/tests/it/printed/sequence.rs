//! Views and sequences as text.

use super::{List, Printed, names, quote, when};
use crate::sql::*;
use std::fmt::{self, Display, Formatter};

/// Prints statements on views and sequences.
pub(super) fn write(statement: &Statement, f: &mut Formatter<'_>) -> fmt::Result {
    match statement {
        Statement::CreateView(it) => Printed(it).fmt(f),
        Statement::RenameView { name, if_exists, to } => {
            write!(f, "ALTER VIEW {}{name} RENAME TO {}", when(*if_exists, "IF EXISTS "), quote(to))
        }
        Statement::DropView { names, if_exists, cascade } => {
            write!(f, "DROP VIEW {}{}{}", when(*if_exists, "IF EXISTS "), List(names), when(*cascade, " CASCADE"))
        }
        Statement::CreateMaterializedView(it) => Printed(it).fmt(f),
        Statement::DropMaterializedView { names, if_exists, cascade } => {
            let (if_exists, cascade) = (when(*if_exists, "IF EXISTS "), when(*cascade, " CASCADE"));
            write!(f, "DROP MATERIALIZED VIEW {if_exists}{}{cascade}", List(names))
        }
        Statement::RefreshMaterializedView(it) => {
            let (concurrently, no_data) =
                (when(it.concurrently, "CONCURRENTLY "), when(!it.with_data, " WITH NO DATA"));
            write!(f, "REFRESH MATERIALIZED VIEW {concurrently}{}{no_data}", it.name)
        }
        Statement::CreateSequence(it) => {
            write!(f, "CREATE SEQUENCE {}{}{}", when(it.if_not_exists, "IF NOT EXISTS "), it.name, Printed(&it.options))
        }
        Statement::AlterSequence(it) => {
            write!(f, "ALTER SEQUENCE {}{}", when(it.if_exists, "IF EXISTS "), it.name)?;
            match &it.change {
                SequenceChange::Options(options) => Printed(options).fmt(f),
                SequenceChange::Rename { to } => write!(f, " RENAME TO {}", quote(to)),
            }
        }
        Statement::DropSequence { names, if_exists, cascade } => {
            write!(f, "DROP SEQUENCE {}{}{}", when(*if_exists, "IF EXISTS "), List(names), when(*cascade, " CASCADE"))
        }
        _ => Err(fmt::Error),
    }
}

impl Display for Printed<'_, CreateView> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let or_replace = when(self.0.or_replace, "OR REPLACE ");
        let if_not_exists = when(self.0.if_not_exists, "IF NOT EXISTS ");
        write!(f, "CREATE {or_replace}VIEW {if_not_exists}{}", self.0.name)?;
        if !self.0.columns.is_empty() {
            write!(f, " {}", names(&self.0.columns))?;
        }
        write!(f, " AS {}", self.0.query)
    }
}

impl Display for Printed<'_, CreateMaterializedView> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE MATERIALIZED VIEW {}{}", when(self.0.if_not_exists, "IF NOT EXISTS "), self.0.name)?;
        if !self.0.columns.is_empty() {
            write!(f, " {}", names(&self.0.columns))?;
        }
        if !self.0.options.is_empty() {
            write!(f, " WITH ({})", List(&self.0.options))?;
        }
        for hint in &self.0.hints {
            if let StorageHint::Tablespace(name) = hint {
                write!(f, " TABLESPACE {}", quote(name))?;
            }
        }
        write!(f, " AS {}{}", self.0.query, when(!self.0.with_data, " WITH NO DATA"))
    }
}

impl Display for Printed<'_, SequenceOptions> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = |f: &mut Formatter<'_>, word: &str, value: Option<i64>| match value {
            Some(value) => write!(f, " {word} {value}"),
            None => Ok(()),
        };
        if let Some(name) = &self.0.name {
            write!(f, " SEQUENCE NAME {name}")?;
        }
        if let Some(ty) = &self.0.data_type {
            write!(f, " AS {}", ty.sql_name())?;
        }
        number(f, "INCREMENT BY", self.0.increment)?;
        for (bound, word) in [(&self.0.min, "MINVALUE"), (&self.0.max, "MAXVALUE")] {
            match bound {
                Some(None) => write!(f, " NO {word}")?,
                Some(value) => number(f, word, *value)?,
                None => {}
            }
        }
        number(f, "START WITH", self.0.start)?;
        match self.0.restart {
            Some(None) => f.write_str(" RESTART")?,
            Some(value) => number(f, "RESTART WITH", value)?,
            None => {}
        }
        number(f, "CACHE", self.0.cache)?;
        match self.0.cycle {
            Some(true) => f.write_str(" CYCLE")?,
            Some(false) => f.write_str(" NO CYCLE")?,
            None => {}
        }
        match &self.0.owned_by {
            Some(None) => f.write_str(" OWNED BY NONE"),
            Some(Some((table, column))) => write!(f, " OWNED BY {table}.{}", quote(column)),
            None => Ok(()),
        }
    }
}

impl Display for Printed<'_, Generated> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Generated::Identity { always, options } = self.0 else { return Ok(()) };
        write!(f, " GENERATED {} AS IDENTITY", if *always { "ALWAYS" } else { "BY DEFAULT" })?;
        let options = Printed(options).to_string();
        if options.is_empty() { Ok(()) } else { write!(f, " ({})", options.trim_start()) }
    }
}
