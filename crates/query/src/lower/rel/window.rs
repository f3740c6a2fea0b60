//! Window functions. A call that DataFusion computes by several of its own is combined above.

use crate::Refusal;
use crate::convert::expr_to_condition::evaluate_constant;
use crate::convert::scalar_to_datum;
use crate::error::QueryError;
use crate::functions::{array_agg_of_window, even_items};
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal, unsupported};
use crate::lower::rel::aggregate::{above, aggregate_name};
use crate::lower::rel::aggregate_parts::{self, picked_from};
use crate::lower::rel::joined_bytes::joins_bytes;
use crate::lower::rel::sort::ordered;
use crate::lower::rel::window_calls;
use crate::lower::rel::window_frames::{counting_peers, is_reversed, peers, range_distance};
use crate::lower::scalar::cast::written_literal;
use crate::lower::scalar::constant::{constant, value_type};
use ::bind::tree::{ColId, Frame, FrameBound, FrameMode, Kind, Rel, Scalar, WindowCall, WindowSpec};
use arrow::datatypes::DataType as ArrowType;
use builtins::Kind as FunctionKind;
use datafusion::common::{Column, DFSchema, DFSchemaRef, ScalarValue};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, Projection, SortExpr, Window, WindowFrame, WindowFrameBound, WindowFrameUnits,
    WindowFunctionDefinition, when,
};
use std::sync::Arc;
use types::{DataType, Datum};

/// A lowered window.
struct Lowered<'t> {
    /// The node that the window is over.
    input: &'t Rel,
    partition: Vec<Expr>,
    order: Vec<SortExpr>,
    frame: WindowFrame,
    rows: Rows,
}

/// The rows whose frame is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    /// All rows, as far as is known.
    All,
    /// No row: a ROWS or GROUPS frame that ends before it starts.
    None,
    /// Rows whose sort key is NULL: their RANGE frame is their peers.
    Null,
}

/// The mode of a frame and the type of the sort key.
type Order<'t> = (FrameMode, Option<&'t DataType>);

/// Windows with the same partition and order, and the calls of each.
type Alike<'t> = Vec<(Lowered<'t>, &'t [(ColId, WindowCall)])>;

