//! Calls of functions and operators.

use crate::error::QueryError;
use crate::functions::{
    JSON_ROW, LIKE_ESCAPE, SIMILAR_TO_ESCAPE, call_of, function_named, labelled, session_constant, session_setting,
};
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal, unsupported};
use crate::lower::scalar::cast::written_literal;
use crate::lower::scalar::catalog::{has_zero_based_subscripts, prints};
use crate::lower::scalar::comparable::pad;
use crate::lower::scalar::constant::value_type;
use crate::lower::scalar::operator::negative;
use crate::lower::scalar::zone::{Call, Zoned};
use ::bind::OwnFunction;
use ::bind::tree::{Kind, Scalar};
use builtins::{FuncId, Function, Ty, TypeId};
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, Operator, lit};
use std::collections::HashMap;
use std::sync::LazyLock;
use types::DataType;

/// Operators, by their function and number of operands.
static OPERATORS: LazyLock<HashMap<(FuncId, usize), &'static str>> = LazyLock::new(|| {
    let arity = |operator: &builtins::Operator| if operator.left == 0 { 1 } else { 2 };
    let all = builtins::lists::operators().iter();
    all.map(|operator| ((FuncId(operator.function), arity(operator)), operator.name)).collect()
});

/// The operator that a function implements.
pub(crate) fn operator_name(func: FuncId, operands: usize) -> Option<&'static str> {
    OPERATORS.get(&(func, operands)).copied()
}

