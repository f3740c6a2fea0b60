//! `array_or_empty(list)`: replaces NULL by an empty list. `ARRAY(SELECT …)` of no rows is an empty array, while
//! `array_agg` of no rows is NULL.

use crate::error::QueryError;
use crate::functions::simple::{Returns, simple};
use arrow::array::{Array, ArrayRef, AsArray, ListArray, MutableArrayData, make_array};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Signature, Volatility};
use std::sync::Arc;

pub(in crate::functions) fn function() -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    simple("array_or_empty", signature, Returns::First { nullable: false }, |args| {
        let lists = args.args.first().map(|list| list.to_array(args.number_rows)).transpose()?;
        let lists = lists.ok_or_else(|| QueryError::internal("array_or_empty takes a list"))?;
        Ok(ColumnarValue::Array(filled(&lists)?))
    })
}

fn filled(array: &ArrayRef) -> Result<ArrayRef> {
    let Some(lists) = array.as_list_opt::<i32>() else { return Ok(Arc::clone(array)) };
    let ArrowType::List(item) = lists.data_type() else { return Ok(Arc::clone(array)) };
    if lists.null_count() == 0 {
        return Ok(Arc::clone(array));
    }
    let values = lists.values().to_data();
    let mut kept = MutableArrayData::new(vec![&values], true, values.len());
    let mut lengths = Vec::with_capacity(lists.len());
    for (row, ends) in lists.value_offsets().windows(2).enumerate() {
        let (Some(start), Some(end)) = (ends.first(), ends.last()) else { continue };
        let (start, end) = (usize::try_from(*start).unwrap_or(0), usize::try_from(*end).unwrap_or(0));
        let length = if lists.is_valid(row) { end.saturating_sub(start) } else { 0 };
        kept.try_extend(0, start, start + length)?;
        lengths.push(length);
    }
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, make_array(kept.freeze()), None)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow::array::{Int32Builder, ListBuilder};

    #[test]
    fn null_becomes_empty_and_others_stay() {
        let mut builder = ListBuilder::new(Int32Builder::new());
        builder.append_value([Some(1), None]);
        builder.append_null();
        builder.append_value([]);
        builder.append_value([Some(3)]);
        let array: ArrayRef = Arc::new(builder.finish());
        let lists = filled(&array).unwrap();
        let lists = lists.as_list::<i32>();
        let lengths: Vec<i32> = (0..lists.len()).map(|row| lists.value_length(row)).collect();
        assert_eq!((lists.null_count(), lengths), (0, vec![2, 0, 0, 1]));
    }
}
