//! Makes a scalar function applicable to arrays: it is called for each element.

use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A function `name` that applies `each` to the elements of its array argument.
pub(super) fn of_each(name: &str, each: ScalarUDF) -> ScalarUDF {
    ScalarUDF::new_from_impl(ElementwiseUdf {
        name: name.to_owned(),
        each: Arc::new(each),
        signature: Signature::any(1, Volatility::Stable),
    })
}

#[derive(Debug)]
struct ElementwiseUdf {
    name: String,
    each: Arc<ScalarUDF>,
    signature: Signature,
}

impl PartialEq for ElementwiseUdf {
    fn eq(&self, other: &Self) -> bool {
        self.each == other.each
    }
}

impl Eq for ElementwiseUdf {}

impl Hash for ElementwiseUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for ElementwiseUdf {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::new_list(self.each.return_type(args)?, true))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(lists) = args.args.first() else { return internal_err!("{} of no array", self.name) };
        let lists = lists.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(self.of_elements(&lists, &args.config_options)?))
    }
}

impl ElementwiseUdf {
    fn of_elements(&self, lists: &ArrayRef, options: &Arc<ConfigOptions>) -> Result<ArrayRef> {
        let Some(list) = lists.as_list_opt::<i32>() else {
            return internal_err!("{} of a value that is no array", self.name);
        };
        let wanted = self.each.coerce_types(&[list.value_type()])?;
        let values = match wanted.first() {
            Some(wanted) => arrow::compute::cast(list.values(), wanted)?,
            None => Arc::clone(list.values()),
        };
        let number_rows = values.len();
        let returned = Arc::new(Field::new(self.each.name(), self.each.return_type(&wanted)?, true));
        let argument = Arc::new(Field::new("element", values.data_type().clone(), true));
        let args = ScalarFunctionArgs {
            args: vec![ColumnarValue::Array(values)],
            arg_fields: vec![argument],
            number_rows,
            return_field: Arc::clone(&returned),
            config_options: Arc::clone(options),
        };
        let values = self.each.invoke_with_args(args)?.into_array(number_rows)?;
        let field = Arc::new(Field::new("item", values.data_type().clone(), true));
        Ok(Arc::new(ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?))
    }
}
