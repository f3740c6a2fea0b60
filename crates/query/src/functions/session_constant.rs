//! Functions that have one value for a whole statement: `now()`, `current_user`, …
//!
//! DataFusion must not compute them, or a kept plan would have yesterday's `now()`. So in a plan each of them is a
//! parameter with a name; running the plan gives it the statement's value.

use crate::QueryContext;
use crate::convert::arrow_type;
use crate::error::{QueryError, QueryResult};
use arrow::array::timezone::Tz;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use chrono::{DateTime, Utc};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{Placeholder, ScalarFunction};
use datafusion::logical_expr::{
    BinaryExpr, Cast, ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::str::FromStr;
use std::sync::Arc;
use types::DataType;

/// Which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SessionConstant {
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
    pub(crate) const ALL: [Self; 9] = [
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

    /// The function under all its names.
    pub(crate) fn function(self) -> ScalarUDF {
        let aliases = self.names().iter().skip(1).map(|name| (*name).to_owned()).collect();
        let signature = Signature::nullary(Volatility::Stable);
        ScalarUDF::new_from_impl(SessionFunction { kind: self, aliases, signature })
    }

    /// The name of its parameter.
    fn id(self) -> String {
        format!("${}", self.names().first().copied().unwrap_or_default())
    }

    /// The parameter that stands for it in a plan.
    fn placeholder(self) -> Expr {
        let field: FieldRef = Arc::new(Field::new("", arrow_type(&self.ty()), true));
        Expr::Placeholder(Placeholder::new_with_field(self.id(), Some(field)))
    }

    fn value(self, cx: &QueryContext) -> ScalarValue {
        const DAY: i64 = 86_400_000_000;
        let local = cx.transaction_time.saturating_add(zone_offset(&cx.time_zone, cx.transaction_time));
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

/// What `version()` says: clients read the number behind the first word.
fn version() -> String {
    format!("PostgreSQL 15.0 (Bennu {}) on {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)
}

/// Microseconds that a zone is ahead of UTC at that moment; 0 for names that are not known.
fn zone_offset(zone: &str, at: i64) -> i64 {
    let (Ok(zone), Some(moment)) = (Tz::from_str(zone), DateTime::<Utc>::from_timestamp_micros(at)) else { return 0 };
    moment.with_timezone(&zone).naive_local().and_utc().timestamp_micros() - at
}

/// In front of a setting's name in the name of its parameter; with a question mark it may be absent.
const SETTING: &str = "$setting ";
const OPTIONAL_SETTING: &str = "$setting? ";

/// The parameter for a call of one of these functions.
///
/// # Errors
/// [`QueryError::Unsupported`] for `current_setting` of a name that is not constant.
pub(crate) fn session_constant(call: &ScalarFunction) -> QueryResult<Option<Expr>> {
    if let Some(function) = call.func.inner().downcast_ref::<SessionFunction>() {
        return Ok(Some(function.kind.placeholder()));
    }
    if call.func.name() != "current_setting" {
        return Ok(None);
    }
    let prefix = match call.args.get(1) {
        Some(Expr::Literal(ScalarValue::Boolean(Some(true)), _)) => OPTIONAL_SETTING,
        _ => SETTING,
    };
    let Some(Expr::Literal(ScalarValue::Utf8(Some(name)), _)) = call.args.first() else {
        return Err(QueryError::Unsupported { feature: "current_setting() of a name that varies".to_owned() });
    };
    let field: FieldRef = Arc::new(Field::new("", ArrowType::Utf8, true));
    Ok(Some(Expr::Placeholder(Placeholder::new_with_field(format!("{prefix}{name}"), Some(field)))))
}

/// What `'now'`, `'today'`, `'tomorrow'` and `'yesterday'` are as a date or time; `None` for other texts and types.
pub(crate) fn session_moment(text: &str, ty: &DataType) -> Option<Expr> {
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
        DataType::Date | DataType::TimestampTz(_) => Some(cast(moved, ty)),
        _ => None,
    }
}

/// The value of a parameter that stands for one of these functions.
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

#[derive(Debug, PartialEq, Eq, Hash)]
struct SessionFunction {
    kind: SessionConstant,
    aliases: Vec<String>,
    signature: Signature,
}

impl ScalarUDFImpl for SessionFunction {
    fn name(&self) -> &str {
        self.kind.names().first().copied().unwrap_or_default()
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(arrow_type(&self.kind.ty()))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(QueryError::internal(format!("{}() was not given a value", self.name())).into())
    }
}
