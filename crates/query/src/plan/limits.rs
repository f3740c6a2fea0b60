//! LIMIT and OFFSET as the bigints that they are: `LIMIT 1.5` is rounded, `LIMIT '3'` read; and the rows of FETCH FIRST …
//! WITH TIES as a LIMIT that says so.

use super::rewrite::call;
use crate::error::{QueryError, QueryResult};
use crate::functions::WITH_TIES;
use sql::ast::{Expr, LimitClause, Query, Value};
use types::{DataType, Datum, coerce, text};

/// Settles the constants of a query's LIMIT and OFFSET.
///
/// # Errors
/// 22P02 for text that is no number, 22003 for a number that is no bigint.
pub(super) fn settle(query: &mut Query) -> QueryResult<()> {
    let ties = query.fetch.as_ref().is_some_and(|fetch| fetch.with_ties);
    if let Some(fetch) = query.fetch.take_if(|_| ties) {
        let quantity = fetch.quantity.unwrap_or_else(|| Expr::value(Value::Number("1".to_owned(), false)));
        let offset = match query.limit_clause.take() {
            Some(LimitClause::LimitOffset { offset, .. }) => offset,
            _ => None,
        };
        let limit = Some(quantity);
        query.limit_clause = Some(LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() });
    }
    settle_counts(query)?;
    if let (true, Some(LimitClause::LimitOffset { limit: Some(limit), .. })) = (ties, &mut query.limit_clause) {
        let rows = std::mem::replace(limit, Expr::value(Value::Null));
        *limit = call(WITH_TIES, vec![rows]);
    }
    Ok(())
}

fn settle_counts(query: &mut Query) -> QueryResult<()> {
    let Some(LimitClause::LimitOffset { limit, offset, .. }) = &mut query.limit_clause else { return Ok(()) };
    let offset = offset.as_mut().map(|offset| &mut offset.value);
    limit.iter_mut().chain(offset).try_for_each(settle_count)
}

fn settle_count(count: &mut Expr) -> QueryResult<()> {
    let Expr::Value(value) = count else { return Ok(()) };
    let read = match &value.value {
        Value::SingleQuotedString(quoted) => text::parse(&DataType::BigInt, quoted)?,
        Value::Number(number, _) if !number.bytes().all(|byte| byte.is_ascii_digit()) || number.len() > 18 => {
            let exact = text::parse(&DataType::Numeric(None), number)?;
            coerce::cast(&DataType::BigInt, exact)?
        }
        Value::Boolean(_) => {
            let message = "argument of LIMIT must be type bigint, not type boolean".to_owned();
            return Err(QueryError::TypeMismatch { message });
        }
        _ => return Ok(()),
    };
    if let Datum::Int8(rows) = read {
        value.value = Value::Number(rows.to_string(), false);
    }
    Ok(())
}
