//! Statements on the session as text.

use super::{List, Printed, literal, names, quote, when};
use crate::sql::*;
use std::fmt::{self, Display, Formatter};

/// Prints statements on settings, transactions, prepared statements and maintenance.
pub(super) fn write(statement: &Statement, f: &mut Formatter<'_>) -> fmt::Result {
    match statement {
        Statement::Set { name, value, local } => {
            write!(f, "SET {}{} TO {}", when(*local, "LOCAL "), setting(name), Printed(value))
        }
        Statement::SetConstraints { names, deferred } => {
            let when = if *deferred { "DEFERRED" } else { "IMMEDIATE" };
            match names.as_slice() {
                [] => write!(f, "SET CONSTRAINTS ALL {when}"),
                names => write!(f, "SET CONSTRAINTS {} {when}", List(names)),
            }
        }
        Statement::SetTransaction { modes, session } => {
            write!(f, "SET {}TRANSACTION{}", when(*session, "SESSION CHARACTERISTICS AS "), Printed(modes))
        }
        Statement::SetTransactionSnapshot(id) => write!(f, "SET TRANSACTION SNAPSHOT {}", literal(id)),
        Statement::Show(name) => write!(f, "SHOW {}", setting_or_all(name.as_deref())),
        Statement::ShowJobs => f.write_str("SHOW JOBS"),
        Statement::ControlJob(ControlJob { action, id }) => {
            let action = match action {
                JobAction::Pause => "PAUSE",
                JobAction::Resume => "RESUME",
                JobAction::Cancel => "CANCEL",
            };
            write!(f, "{action} JOB {id}")
        }
        Statement::Reset(name) => write!(f, "RESET {}", setting_or_all(name.as_deref())),
        Statement::Begin(modes) => write!(f, "BEGIN{}", Printed(modes)),
        Statement::Commit { chain } => write!(f, "COMMIT{}", when(*chain, " AND CHAIN")),
        Statement::Rollback { chain } => write!(f, "ROLLBACK{}", when(*chain, " AND CHAIN")),
        Statement::Savepoint(name) => write!(f, "SAVEPOINT {}", quote(name)),
        Statement::Release(name) => write!(f, "RELEASE SAVEPOINT {}", quote(name)),
        Statement::RollbackTo(name) => write!(f, "ROLLBACK TO SAVEPOINT {}", quote(name)),
        Statement::Lock(it) => {
            let (_, words) = TableLockMode::ALL.into_iter().find(|(mode, _)| *mode == it.mode).ok_or(fmt::Error)?;
            write!(f, "LOCK TABLE {} IN {} MODE{}", List(&it.names), words.join(" "), when(it.no_wait, " NOWAIT"))
        }
        Statement::DeclareCursor(it) => write!(f, "DECLARE {} CURSOR FOR {}", quote(&it.name), it.text),
        Statement::Fetch(it) => {
            f.write_str(if it.moves { "MOVE" } else { "FETCH" })?;
            match it.count {
                Some(count) => write!(f, " FORWARD {count}")?,
                None => f.write_str(" FORWARD ALL")?,
            }
            write!(f, " FROM {}", quote(&it.name))
        }
        Statement::CloseCursor(name) => write!(f, "CLOSE {}", quote(name)),
        Statement::Prepare { name, types, statement: _, text } => {
            write!(f, "PREPARE {}", quote(name))?;
            if !types.is_empty() {
                let types: Vec<String> = types.iter().map(types::DataType::sql_name).collect();
                write!(f, " ({})", List(&types))?;
            }
            write!(f, " AS {text}")
        }
        Statement::Execute { name, arguments } => {
            write!(f, "EXECUTE {}", quote(name))?;
            if arguments.is_empty() { Ok(()) } else { write!(f, " ({})", List(arguments)) }
        }
        Statement::Deallocate(Some(name)) => write!(f, "DEALLOCATE {}", quote(name)),
        Statement::Deallocate(None) => f.write_str("DEALLOCATE ALL"),
        Statement::Discard(what) => Printed(what).fmt(f),
        Statement::Analyze { tables, verbose } => {
            write!(f, "ANALYZE{}", when(*verbose, " VERBOSE"))?;
            let tables: Vec<String> = tables.iter().map(analyzed).collect();
            if tables.is_empty() { Ok(()) } else { write!(f, " {}", List(&tables)) }
        }
        Statement::UpdateStatistics(update) => {
            let of = match update.of {
                StatisticsOf::All => " ALL",
                StatisticsOf::Indexes => " INDEX",
                StatisticsOf::Columns => " COLUMNS",
            };
            write!(f, "UPDATE STATISTICS {}{of}", update.table)?;
            let properties = update.properties.iter().map(|(name, value)| format!("{} = {value}", quote(name)));
            let properties: Vec<String> = properties.collect();
            if properties.is_empty() { Ok(()) } else { write!(f, " SET {}", List(&properties)) }
        }
        Statement::Vacuum { tables, options } => {
            let VacuumOptions { full, analyze, verbose } = *options;
            let words = [when(full, " FULL"), when(verbose, " VERBOSE"), when(analyze, " ANALYZE")];
            write!(f, "VACUUM{}", words.concat())?;
            if tables.is_empty() { Ok(()) } else { write!(f, " {}", List(tables)) }
        }
        _ => Err(fmt::Error),
    }
}

