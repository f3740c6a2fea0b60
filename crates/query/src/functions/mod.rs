//! Functions that PostgreSQL has and the planner lacks, or has with another meaning. One list: [`all`].

mod array_text;
mod average;
mod cast;
mod checked;
mod date_format;
mod interval;
mod one_row;
mod or_empty;
mod session_constant;
mod simple;

pub(crate) use array_text::{array_text, is_list, read_array};
pub(crate) use average::average_of;
pub(crate) use cast::postgres_cast;
pub(crate) use checked::checked_arithmetic;
pub(crate) use date_format::translate_pattern;
pub(crate) use interval::{interval_text, interval_times, is_interval};
pub(crate) use one_row::one_row;
use session_constant::SessionConstant;
pub(crate) use session_constant::{session_constant, value_of as session_value};

use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// Every scalar function of ours; one of the planner's of the same name gives way.
pub(crate) fn all() -> Vec<Arc<ScalarUDF>> {
    let mut functions: Vec<ScalarUDF> = SessionConstant::ALL.iter().map(|kind| kind.function()).collect();
    functions.extend(simple::all());
    functions.extend(average::all());
    functions.extend(checked::all());
    functions.push(or_empty::function());
    functions.into_iter().map(Arc::new).collect()
}
