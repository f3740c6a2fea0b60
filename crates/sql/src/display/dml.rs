//! INSERT, UPDATE, DELETE as text.

use super::List;
use crate::ast;
use crate::statement::names::quote;
use crate::statement::*;
use std::fmt::{self, Display, Formatter};

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} INTO {}", if self.upsert { "UPSERT" } else { "INSERT" }, self.table)?;
        if let Some(alias) = &self.alias {
            write!(f, " AS {}", quote(alias))?;
        }
        if let Some(columns) = &self.columns {
            write!(f, " ({})", List(columns))?;
        }
        match self.overriding {
            Some(Overriding::System) => f.write_str(" OVERRIDING SYSTEM VALUE")?,
            Some(Overriding::User) => f.write_str(" OVERRIDING USER VALUE")?,
            None => {}
        }
        match &self.source {
            InsertSource::Values(rows) => {
                f.write_str(" VALUES ")?;
                for (at, row) in rows.iter().enumerate() {
                    write!(f, "{}({})", if at > 0 { ", " } else { "" }, List(row))?;
                }
            }
            InsertSource::Query(query) => write!(f, " {query}")?,
            InsertSource::DefaultValues => f.write_str(" DEFAULT VALUES")?,
        }
        if let Some(conflict) = &self.on_conflict {
            write!(f, " {conflict}")?;
        }
        match &self.on_duplicate {
            Some(OnDuplicate::Ignore) => f.write_str(" ON DUPLICATE KEY IGNORE")?,
            Some(OnDuplicate::Update(assignments)) => write!(f, " ON DUPLICATE KEY UPDATE {}", List(assignments))?,
            None => {}
        }
        returning(f, &self.returning)
    }
}

impl Display for InsertValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("DEFAULT"),
            Self::Expr(expr) => write!(f, "{expr}"),
        }
    }
}

impl Display for Conflict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("ON CONFLICT")?;
        match &self.target {
            Some(ConflictTarget::Columns { names, exprs, predicate }) => {
                let names = names.iter().map(|name| quote(name).to_string());
                let exprs = exprs.iter().map(|expr| format!("({expr})"));
                write!(f, " ({})", names.chain(exprs).collect::<Vec<_>>().join(", "))?;
                filter(f, predicate.as_ref(), None)?;
            }
            Some(ConflictTarget::Constraint(name)) => write!(f, " ON CONSTRAINT {}", quote(name))?,
            None => {}
        }
        match &self.action {
            ConflictAction::DoNothing => f.write_str(" DO NOTHING"),
            ConflictAction::DoUpdate { assignments, selection } => {
                write!(f, " DO UPDATE SET {}", List(assignments))?;
                filter(f, selection.as_ref(), None)
            }
        }
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::One { column, value } => write!(f, "{column} = {value}"),
            Self::Element { column, places, value } => {
                write!(f, "{column}")?;
                places.iter().try_for_each(|place| write!(f, "[{place}]"))?;
                write!(f, " = {value}")
            }
            Self::Row { columns, values } => write!(f, "({}) = ROW ({})", List(columns), List(values)),
            Self::Subquery { columns, query } => write!(f, "({}) = ({query})", List(columns)),
        }
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        with(f, self.with.as_ref())?;
        f.write_str("UPDATE ")?;
        target(f, &self.table, self.alias.as_ref())?;
        write!(f, " SET {}", List(&self.assignments))?;
        if !self.from.is_empty() {
            write!(f, " FROM {}", List(&self.from))?;
        }
        filter(f, self.selection.as_ref(), self.current_of.as_deref())?;
        returning(f, &self.returning)
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        with(f, self.with.as_ref())?;
        f.write_str("DELETE FROM ")?;
        target(f, &self.table, self.alias.as_ref())?;
        if !self.using.is_empty() {
            write!(f, " USING {}", List(&self.using))?;
        }
        filter(f, self.selection.as_ref(), self.current_of.as_deref())?;
        if !self.order_by.is_empty() {
            write!(f, " ORDER BY {}", List(&self.order_by))?;
        }
        if let Some(limit) = &self.limit {
            write!(f, " LIMIT {limit}")?;
        }
        returning(f, &self.returning)
    }
}

fn with(f: &mut Formatter<'_>, with: Option<&ast::With>) -> fmt::Result {
    with.map_or(Ok(()), |with| write!(f, "{with} "))
}

fn target(f: &mut Formatter<'_>, table: &ObjectName, alias: Option<&String>) -> fmt::Result {
    write!(f, "{table}")?;
    alias.map_or(Ok(()), |alias| write!(f, " AS {}", quote(alias)))
}

fn filter(f: &mut Formatter<'_>, selection: Option<&ast::Expr>, current_of: Option<&str>) -> fmt::Result {
    if let Some(cursor) = current_of {
        return write!(f, " WHERE CURRENT OF {}", quote(cursor));
    }
    selection.map_or(Ok(()), |selection| write!(f, " WHERE {selection}"))
}

fn returning(f: &mut Formatter<'_>, items: &[ast::SelectItem]) -> fmt::Result {
    if items.is_empty() { Ok(()) } else { write!(f, " RETURNING {}", List(items)) }
}

impl Display for LockingSelect {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.query)?;
        for RowLock { strength, of, wait } in &self.locks {
            write!(f, " {}", strength.words())?;
            if !of.is_empty() {
                let names: Vec<String> = of.iter().map(|name| quote(name)).collect();
                write!(f, " OF {}", names.join(", "))?;
            }
            f.write_str(match wait {
                RowLockWait::Block => "",
                RowLockWait::Skip => " SKIP LOCKED",
                RowLockWait::Fail => " NOWAIT",
            })?;
        }
        Ok(())
    }
}
