//! Functions that have one value during a statement: `now()`, `current_user`, …
//!
//! DataFusion must not fold them to constants, or a cached plan would keep an old `now()`. In a plan, each of them is a
//! named parameter, which gets the statement's value when the plan runs.

use crate::QueryContext;
use crate::convert::arrow_type;
use crate::error::{QueryError, QueryResult};
use crate::functions::cast::cast_in_zone;
use crate::functions::datetime::zone::Zone;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, Operator};
use std::sync::Arc;
use types::DataType;

/// A function that has one value during a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SessionConstant {
    Now,
    StatementTimestamp,
    CurrentDate,
    CurrentTime,
    LocalTimestamp,
    CurrentUser,
    CurrentDatabase,
    CurrentSchema,
    Version,
}

impl SessionConstant {
    const ALL: [Self; 9] = [
        Self::Now,
        Self::StatementTimestamp,
        Self::CurrentDate,
        Self::CurrentTime,
        Self::LocalTimestamp,
        Self::CurrentUser,
        Self::CurrentDatabase,
        Self::CurrentSchema,
        Self::Version,
    ];

    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Now => &["now", "current_timestamp", "transaction_timestamp"],
            Self::StatementTimestamp => &["statement_timestamp", "clock_timestamp"],
            Self::CurrentDate => &["current_date", "today"],
            Self::CurrentTime => &["localtime", "current_time"],
            Self::LocalTimestamp => &["localtimestamp"],
            Self::CurrentUser => &["current_user", "session_user", "user", "current_role"],
            Self::CurrentDatabase => &["current_database", "current_catalog"],
            Self::CurrentSchema => &["current_schema"],
            Self::Version => &["version"],
        }
    }

    fn ty(self) -> DataType {
        match self {
            Self::Now | Self::StatementTimestamp => DataType::TimestampTz(None),
            Self::CurrentDate => DataType::Date,
            Self::CurrentTime => DataType::Time(None),
            Self::LocalTimestamp => DataType::Timestamp(None),
            _ => DataType::Text,
        }
    }

    /// Returns the name of the parameter.
    fn id(self) -> String {
        format!("${}", self.names().first().copied().unwrap_or_default())
    }

    /// Returns the parameter that represents the function in a plan.
    fn placeholder(self) -> Expr {
        let field: FieldRef = Arc::new(Field::new("", arrow_type(&self.ty()), true));
        Expr::Placeholder(Placeholder::new_with_field(self.id(), Some(field)))
    }

    fn value(self, cx: &QueryContext) -> ScalarValue {
        const DAY: i64 = 86_400_000_000;
        let local = cx.time_zone.local_of(cx.transaction_time).unwrap_or(cx.transaction_time);
        match self {
            Self::Now => ScalarValue::TimestampMicrosecond(Some(cx.transaction_time), Some("UTC".into())),
            Self::StatementTimestamp => ScalarValue::TimestampMicrosecond(Some(cx.statement_time), Some("UTC".into())),
            Self::CurrentDate => ScalarValue::Date32(i32::try_from(local.div_euclid(DAY)).ok()),
            Self::CurrentTime => ScalarValue::Time64Microsecond(Some(local.rem_euclid(DAY))),
            Self::LocalTimestamp => ScalarValue::TimestampMicrosecond(Some(local), None),
            Self::CurrentUser => ScalarValue::Utf8(Some(cx.user.clone())),
            Self::CurrentDatabase => ScalarValue::Utf8(Some(cx.database.clone())),
            Self::CurrentSchema => ScalarValue::Utf8(cx.current_schema()),
            Self::Version => ScalarValue::Utf8(Some(version())),
        }
    }
}

/// Returns the text of `version()`: clients parse the number after the first word.
fn version() -> String {
    format!("PostgreSQL 15.0 (Bennu {}) on {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)
}

/// Prefix of the name of a setting's parameter; with a question mark, an unknown setting is NULL.
const SETTING: &str = "$setting ";
const OPTIONAL_SETTING: &str = "$setting? ";

/// Returns the parameter for a call of `function`; `None` if the function is not one of these.
pub(crate) fn session_constant(function: &str) -> Option<Expr> {
    SessionConstant::ALL.iter().find(|kind| kind.names().contains(&function)).map(|kind| kind.placeholder())
}

/// Returns the parameter for `current_setting(name)`; with `or_null`, an unknown setting is NULL.
pub(crate) fn session_setting(name: &str, or_null: bool) -> Expr {
    let prefix = if or_null { OPTIONAL_SETTING } else { SETTING };
    let field: FieldRef = Arc::new(Field::new("", ArrowType::Utf8, true));
    Expr::Placeholder(Placeholder::new_with_field(format!("{prefix}{name}"), Some(field)))
}

/// Returns `'now'`, `'today'`, `'tomorrow'` or `'yesterday'` as a date or time; `None` for other texts and types.
pub(crate) fn session_date_time(text: &str, ty: &DataType, zone: Option<&Zone>) -> Option<Expr> {
    let word = text.trim().to_ascii_lowercase();
    let days = match word.as_str() {
        "now" => {
            let kind = match ty {
                DataType::Date => SessionConstant::CurrentDate,
                DataType::Time(_) => SessionConstant::CurrentTime,
                DataType::Timestamp(_) => SessionConstant::LocalTimestamp,
                DataType::TimestampTz(_) => SessionConstant::Now,
                _ => return None,
            };
            return Some(kind.placeholder());
        }
        "today" => 0,
        "tomorrow" => 1,
        "yesterday" => -1,
        _ => return None,
    };
    let cast = |value: Expr, ty: &DataType| Expr::Cast(Cast::new(Box::new(value), arrow_type(ty)));
    let midnight = cast(SessionConstant::CurrentDate.placeholder(), &DataType::Timestamp(None));
    let day = Expr::Literal(ScalarValue::new_interval_mdn(0, days, 0), None);
    let moved = Expr::BinaryExpr(BinaryExpr::new(Box::new(midnight), Operator::Plus, Box::new(day)));
    match ty {
        DataType::Timestamp(_) => Some(moved),
        DataType::Date => Some(cast(moved, ty)),
        DataType::TimestampTz(_) => Some(match zone {
            Some(zone) => cast_in_zone(moved, DataType::TimestampTz(None), zone),
            None => cast(moved, ty),
        }),
        _ => None,
    }
}

/// Returns the value of a parameter for a function or setting; `None` for other parameters.
///
/// # Errors
/// [`QueryError::NoSuchSetting`].
pub(crate) fn value_of(id: &str, cx: &QueryContext) -> QueryResult<Option<ScalarValue>> {
    if let Some(name) = id.strip_prefix(SETTING) {
        let value = cx.settings.get(name).ok_or_else(|| QueryError::NoSuchSetting { name: name.to_owned() })?;
        return Ok(Some(ScalarValue::Utf8(Some(value))));
    }
    if let Some(name) = id.strip_prefix(OPTIONAL_SETTING) {
        return Ok(Some(ScalarValue::Utf8(cx.settings.get(name))));
    }
    Ok(SessionConstant::ALL.iter().find(|kind| kind.id() == id).map(|kind| kind.value(cx)))
}
