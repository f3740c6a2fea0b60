//! `(a, b) IN ((1, 'x'), (2, 'y'), …)` with many constant rows: a function that looks up the left side in a set of the
//! rows.
//!
//! Comparisons joined by OR would all be evaluated for each row of a table. If the list has parameters, its rows are
//! further arguments until the parameters have values:
//!
//! ```text
//!   in rows(a, b, 1, $1, 2, $2)   --values-->   in rows(a, b)
//! ```
//! The result equals that of the comparisons: NULL if a row could be in the list, were it not for NULLs in the row or
//! in the list.

use crate::convert::expr_to_condition::evaluate_constant;
use crate::convert::scalar_to_datum;
use crate::error::{QueryError, QueryResult};
use crate::functions::in_list::as_value;
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use types::{Datum, interrupt};

/// Maximum columns of a row: masks of columns have 64 bits.
pub(crate) const MAX_WIDTH: usize = 64;

/// Maximum number of cached key sets for rows with NULLs.
const MOST_PARTIAL: usize = 16;

/// Builds `(left) IN (rows)`. `types` are the types of the left side; `items` are the values of the rows, one row after
/// the other, each a literal of its column's type or a parameter ([`item_of`]).
///
/// # Errors
/// Errors of Arrow.
pub(crate) fn in_rows(left: Vec<Expr>, types: Vec<ArrowType>, items: Vec<Expr>) -> QueryResult<Expr> {
    let mut args = left;
    args.extend(items);
    let signature = Signature::variadic_any(Volatility::Immutable);
    let function = InRows { name: "in rows".to_owned(), types, set: None, signature };
    let open = ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(function)), args);
    Ok(with_values(&open)?.unwrap_or(Expr::ScalarFunction(open)))
}

/// Converts a constant to a value of type `ty`; `None` if no value of that type equals it, or if its value is not
/// known.
pub(crate) fn item_of(constant: &Expr, ty: &ArrowType) -> Option<Expr> {
    if let Expr::Placeholder(_) = constant {
        return (constant.get_type(&DFSchema::empty()).ok()? == *ty).then(|| constant.clone());
    }
    let value = evaluate_constant(constant)?;
    let value = if value.is_null() { ScalarValue::try_from(ty).ok()? } else { as_value(value, ty)? };
    (value.data_type() == *ty).then_some(Expr::Literal(value, None))
}

/// Replaces the arguments that are rows by a set of the rows; `None` if a parameter has no value yet.
///
/// # Errors
/// Errors of Arrow.
pub(crate) fn with_values(call: &ScalarFunction) -> QueryResult<Option<Expr>> {
    let Some(InRows { types, set: None, .. }) = call.func.inner().downcast_ref::<InRows>() else { return Ok(None) };
    let Some((left, items)) = call.args.split_at_checked(types.len()) else { return Ok(None) };
    let values = items.iter().map(|item| match item {
        Expr::Literal(value, _) => Some(value.clone()),
        _ => None,
    });
    let Some(values) = values.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let set = RowSet::new(types, &values)?;
    let signature = Signature::any(types.len(), Volatility::Immutable);
    // DataFusion finds columns by names that contain function names, so each list needs its own name.
    let name = format!("in rows {:016x}", set.fingerprint());
    let function = InRows { name, types: types.clone(), set: Some(Arc::new(set)), signature };
    Ok(Some(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(function)), left.to_vec()))))
}

/// Returns the rows of the list, if `function` is one.
pub(crate) fn rows_of(function: &ScalarUDF) -> Option<ListedRows<'_>> {
    let InRows { types, set, .. } = function.inner().downcast_ref::<InRows>()?;
    Some(ListedRows { width: types.len(), set: set.as_deref() })
}

/// The rows of a list.
#[derive(Clone, Copy)]
pub(crate) struct ListedRows<'a> {
    /// The number of arguments that form the left side.
    pub(crate) width: usize,
    set: Option<&'a RowSet>,
}

