//! CREATE INDEX and related statements as text.

use super::{List, Printed, quote, when};
use crate::sql::*;
use std::fmt::{self, Display, Formatter};

pub(super) fn write(statement: &Statement, f: &mut Formatter<'_>) -> fmt::Result {
    match statement {
        Statement::CreateIndex(it) => Printed(it).fmt(f),
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
                IndexChange::Strong => "CONSISTENCY = STRONG",
            };
            write!(f, "ALTER INDEX {}{} ON {table} {change}", when(*if_exists, "IF EXISTS "), quote(name))
        }
        Statement::RenameIndex { name, if_exists, to } => {
            write!(f, "ALTER INDEX {}{name} RENAME TO {}", when(*if_exists, "IF EXISTS "), quote(to))
        }
        Statement::SetIndexOptions { name, if_exists, options, tablespace } => {
            write!(f, "ALTER INDEX {}{name} ", when(*if_exists, "IF EXISTS "))?;
            match (tablespace, options.iter().all(|option| option.value == OptionValue::Null)) {
                (Some(tablespace), _) => write!(f, "SET TABLESPACE {}", quote(tablespace)),
                (None, true) => {
                    let reset: Vec<String> = options.iter().map(|option| option.name.clone()).collect();
                    write!(f, "RESET ({})", reset.join(", "))
                }
                (None, false) => write!(f, "SET ({})", List(options)),
            }
        }
        Statement::Reindex(Reindex { of, name, concurrently, verbose, tablespace }) => {
            let tablespace = tablespace.as_ref().map(|name| format!("TABLESPACE {}", quote(name)));
            let options: Vec<String> = verbose.then(|| "VERBOSE".to_owned()).into_iter().chain(tablespace).collect();
            let options = if options.is_empty() { String::new() } else { format!("({}) ", options.join(", ")) };
            write!(f, "REINDEX {options}{} {}{name}", word(*of), when(*concurrently, "CONCURRENTLY "))
        }
        Statement::CheckIndexes(CheckIndexes { of_table, name, repair }) => {
            let kind = if *of_table { "TABLE" } else { "INDEX" };
            write!(f, "CHECK {kind} {name}{}", when(*repair, " REPAIR"))
        }
        _ => Err(fmt::Error),
    }
}

fn word(of: ReindexOf) -> &'static str {
    match of {
        ReindexOf::Index => "INDEX",
        ReindexOf::Table => "TABLE",
        ReindexOf::Schema => "SCHEMA",
        ReindexOf::Database => "DATABASE",
    }
}

impl Display for Printed<'_, CreateIndex> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE {}{}", when(self.0.unique, "UNIQUE "), when(self.0.uncovered, "UNCOVERED "))?;
        write!(f, "{}INDEX {}", when(self.0.local, "LOCAL "), when(self.0.concurrently, "CONCURRENTLY "))?;
        f.write_str(when(self.0.if_not_exists, "IF NOT EXISTS "))?;
        if let Some(name) = &self.0.name {
            write!(f, "{} ", quote(name))?;
        }
        write!(f, "ON {} ", self.0.table)?;
        if let Some(method) = &self.0.method {
            write!(f, "USING {} ", quote(method))?;
        }
        let family = |name: &str| {
            let found = self.0.families.iter().find(|column| column.name == name);
            found.and_then(|column| column.family.as_deref()).map(|family| format!("{}.", quote(family)))
        };
        let parts = self.0.parts.iter().map(|part| {
            let family = match &part.of {
                IndexPartOf::Column(name) => family(name),
                IndexPartOf::Expression(_) => None,
            };
            format!("{}{}", family.unwrap_or_default(), Printed(part))
        });
        write!(f, "({})", parts.collect::<Vec<_>>().join(", "))?;
        let include = self.0.include.iter().map(|name| format!("{}{}", family(name).unwrap_or_default(), quote(name)));
        tail(f, &include.collect::<Vec<_>>(), self.0.nulls_not_distinct, &self.0.options)?;
        if let Some(tablespace) = &self.0.tablespace {
            write!(f, " TABLESPACE {}", quote(tablespace))?;
        }
        if let Some(predicate) = &self.0.predicate {
            write!(f, " WHERE {}", predicate.text)?;
        }
        super::ddl::split_on(f, &self.0.split_on)?;
        f.write_str(when(self.0.is_async, " ASYNC"))
    }
}

impl Display for Printed<'_, IndexPartDef> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.of {
            IndexPartOf::Column(column) => write!(f, "{}", quote(column))?,
            IndexPartOf::Expression(expression) => write!(f, "({})", expression.text)?,
        }
        if let Some(class) = &self.0.class {
            write!(f, " {}", quote(class))?;
        }
        f.write_str(when(self.0.descending, " DESC"))?;
        match self.0.nulls_first {
            Some(true) => f.write_str(" NULLS FIRST"),
            Some(false) => f.write_str(" NULLS LAST"),
            None => Ok(()),
        }
    }
}

impl Display for Printed<'_, UniqueDef> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_unique(self.0, f, true)
    }
}

/// Writes a UNIQUE constraint; one of a column does not name its column.
pub(super) fn write_unique(it: &UniqueDef, f: &mut Formatter<'_>, columns: bool) -> fmt::Result {
    if let Some(name) = &it.name {
        write!(f, "CONSTRAINT {} ", quote(name))?;
    }
    let kind = if it.primary { "PRIMARY KEY" } else { "UNIQUE" };
    write!(f, "{kind}{}", when(it.nulls_not_distinct, " NULLS NOT DISTINCT"))?;
    if columns {
        write!(f, " ({})", List(&it.parts))?;
    }
    let include: Vec<String> = it.include.iter().map(|name| quote(name)).collect();
    tail(f, &include, false, &it.options)?;
    tablespace_of(f, it.tablespace.as_deref())?;
    write!(f, "{}{}", when(it.deferrable, " DEFERRABLE"), when(it.deferred, " INITIALLY DEFERRED"))
}

/// Writes the tablespace of a constraint.
pub(super) fn tablespace_of(f: &mut Formatter<'_>, name: Option<&str>) -> fmt::Result {
    match name {
        Some(name) => write!(f, " USING INDEX TABLESPACE {}", quote(name)),
        None => Ok(()),
    }
}

/// Writes the clauses after the columns; `include` has quoted names.
fn tail(f: &mut Formatter<'_>, include: &[String], nulls_not_distinct: bool, options: &[TableOption]) -> fmt::Result {
    if !include.is_empty() {
        write!(f, " INCLUDE ({})", include.join(", "))?;
    }
    f.write_str(when(nulls_not_distinct, " NULLS NOT DISTINCT"))?;
    if !options.is_empty() {
        write!(f, " WITH ({})", List(options))?;
    }
    Ok(())
}
