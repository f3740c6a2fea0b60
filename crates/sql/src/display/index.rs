//! CREATE INDEX and what goes with it, as text.

use super::{List, names, when};
use crate::statement::names::quote;
use crate::statement::*;
use std::fmt::{self, Display, Formatter};

pub(super) fn write(statement: &Statement, f: &mut Formatter<'_>) -> fmt::Result {
    match statement {
        Statement::CreateIndex(it) => write!(f, "{it}"),
        Statement::DropIndex { names, table, if_exists, cascade, concurrently } => {
            let before = [when(*concurrently, "CONCURRENTLY "), when(*if_exists, "IF EXISTS ")].concat();
            write!(f, "DROP INDEX {before}{}", List(names))?;
            if let Some(table) = table {
                write!(f, " ON {table}")?;
            }
            f.write_str(when(*cascade, " CASCADE"))
        }
        Statement::AlterIndex { name, table, if_exists, change } => {
            let change = match change {
                IndexChange::Usable => "USABLE",
                IndexChange::Unusable => "UNUSABLE",
                IndexChange::Disable => "DISABLE",
                IndexChange::Rebuild => "REBUILD",
                IndexChange::RebuildAsync => "REBUILD ASYNC",
            };
            write!(f, "ALTER INDEX {}{} ON {table} {change}", when(*if_exists, "IF EXISTS "), quote(name))
        }
        Statement::RenameIndex { name, if_exists, to } => {
            write!(f, "ALTER INDEX {}{name} RENAME TO {}", when(*if_exists, "IF EXISTS "), quote(to))
        }
        Statement::Reindex { kind, name, concurrently } => {
            let kind = match kind {
                Reindex::Index => "INDEX",
                Reindex::Table => "TABLE",
            };
            write!(f, "REINDEX {kind} {}{name}", when(*concurrently, "CONCURRENTLY "))
        }
        Statement::CheckIndexes(CheckIndexes { kind, name, repair }) => {
            let kind = match kind {
                Reindex::Index => "INDEX",
                Reindex::Table => "TABLE",
            };
            write!(f, "CHECK {kind} {name}{}", when(*repair, " REPAIR"))
        }
        _ => Err(fmt::Error),
    }
}

impl Display for CreateIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE {}{}", when(self.unique, "UNIQUE "), when(self.uncovered, "UNCOVERED "))?;
        write!(f, "{}INDEX {}", when(self.local, "LOCAL "), when(self.concurrently, "CONCURRENTLY "))?;
        f.write_str(when(self.if_not_exists, "IF NOT EXISTS "))?;
        if let Some(name) = &self.name {
            write!(f, "{} ", quote(name))?;
        }
        write!(f, "ON {} ({})", self.table, List(&self.parts))?;
        tail(f, &self.include, self.nulls_not_distinct, &self.options)?;
        if let Some(predicate) = &self.predicate {
            write!(f, " WHERE {}", predicate.text)?;
        }
        super::ddl::split_on(f, &self.split_on)?;
        f.write_str(when(self.is_async, " ASYNC"))
    }
}

impl Display for IndexPartDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.of {
            IndexPartOf::Column(column) => write!(f, "{}", quote(column))?,
            IndexPartOf::Expression(expression) => write!(f, "({})", expression.text)?,
        }
        f.write_str(when(self.descending, " DESC"))?;
        match self.nulls_first {
            Some(true) => f.write_str(" NULLS FIRST"),
            Some(false) => f.write_str(" NULLS LAST"),
            None => Ok(()),
        }
    }
}

impl Display for UniqueDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}

impl UniqueDef {
    /// Behind its only column it does not name it.
    pub(super) fn write(&self, f: &mut Formatter<'_>, columns: bool) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "CONSTRAINT {} ", quote(name))?;
        }
        let kind = if self.primary { "PRIMARY KEY" } else { "UNIQUE" };
        write!(f, "{kind}{}", when(self.nulls_not_distinct, " NULLS NOT DISTINCT"))?;
        if columns {
            write!(f, " ({})", List(&self.parts))?;
        }
        tail(f, &self.include, false, &self.options)?;
        write!(f, "{}{}", when(self.deferrable, " DEFERRABLE"), when(self.deferred, " INITIALLY DEFERRED"))
    }
}

fn tail(f: &mut Formatter<'_>, include: &[String], nulls_not_distinct: bool, options: &[TableOption]) -> fmt::Result {
    if !include.is_empty() {
        write!(f, " INCLUDE {}", names(include))?;
    }
    f.write_str(when(nulls_not_distinct, " NULLS NOT DISTINCT"))?;
    if !options.is_empty() {
        write!(f, " WITH ({})", List(options))?;
    }
    Ok(())
}