fn analyzed((table, columns): &(ObjectName, Vec<String>)) -> String {
    if columns.is_empty() { table.to_string() } else { format!("{table} {}", names(columns)) }
}

fn setting(name: &str) -> String {
    let parts: Vec<String> = name.split('.').map(quote).collect();
    parts.join(".")
}

fn setting_or_all(name: Option<&str>) -> String {
    name.map_or_else(|| "ALL".to_owned(), setting)
}

impl Display for Printed<'_, SettingValue> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            SettingValue::Default => f.write_str("DEFAULT"),
            SettingValue::Values(values) => {
                let values: Vec<String> = values.iter().map(|value| literal(value)).collect();
                write!(f, "{}", List(&values))
            }
        }
    }
}

/// Prints the modes, each with a blank in front, since they follow a word.
impl Display for Printed<'_, TransactionModes> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(isolation) = self.0.isolation {
            write!(f, " ISOLATION LEVEL {}", Printed(&isolation))?;
        }
        if let Some(read_only) = self.0.read_only {
            f.write_str(if read_only { " READ ONLY" } else { " READ WRITE" })?;
        }
        if let Some(deferrable) = self.0.deferrable {
            f.write_str(if deferrable { " DEFERRABLE" } else { " NOT DEFERRABLE" })?;
        }
        Ok(())
    }
}

impl Display for Printed<'_, Isolation> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        })
    }
}

impl Display for Printed<'_, Discard> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Discard::All => "DISCARD ALL",
            Discard::Plans => "DISCARD PLANS",
            Discard::Sequences => "DISCARD SEQUENCES",
            Discard::Temp => "DISCARD TEMP",
            Discard::Cursors => "CLOSE ALL",
            Discard::Channels => "UNLISTEN *",
        })
    }
}

impl Display for Printed<'_, Explain> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut options: Vec<&str> = Vec::new();
        options.extend(self.0.analyze.then_some("ANALYZE"));
        options.extend(self.0.verbose.then_some("VERBOSE"));
        options.extend(self.0.costs.map(|on| if on { "COSTS ON" } else { "COSTS OFF" }));
        options.extend((!self.0.timing).then_some("TIMING OFF"));
        options.extend(self.0.summary.map(|on| if on { "SUMMARY ON" } else { "SUMMARY OFF" }));
        options.extend(match self.0.format {
            ExplainFormat::Text => None,
            ExplainFormat::Json => Some("FORMAT JSON"),
            ExplainFormat::Xml => Some("FORMAT XML"),
            ExplainFormat::Yaml => Some("FORMAT YAML"),
        });
        f.write_str("EXPLAIN ")?;
        if !options.is_empty() {
            write!(f, "({}) ", List(&options))?;
        }
        Printed(self.0.statement.as_ref()).fmt(f)
    }
}
