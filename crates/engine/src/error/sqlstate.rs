//! Chooses SQLSTATEs for the errors of other crates, with `crate_codes.rs`. The engine's own errors ([`Fault`]), and
//! those of the binder and of types, have their own. Every match is exhaustive, so that a new variant does not
//! compile until it has a code.

use super::crate_codes::{catalog_code, fragment_code, key_code, sql_code, store_code, txn_code};
use super::{EngineError, Fault, Report};
use builtins::{EvalError, Reason};
use catalog::{CatalogError, RowError};
use query::{QueryError, Refusal};
use rows::RowsError;
use sql::SqlError;
use store::StoreError;
use txn::TxnError;
use types::TypeError;

fn refusal_code(reason: Refusal) -> &'static str {
    match reason {
        Refusal::Argument => "22023",
        Refusal::Logarithm => "2201E",
        Refusal::Power => "2201F",
        Refusal::Buckets => "2201G",
        Refusal::Pattern => "2201B",
        Refusal::Escape | Refusal::EscapeString => "22025",
        Refusal::Substring => "22011",
        Refusal::Subscript | Refusal::Index => "2202E",
        Refusal::FrameOffset => "22013",
        Refusal::Ntile => "22014",
        Refusal::Columns => "54011",
        Refusal::Data => "22000",
        Refusal::NthValue => "22016",
        Refusal::Separators => "2200C",
        Refusal::Limit => "2201W",
        Refusal::Offset => "2201X",
        Refusal::DateTime => "22008",
        Refusal::DateTimeText => "22007",
        Refusal::ZoneDisplacement => "22009",
        Refusal::Range => "22003",
        Refusal::Text => "22P02",
        Refusal::Size => "54000",
        Refusal::Complexity => "54001",
        Refusal::Transaction => "25001",
        Refusal::Null => "22004",
        Refusal::Encoding => "22021",
        Refusal::FrameType => "0A000",
    }
}

fn query_code(error: &QueryError) -> &'static str {
    match error {
        QueryError::Stopped => "57014",
        QueryError::Refused { reason, .. } => refusal_code(*reason),
        QueryError::IntervalRange | QueryError::TimestampRange => "22008",
        QueryError::ParameterCount { .. } => "08P01",
        QueryError::Invalid { .. } => "42601",
        QueryError::Unsupported { .. } => "0A000",
        QueryError::DivisionByZero => "22012",
        QueryError::OutOfRange { .. } => "22003",
        QueryError::SubqueryRows => "21000",
        QueryError::NotPopulated { .. } => "55000",
        QueryError::NoSuchSetting { .. } => "42704",
        QueryError::BadArgument { .. } => "22023",
        QueryError::Type(error) => error.sqlstate(),
        QueryError::Eval(error) => eval_code(error),
        QueryError::Catalog(error) => catalog_code(error),
        QueryError::Row(error) => row_code(error),
        QueryError::Store(error) => store_code(error),
        QueryError::Resources { .. } => "53200",
        QueryError::SpillFull { .. } => "53100",
        QueryError::Function { code, .. } => code,
        QueryError::FunctionFailed { .. } => "38000",
        QueryError::Cancelled => "57014",
        QueryError::Internal { .. } => "XX000",
    }
}

fn row_code(error: &RowError) -> &'static str {
    match error {
        RowError::NullColumn { .. } => "23502",
        RowError::Key(error) => key_code(error),
        RowError::Fragment(error) => fragment_code(error),
        RowError::Type(error) => error.sqlstate(),
        RowError::Unsupported { .. } => "0A000",
        RowError::Corrupted { .. } => "XX001",
        RowError::Internal { .. } => "XX000",
    }
}

fn report(code: &'static str, message: String) -> Report {
    Report { code, message, ..Report::default() }
}

impl From<Fault> for EngineError {
    fn from(fault: Fault) -> Self {
        let mut report = report(fault.sqlstate(), fault.to_string());
        report.detail = fault.detail();
        report.hint = fault.hint();
        if let Fault::DuplicateKey { columns, values, .. } = &fault {
            report.duplicate = Some(format!("({columns})=({values})"));
        }
        match fault {
            // By this name drivers recognize that they must prepare the statement again.
            Fault::ResultTypeChanged => report.routine = Some("RevalidateCachedQuery"),
            Fault::DuplicateKey { schema, table, constraint, .. }
            | Fault::CheckFailed { schema, table, constraint, .. }
            | Fault::MixedNulls { schema, table, constraint }
            | Fault::DeferrableArbiter { schema, table, constraint }
            | Fault::CheckFailsRow { schema, table, constraint } => {
                (report.schema, report.table) = (Some(schema), Some(table));
                report.constraint = Some(constraint);
            }
            Fault::NoParent { broken } | Fault::HasChildren { broken } => {
                (report.schema, report.table) = (Some(broken.schema), Some(broken.table));
                report.constraint = Some(broken.constraint);
            }
            Fault::NotNull { schema, table, column, .. } | Fault::ContainsNulls { schema, table, column } => {
                (report.schema, report.table) = (Some(schema), Some(table));
                report.column = Some(column);
            }
            _ => {}
        }
        Self { report: Box::new(report) }
    }
}

impl From<TypeError> for EngineError {
    fn from(error: TypeError) -> Self {
        let mut report = report(error.sqlstate(), error.to_string());
        report.detail = error.detail();
        report.hint = error.hint().map(str::to_owned);
        Self { report: Box::new(report) }
    }
}

impl From<SqlError> for EngineError {
    fn from(error: SqlError) -> Self {
        let mut report = report(sql_code(&error), error.to_string());
        report.hint = error.hint();
        report.position = error.position().map(|position| position.character);
        Self { report: Box::new(report) }
    }
}