impl Lowering<'_> {
    pub(in crate::lower) fn call(
        &mut self,
        func: FuncId,
        args: &[Scalar],
        ty: Ty,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        let Some(function) = builtins::function(func) else { return internal(format!("function {}", func.0)) };
        // Array concatenation is implemented by functions of these names.
        let of_arrays = matches!(function.name, "array_append" | "array_prepend" | "array_cat");
        if let Some(sign) = operator_name(func, args.len()).filter(|_| !of_arrays) {
            return self.operator(sign, function, args, ty, schema);
        }
        if let Some(call) = self.catalog_call(function, args, schema)? {
            return Ok(call);
        }
        if function.name.contains("json") && args.iter().any(|arg| matches!(arg.kind, Kind::Row(_))) {
            let args = args.iter().map(|arg| self.json_argument(arg, schema)).collect::<LowerResult<_>>()?;
            return self.named(function.name, args);
        }
        let lowered = self.arguments(function, args, schema)?;
        let types = parameter_types(function, args);
        match (function.name, lowered.len()) {
            ("mod", 2) => {
                if let Ok([left, right]) = <[Expr; 2]>::try_from(lowered) {
                    return self.binary(Operator::Modulo, left, right, schema);
                }
                return internal("mod of other operands");
            }
            ("timeofday", 0) => {
                let clock = self.named("clock_timestamp", Vec::new())?;
                let format = ScalarValue::Utf8(Some("Dy Mon DD HH24:MI:SS.US YYYY TZ".to_owned()));
                let args = vec![clock, Expr::Literal(format, None)];
                return self.by_value("to_char", vec![DataType::TimestampTz(None), DataType::Text], args, ty, schema);
            }
            ("age", 1) => {
                let of = types.first().copied().unwrap_or(DataType::TimestampTz(None));
                let today = self.named("current_date", Vec::new())?;
                let today = self.written(today, &of, schema)?;
                let args = std::iter::once(today).chain(lowered).collect();
                return self.by_value("age", vec![of, of], args, ty, schema);
            }
            ("current_setting", _) => {
                let or_null = matches!(lowered.get(1), Some(Expr::Literal(ScalarValue::Boolean(Some(true)), _)));
                return match lowered.first() {
                    Some(Expr::Literal(ScalarValue::Utf8(Some(name)), _)) => Ok(session_setting(name, or_null)),
                    _ => self.named("setting_of", lowered),
                };
            }
            _ => {}
        }
        let name = planned_name(function.name);
        if function_named(name).is_none() {
            return self.named(name, lowered);
        }
        let value = self.by_value(name, types, lowered, ty, schema)?;
        // Vectors of catalogs are represented as arrays, whose subscripts start at 1.
        let is_bound = matches!(name, "array_lower" | "array_upper");
        let of_vector = is_bound && args.first().is_some_and(has_zero_based_subscripts);
        Ok(if of_vector { value - lit(1_i32) } else { value })
    }

    /// Lowers the arguments of a function, in the representation that it expects.
    fn arguments(&mut self, function: &Function, args: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Vec<Expr>> {
        let mut lowered = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let value = with_type(self.expr(arg, schema)?, arg)?;
            let value = self.argument(value, arg, function, at)?;
            let is_any = parameter(function, at).is_some_and(is_of_any_type);
            lowered.push(if is_any { as_typed(value, arg) } else { value });
        }
        Ok(lowered)
    }

    /// Lowers an argument of a JSON function: a row becomes JSON.
    fn json_argument(&mut self, arg: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let Kind::Row(fields) = &arg.kind else {
            let value = self.expr(arg, schema)?;
            return Ok(as_typed(with_type(value, arg)?, arg));
        };
        let fields = fields.iter().map(|field| self.json_argument(field, schema)).collect::<LowerResult<_>>()?;
        self.named(JSON_ROW, fields)
    }

    /// Calls a function of the embedding program.
    pub(in crate::lower) fn own_call(
        &mut self,
        function: &OwnFunction,
        args: &[Scalar],
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        let args = self.typed_exprs(args, schema)?;
        self.named(&function.name, args)
    }

    /// Calls a function by name: one of DataFusion, of the session, or of the embedding program.
    pub(in crate::lower) fn named(&mut self, name: &str, args: Vec<Expr>) -> LowerResult<Expr> {
        if args.is_empty()
            && let Some(value) = session_constant(name)
        {
            return Ok(value);
        }
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

    /// Calls a function of our library of scalar functions, with parameters of these types.
    pub(in crate::lower) fn sql_call(&self, name: &str, types: &[DataType], args: Vec<Expr>) -> LowerResult<Expr> {
        let Some(definition) = function_named(name) else { return internal(format!("no function {name}")) };
        call_of(definition, types, args, None)
    }

    /// Calls such a function for a statement: in the session's time zone, with a result of type `ty`.
    pub(in crate::lower) fn by_value(
        &mut self,
        name: &str,
        types: Vec<DataType>,
        args: Vec<Expr>,
        ty: Ty,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        let mut call = Call { name, types, args };
        if let Some(zone) = &self.zone {
            match self.zoned(zone, call)? {
                Zoned::Call(zoned) => call = zoned,
                Zoned::Value(value) => return Ok(value),
            }
        }
        let Call { name, types, mut args } = call;
        let Some(definition) = function_named(name) else { return internal(format!("no function {name}")) };
        if definition.sees_blanks {
            args.iter_mut().for_each(|arg| pad(arg, schema));
        }
        if name == "array_to_string" {
            pad_elements(&mut args, schema);
        }
        call_of(definition, &types, args, ty.digits)
    }

    /// Lowers arguments of a function that inspects their types.
    pub(in crate::lower) fn typed_exprs(&mut self, args: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Vec<Expr>> {
        args.iter().map(|arg| with_type(self.expr(arg, schema)?, arg)).collect()
    }

    fn operator(
        &mut self,
        sign: &str,
        function: &Function,
        args: &[Scalar],
        ty: Ty,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        if let [value, pattern] = args
            && let Some(matched) = self.pattern_operator(sign, value, pattern, schema)?
        {
            return Ok(matched);
        }
        let types = parameter_types(function, args);
        let mut lowered = self.exprs(args, schema)?;
        if let Some(op) = binary_operator(sign).filter(|op| !is_of_times(*op, &types)) {
            return match <[Expr; 2]>::try_from(lowered) {
                Ok([left, right]) => self.binary(op, left, right, schema),
                Err(lowered) => self.prefix(sign, lowered, &types, ty, schema),
            };
        }
        if sign == "||" {
            let shown = lowered.into_iter().zip(args).map(|(value, arg)| self.as_shown(value, arg.ty));
            lowered = shown.collect::<LowerResult<_>>()?;
        }
        // Functions that implement operators inspect types, and an untyped NULL has none.
        let typed = lowered.into_iter().zip(args).map(|(value, arg)| with_type(value, arg));
        let lowered = typed.collect::<LowerResult<Vec<_>>>()?;
        match args {
            [_, _] => self.by_value(&format!("operator {sign}"), types, lowered, ty, schema),
            _ => self.prefix(sign, lowered, &types, ty, schema),
        }
    }

    /// A prefix operator.
    fn prefix(
        &mut self,
        sign: &str,
        args: Vec<Expr>,
        types: &[DataType],
        ty: Ty,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        let Ok([value]) = <[Expr; 1]>::try_from(args) else { return unsupported(format!("operator {sign}")) };
        match (sign, prefix_function(sign)) {
            ("+", _) => Ok(value),
            ("-", _) => Ok(negative(value, schema)),
            (_, Some(name)) => self.by_value(name, types.to_vec(), vec![value], ty, schema),
            (sign, None) => unsupported(format!("operator {sign}")),
        }
    }
}

/// The function that implements a prefix operator.
pub(crate) fn prefix_function(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "@" => "abs",
        "|/" => "sqrt",
        "||/" => "cbrt",
        "~" => "prefix ~",
        _ => return None,
    })
}

