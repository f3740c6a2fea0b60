//! Parameters whose values a plan depends on: multidimensional arrays, and offsets of window frames.
//!
//! In SQL the number of dimensions is not part of an array type, in DataFusion it is: a plan for `text[]` expects
//! lists of text and would misread a list of lists. So a statement with such a parameter is planned for these values,
//! with all parameters replaced by constants.

use crate::error::EngineResult;
use crate::statement::Source;
use sql::ast::Expr;
use std::sync::Arc;
use types::{DataType, Datum, text};

/// The statement to run instead of one planned for one-dimensional arrays; `None` if the plan fits.
pub(crate) fn with_constant_parameters(
    source: &Source,
    types: &[DataType],
    params: &[Datum],
) -> EngineResult<Option<Arc<Source>>> {
    if types.len() != params.len() || !params.iter().any(has_several_dimensions) {
        return Ok(None);
    }
    with_constants(source, types, params).map(Some)
}

/// The statement with constants in place of its parameters.
pub(crate) fn with_constants(source: &Source, types: &[DataType], params: &[Datum]) -> EngineResult<Arc<Source>> {
    let values = types.iter().zip(params).map(|(ty, value)| constant(ty, value));
    let values = values.collect::<EngineResult<Vec<_>>>()?;
    let statement = sql::with_values(&source.statement, &values);
    // Plans are cached by text, and this plan is only for these values. Text of a client has no zero byte.
    let text = format!("{}\0{}", source.text, values.iter().map(Expr::to_string).collect::<Vec<_>>().join(", "));
    Ok(Arc::new(Source {
        text: Arc::from(text),
        written: source.written.clone(),
        statement,
        types: Vec::new(),
        hints: Vec::new(),
    }))
}

fn has_several_dimensions(value: &Datum) -> bool {
    matches!(value, Datum::Array(items) if items.iter().any(|item| matches!(item, Datum::Array(_))))
}

fn constant(ty: &DataType, value: &Datum) -> EngineResult<Expr> {
    let mut shown = String::new();
    text::print(ty, value, &mut shown);
    let quoted = match value {
        Datum::Null => "NULL".to_owned(),
        _ => format!("'{}'", shown.replace('\'', "''")),
    };
    Ok(sql::parse_expr(&format!("CAST({quoted} AS {})", ty.sql_name()))?)
}
