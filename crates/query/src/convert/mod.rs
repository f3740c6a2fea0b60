//! Conversions of values, expressions and rows; the name of each file tells the direction.

mod array_column;
pub mod arrow_type;
mod cell_sink;
mod column_builder;
pub(crate) mod expr_to_clause;
pub(crate) mod expr_to_condition;
pub(crate) mod expr_to_filter;
pub(crate) mod expr_to_ranges;
pub mod rows_to_arrow;
pub mod scalar;

pub(crate) use arrow_type::NUMERIC_PRECISION;
pub use arrow_type::{
    ORIGIN_KEY, TYPE_KEY, answer_schema, arrow_type, column_type_of, expression_field, field, origin_of, sql_type,
    sql_type_of, table_schema,
};
pub use rows_to_arrow::RowDecoder;
pub(crate) use scalar::datums_to_array;
pub use scalar::{batch_to_rows, datum_to_scalar, rows_to_batch, scalar_to_datum};