/// The declared type of a parameter.
fn parameter(function: &Function, at: usize) -> Option<TypeId> {
    function.args.get(at).copied().or(function.variadic)
}

/// The parameter types of a call; polymorphic ones by its arguments.
pub(crate) fn parameter_types(function: &Function, args: &[Scalar]) -> Vec<DataType> {
    let types = args.iter().map(|arg| arg.ty);
    types.enumerate().map(|(at, ty)| parameter_type(function, at, ty)).collect()
}

/// The type of one parameter for an argument of that type.
pub(crate) fn parameter_type(function: &Function, at: usize, arg: Ty) -> DataType {
    let declared = parameter(function, at).filter(|id| !is_of_any_type(*id)).map(Ty::plain);
    let held = match declared {
        Some(declared) => declared.runtime_type(),
        None if prints(function, at) => arg.answer_type(),
        None => arg.runtime_type(),
    };
    held.unwrap_or(DataType::Text).unlimited()
}

/// Is it arithmetic of dates, times or intervals?
fn is_of_times(op: Operator, types: &[DataType]) -> bool {
    let is_arithmetic =
        matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply | Operator::Divide | Operator::Modulo);
    is_arithmetic && types.len() == 2 && types.iter().any(|ty| ty.is_temporal() || *ty == DataType::Interval)
}

/// Pads the elements of an array that is only printed.
fn pad_elements(args: &mut [Expr], schema: &DFSchemaRef) {
    if let Some(Expr::ScalarFunction(array)) = args.first_mut()
        && array.func.name() == "make_array"
    {
        array.args.iter_mut().for_each(|element| pad(element, schema));
    }
}

/// Functions whose calls are not lowered to a call of one function with the same arguments.
pub(crate) const LOWERED_OTHERWISE: [&str; 5] = ["position", "mod", "timeofday", "age", "current_setting"];

/// The name of a function in a plan.
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

/// Is the parameter type polymorphic?
fn is_of_any_type(id: TypeId) -> bool {
    id == TypeId::ANY || id.is_polymorphic()
}

/// Gives a NULL literal its type, by which functions choose an overload.
pub(in crate::lower) fn with_type(value: Expr, arg: &Scalar) -> LowerResult<Expr> {
    match value {
        Expr::Literal(constant, _) if constant.is_null() => Ok(written_literal(constant, &value_type(arg.ty)?)),
        value => Ok(value),
    }
}

/// Labels a constant text as `text` for a function that inspects types: a literal alone is untyped.
fn as_typed(value: Expr, arg: &Scalar) -> Expr {
    match (&value, arg.ty.data_type()) {
        (Expr::Literal(ScalarValue::Utf8(Some(_)), _), Some(ty)) if ty.is_text() => labelled(value, DataType::Text),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::function_named;

    fn sample(id: TypeId) -> Ty {
        match id {
            TypeId::ANYARRAY | TypeId::ANYCOMPATIBLEARRAY => Ty::plain(TypeId::INT4_ARRAY),
            id if is_of_any_type(id) => Ty::INT4,
            id => Ty::plain(id),
        }
    }

    #[test]
    fn each_line_of_the_built_ins_finds_its_body_by_its_parameters() {
        let mut missing = Vec::new();
        let scalar = |function: &&Function| function.kind == builtins::Kind::Scalar;
        for function in builtins::functions().iter().filter(scalar) {
            let whole = function.args.iter().enumerate();
            let types: Vec<DataType> = whole.map(|(at, id)| parameter_type(function, at, sample(*id))).collect();
            let of_arrays = types.iter().any(|ty| matches!(ty, DataType::Array(_)));
            let name = match operator_name(function.id, function.args.len()) {
                // DataFusion implements it.
                Some(_) if types.len() == 1 => continue,
                Some(sign) if binary_operator(sign).is_some_and(|op| !is_of_times(op, &types)) && !of_arrays => {
                    continue;
                }
                Some(sign) => format!("operator {sign}"),
                None if LOWERED_OTHERWISE.contains(&function.name) => continue,
                None => planned_name(function.name).to_owned(),
            };
            let Some(definition) = function_named(&name) else { continue };
            let fewest = function.args.len().saturating_sub(function.defaults);
            for count in fewest..=function.args.len() {
                let args = function.args.iter().take(count).enumerate();
                let types: Vec<DataType> = args.map(|(at, id)| parameter_type(function, at, sample(*id))).collect();
                if definition.form(&types).is_none() {
                    missing.push(format!("{} {name} {types:?}", function.id.0));
                }
            }
        }
        assert_eq!(missing, Vec::<String>::new());
    }
}
