//! Set-returning functions: unnested arrays, and series of integers, which are generated.

use crate::functions::{flat, is_nested};
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal, unsupported};
use crate::lower::rel::computed;
use crate::lower::scalar::call::parameter_types;
use crate::lower::scalar::cast::written_literal;
use crate::lower::scalar::catalog::has_zero_based_subscripts;
use ::bind::tree::{ColId, Kind, Rel, Scalar, SetCall};
use arrow::datatypes::DataType as ArrowType;
use builtins::{Ty, TypeId};
use datafusion::common::{Column, DFSchemaRef, ScalarValue, UnnestOptions};
use datafusion::datasource::provider_as_source;
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::logical_plan::TableScanBuilder;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, LogicalPlan, Projection, Unnest, Window, lit, when};
use std::sync::Arc;
use types::{DataType, Datum, ElementType};

impl Lowering<'_> {
    pub(in crate::lower) fn unnest(
        &mut self,
        input: &Rel,
        calls: &[SetCall],
        ordinality: Option<ColId>,
        outer: bool,
    ) -> LowerResult<LogicalPlan> {
        let mut plan = match (input, calls) {
            (Rel::OneRow, [call]) => self.series(call)?,
            _ => None,
        };
        if plan.is_none() {
            let input = self.rel(input)?;
            plan = Some(self.unnest_arrays(input, calls, outer)?);
        }
        let Some(plan) = plan else { return internal("a set of no calls") };
        match ordinality {
            Some(id) => self.numbered(plan, id),
            None => Ok(plan),
        }
    }

    /// Adds a column per array, and unnests all of them together.
    fn unnest_arrays(&mut self, input: LogicalPlan, calls: &[SetCall], outer: bool) -> LowerResult<LogicalPlan> {
        let schema = Arc::clone(input.schema());
        let mut exprs: Vec<Expr> = schema.columns().into_iter().map(Expr::Column).collect();
        let (mut arrays, mut shown) = (Vec::with_capacity(calls.len()), schema.columns());
        for call in calls {
            let [col] = call.cols.as_slice() else { return internal("a function with several columns") };
            let mut array = self.array_of(call, &schema)?;
            if array.get_type(&schema).is_ok_and(|ty| is_nested(&ty)) {
                array = flat(array);
            }
            let Column { name, .. } = self.columns.nameless("array");
            exprs.push(array.alias_qualified(computed(), name.clone()));
            arrays.push(Column::new(computed(), name));
            let name = self.bound.col(*col).map(|info| info.name.clone()).unwrap_or_default();
            shown.push(self.columns.computed(*col, &name));
        }
        let rows = Arc::new(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input))?));
        let options = UnnestOptions::new().with_preserve_nulls(outer);
        let rows = LogicalPlan::Unnest(Unnest::try_new(rows, arrays, options)?);
        let of_calls = rows.schema().fields().len().saturating_sub(calls.len());
        let named = rows.schema().columns().into_iter().zip(shown).enumerate().map(|(at, (column, shown))| {
            if column == shown {
                return Ok(Expr::Column(column));
            }
            let call = at.checked_sub(of_calls).and_then(|at| calls.get(at));
            let value = match call.is_some_and(gives_texts_of_arrays) {
                true => self.written(Expr::Column(column), &DataType::Array(ElementType::Text), rows.schema())?,
                false => Expr::Column(column),
            };
            Ok(value.alias_qualified(shown.relation, shown.name))
        });
        let named = named.collect::<LowerResult<_>>()?;
        Ok(LogicalPlan::Projection(Projection::try_new(named, Arc::new(rows))?))
    }

    /// The array that a call unnests.
    fn array_of(&mut self, call: &SetCall, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let Some(function) = builtins::function(call.func) else { return internal("an unknown function") };
        let mut args = self.typed_exprs(&call.args, schema)?;
        let types = parameter_types(function, &call.args);
        let series = |types: usize| vec![DataType::Integer; types];
        match (function.name, args.as_slice()) {
            ("unnest", [_]) => Ok(args.remove(0)),
            ("generate_series", _) => self.by_value("generate_series", types, args, Ty::INT4, schema),
            ("generate_subscripts", [array, dimension]) => {
                let (lower, upper) = self.bounds(call, array, dimension, &types)?;
                self.sql_call("generate_series", &series(2), vec![lower, upper])
            }
            ("generate_subscripts", [array, dimension, reverse]) => {
                let (lower, upper) = self.bounds(call, array, dimension, &types)?;
                // A NULL direction gives NULL bounds, and thus no rows.
                let either = |on: Expr, off: Expr| {
                    when(reverse.clone(), on).when(Expr::Not(Box::new(reverse.clone())), off).end()
                };
                let (from, to) = (either(upper.clone(), lower.clone())?, either(lower, upper)?);
                self.sql_call("generate_series", &series(3), vec![from, to, either(lit(-1_i32), lit(1_i32))?])
            }
            ("regexp_matches", _) => self.sql_call("regexp_match_texts", &types, args),
            ("regexp_split_to_table", _) => self.sql_call("regexp_split_to_array", &types, args),
            ("string_to_table", _) => self.sql_call("string_to_array", &types, args),
            // There are no partitioned tables.
            ("pg_partition_ancestors", _) => {
                let oids = DataType::Array(ElementType::Oid);
                Ok(written_literal(ScalarValue::Null, &oids))
            }
            (name, _) => unsupported(format!("function {name}()")),
        }
    }

    /// The first and the last subscript of a dimension of an array; subscripts of vectors start at 0.
    fn bounds(&self, call: &SetCall, array: &Expr, dimension: &Expr, types: &[DataType]) -> LowerResult<(Expr, Expr)> {
        let of_vector = call.args.first().is_some_and(has_zero_based_subscripts);
        let ends = vec![array.clone(), dimension.clone()];
        let types = types.get(..2).unwrap_or_default();
        let bound = |name: &str| {
            let bound = self.sql_call(name, types, ends.clone())?;
            LowerResult::Ok(if of_vector { bound - lit(1_i32) } else { bound })
        };
        Ok((bound("array_lower")?, bound("array_upper")?))
    }

    /// A series of integers between constants, which needs no array.
    fn series(&mut self, call: &SetCall) -> LowerResult<Option<LogicalPlan>> {
        let is_series = builtins::function(call.func).is_some_and(|function| function.name == "generate_series");
        let ends: Option<Vec<Expr>> = call.args.iter().map(integer).collect();
        let (Some(ends), [col], true) = (ends, call.cols.as_slice(), is_series) else { return Ok(None) };
        // Our own function reports the error for a step of zero.
        if ends.get(2).is_some_and(|step| *step == lit(0_i64)) {
            return Ok(None);
        }
        let Some(rows) = self.planner.series(&ends)? else { return Ok(None) };
        let qualifier = self.columns.qualifier("generate_series");
        let scan = LogicalPlan::TableScan(TableScanBuilder::new(qualifier, provider_as_source(rows)).build()?);
        let Some(value) = scan.schema().columns().into_iter().next() else { return Ok(None) };
        let mut value = Expr::Column(value);
        if self.bound.col(*col).is_some_and(|info| info.ty.id == TypeId::INT4) {
            value = Expr::Cast(Cast::new(Box::new(value), ArrowType::Int32));
        }
        let Column { relation, name, .. } = self.columns.computed(*col, "generate_series");
        let exprs = vec![value.alias_qualified(relation, name)];
        Ok(Some(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(scan))?)))
    }

    /// Adds the column of WITH ORDINALITY.
    fn numbered(&mut self, plan: LogicalPlan, id: ColId) -> LowerResult<LogicalPlan> {
        let number = row_number();
        let mut exprs: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let counted = Column::new_unqualified(number.schema_name().to_string());
        let rows = LogicalPlan::Window(Window::try_new(vec![number], Arc::new(plan))?);
        let Column { relation, name, .. } = self.columns.computed(id, "ordinality");
        let counted = Expr::Cast(Cast::new(Box::new(Expr::Column(counted)), ArrowType::Int64));
        exprs.push(counted.alias_qualified(relation, name));
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rows))?))
    }
}

/// Does it return arrays, which are represented as text within an array?
fn gives_texts_of_arrays(call: &SetCall) -> bool {
    builtins::function(call.func).is_some_and(|function| function.name == "regexp_matches")
}

/// An integer constant as a bigint.
fn integer(value: &Scalar) -> Option<Expr> {
    let number = match &value.kind {
        Kind::Const(datum @ (Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_))) => datum.as_i64(),
        Kind::Cast { arg, .. } if matches!(value.ty.id, TypeId::INT4 | TypeId::INT8) => match &arg.kind {
            Kind::Const(datum @ (Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_))) => datum.as_i64(),
            _ => None,
        },
        _ => None,
    };
    number.map(|number| Expr::Literal(ScalarValue::Int64(Some(number)), None))
}