impl Lowering<'_> {
    /// Lowers adjacent windows: those with the same partition and order become one node.
    pub(in crate::lower) fn windows(&mut self, top: &Rel) -> LowerResult<LogicalPlan> {
        let (nodes, input) = independent(top);
        let mut rows = self.rel(input)?;
        let mut groups: Vec<Alike<'_>> = Vec::new();
        let mut keys: Vec<(Expr, Column)> = Vec::new();
        for (spec, calls) in nodes {
            let mut window = self.lowered_window(spec, input, rows.schema())?;
            window.exprs().for_each(|expr| self.computed_below(expr, &mut keys));
            let alike = groups.iter_mut().find(|group| group.first().is_some_and(|(first, _)| first.sorts_as(&window)));
            match alike {
                Some(group) => group.push((window, calls)),
                None => groups.push(vec![(window, calls)]),
            }
        }
        if !keys.is_empty() {
            let mut shown: Vec<Expr> = rows.schema().columns().into_iter().map(Expr::Column).collect();
            shown.extend(
                keys.into_iter().map(|(expr, Column { relation, name, .. })| expr.alias_qualified(relation, name)),
            );
            rows = LogicalPlan::Projection(Projection::try_new(shown, Arc::new(rows))?);
        }
        for group in groups {
            rows = self.window_rows(rows, group)?;
        }
        Ok(rows)
    }

    /// Replaces a computed key by a column. DataFusion moves common subexpressions of several window functions below
    /// some of them, and then asserts that the functions of one operator still sort by the same expressions (55.2,
    /// `physical_planner.rs`).
    fn computed_below(&mut self, key: &mut Expr, keys: &mut Vec<(Expr, Column)>) {
        if matches!(key, Expr::Column(_) | Expr::Literal(..)) {
            return;
        }
        let known = keys.iter().find(|(expr, _)| expr == key).map(|(_, column)| column.clone());
        let column = known.unwrap_or_else(|| {
            let column = self.columns.nameless("sort_key");
            keys.push((key.clone(), column.clone()));
            column
        });
        *key = Expr::Column(column);
    }

    fn lowered_window<'t>(
        &mut self,
        spec: &WindowSpec,
        input: &'t Rel,
        schema: &DFSchemaRef,
    ) -> LowerResult<Lowered<'t>> {
        let part = |col: &ColId| Ok(ordered(Expr::Column(self.columns.get(*col)?.clone()), schema));
        let partition = spec.partition.iter().map(part).collect::<LowerResult<Vec<_>>>()?;
        let mut order = self.sort_keys(&spec.order, schema)?;
        let ty = spec.order.first().and_then(|key| self.type_of(key.col));
        let frame = match is_default(&spec.frame) {
            true => WindowFrame::new((!order.is_empty()).then_some(false)),
            false => self.frame_of(&spec.frame, ty.as_ref())?,
        };
        let ordered_by = order.first().map(|key| key.expr.get_type(schema)).transpose()?;
        let (rows, frame) = match (is_reversed(&frame)?, frame.units) {
            (false, _) => (Rows::All, frame),
            (true, WindowFrameUnits::Range) => (Rows::Null, peers()),
            (true, _) => (Rows::None, frame),
        };
        let frame = counting_peers(frame, ordered_by.as_ref());
        frame.regularize_order_bys(&mut order)?;
        Ok(Lowered { input, partition, order, frame, rows })
    }

    fn window_rows(&mut self, input: LogicalPlan, windows: Alike<'_>) -> LowerResult<LogicalPlan> {
        let mut shown: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
        let mut parts: Vec<Expr> = Vec::new();
        for (window, calls) in windows {
            for (id, call) in calls {
                let planned = self.window_call(call, &window, input.schema())?;
                let lists = matches!(builtins::function(call.func), Some(function) if function.name == "array_agg");
                let planned = if lists && self.is_array(&call.args) { even_items(planned) } else { planned };
                let value = above(planned, &mut parts)?;
                let name = self.bound.col(*id).map(|info| info.name.clone()).unwrap_or_default();
                let Column { relation, name, .. } = self.columns.computed(*id, &name);
                shown.push(value.alias_qualified(relation, name));
            }
        }
        // Calls over empty frames are constants.
        let rows = match parts.is_empty() {
            true => input,
            false => LogicalPlan::Window(Window::try_new(parts, Arc::new(input))?),
        };
        Ok(LogicalPlan::Projection(Projection::try_new(shown, Arc::new(rows))?))
    }

    fn window_call(&mut self, call: &WindowCall, window: &Lowered<'_>, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let Some(function) = builtins::function(call.func) else { return internal("an unknown window function") };
        let of_frame = function.kind != FunctionKind::Window
            || matches!(function.name, "first_value" | "last_value" | "nth_value");
        if of_frame && window.rows == Rows::None {
            return over_no_rows(function.name, call);
        }
        let value = self.call_over(call, function, window, schema)?;
        match window.order.first() {
            Some(key) if of_frame && window.rows == Rows::Null => {
                Ok(when(key.expr.clone().is_null(), value).otherwise(over_no_rows(function.name, call)?)?)
            }
            _ => Ok(value),
        }
    }

    fn call_over(
        &mut self,
        call: &WindowCall,
        function: &builtins::Function,
        window: &Lowered<'_>,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        let name = function.name;
        let func_def = match function.kind {
            FunctionKind::Window => self.planner.window_function(name).map(WindowFunctionDefinition::WindowUDF),
            _ if name == "array_agg" => Some(WindowFunctionDefinition::AggregateUDF(array_agg_of_window())),
            _ => {
                let aggregate = self.planner.aggregate_function(aggregate_name(name));
                aggregate.map(WindowFunctionDefinition::AggregateUDF)
            }
        };
        let Some(func_def) = func_def else { return unsupported(format!("window function {name}()")) };
        let mut args = call.args.iter().map(|arg| self.operand(*arg, window.input)).collect::<LowerResult<Vec<_>>>()?;
        // Row counts are bigints.
        let counting = match name {
            "ntile" => args.first_mut(),
            "lag" | "lead" | "nth_value" => args.get_mut(1),
            _ => None,
        };
        if let Some(Expr::Literal(count @ ScalarValue::Int32(Some(_)), _)) = counting {
            *count = count.cast_to(&ArrowType::Int64)?;
        }
        if name == "ntile" && matches!(args.first(), Some(Expr::Literal(buckets, _)) if buckets.is_null()) {
            return Ok(Expr::Literal(ScalarValue::Int32(None), None));
        }
        if args.is_empty() && function.kind == FunctionKind::Aggregate {
            args.push(Expr::Literal(COUNT_STAR_EXPANSION, None));
        }
        let filter = call.filter.map(|filter| self.columns.get(filter).cloned()).transpose()?;
        let filter = filter.map(|filter| Box::new(Expr::Column(filter)));
        let over = |fun: WindowFunctionDefinition, args: Vec<Expr>| {
            let params = WindowFunctionParams {
                args,
                partition_by: window.partition.clone(),
                order_by: window.order.clone(),
                window_frame: window.frame.clone(),
                filter: filter.clone(),
                null_treatment: None,
                distinct: false,
            };
            Expr::WindowFunction(Box::new(WindowFunction { fun, params }))
        };
        let picked = args.first().cloned();
        let value = match func_def {
            WindowFunctionDefinition::AggregateUDF(function) => {
                let ty = call.args.first().and_then(|arg| self.type_of(*arg));
                let of_bytes = joins_bytes(name, ty);
                let args = if of_bytes { self.in_hex(args)? } else { args };
                let parts = aggregate_parts::Call { function, args, ty, distinct: false, schema };
                let value =
                    parts.value(&|function, args| over(WindowFunctionDefinition::AggregateUDF(function), args))?;
                return if of_bytes { self.decoded_hex(value) } else { Ok(value) };
            }
            function => window_calls::Call { name, function, args, schema, over: &over }.value()?,
        };
        Ok(picked_from(name, picked.as_ref(), value, schema))
    }
}

