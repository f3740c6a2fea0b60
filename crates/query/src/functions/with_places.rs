//! `array with places(list)`: each element as a record of it, `x`, and its place, `n`. Taken apart it is
//! `information_schema._pg_expandarray()`, by which drivers read the columns of a key.

use crate::error::QueryError;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, ListArray, StructArray};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Fields};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(WithPlaces { signature: Signature::any(1, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct WithPlaces {
    signature: Signature,
}

impl ScalarUDFImpl for WithPlaces {
    fn name(&self) -> &str {
        "array with places"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        match args.first() {
            Some(ArrowType::List(item)) => Ok(ArrowType::List(record(item.data_type()))),
            _ => Err(no_array()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let lists = args.args.first().ok_or_else(no_array)?.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(with_places(&lists)?))
    }
}

fn no_array() -> datafusion::error::DataFusionError {
    QueryError::NoSuchFunction { signature: "information_schema._pg_expandarray()".to_owned() }.into()
}

fn record(item: &ArrowType) -> FieldRef {
    Arc::new(Field::new_list_field(ArrowType::Struct(fields(item)), true))
}

fn fields(item: &ArrowType) -> Fields {
    Fields::from(vec![Field::new("x", item.clone(), true), Field::new("n", ArrowType::Int32, true)])
}

fn with_places(array: &ArrayRef) -> Result<ArrayRef> {
    let lists = array.as_list_opt::<i32>().ok_or_else(no_array)?;
    let values = Arc::clone(lists.values());
    let mut places = vec![0; values.len()];
    for ends in lists.value_offsets().windows(2) {
        let (Some(start), Some(end)) = (ends.first(), ends.last()) else { continue };
        let elements = usize::try_from(*start).unwrap_or(0)..usize::try_from(*end).unwrap_or(0);
        for (place, slot) in (1..).zip(places.get_mut(elements).unwrap_or_default()) {
            *slot = place;
        }
    }
    let item = values.data_type().clone();
    let records = StructArray::try_new(fields(&item), vec![values, Arc::new(Int32Array::from(places))], None)?;
    let lists = ListArray::try_new(record(&item), lists.offsets().clone(), Arc::new(records), lists.nulls().cloned())?;
    Ok(Arc::new(lists))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow::array::{Int16Builder, ListBuilder};
    use arrow::datatypes::Int32Type;

    #[test]
    fn places_begin_anew_in_each_array() {
        let mut builder = ListBuilder::new(Int16Builder::new());
        builder.append_value([Some(7), Some(8)]);
        builder.append_null();
        builder.append_value([Some(9)]);
        // Of a slice, too, whose values begin further on.
        for (from, places) in [(0, vec![1, 2, 1]), (2, vec![1])] {
            let array: ArrayRef = Arc::new(builder.finish_cloned().slice(from, 3 - from));
            let lists = with_places(&array).unwrap();
            let lists = lists.as_list::<i32>();
            let all: Vec<i32> = lists
                .iter()
                .flatten()
                .flat_map(|list| list.as_struct().column(1).as_primitive::<Int32Type>().values().to_vec())
                .collect();
            assert_eq!(all, places);
        }
    }
}
