//! Parameters that are arrays of several dimensions.
//!
//! To SQL the dimensions of an array are no part of its type, to a plan they are: one that was made for `text[]` has lists
//! of text, and a list of lists put there would be misread. So a statement with such a value is planned for it alone,
//! with all values as constants in their places.

use crate::error::EngineResult;
use crate::statement::Source;
use sql::ast::Expr;
use std::sync::Arc;
use types::{DataType, Datum, text};

/// The statement to run instead of one whose plan is for arrays of one dimension; `None`: the plan serves.
pub(crate) fn spelled_out(source: &Source, types: &[DataType], params: &[Datum]) -> EngineResult<Option<Arc<Source>>> {
    if types.len() != params.len() || !params.iter().any(has_several_dimensions) {
        return Ok(None);
    }
    let values = types.iter().zip(params).map(|(ty, value)| constant(ty, value));
    let values = values.collect::<EngineResult<Vec<_>>>()?;
    let statement = sql::with_values(&source.statement, &values);
    // Kept plans are found by text, and this one is for these values. No client's text has a zero byte.
    let text = format!("{}\0{}", source.text, values.iter().map(Expr::to_string).collect::<Vec<_>>().join(", "));
    Ok(Some(Arc::new(Source {
        text: Arc::from(text),
        written: source.written.clone(),
        statement,
        types: Vec::new(),
        hints: Vec::new(),
    })))
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