impl ListedRows<'_> {
    /// Returns the number of rows; `None` if parameters have no values yet.
    pub(crate) fn count(&self) -> Option<usize> {
        self.set.map(|set| set.len)
    }

    /// Returns a value of a row.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<ScalarValue> {
        ScalarValue::try_from_array(self.set?.columns.get(column)?, row).ok()
    }

    /// Returns values of a row; `None` if one of them has no SQL type.
    pub(crate) fn datums(&self, row: usize, columns: &[usize]) -> Option<Vec<Datum>> {
        columns.iter().map(|column| scalar_to_datum(&self.value(row, *column)?).ok()).collect()
    }
}

#[derive(Debug)]
struct InRows {
    name: String,
    /// The types of the left side.
    types: Vec<ArrowType>,
    /// `None` if the rows are arguments.
    set: Option<Arc<RowSet>>,
    signature: Signature,
}

impl PartialEq for InRows {
    fn eq(&self, other: &Self) -> bool {
        let same_rows = match (&self.set, &other.set) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.columns == b.columns,
            (a, b) => a.is_none() && b.is_none(),
        };
        self.name == other.name && self.types == other.types && same_rows
    }
}

impl Eq for InRows {}

impl Hash for InRows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for InRows {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some((left, items)) = args.args.split_at_checked(self.types.len()) else {
            return Err(QueryError::internal("a list of rows without its left side").into());
        };
        let column = |(side, ty): (&ColumnarValue, &ArrowType)| Ok(cast(&side.to_array(args.number_rows)?, ty)?);
        let columns = left.iter().zip(&self.types).map(column).collect::<Result<Vec<_>>>()?;
        let found = match &self.set {
            Some(set) => set.look_up(&columns, args.number_rows)?,
            None => RowSet::new(&self.types, &values_of(items)?)?.look_up(&columns, args.number_rows)?,
        };
        Ok(ColumnarValue::Array(Arc::new(found)))
    }
}

fn values_of(items: &[ColumnarValue]) -> QueryResult<Vec<ScalarValue>> {
    let value = |item: &ColumnarValue| match item {
        ColumnarValue::Scalar(value) => Ok(value.clone()),
        ColumnarValue::Array(_) => Err(QueryError::internal("a list of rows that are no constants")),
    };
    items.iter().map(value).collect()
}

/// Rows as the concatenated encodings of their values.
type Keys = HashSet<Box<[u8]>>;

/// The rows of a list, indexed for lookups.
#[derive(Debug)]
struct RowSet {
    len: usize,
    /// The values, by column.
    columns: Vec<ArrayRef>,
    /// Encode the values of a column; no encoding is a prefix of another.
    converters: Vec<RowConverter>,
    cells: Vec<Rows>,
    /// Rows without a NULL.
    whole: Keys,
    /// The masks of columns that are not NULL in some row.
    known: BTreeSet<u64>,
    /// Keys of the rows with a mask of non-NULL columns, made of a subset of these columns; by mask and subset.
    partial: Mutex<HashMap<(u64, u64), Arc<Keys>>>,
}

impl RowSet {
    fn new(types: &[ArrowType], values: &[ScalarValue]) -> QueryResult<Self> {
        let width = types.len().max(1);
        let column = |at: usize| ScalarValue::iter_to_array(values.iter().skip(at).step_by(width).cloned());
        let columns = (0..types.len()).map(column).collect::<Result<Vec<_>>>()?;
        let converter = |ty: &ArrowType| RowConverter::new(vec![SortField::new(ty.clone())]);
        let converters = types.iter().map(converter).collect::<std::result::Result<Vec<_>, _>>()?;
        let cells = cells_of(&converters, &columns)?;
        let len = values.len() / width;
        let known = (0..len).map(|row| known_columns(&columns, row)).collect();
        let partial = Mutex::default();
        let mut set = Self { len, columns, converters, cells, whole: Keys::new(), known, partial };
        set.whole = set.keys(set.all(), set.all())?;
        Ok(set)
    }

