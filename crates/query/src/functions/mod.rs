//! Functions that PostgreSQL has and DataFusion lacks, or defines differently. One list: [`all`].

mod aggregate;
pub(crate) mod allowance;
mod any_type;
mod array;
mod cast;
mod catalog_text;
mod choice;
mod common;
mod datetime;
mod effects;
mod in_list;
mod json;
mod labelled;
mod number;
mod one_row;
mod operators;
mod pattern;
mod phoenix;
mod row_body;
mod row_count;
mod row_list;
mod rust;
mod session_constant;
mod short_name;
mod simple;
mod sleep;
mod sql;
mod text;

pub(crate) use aggregate::average::average_of;
pub(crate) use aggregate::by_row::ByRow;
pub(crate) use aggregate::counted::{array_agg, array_agg_of_window};
pub(crate) use aggregate::even_items::even_items;
pub(crate) use aggregate::extremes::extremes;
pub(crate) use aggregate::moving_frame::recomputed_per_row;
pub(crate) use aggregate::ntile::ntile;
pub(crate) use aggregate::regression::regressions;
pub(crate) use aggregate::spread::{Spread, square};
pub(crate) use aggregate::sum::postgres_sum;
pub(crate) use array::nested::{dimensions, even, flat, is_nested, nest_to_deepest, nest_to_dimensions};
pub(crate) use cast::{cast_in_zone, cast_target, postgres_cast, round_to_precision, utc_timestamp_target};
pub(crate) use catalog_text::{name_of_text, vector_text};
pub(crate) use choice::case_once;
pub(crate) use common::{coalesce, extreme};
pub(crate) use datetime::zone::Zone;
pub(crate) use effects::{acts, effects, is_coalesce, is_conditional, waits};
pub(crate) use in_list::in_list;
pub(crate) use json::JSON_ROW;
pub(crate) use labelled::{is_nullable, label_of, labelled, nullable, unequated};
pub(crate) use number::checked::{checked_arithmetic, checked_negative};
pub(crate) use one_row::one_row;
pub(crate) use operators::{interval_span, numeric_quotient};
pub(crate) use pattern::like::{matched as like_match, with_backslashes};
pub(crate) use pattern::regex::{
    operator_pattern as regex_pattern, searched as regex_search, similar as similar_pattern,
};
pub(crate) use pattern::{LIKE_ESCAPE, LIKE_OF_BYTES, SIMILAR_TO_ESCAPE};
pub use row_body::RowBody;
pub(crate) use row_count::row_count;
pub(crate) use row_list::{ListedRows, MAX_WIDTH, in_rows, item_of, rows_of, with_values};
pub use rust::{RustBody, RustFunction, RustFunctions};
pub(crate) use session_constant::{session_constant, session_date_time, session_setting, value_of as session_value};
pub(crate) use sql::call_of;

use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The function that wraps the count of FETCH FIRST … WITH TIES, under a name that no query can write.
pub(crate) const WITH_TIES: &str = "with ties";

/// The function that fails if its argument is true, for patterns that end with their escape character.
pub(crate) const PATTERN_ENDS: &str = "pattern ends";

/// Returns Bennu's scalar functions that plans find by name; they replace DataFusion's functions of the same name.
pub(crate) fn all() -> Vec<Arc<ScalarUDF>> {
    let mut functions = simple::all();
    functions.extend(aggregate::average::all());
    functions.extend(number::checked::all());
    functions.push(array::or_empty::function());
    functions.extend(sleep::all());
    functions.extend(json::all());
    functions.into_iter().map(Arc::new).collect()
}

/// Returns the function `name` among those that compute one value at a time.
pub(crate) fn function_named(name: &str) -> Option<&'static sql::Definition> {
    definitions().find(|definition| definition.name == name)
}

/// Returns the functions that compute one value at a time.
fn definitions() -> impl Iterator<Item = &'static sql::Definition> {
    let lists = [
        number::FUNCTIONS,
        text::FUNCTIONS,
        text::levenshtein::FUNCTIONS,
        any_type::FUNCTIONS,
        text::bytes::FUNCTIONS,
        pattern::regex::FUNCTIONS,
        pattern::like_lists::FUNCTIONS,
        pattern::FUNCTIONS,
        pattern::regex::lists::FUNCTIONS,
        datetime::FUNCTIONS,
        datetime::zone::FUNCTIONS,
        array::FUNCTIONS,
        array::quantifiers::FUNCTIONS,
        array::item_limits::FUNCTIONS,
        aggregate::sorted_values::FUNCTIONS,
        text::parse_ident::FUNCTIONS,
        phoenix::FUNCTIONS,
        aggregate::spread_of_values::FUNCTIONS,
    ];
    lists.into_iter().flatten().chain(operators::all())
}
