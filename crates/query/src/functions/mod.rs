//! Functions that PostgreSQL has and DataFusion lacks, or has with another meaning. One list: [`all`].

mod afresh;
pub(crate) mod allowance;
mod any_type;
mod array;
mod array_operators;
mod array_types;
mod average;
mod by_row;
mod bytes;
mod cast;
mod catalog_text;
mod checked;
mod clocks;
mod common;
mod counted;
mod date_fields;
mod date_pattern;
mod datetime;
mod even_items;
mod extremes;
mod fold;
mod format_date;
mod format_number;
mod format_text;
mod in_list;
mod interval_extremes;
mod item_limits;
mod json;
mod labelled;
mod levenshtein;
mod like;
mod like_lists;
mod long_decimal;
mod math;
mod nested_array;
mod number_template;
mod numeric;
mod of_own;
mod one_row;
mod operators;
mod or_empty;
mod parse_ident;
mod patterns;
mod phoenix;
mod quantifiers;
mod read_date;
mod regex;
mod regression;
mod row_body;
mod row_count;
mod row_list;
mod rust;
mod series;
mod session_constant;
mod short_name;
mod simple;
mod sleep;
mod sorted_values;
mod spread;
mod spread_of_values;
mod sql;
mod sum;
mod text;
mod text_parts;
mod zone;

pub(crate) use afresh::afresh;
pub(crate) use average::average_of;
pub(crate) use by_row::ByRow;
pub(crate) use cast::{cast_in_zone, cast_target, in_digits, postgres_cast};
pub(crate) use catalog_text::{name_of_text, vector_text};
pub(crate) use checked::{checked_arithmetic, checked_negative};
pub(crate) use common::{coalesce, extreme};
pub(crate) use counted::array_agg;
pub(crate) use even_items::even_items;
pub(crate) use extremes::extremes;
pub(crate) use in_list::in_list;
pub(crate) use json::JSON_ROW;
pub(crate) use labelled::{is_nullable, label_of, labelled, nullable};
pub(crate) use like::{matched as like_match, with_backslashes};
pub(crate) use nested_array::{as_deep, dimensions, even, flat, in_dimensions, is_nested};
pub(crate) use one_row::one_row;
pub(crate) use operators::{interval_span, numeric_quotient};
pub(crate) use patterns::{LIKE_ESCAPE, LIKE_OF_BYTES, SIMILAR_TO_ESCAPE};
pub(crate) use regex::{operator_pattern as regex_pattern, searched as regex_search, similar as similar_pattern};
pub(crate) use regression::regressions;
pub use row_body::RowBody;
pub(crate) use row_count::row_count;
pub(crate) use row_list::{ListedRows, MAX_WIDTH, in_rows, item_of, rows_of, with_values};
pub use rust::{RustBody, RustFunction, RustFunctions};
pub(crate) use session_constant::{session_constant, session_moment, session_setting, value_of as session_value};
pub(crate) use spread::{Spread, square};
pub(crate) use sql::call_of;
pub(crate) use sum::own_sum;
pub(crate) use zone::Zone;

use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The function round the count of FETCH FIRST … WITH TIES, which no query can write.
pub(crate) const WITH_TIES: &str = "with ties";

/// The function that refuses to be true, for patterns that end with their escape.
pub(crate) const PATTERN_ENDS: &str = "pattern ends";

/// Scalar functions of ours that plans find by their names; one of DataFusion's of the same name gives way.
pub(crate) fn all() -> Vec<Arc<ScalarUDF>> {
    let mut functions = simple::all();
    functions.extend(average::all());
    functions.extend(checked::all());
    functions.push(or_empty::function());
    functions.extend(sleep::all());
    functions.extend(json::all());
    functions.into_iter().map(Arc::new).collect()
}

/// One of those written value by value.
pub(crate) fn function_named(name: &str) -> Option<&'static sql::Definition> {
    definitions().find(|definition| definition.name == name)
}

/// Those written value by value.
fn definitions() -> impl Iterator<Item = &'static sql::Definition> {
    let lists = [
        math::FUNCTIONS,
        text::FUNCTIONS,
        levenshtein::FUNCTIONS,
        any_type::FUNCTIONS,
        bytes::FUNCTIONS,
        regex::FUNCTIONS,
        like_lists::FUNCTIONS,
        patterns::FUNCTIONS,
        regex::lists::FUNCTIONS,
        datetime::FUNCTIONS,
        zone::FUNCTIONS,
        array::FUNCTIONS,
        quantifiers::FUNCTIONS,
        item_limits::FUNCTIONS,
        sorted_values::FUNCTIONS,
        parse_ident::FUNCTIONS,
        phoenix::FUNCTIONS,
        spread_of_values::FUNCTIONS,
    ];
    lists.into_iter().flatten().chain(operators::all())
}