    /// Returns the mask of all columns.
    fn all(&self) -> u64 {
        u64::MAX >> (MAX_WIDTH - self.columns.len().clamp(1, MAX_WIDTH))
    }

    /// Returns keys of the rows whose non-NULL columns are exactly `known`, made of the columns `by`.
    fn keys(&self, known: u64, by: u64) -> QueryResult<Keys> {
        let mut keys = Keys::new();
        for row in 0..self.len {
            interrupt::spend(self.columns.len())?;
            if known_columns(&self.columns, row) == known {
                let mut key = Vec::new();
                append(&self.cells, row, by, &mut key);
                keys.insert(key.into_boxed_slice());
            }
        }
        Ok(keys)
    }

    fn partial(&self, known: u64, by: u64) -> QueryResult<Arc<Keys>> {
        let kept = || self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keys) = kept().get(&(known, by)) {
            return Ok(Arc::clone(keys));
        }
        let keys = Arc::new(self.keys(known, by)?);
        let mut kept = kept();
        if kept.len() >= MOST_PARTIAL {
            kept.clear();
        }
        kept.insert((known, by), Arc::clone(&keys));
        Ok(keys)
    }

    /// Tests for each row whether it is in the list.
    fn look_up(&self, columns: &[ArrayRef], rows: usize) -> QueryResult<BooleanArray> {
        let cells = cells_of(&self.converters, columns)?;
        let mut key = Vec::new();
        let verdict = |row| {
            interrupt::spend(columns.len())?;
            self.verdict(&cells, known_columns(columns, row), row, &mut key)
        };
        (0..rows).map(verdict).collect()
    }

    /// Tests whether a row is in the list; `None` is NULL.
    fn verdict(&self, cells: &[Rows], known: u64, row: usize, key: &mut Vec<u8>) -> QueryResult<Option<bool>> {
        let all = self.all();
        if known == all {
            key.clear();
            append(cells, row, all, key);
            if self.whole.contains(key.as_slice()) {
                return Ok(Some(true));
            }
        }
        for own in self.known.iter().copied().filter(|own| known & *own != all) {
            key.clear();
            append(cells, row, known & own, key);
            if self.partial(own, known & own)?.contains(key.as_slice()) {
                return Ok(None);
            }
        }
        Ok(Some(false))
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for cells in &self.cells {
            cells.iter().for_each(|cell| cell.data().hash(&mut hasher));
        }
        hasher.finish()
    }
}

fn cells_of(converters: &[RowConverter], columns: &[ArrayRef]) -> QueryResult<Vec<Rows>> {
    let cells = converters
        .iter()
        .zip(columns)
        .map(|(converter, column)| Ok(converter.convert_columns(std::slice::from_ref(column))?));
    cells.collect()
}

/// Returns the mask of the columns that are not NULL in a row.
fn known_columns(columns: &[ArrayRef], row: usize) -> u64 {
    columns.iter().rev().fold(0, |mask, column| (mask << 1) | u64::from(!column.is_null(row)))
}

