//! Calls of functions and operators.

use super::Lowering;
use super::cast::written;
use super::constant::value_type;
use super::error::{LowerResult, internal, unsupported};
use crate::error::QueryError;
use crate::functions::{JSON_ROW, LIKE_ESCAPE, SIMILAR_TO_ESCAPE, call_of, labelled, operator};
use crate::representation::planned_operator;
use ::bind::OwnFunction;
use ::bind::tree::{Kind, Scalar};
use builtins::{FuncId, TypeId};
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, Operator};
use std::collections::HashMap;
use std::sync::LazyLock;
use types::DataType;

/// Operators by the function that computes them and the number of their operands.
static OPERATORS: LazyLock<HashMap<(FuncId, usize), &'static str>> = LazyLock::new(|| {
    let arity = |operator: &builtins::Operator| if operator.left == 0 { 1 } else { 2 };
    let all = builtins::lists::operators().iter();
    all.map(|operator| ((FuncId(operator.function), arity(operator)), operator.name)).collect()
});

/// The operator that a function computes.
pub(crate) fn operator_name(func: FuncId, operands: usize) -> Option<&'static str> {
    OPERATORS.get(&(func, operands)).copied()
}

impl Lowering<'_> {
    pub(super) fn call(&mut self, func: FuncId, args: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Expr> {
        let Some(function) = builtins::function(func) else { return internal(format!("function {}", func.0)) };
        // As an operator it would take a text beside an array for an array.
        let of_arrays = matches!(function.name, "array_append" | "array_prepend" | "array_cat");
        if let Some(sign) = operator_name(func, args.len()).filter(|_| !of_arrays) {
            return self.operator(sign, args, schema);
        }
        if let Some(call) = self.catalog_call(function, args, schema)? {
            return Ok(call);
        }
        if function.name.contains("json") && args.iter().any(|arg| matches!(arg.kind, Kind::Row(_))) {
            let args = args.iter().map(|arg| self.json_argument(arg, schema)).collect::<LowerResult<_>>()?;
            return self.named(function.name, args);
        }
        let mut lowered = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let value = self.expr(arg, schema)?;
            let wanted = function.args.get(at).copied().or(function.variadic);
            let value = with_type(value, arg)?;
            let value = self.argument(value, arg, function, at)?;
            lowered.push(match wanted {
                Some(wanted) if is_of_any_type(wanted) => as_typed(value, arg),
                _ => value,
            });
        }
        match (function.name, lowered.len()) {
            ("mod", 2) => {
                if let Ok([left, right]) = <[Expr; 2]>::try_from(lowered) {
                    return planned_operator(Operator::Modulo, left, right, schema);
                }
                return internal("mod of other operands");
            }
            ("timeofday", 0) => {
                let clock = self.named("clock_timestamp", Vec::new())?;
                let format = ScalarValue::Utf8(Some("Dy Mon DD HH24:MI:SS.US YYYY TZ".to_owned()));
                return self.named("to_char", vec![clock, Expr::Literal(format, None)]);
            }
            ("age", 1) => lowered.insert(0, self.named("current_date", Vec::new())?),
            ("current_setting", _) if !matches!(lowered.first(), Some(Expr::Literal(..))) => {
                return self.named("setting_of", lowered);
            }
            _ => {}
        }
        self.named(planned_name(function.name), lowered)
    }

    /// A row among the arguments of what makes JSON is JSON itself.
    fn json_argument(&mut self, arg: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let Kind::Row(fields) = &arg.kind else {
            let value = self.expr(arg, schema)?;
            return Ok(as_typed(with_type(value, arg)?, arg));
        };
        let fields = fields.iter().map(|field| self.json_argument(field, schema)).collect::<LowerResult<_>>()?;
        self.named(JSON_ROW, fields)
    }

    /// A call of a function of the embedding program.
    pub(super) fn own_call(
        &mut self,
        function: &OwnFunction,
        args: &[Scalar],
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        let args = self.typed_exprs(args, schema)?;
        self.named(&function.name, args)
    }

    /// A call of the function of that name: its form was chosen by the types of its arguments, and is by them again.
    pub(super) fn named(&mut self, name: &str, args: Vec<Expr>) -> LowerResult<Expr> {
        let function = match self.planner.scalar_function(name) {
            Some(function) => function,
            None => {
                let bound = (self.cx.functions)(name);
                self.calls_bound |= bound.is_some();
                bound.ok_or_else(|| QueryError::Unsupported { feature: format!("function {name}()") })?
            }
        };
        Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function, args)))
    }

    /// Arguments of a function that chooses its form by their types.
    pub(super) fn typed_exprs(&mut self, args: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Vec<Expr>> {
        args.iter().map(|arg| with_type(self.expr(arg, schema)?, arg)).collect()
    }

    fn operator(&mut self, sign: &str, args: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Expr> {
        if let [value, pattern] = args
            && let Some(matched) = self.pattern_operator(sign, value, pattern, schema)?
        {
            return Ok(matched);
        }
        let mut lowered = self.exprs(args, schema)?;
        if sign == "||" && !args.iter().any(|arg| arg.ty.id.element().is_some()) {
            let shown = lowered.into_iter().zip(args).map(|(value, arg)| self.as_shown(value, arg.ty));
            lowered = shown.collect::<LowerResult<_>>()?;
        }
        if binary_operator(sign).is_none() {
            // Functions in place of operators ask for types, and NULL has none of its own.
            let typed = lowered.into_iter().zip(args).map(|(value, arg)| with_type(value, arg));
            lowered = typed.collect::<LowerResult<_>>()?;
        }
        let mut lowered = lowered.into_iter();
        match (lowered.next(), lowered.next()) {
            (Some(left), Some(right)) => match binary_operator(sign) {
                Some(op) => planned_operator(op, left, right, schema),
                None => match operator(sign) {
                    Some(definition) => Ok(call_of(definition, vec![left, right])),
                    None => unsupported(format!("operator {sign}")),
                },
            },
            (Some(value), None) => match sign {
                "+" => Ok(value),
                "-" => Ok(Expr::Negative(Box::new(value))),
                "@" => self.named("abs", vec![value]),
                "|/" => self.named("sqrt", vec![value]),
                "||/" => self.named("cbrt", vec![value]),
                "~" => self.named("prefix ~", vec![value]),
                sign => unsupported(format!("operator {sign}")),
            },
            _ => unsupported(format!("operator {sign}")),
        }
    }
}

/// Functions whose calls become something else than a call of one function with the same arguments.
pub(crate) const LOWERED_OTHERWISE: [&str; 5] = ["position", "mod", "timeofday", "age", "current_setting"];

/// The name by which plans have a function.
pub(crate) fn planned_name(name: &'static str) -> &'static str {
    match name {
        "rand" => "random",
        "regexp_split" => "regexp_split_to_array",
        "array_elem" => "array subscript",
        "like_escape" => LIKE_ESCAPE,
        "similar_to_escape" => SIMILAR_TO_ESCAPE,
        name => name,
    }
}

fn binary_operator(sign: &str) -> Option<Operator> {
    Some(match sign {
        "=" => Operator::Eq,
        "<>" => Operator::NotEq,
        "<" => Operator::Lt,
        "<=" => Operator::LtEq,
        ">" => Operator::Gt,
        ">=" => Operator::GtEq,
        "+" => Operator::Plus,
        "-" => Operator::Minus,
        "*" => Operator::Multiply,
        "/" => Operator::Divide,
        "%" => Operator::Modulo,
        "~" => Operator::RegexMatch,
        "~*" => Operator::RegexIMatch,
        "!~" => Operator::RegexNotMatch,
        "!~*" => Operator::RegexNotIMatch,
        _ => return None,
    })
}

/// Takes a parameter of that type values of more than one type?
fn is_of_any_type(id: TypeId) -> bool {
    id == TypeId::ANY || id.is_polymorphic()
}

/// A NULL keeps its type, by which functions choose their form.
pub(super) fn with_type(value: Expr, arg: &Scalar) -> LowerResult<Expr> {
    match &value {
        Expr::Literal(constant, _) if constant.is_null() => Ok(written(value, &value_type(arg.ty)?)),
        _ => Ok(value),
    }
}

/// A constant text where the function asks which type its argument is of: alone it would be of no type yet.
fn as_typed(value: Expr, arg: &Scalar) -> Expr {
    match (&value, arg.ty.data_type()) {
        (Expr::Literal(ScalarValue::Utf8(Some(_)), _), Some(ty)) if ty.is_text() => labelled(value, DataType::Text),
        _ => value,
    }
}
