//! Text of the statements that write or lock rows.

use super::display::list;
use super::{Assignments, Insert, InsertSource, LockedRows, NewValue, OnConflict, Scalar, TargetRow, Update};
use std::fmt::{self, Display, Formatter};

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "insert into {} columns {:?}", self.target.table.name, self.columns)?;
        match &self.source {
            InsertSource::Rows(rows) => {
                for row in rows {
                    let row: Vec<String> = row.iter().map(value).collect();
                    writeln!(f, "row {}", row.join(", "))?;
                }
            }
            InsertSource::Query(query) => write!(f, "{query}")?,
        }
        if !self.defaults.is_empty() {
            writeln!(f, "defaults {}", assigned(&self.defaults))?;
        }
        match &self.action {
            OnConflict::Refuse => {}
            OnConflict::Update { set, filter, once } => {
                let (old, excluded) = (row(&self.target.old), row(&self.target.excluded));
                writeln!(
                    f,
                    "on conflict update {} where {} old {old} excluded {excluded} once {once}",
                    assigned(set),
                    list(filter)
                )?;
            }
            other => writeln!(f, "on conflict {other:?}")?,
        }
        returning(f, &self.returning, &self.target.written)
    }
}

impl Display for LockedRows {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.query)?;
        for table in &self.tables {
            let key: Vec<String> = table.key.iter().map(ToString::to_string).collect();
            writeln!(f, "{} {} key {}", table.strength.words(), table.table.name, key.join(", "))?;
        }
        let bound = |bound: &Option<Scalar>| bound.iter().map(ToString::to_string).collect::<String>();
        writeln!(f, "limit {} offset {} own {}", bound(&self.limit), bound(&self.offset), self.own)
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let key: Vec<String> = self.key.iter().map(ToString::to_string).collect();
        let own = if self.own.is_some() { " alone" } else { "" };
        writeln!(f, "change {} by {}{own}", self.target.table.name, key.join(", "))?;
        if !self.set.is_empty() {
            writeln!(f, "set {}", assigned(&self.set))?;
        }
        write!(f, "{}", self.source.rel)?;
        returning(f, &self.returning, &self.target.written)
    }
}

fn returning(f: &mut Formatter<'_>, outputs: &[(String, Scalar)], written: &TargetRow) -> fmt::Result {
    if outputs.is_empty() {
        return Ok(());
    }
    let outputs: Vec<String> = outputs.iter().map(|(name, value)| format!("{value} {name}")).collect();
    writeln!(f, "returning {} of {}", outputs.join(", "), row(written))
}

fn row(row: &TargetRow) -> String {
    let cols: Vec<String> = row.cols.iter().map(|(at, col)| format!("{at}: {col}")).collect();
    format!("[{}]", cols.join(", "))
}

fn assigned(set: &Assignments) -> String {
    let set: Vec<String> = set.iter().map(|(at, new)| format!("{at} = {}", value(new))).collect();
    set.join(", ")
}

fn value(new: &NewValue) -> String {
    match new {
        NewValue::Expr(value) => value.to_string(),
        NewValue::Default => "default".to_owned(),
        NewValue::NextOf(sequence) => format!("next of {}", sequence.0),
        NewValue::Elements(changes) => {
            let change = |change: &super::ElementChange| format!("[{}] = {}", list(&change.places), change.value);
            changes.iter().map(change).collect::<Vec<_>>().join("; ")
        }
    }
}
