//! Arrays of several dimensions: one array type in SQL, a list of lists in Arrow.
//!
//! `ARRAY[a, b]` requires arrays of equal dimensions, and `unnest` returns the innermost elements.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Returns whether `ty` is a list of lists.
pub(crate) fn is_nested(ty: &ArrowType) -> bool {
    matches!(ty, ArrowType::List(item) if matches!(item.data_type(), ArrowType::List(_)))
}

/// Nests the list type `ty` to as many dimensions as the deepest of `others` has.
pub(crate) fn nest_to_deepest<'a>(mut ty: ArrowType, others: impl Iterator<Item = &'a ArrowType>) -> ArrowType {
    let wanted = others.map(dimensions).max().unwrap_or(0);
    while dimensions(&ty) < wanted {
        let ArrowType::List(item) = &ty else { break };
        ty = ArrowType::List(Arc::new(item.as_ref().clone().with_data_type(ty.clone())));
    }
    ty
}

/// Returns the number of nested lists in `ty`.
pub(crate) fn dimensions(ty: &ArrowType) -> usize {
    match ty {
        ArrowType::List(item) => 1 + dimensions(item.data_type()),
        _ => 0,
    }
}

/// Nests lists to the promised number of dimensions: a batch without elements may have fewer.
///
/// # Errors
/// 0A000 if `lists` has more dimensions.
pub(crate) fn nest_to_dimensions(lists: ArrayRef, promised: &ArrowType) -> QueryResult<ArrayRef> {
    let (own, wanted) = (dimensions(lists.data_type()), dimensions(promised));
    if own > wanted && wanted > 0 {
        let feature = "an array of several dimensions from a text that is computed".to_owned();
        return Err(QueryError::Unsupported { feature });
    }
    Ok(if own < wanted && own > 0 { cast(&lists, promised)? } else { lists })
}

/// Flattens `array` to the list of its innermost elements.
pub(crate) fn flat(array: Expr) -> Expr {
    call(Kind::Flat, array)
}

/// Returns `array` after checking that its parts have equal dimensions.
pub(crate) fn even(array: Expr) -> Expr {
    call(Kind::Even, array)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Flat,
    Even,
}

fn call(kind: Kind, array: Expr) -> Expr {
    ScalarUDF::new_from_impl(Nested { kind, signature: Signature::any(1, Volatility::Immutable) }).call(vec![array])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Nested {
    kind: Kind,
    signature: Signature,
}

impl ScalarUDFImpl for Nested {
    fn name(&self) -> &str {
        match self.kind {
            Kind::Flat => "array_elements",
            Kind::Even => "array",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        let mut ty = args.first().ok_or_else(|| QueryError::internal("an array is wanted"))?;
        if self.kind == Kind::Flat {
            while let ArrowType::List(item) = ty
                && matches!(item.data_type(), ArrowType::List(_))
            {
                ty = item.data_type();
            }
        }
        Ok(ty.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let lists = args.args.first().map(|list| list.to_array(rows)).transpose()?;
        let lists = lists.ok_or_else(|| QueryError::internal("an array is wanted"))?;
        match self.kind {
            Kind::Flat => Ok(ColumnarValue::Array(flattened(lists)?)),
            Kind::Even => {
                checked(&lists)?;
                Ok(ColumnarValue::Array(lists))
            }
        }
    }
}

fn flattened(mut array: ArrayRef) -> Result<ArrayRef> {
    while is_nested(array.data_type()) {
        let outer = array.as_list::<i32>();
        let inner = outer.values().as_list::<i32>();
        let ArrowType::List(item) = inner.data_type() else { break };
        let ends = inner.value_offsets();
        let at = |offset: &i32| usize::try_from(*offset).ok().and_then(|at| ends.get(at)).copied();
        let offsets: Option<Vec<i32>> = outer.value_offsets().iter().map(at).collect();
        let offsets = offsets.ok_or_else(|| QueryError::internal("an array ends behind its elements"))?;
        let (values, nulls) = (Arc::clone(inner.values()), outer.nulls().cloned());
        array = Arc::new(ListArray::try_new(Arc::clone(item), OffsetBuffer::new(offsets.into()), values, nulls)?);
    }
    Ok(array)
}

fn checked(array: &ArrayRef) -> Result<()> {
    let Some(lists) = array.as_list_opt::<i32>() else { return Ok(()) };
    for row in (0..lists.len()).filter(|row| lists.is_valid(*row)) {
        if shape(&lists.value(row)).is_none() {
            let message = "multidimensional arrays must have array expressions with matching dimensions";
            return Err(Refusal::Subscript.because(message).into());
        }
    }
    Ok(())
}

/// Returns the sizes of the dimensions; `None` if parts differ or are NULL.
fn shape(items: &ArrayRef) -> Option<Vec<usize>> {
    let Some(lists) = items.as_list_opt::<i32>() else { return Some(vec![items.len()]) };
    let mut common: Option<Vec<usize>> = None;
    for row in 0..lists.len() {
        let own = if lists.is_valid(row) { shape(&lists.value(row))? } else { return None };
        if common.as_ref().is_some_and(|common| *common != own) {
            return None;
        }
        common = Some(own);
    }
    Some(std::iter::once(lists.len()).chain(common.unwrap_or_default()).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow::array::{Int32Builder, ListBuilder};

    fn lists(rows: &[Option<&[&[i32]]>]) -> ArrayRef {
        let mut builder = ListBuilder::new(ListBuilder::new(Int32Builder::new()));
        for row in rows {
            for part in row.unwrap_or_default() {
                builder.values().append_value(part.iter().copied().map(Some));
            }
            builder.append(row.is_some());
        }
        Arc::new(builder.finish())
    }

    #[test]
    fn elements_come_in_order_and_null_stays() {
        let array = flattened(lists(&[Some(&[&[1, 2], &[3, 4]]), None, Some(&[]), Some(&[&[5]])])).unwrap();
        let array = array.as_list::<i32>();
        let lengths: Vec<i32> = (0..array.len()).map(|row| array.value_length(row)).collect();
        assert_eq!((lengths, array.null_count()), (vec![4, 0, 0, 1], 1));
        // Also a slice of a batch.
        let part = flattened(lists(&[Some(&[&[1, 2]]), Some(&[&[3], &[4]])]).slice(1, 1)).unwrap();
        assert_eq!(part.as_list::<i32>().value_length(0), 2);
    }

    #[test]
    fn parts_are_of_one_size() {
        assert!(checked(&lists(&[Some(&[&[1, 2], &[3, 4]]), None])).is_ok());
        assert!(checked(&lists(&[Some(&[&[1, 2], &[3]])])).is_err());
    }
}
