//! Window functions whose arguments DataFusion requires to be constants, or whose type differs.

use crate::Refusal;
use crate::convert::arrow_type;
use crate::error::QueryResult;
use crate::functions::ByRow;
use crate::functions::ntile;
use crate::lower::scalar::comparable::Side;
use crate::lower::scalar::one_type::{label_type, unify};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::type_coercion::binary::type_union_coercion;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, LogicalPlan, WindowFunctionDefinition, lit, when};
use types::DataType;

/// A call of a window function.
pub(in crate::lower) struct Call<'a> {
    pub(in crate::lower) name: &'a str,
    pub(in crate::lower) function: WindowFunctionDefinition,
    pub(in crate::lower) args: Vec<Expr>,
    pub(in crate::lower) schema: &'a DFSchema,
    /// Builds a call over the same window.
    pub(in crate::lower) over: &'a dyn Fn(WindowFunctionDefinition, Vec<Expr>) -> Expr,
}

impl Call<'_> {
    /// Lowers the call. `lag(x, n, d)` with a default `d` that is not constant becomes `lag(x, n)` if such a row
    /// exists, else `d`; for an offset `n` or an `ntile` argument that is not constant, our own functions are used.
    /// `ntile` returns an integer.
    ///
    /// # Errors
    /// 22014 and 22016 for an argument of `ntile` or `nth_value` below 1.
    pub(in crate::lower) fn value(mut self) -> QueryResult<Expr> {
        check_place(self.name, &self.args)?;
        if matches!(self.name, "lag" | "lead") {
            unify_default(&mut self.args, self.schema)?;
        }
        Ok(match (self.name, self.args.as_slice()) {
            ("ntile", [buckets]) if !is_constant(buckets) => {
                let buckets = Expr::Cast(Cast::new(Box::new(buckets.clone()), ArrowType::Int32));
                (self.over)(WindowFunctionDefinition::WindowUDF(ntile()), vec![buckets])
            }
            ("ntile", args) => {
                check_buckets(args)?;
                Expr::Cast(Cast::new(Box::new(self.call(self.args.clone())), ArrowType::Int32))
            }
            // DataFusion's row numbers are unsigned.
            ("row_number" | "rank" | "dense_rank", _) => {
                Expr::Cast(Cast::new(Box::new(self.call(self.args.clone())), ArrowType::Int64))
            }
            ("lag" | "lead", [_, offset, Expr::Literal(..)]) if is_constant(offset) => self.call(self.args.clone()),
            ("lag" | "lead", [value, offset, default]) => {
                let is_there = self.shifted(lit(true), offset).is_not_null();
                let unknown = Expr::Literal(ScalarValue::Null, None);
                let of_no_place = offset.clone().is_null();
                let mut chosen = when(is_there, self.shifted(value.clone(), offset)).when(of_no_place, unknown);
                let ty = match Side::of(value, self.schema) {
                    Side::Known(ty) => Some(ty),
                    _ => None,
                };
                label_type(chosen.otherwise(default.clone())?, ty)
            }
            ("lag" | "lead" | "nth_value", [value, offset]) if !is_constant(offset) => {
                self.shifted(value.clone(), offset)
            }
            _ => self.call(self.args.clone()),
        })
    }

    fn call(&self, args: Vec<Expr>) -> Expr {
        (self.over)(self.function.clone(), args)
    }

    /// The value of `lag`, `lead` or `nth_value` at that offset.
    fn shifted(&self, value: Expr, offset: &Expr) -> Expr {
        if is_constant(offset) {
            return self.call(vec![value, offset.clone()]);
        }
        let kind = match self.name {
            "lag" => ByRow::Lag,
            "lead" => ByRow::Lead,
            _ => ByRow::NthValue,
        };
        let distance = Expr::Cast(Cast::new(Box::new(offset.clone()), ArrowType::Int64));
        (self.over)(WindowFunctionDefinition::WindowUDF(kind.function()), vec![value, distance])
    }
}

/// Can DataFusion's own functions take the offset? They do not support NULL.
fn is_constant(offset: &Expr) -> bool {
    match offset {
        Expr::Literal(constant, _) => !constant.is_null(),
        Expr::Negative(inner) => is_constant(inner),
        _ => false,
    }
}

/// The argument of `nth_value` must be at least 1.
fn check_place(name: &str, args: &[Expr]) -> QueryResult<()> {
    match (name, args) {
        ("nth_value", [_, Expr::Literal(ScalarValue::Int64(Some(..=0)), _) | Expr::Negative(_)]) => {
            Err(Refusal::NthValue.because("argument of nth_value must be greater than zero"))
        }
        _ => Ok(()),
    }
}

/// Unifies the types of the value and the default of `lag` and `lead`.
fn unify_default(args: &mut [Expr], schema: &DFSchema) -> QueryResult<()> {
    let [value, _, default] = args else { return Ok(()) };
    let Some(ty) = unify(&mut [value, default], schema)? else { return Ok(()) };
    // The numeric type must fit both.
    let types =
        value.get_type(schema).ok().zip(default.get_type(schema).ok()).filter(|_| matches!(ty, DataType::Numeric(_)));
    let wanted = types.and_then(|(value, default)| type_union_coercion(&value, &default));
    let wanted = wanted.unwrap_or_else(|| arrow_type(&ty));
    for side in [value, default] {
        let known = matches!(Side::of(side, schema), Side::Known(_));
        if known && side.get_type(schema).is_ok_and(|own| own != wanted && own.is_numeric()) {
            *side = cast_constant(std::mem::take(side), &wanted);
        }
    }
    Ok(())
}

/// Casts a value; a constant stays a constant.
fn cast_constant(value: Expr, wanted: &ArrowType) -> Expr {
    match &value {
        Expr::Literal(constant, _) => match constant.cast_to(wanted) {
            Ok(cast) => Expr::Literal(cast, None),
            Err(_) => value,
        },
        _ => Expr::Cast(Cast::new(Box::new(value), wanted.clone())),
    }
}

/// Rejects `ntile` with a constant argument below 1.
///
/// # Errors
/// 22014.
pub(crate) fn check_windows(node: &LogicalPlan) -> QueryResult<()> {
    let LogicalPlan::Window(window) = node else { return Ok(()) };
    let mut refused = Ok(());
    for expr in &window.window_expr {
        // The visitor returns no error.
        let _ = expr.apply(|part| {
            if let Expr::WindowFunction(call) = part
                && call.fun.name() == "ntile"
                && refused.is_ok()
            {
                refused = check_buckets(&call.params.args);
            }
            Ok(TreeNodeRecursion::Continue)
        });
    }
    refused
}

fn check_buckets(args: &[Expr]) -> QueryResult<()> {
    let number = |value: &ScalarValue| match value {
        ScalarValue::Int32(number) => number.map(i64::from),
        ScalarValue::Int64(number) => *number,
        _ => None,
    };
    let buckets = match args.first() {
        Some(Expr::Literal(value, _)) => number(value),
        Some(Expr::Negative(inner)) => match inner.as_ref() {
            Expr::Literal(value, _) => number(value).map(i64::wrapping_neg),
            _ => None,
        },
        _ => None,
    };
    match buckets {
        Some(buckets) if buckets < 1 => Err(Refusal::Ntile.because("argument of ntile must be greater than zero")),
        _ => Ok(()),
    }
}