impl Lowered<'_> {
    /// The partition and sort expressions.
    fn exprs(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.partition.iter_mut().chain(self.order.iter_mut().map(|key| &mut key.expr))
    }

    /// Do both windows need the same sort?
    fn sorts_as(&self, other: &Self) -> bool {
        self.partition == other.partition && self.order == other.order
    }
}

/// A window and its calls.
type Node<'t> = (&'t WindowSpec, &'t [(ColId, WindowCall)]);

/// Adjacent windows of which none reads the result of another, the lowest first, and the node below them.
fn independent(top: &Rel) -> (Vec<Node<'_>>, &Rel) {
    let (mut nodes, mut below): (Vec<Node<'_>>, &Rel) = (Vec::new(), top);
    while let Rel::Window { input, spec, calls } = below {
        let is_computed = |col: &ColId| calls.iter().any(|(id, _)| id == col);
        if nodes.iter().any(|(spec, calls)| columns_of(spec, calls).any(|col| is_computed(&col))) {
            break;
        }
        nodes.push((spec, calls));
        below = input;
    }
    nodes.reverse();
    (nodes, below)
}

/// The columns that a window and its calls read.
fn columns_of<'t>(spec: &'t WindowSpec, calls: &'t [(ColId, WindowCall)]) -> impl Iterator<Item = ColId> + 't {
    let of_calls = calls.iter().flat_map(|(_, call)| call.args.iter().copied().chain(call.filter));
    spec.partition.iter().copied().chain(spec.order.iter().map(|key| key.col)).chain(of_calls)
}

impl Lowering<'_> {
    fn frame_of(&mut self, frame: &Frame, ordered_by: Option<&DataType>) -> LowerResult<WindowFrame> {
        let units = match frame.mode {
            FrameMode::Rows => WindowFrameUnits::Rows,
            FrameMode::Range => WindowFrameUnits::Range,
            FrameMode::Groups => WindowFrameUnits::Groups,
        };
        let start = match &frame.start {
            FrameBound::Unbounded => WindowFrameBound::Preceding(unbounded(frame.mode)),
            bound => self.bound_of(bound, (frame.mode, ordered_by), "starting")?,
        };
        let end = match &frame.end {
            FrameBound::Unbounded => WindowFrameBound::Following(unbounded(frame.mode)),
            bound => self.bound_of(bound, (frame.mode, ordered_by), "ending")?,
        };
        Ok(WindowFrame::new_bounds(units, start, end))
    }

    fn bound_of(&mut self, bound: &FrameBound, of: Order<'_>, which: &str) -> LowerResult<WindowFrameBound> {
        Ok(match bound {
            FrameBound::Preceding(distance) => WindowFrameBound::Preceding(self.distance_of(distance, of, which)?),
            FrameBound::Following(distance) => WindowFrameBound::Following(self.distance_of(distance, of, which)?),
            FrameBound::Current | FrameBound::Unbounded => WindowFrameBound::CurrentRow,
        })
    }

    /// A frame offset: a number of rows or peers, or for RANGE a distance, which DataFusion parses from text.
    fn distance_of(
        &mut self,
        distance: &Scalar,
        (mode, ordered_by): Order<'_>,
        which: &str,
    ) -> LowerResult<ScalarValue> {
        let datum = match &distance.kind {
            Kind::Const(datum) => datum.clone(),
            _ if reads_parameters(distance) => self.unknown_offset(distance)?,
            _ => self.offset_value(distance)?,
        };
        if datum.is_null() {
            return Err(Refusal::Null.because(format!("frame {which} offset must not be null")));
        }
        if mode != FrameMode::Range {
            let negative = || Refusal::FrameOffset.because(format!("frame {which} offset must not be negative"));
            let count = datum.as_i64().and_then(|count| u64::try_from(count).ok());
            return Ok(ScalarValue::UInt64(Some(count.ok_or_else(negative)?)));
        }
        let Some(ty) = distance.ty.data_type() else { return internal("this frame") };
        let mut text = String::new();
        types::text::print(&ty, &datum, &mut text);
        if text.starts_with('-') {
            let message = "invalid preceding or following size in window function";
            return Err(Refusal::FrameOffset.because(message));
        }
        let known = ordered_by.map(|ty| range_distance(&text, ty)).transpose()?.flatten();
        Ok(known.unwrap_or(ScalarValue::Utf8(Some(text))))
    }

    /// Some offset, for a plan that describes the result and is not executed: the statement is planned again with the
    /// values of its parameters.
    fn unknown_offset(&mut self, distance: &Scalar) -> LowerResult<Datum> {
        let Some(ty) = distance.ty.data_type() else { return internal("this frame") };
        self.needs_values = true;
        let one = if ty == DataType::Interval { "1 day" } else { "1" };
        Ok(types::text::parse(&ty, one)?)
    }

    /// Evaluates an offset. DataFusion's frames are part of the plan, so the offset must be constant.
    fn offset_value(&mut self, distance: &Scalar) -> LowerResult<Datum> {
        let none = Arc::new(DFSchema::empty());
        let lowered = self.expr(distance, &none)?;
        match evaluate_constant(&lowered) {
            Some(value) => Ok(scalar_to_datum(&value)?),
            None => {
                let feature = "an offset of a window frame that is no constant".to_owned();
                Err(QueryError::Unsupported { feature })
            }
        }
    }
}

fn reads_parameters(value: &Scalar) -> bool {
    let mut found = matches!(value.kind, Kind::Param(_));
    value.each_operand(&mut |operand| found = found || reads_parameters(operand));
    found
}

/// Is it the default frame: up to the current row and its peers?
fn is_default(frame: &Frame) -> bool {
    let plain = matches!((&frame.start, &frame.end), (FrameBound::Unbounded, FrameBound::Current));
    frame.mode == FrameMode::Range && plain
}

/// The result of a call over an empty frame.
fn over_no_rows(name: &str, call: &WindowCall) -> LowerResult<Expr> {
    match name {
        "count" | "regr_count" => constant(&Datum::Int8(0), call.ty),
        _ => Ok(written_literal(ScalarValue::Null, &value_type(call.ty)?)),
    }
}

fn unbounded(mode: FrameMode) -> ScalarValue {
    if mode == FrameMode::Range { ScalarValue::Null } else { ScalarValue::UInt64(None) }
}