impl From<CatalogError> for EngineError {
    fn from(error: CatalogError) -> Self {
        let mut report = report(catalog_code(&error), error.to_string());
        if let CatalogError::DependentObjects { what, dependents } = &error {
            let lines: Vec<String> = dependents.iter().map(|object| format!("{object} depends on {what}")).collect();
            report.detail = Some(lines.join("\n"));
            report.hint = Some("Use DROP ... CASCADE to drop the dependent objects too.".to_string());
        }
        if let CatalogError::KeyColumn { what, key } = &error {
            report.detail = Some(format!("constraint {key} depends on {what}"));
            report.hint = Some(format!("Drop the key before it: ALTER TABLE … DROP CONSTRAINT {key}."));
        }
        if let CatalogError::AlteredColumnUsed { detail, .. } = &error {
            report.detail = Some(detail.clone());
        }
        if let CatalogError::IncompatibleKeys { column, parent_column, ty, parent_ty, .. } = &error {
            report.detail = Some(format!(
                "Key columns \"{column}\" and \"{parent_column}\" are of incompatible types: {ty} and {parent_ty}."
            ));
        }
        if let CatalogError::RequiredBy { by, .. } = &error {
            report.hint = Some(format!("You can drop {by} instead."));
        }
        Self { report: Box::new(report) }
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        let mut report = report(store_code(&error), error.to_string());
        match error {
            StoreError::ConditionFailed { table, key } | StoreError::DuplicateKey { table, key } => {
                report.conflict = Some((table, key));
            }
            StoreError::Locked { .. } => {
                report.hint = Some("If that is a server, connect to it with psql, or stop it first.".to_string());
            }
            _ => {}
        }
        Self { report: Box::new(report) }
    }
}

impl From<QueryError> for EngineError {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Type(error) => error.into(),
            QueryError::Row(error) => error.into(),
            error => {
                let mut report = report(query_code(&error), error.to_string());
                report.hint = error.hint();
                Self { report: Box::new(report) }
            }
        }
    }
}

impl From<RowError> for EngineError {
    fn from(error: catalog::RowError) -> Self {
        if let RowError::Type(error) = error {
            return error.into();
        }
        let mut report = report(row_code(&error), error.to_string());
        if let RowError::NullColumn { table, column } = error {
            (report.table, report.column) = (Some(table), Some(column));
        }
        Self { report: Box::new(report) }
    }
}

impl From<index::IndexError> for EngineError {
    fn from(error: index::IndexError) -> Self {
        match error {
            index::IndexError::Row(error) => error.into(),
            // The engine evaluates the expressions of indexes, so the error is its own.
            index::IndexError::Expr(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Fault::Internal { detail: error.to_string() }.into(),
            },
        }
    }
}

fn eval_code(error: &EvalError) -> &'static str {
    match error {
        EvalError::Stopped => "57014",
        EvalError::DivisionByZero => "22012",
        EvalError::OutOfRange { .. } | EvalError::Refused { reason: Reason::Range, .. } => "22003",
        EvalError::Refused { reason: Reason::Argument, .. } => "22023",
        EvalError::Refused { reason: Reason::DateTime, .. } => "22008",
        EvalError::Refused { reason: Reason::Escape | Reason::EscapeString, .. } => "22025",
        EvalError::Refused { reason: Reason::Substring, .. } => "22011",
        EvalError::Refused { reason: Reason::NoSuchObject, .. } => "42704",
        EvalError::Refused { reason: Reason::NoSuchDatabase, .. } => "3D000",
        EvalError::Refused { reason: Reason::NoSuchFunction, .. } => "42883",
        EvalError::Refused { reason: Reason::AmbiguousFunction, .. } => "42725",
        EvalError::Refused { reason: Reason::Signature, .. } => "22P02",
        EvalError::Refused { reason: Reason::WrongObject, .. } => "42809",
        EvalError::Refused { reason: Reason::WrongState, .. } => "55000",
        EvalError::Type(error) => error.sqlstate(),
        EvalError::Internal { .. } | EvalError::Outside(_) => "XX000",
    }
}

impl From<EvalError> for EngineError {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Type(error) => error.into(),
            EvalError::Outside(error) => match error.downcast_ref::<QueryError>() {
                Some(error) => error.clone().into(),
                None => Self { report: Box::new(report("XX000", error.to_string())) },
            },
            error => Self { report: Box::new(report(eval_code(&error), error.to_string())) },
        }
    }
}

impl From<RowsError> for EngineError {
    fn from(error: RowsError) -> Self {
        let code = match error {
            RowsError::Eval(error) => return error.into(),
            RowsError::Row(error) => return error.into(),
            RowsError::Store(error) => return error.into(),
            RowsError::MoreThanOneRow => "21000",
            RowsError::NegativeLimit => "2201W",
            RowsError::NegativeOffset => "2201X",
            RowsError::OverBudget => "XX000",
        };
        Self { report: Box::new(report(code, error.to_string())) }
    }
}

impl From<TxnError> for EngineError {
    fn from(error: TxnError) -> Self {
        if let TxnError::Store(error) = error {
            return error.into();
        }
        let mut report = report(txn_code(&error), error.to_string());
        if let TxnError::Deadlock { circle } = &error {
            let waits: Vec<String> = circle.iter().map(|txn| txn.0.to_string()).collect();
            report.detail = Some(format!("Transactions that wait for each other: {}.", waits.join(", ")));
            report.hint = Some("Run the transaction again.".to_string());
        }
        if let TxnError::Spill { .. } = &error {
            report.hint = Some("Make room there, or choose another folder with the setting spill_dir.".to_string());
        }
        Self { report: Box::new(report) }
    }
}
