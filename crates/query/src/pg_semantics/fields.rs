//! Fields of records: `(record).name`.

use super::adapt::Side;
use crate::error::{QueryResult, Refusal};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Expr, ExprSchemable};

/// The planner's name of a field. `ROW(…)` has `f1`, `f2` and so on.
///
/// # Errors
/// 42809 of what is no record, 42703 of a field that is not there.
pub(super) fn find(name: &str, record: &Expr, schema: &DFSchema) -> QueryResult<String> {
    let ArrowType::Struct(fields) = record.get_type(schema)? else {
        let ty = Side::of(record, schema).name();
        let message = format!("column notation .{name} applied to type {ty}, which is not a composite type");
        return Err(Refusal::NoRecord.because(message));
    };
    let known = |name: &str| fields.iter().any(|field| field.name() == name);
    if known(name) {
        return Ok(name.to_owned());
    }
    let place =
        name.strip_prefix('f').and_then(|place| place.parse::<usize>().ok()).and_then(|place| place.checked_sub(1));
    match place.map(|place| format!("c{place}")).filter(|own| known(own)) {
        Some(own) => Ok(own),
        None => {
            let message = format!("could not identify column \"{name}\" in record data type");
            Err(Refusal::NoSuchField.because(message))
        }
    }
}
