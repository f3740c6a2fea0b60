//! INSERT, UPDATE, DELETE as text.

use super::{List, Printed, quote};
use crate::sql::*;
use std::fmt::{self, Display, Formatter};

impl Display for Printed<'_, Insert> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(with) = &self.0.with {
            write!(f, "{with} ")?;
        }
        write!(f, "{} INTO {}", if self.0.upsert { "UPSERT" } else { "INSERT" }, self.0.table)?;
        if let Some(alias) = &self.0.alias {
            write!(f, " AS {}", quote(alias))?;
        }
        if let Some(columns) = &self.0.columns {
            write!(f, " ({})", List(columns))?;
        }
        match self.0.overriding {
            Some(Overriding::System) => f.write_str(" OVERRIDING SYSTEM VALUE")?,
            Some(Overriding::User) => f.write_str(" OVERRIDING USER VALUE")?,
            None => {}
        }
        match &self.0.source {
            InsertSource::Values(rows) => {
                f.write_str(" VALUES ")?;
                for (at, row) in rows.iter().enumerate() {
                    write!(f, "{}({})", if at > 0 { ", " } else { "" }, List(row))?;
                }
            }
            InsertSource::Query(query) => write!(f, " {query}")?,
            InsertSource::DefaultValues => f.write_str(" DEFAULT VALUES")?,
        }
        if let Some(conflict) = &self.0.on_conflict {
            write!(f, " {}", Printed(conflict))?;
        }
        match &self.0.on_duplicate {
            Some(OnDuplicate::Ignore) => f.write_str(" ON DUPLICATE KEY IGNORE")?,
            Some(OnDuplicate::Update(assignments)) => write!(f, " ON DUPLICATE KEY UPDATE {}", List(assignments))?,
            None => {}
        }
        returning(f, &self.0.returning)
    }
}

impl Display for Printed<'_, InsertValue> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            InsertValue::Default => f.write_str("DEFAULT"),
            InsertValue::Expr(expr) => write!(f, "{expr}"),
        }
    }
}

impl Display for Printed<'_, Conflict> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("ON CONFLICT")?;
        match &self.0.target {
            Some(ConflictTarget::Columns { names, exprs, predicate }) => {
                let names = names.iter().map(|name| quote(name).to_string());
                let exprs = exprs.iter().map(|expr| format!("({expr})"));
                write!(f, " ({})", names.chain(exprs).collect::<Vec<_>>().join(", "))?;
                filter(f, predicate.as_ref(), None)?;
            }
            Some(ConflictTarget::Constraint(name)) => write!(f, " ON CONSTRAINT {}", quote(name))?,
            None => {}
        }
        match &self.0.action {
            ConflictAction::DoNothing => f.write_str(" DO NOTHING"),
            ConflictAction::DoUpdate { assignments, selection } => {
                write!(f, " DO UPDATE SET {}", List(assignments))?;
                filter(f, selection.as_ref(), None)
            }
        }
    }
}

impl Display for Printed<'_, Assignment> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Assignment::One { column, value } => write!(f, "{column} = {}", Printed(value)),
            Assignment::Element { column, places, value } => {
                write!(f, "{column}")?;
                places.iter().try_for_each(|place| write!(f, "[{place}]"))?;
                write!(f, " = {}", Printed(value))
            }
            Assignment::Row { columns, values } => write!(f, "({}) = ROW ({})", List(columns), List(values)),
            Assignment::Subquery { columns, query } => write!(f, "({}) = ({query})", List(columns)),
        }
    }
}

impl Display for Printed<'_, Update> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        with(f, self.0.with.as_ref())?;
        f.write_str("UPDATE ")?;
        target(f, &self.0.table, self.0.alias.as_ref())?;
        write!(f, " SET {}", List(&self.0.assignments))?;
        if !self.0.from.is_empty() {
            write!(f, " FROM {}", List(&self.0.from))?;
        }
        filter(f, self.0.selection.as_ref(), self.0.current_of.as_deref())?;
        returning(f, &self.0.returning)
    }
}

impl Display for Printed<'_, Delete> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        with(f, self.0.with.as_ref())?;
        f.write_str("DELETE FROM ")?;
        target(f, &self.0.table, self.0.alias.as_ref())?;
        if !self.0.using.is_empty() {
            write!(f, " USING {}", List(&self.0.using))?;
        }
        filter(f, self.0.selection.as_ref(), self.0.current_of.as_deref())?;
        if !self.0.order_by.is_empty() {
            write!(f, " ORDER BY {}", List(&self.0.order_by))?;
        }
        if let Some(limit) = &self.0.limit {
            write!(f, " LIMIT {limit}")?;
        }
        returning(f, &self.0.returning)
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

impl Display for Printed<'_, LockingSelect> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.query)?;
        for RowLock { strength, of, wait } in &self.0.locks {
            write!(f, " {}", strength.words())?;
            if !of.is_empty() {
                let names: Vec<String> = of.iter().map(|name| quote(&name.value)).collect();
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