/// Appends the bytes of a row's values in the columns of a mask.
fn append(cells: &[Rows], row: usize, mask: u64, key: &mut Vec<u8>) {
    for (column, cells) in cells.iter().enumerate() {
        if (mask >> column) & 1 == 1 {
            key.extend_from_slice(cells.row(row).data());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, Int32Array, StringArray};
    use arrow::datatypes::Field;
    use datafusion::config::ConfigOptions;
    use datafusion::logical_expr::{col, lit};

    fn verdicts(list: &[(Option<i32>, Option<&str>)], rows: &[(Option<i32>, Option<&str>)]) -> Vec<Option<bool>> {
        let values = list
            .iter()
            .flat_map(|(number, text)| [ScalarValue::Int32(*number), ScalarValue::Utf8(text.map(str::to_owned))]);
        let set = RowSet::new(&[ArrowType::Int32, ArrowType::Utf8], &values.collect::<Vec<_>>()).unwrap();
        let numbers: Int32Array = rows.iter().map(|(number, _)| *number).collect();
        let texts: StringArray = rows.iter().map(|(_, text)| *text).collect();
        set.look_up(&[Arc::new(numbers), Arc::new(texts)], rows.len()).unwrap().iter().collect()
    }

    /// SQL's definition: `(a = x AND b = y) OR …`.
    fn by_comparing(list: &[(Option<i32>, Option<&str>)], row: (Option<i32>, Option<&str>)) -> Option<bool> {
        let equal = |item: &(Option<i32>, Option<&str>)| {
            let (a, b) = (row.0.zip(item.0).map(|(x, y)| x == y), row.1.zip(item.1).map(|(x, y)| x == y));
            match (a, b) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            }
        };
        let verdicts: Vec<_> = list.iter().map(equal).collect();
        match verdicts.contains(&Some(true)) {
            true => Some(true),
            false if verdicts.contains(&None) => None,
            false => Some(false),
        }
    }

    #[test]
    fn it_is_what_comparisons_joined_by_or_are() {
        let numbers = [None, Some(0), Some(1)];
        let texts = [None, Some(""), Some("a")];
        let all: Vec<_> = numbers.iter().flat_map(|number| texts.map(|text| (*number, text))).collect();
        for chosen in 0..1 << all.len() {
            let list: Vec<_> = (0..all.len()).filter(|at| (chosen >> at) & 1 == 1).map(|at| all[at]).collect();
            if list.is_empty() || list.len() > 3 {
                continue;
            }
            let wanted: Vec<_> = all.iter().map(|row| by_comparing(&list, *row)).collect();
            assert_eq!(verdicts(&list, &all), wanted, "{list:?}");
        }
    }

    fn called(expr: &Expr) -> (String, usize) {
        let Expr::ScalarFunction(call) = expr else { unreachable!() };
        (call.name().to_owned(), call.args.len())
    }

    #[test]
    fn rows_with_parameters_are_arguments_and_others_are_not() {
        let types = || vec![ArrowType::Int32, ArrowType::Utf8];
        let left = || vec![col("a"), col("b")];
        let known = in_rows(left(), types(), vec![lit(1), lit("x")]).unwrap();
        let other = in_rows(left(), types(), vec![lit(1), lit("y")]).unwrap();
        assert_eq!((called(&known).1, called(&other).1), (2, 2));
        assert_ne!(called(&known).0, called(&other).0);
        assert_eq!(known, in_rows(left(), types(), vec![lit(1), lit("x")]).unwrap());
        let parameter = Expr::Placeholder(datafusion::logical_expr::expr::Placeholder::new_with_field(
            "$1".to_owned(),
            Some(Arc::new(Field::new("", ArrowType::Utf8, true))),
        ));
        assert_eq!(called(&in_rows(left(), types(), vec![lit(1), parameter]).unwrap()).1, 4);
    }

    #[test]
    fn rows_that_are_arguments_are_looked_up_all_the_same() {
        let signature = Signature::variadic_any(Volatility::Immutable);
        let function = InRows { name: "in rows".to_owned(), types: vec![ArrowType::Int32], set: None, signature };
        let field = Arc::new(Field::new("", ArrowType::Int32, true));
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), None]));
        let found = function.invoke_with_args(ScalarFunctionArgs {
            args: vec![ColumnarValue::Array(numbers), ColumnarValue::Scalar(ScalarValue::Int32(Some(2)))],
            arg_fields: vec![Arc::clone(&field), field],
            number_rows: 3,
            return_field: Arc::new(Field::new("", ArrowType::Boolean, true)),
            config_options: Arc::new(ConfigOptions::default()),
        });
        let found = found.unwrap().into_array(3).unwrap();
        assert_eq!(found.as_boolean().iter().collect::<Vec<_>>(), [Some(false), Some(true), None]);
    }
}
