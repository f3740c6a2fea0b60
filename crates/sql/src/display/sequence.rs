//! Views and sequences as text.

use super::{List, names, when};
use crate::statement::names::quote;
use crate::statement::*;
use std::fmt::{self, Display, Formatter};

/// Statements about views and sequences.
pub(super) fn write(statement: &Statement, f: &mut Formatter<'_>) -> fmt::Result {
    match statement {
        Statement::CreateView(it) => write!(f, "{it}"),
        Statement::DropView { names, if_exists, cascade } => {
            write!(f, "DROP VIEW {}{}{}", when(*if_exists, "IF EXISTS "), List(names), when(*cascade, " CASCADE"))
        }
        Statement::CreateMaterializedView(it) => write!(f, "{it}"),
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
            write!(f, "CREATE SEQUENCE {}{}{}", when(it.if_not_exists, "IF NOT EXISTS "), it.name, it.options)
        }
        Statement::AlterSequence(it) => {
            write!(f, "ALTER SEQUENCE {}{}", when(it.if_exists, "IF EXISTS "), it.name)?;
            match &it.change {
                SequenceChange::Options(options) => write!(f, "{options}"),
                SequenceChange::Rename { to } => write!(f, " RENAME TO {}", quote(to)),
            }
        }
        Statement::DropSequence { names, if_exists, cascade } => {
            write!(f, "DROP SEQUENCE {}{}{}", when(*if_exists, "IF EXISTS "), List(names), when(*cascade, " CASCADE"))
        }
        _ => Err(fmt::Error),
    }
}

impl Display for CreateView {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let or_replace = when(self.or_replace, "OR REPLACE ");
        let if_not_exists = when(self.if_not_exists, "IF NOT EXISTS ");
        write!(f, "CREATE {or_replace}VIEW {if_not_exists}{}", self.name)?;
        if !self.columns.is_empty() {
            write!(f, " {}", names(&self.columns))?;
        }
        write!(f, " AS {}", self.query)
    }
}

impl Display for CreateMaterializedView {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE MATERIALIZED VIEW {}{}", when(self.if_not_exists, "IF NOT EXISTS "), self.name)?;
        if !self.columns.is_empty() {
            write!(f, " {}", names(&self.columns))?;
        }
        if !self.options.is_empty() {
            write!(f, " WITH ({})", List(&self.options))?;
        }
        for hint in &self.hints {
            if let StorageHint::Tablespace(name) = hint {
                write!(f, " TABLESPACE {}", quote(name))?;
            }
        }
        write!(f, " AS {}{}", self.query, when(!self.with_data, " WITH NO DATA"))
    }
}

impl Display for SequenceOptions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = |f: &mut Formatter<'_>, word: &str, value: Option<i64>| match value {
            Some(value) => write!(f, " {word} {value}"),
            None => Ok(()),
        };
        if let Some(name) = &self.name {
            write!(f, " SEQUENCE NAME {name}")?;
        }
        if let Some(ty) = &self.data_type {
            write!(f, " AS {}", ty.sql_name())?;
        }
        number(f, "INCREMENT BY", self.increment)?;
        for (bound, word) in [(&self.min, "MINVALUE"), (&self.max, "MAXVALUE")] {
            match bound {
                Some(None) => write!(f, " NO {word}")?,
                Some(value) => number(f, word, *value)?,
                None => {}
            }
        }
        number(f, "START WITH", self.start)?;
        match self.restart {
            Some(None) => f.write_str(" RESTART")?,
            Some(value) => number(f, "RESTART WITH", value)?,
            None => {}
        }
        number(f, "CACHE", self.cache)?;
        match self.cycle {
            Some(true) => f.write_str(" CYCLE")?,
            Some(false) => f.write_str(" NO CYCLE")?,
            None => {}
        }
        match &self.owned_by {
            Some(None) => f.write_str(" OWNED BY NONE"),
            Some(Some((table, column))) => write!(f, " OWNED BY {table}.{}", quote(column)),
            None => Ok(()),
        }
    }
}

impl Display for Generated {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self::Identity { always, options } = self else { return Ok(()) };
        write!(f, " GENERATED {} AS IDENTITY", if *always { "ALWAYS" } else { "BY DEFAULT" })?;
        let options = options.to_string();
        if options.is_empty() { Ok(()) } else { write!(f, " ({})", options.trim_start()) }
    }
}
