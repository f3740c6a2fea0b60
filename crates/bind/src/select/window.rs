//! Window functions: each becomes a column that a node above the grouping makes, and a window is a node.

use crate::binder::{Binder, plain};
use crate::error::{BindResult, Clause};
use crate::name::fold;
use crate::same::same;
use crate::tree::{
    CastContext, ColId, ColInfo, ColRef, Frame, FrameBound, FrameMode, Key, Kind, Rel, Scalar, Span, WindowCall,
    WindowSpec,
};
use builtins::resolve::Resolved;
use builtins::{FuncId, Kind as FunctionKind, Ty, TypeId, digits};
use sql::ast;
use types::Datum;

/// Different windows of one query, at most: planning takes the third power of their number.
const MOST_WINDOWS: usize = 250;

/// A call whose window is not a node yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingWindow {
    /// The column that it has become.
    pub(crate) col: ColId,
    func: FuncId,
    args: Vec<Scalar>,
    filter: Option<Scalar>,
    window: Window,
    ty: Ty,
}

/// A window over expressions.
#[derive(Clone, Debug)]
struct Window {
    partition: Vec<Scalar>,
    /// Value, descending, NULLs first.
    order: Vec<(Scalar, bool, bool)>,
    frame: Frame,
}

/// A window as it is compared, as a node has it, and its calls.
type Node = (Window, WindowSpec, Vec<(ColId, WindowCall)>);

impl PendingWindow {
    /// All expressions that are over the rows below.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Scalar> {
        let Window { partition, order, .. } = &mut self.window;
        let order = order.iter_mut().map(|(value, ..)| value);
        self.args.iter_mut().chain(&mut self.filter).chain(partition).chain(order)
    }

    fn same_as(&self, other: &Self) -> bool {
        let filters = match (&self.filter, &other.filter) {
            (Some(a), Some(b)) => same(a, b),
            (None, None) => true,
            _ => false,
        };
        self.func == other.func && filters && all_same(&self.args, &other.args) && self.window.same_as(&other.window)
    }
}

impl Window {
    fn same_as(&self, other: &Self) -> bool {
        let orders = self.order.len() == other.order.len()
            && self.order.iter().zip(&other.order).all(|(a, b)| same(&a.0, &b.0) && (a.1, a.2) == (b.1, b.2));
        orders && all_same(&self.partition, &other.partition) && same_frame(&self.frame, &other.frame)
    }
}

fn all_same(a: &[Scalar], b: &[Scalar]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

fn same_frame(a: &Frame, b: &Frame) -> bool {
    let bounds = |a: &FrameBound, b: &FrameBound| match (a, b) {
        (FrameBound::Unbounded, FrameBound::Unbounded) | (FrameBound::Current, FrameBound::Current) => true,
        (FrameBound::Preceding(a), FrameBound::Preceding(b)) | (FrameBound::Following(a), FrameBound::Following(b)) => {
            same(a, b)
        }
        _ => false,
    };
    a.mode == b.mode && bounds(&a.start, &b.start) && bounds(&a.end, &b.end)
}

fn is_negative(datum: &Datum) -> bool {
    match datum {
        Datum::Numeric(number) => number.unscaled < 0,
        Datum::Float4(number) => *number < 0.0,
        Datum::Float8(number) => *number < 0.0,
        Datum::Interval(interval) => interval.span() < 0,
        datum => datum.as_i64().is_some_and(|number| number < 0),
    }
}

/// Does it read one of these columns?
pub(super) fn reads_any(value: &Scalar, cols: &[ColId]) -> bool {
    let mut found = match &value.kind {
        Kind::Col(col) => cols.contains(&col.id),
        Kind::Subquery(subquery) => subquery.free.iter().any(|col| cols.contains(&col.id)),
        _ => false,
    };
    value.each_operand(&mut |operand| found = found || reads_any(operand, cols));
    found
}

impl Binder<'_> {
    /// Takes down the windows of WINDOW. One may build on those before it.
    pub(super) fn name_windows(&mut self, named: &[ast::NamedWindowDefinition]) -> BindResult<()> {
        for ast::NamedWindowDefinition(name, window) in named {
            let name = fold(name);
            if self.scope().named_windows.iter().any(|(other, _)| *other == name) {
                return Err(self.not_built("a window that is defined twice"));
            }
            let spec = match window {
                ast::NamedWindowExpr::NamedWindow(other) => self.window_named(other)?,
                ast::NamedWindowExpr::WindowSpec(spec) => self.complete_window(spec)?,
            };
            self.scope().named_windows.push((name, spec));
        }
        Ok(())
    }

    fn window_named(&mut self, name: &ast::Ident) -> BindResult<ast::WindowSpec> {
        let name = fold(name);
        let found = self.scope().named_windows.iter().find(|(other, _)| *other == name).map(|(_, spec)| spec.clone());
        found.map_or_else(|| Err(self.not_built("a window that is not defined")), Ok)
    }

    /// A window in parentheses with what it takes over from the one that it names.
    fn complete_window(&mut self, spec: &ast::WindowSpec) -> BindResult<ast::WindowSpec> {
        let mut spec = spec.clone();
        let Some(name) = spec.window_name.take() else { return Ok(spec) };
        let base = self.window_named(&name)?;
        let overrides = !spec.partition_by.is_empty() || !spec.order_by.is_empty() && !base.order_by.is_empty();
        if overrides || base.window_frame.is_some() {
            return Err(self.not_built("a window that changes what it takes over"));
        }
        spec.partition_by = base.partition_by;
        if spec.order_by.is_empty() {
            spec.order_by = base.order_by;
        }
        Ok(spec)
    }

    /// `f(…) OVER …`.
    pub(crate) fn window_call(
        &mut self,
        name: &str,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        over: &ast::WindowType,
        span: Span,
    ) -> BindResult<Scalar> {
        if !matches!(self.scope().clause, Clause::SelectList | Clause::OrderBy) {
            return Err(self.not_built("a window function in this clause"));
        }
        if self.scope().in_aggregate || self.scope().in_window {
            return Err(self.not_built("a window function within another"));
        }
        if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
            return Err(self.not_built("DISTINCT or ORDER BY in a call over a window"));
        }
        let spec = match over {
            ast::WindowType::NamedWindow(name) => self.window_named(name)?,
            ast::WindowType::WindowSpec(spec) => self.complete_window(spec)?,
        };
        self.scope().in_window = true;
        let bound = self.window_parts(function, list, &spec);
        self.scope().in_window = false;
        let (args, filter, window) = bound?;
        let Resolved::Call(call) = self.resolve_call(name, &args, span)? else {
            return Err(self.not_built("this function over a window"));
        };
        let of_window = call.function.kind == FunctionKind::Window;
        let is_plain = call.function.direct.is_none() && call.defaults == 0 && call.variadic.is_none();
        if !(of_window || call.function.kind == FunctionKind::Aggregate) || !is_plain {
            return Err(self.not_built("this function over a window"));
        }
        if of_window && filter.is_some() {
            return Err(self.not_built("FILTER of a window function"));
        }
        self.note_call(call.function.id);
        let args = self.call_arguments(&call, args)?;
        let digits = match call.returns.id {
            TypeId::NUMERIC if of_window => args.first().and_then(|arg| arg.ty.digits),
            TypeId::NUMERIC => digits::of_aggregate(call.function.name, args.first().map(|arg| &arg.ty), false),
            _ => None,
        };
        let ty = Ty { digits, ..call.returns };
        let col = self.new_col(ColInfo { name: name.to_owned(), ty, nullable: true, origin: None })?;
        let pending = PendingWindow { col, func: call.function.id, args, filter, window, ty };
        let alike = self.scope().windows.iter().find(|other| other.same_as(&pending)).map(|other| other.col);
        let id = alike.unwrap_or(col);
        if alike.is_none() {
            self.scope().windows.push(pending);
        }
        Ok(Scalar { kind: Kind::Col(ColRef { id, level: 0 }), ty, span })
    }

    fn window_parts(
        &mut self,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        spec: &ast::WindowSpec,
    ) -> BindResult<(Vec<Scalar>, Option<Scalar>, Window)> {
        let star = matches!(list.args.as_slice(), [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)]);
        let args = if star { Vec::new() } else { self.arguments(list)? };
        let filter = function.filter.as_ref().map(|filter| self.boolean(filter, "FILTER")).transpose()?;
        let mut partition = Vec::with_capacity(spec.partition_by.len());
        for key in &spec.partition_by {
            let value = self.scalar(key)?;
            let value = self.output_type(value)?;
            self.equality(value.ty, value.span)?;
            partition.push(value);
        }
        let mut order = Vec::with_capacity(spec.order_by.len());
        for key in &spec.order_by {
            let value = self.scalar(&key.expr)?;
            let value = self.output_type(value)?;
            self.ordering(value.ty, value.span)?;
            let descending = key.options.asc == Some(false);
            order.push((value, descending, key.options.nulls_first.unwrap_or(descending)));
        }
        let frame = match &spec.window_frame {
            Some(frame) => self.frame(frame, &order)?,
            None => Frame { mode: FrameMode::Range, start: FrameBound::Unbounded, end: FrameBound::Current },
        };
        Ok((args, filter, Window { partition, order, frame }))
    }

    fn frame(&mut self, frame: &ast::WindowFrame, order: &[(Scalar, bool, bool)]) -> BindResult<Frame> {
        let mode = match frame.units {
            ast::WindowFrameUnits::Rows => FrameMode::Rows,
            ast::WindowFrameUnits::Range => FrameMode::Range,
            ast::WindowFrameUnits::Groups => FrameMode::Groups,
        };
        if mode == FrameMode::Groups && order.is_empty() {
            return Err(self.not_built("GROUPS without ORDER BY"));
        }
        let start = self.frame_bound(&frame.start_bound, mode, order)?;
        let end = match &frame.end_bound {
            Some(end) => self.frame_bound(end, mode, order)?,
            None => FrameBound::Current,
        };
        use ast::WindowFrameBound::{Following as After, Preceding as Before};
        let backwards = matches!(frame.start_bound, After(None)) || matches!(frame.end_bound, Some(Before(None)));
        let crossed = matches!(
            (&start, &end),
            (FrameBound::Current, FrameBound::Preceding(_))
                | (FrameBound::Following(_), FrameBound::Current | FrameBound::Preceding(_))
        );
        if backwards || crossed {
            return Err(self.not_built("a frame that ends before it begins"));
        }
        Ok(Frame { mode, start, end })
    }

    fn frame_bound(
        &mut self,
        bound: &ast::WindowFrameBound,
        mode: FrameMode,
        order: &[(Scalar, bool, bool)],
    ) -> BindResult<FrameBound> {
        use ast::WindowFrameBound as B;
        let (offset, preceding) = match bound {
            B::CurrentRow => return Ok(FrameBound::Current),
            B::Preceding(None) | B::Following(None) => return Ok(FrameBound::Unbounded),
            B::Preceding(Some(offset)) => (offset, true),
            B::Following(Some(offset)) => (offset, false),
        };
        let wanted = match mode {
            FrameMode::Rows | FrameMode::Groups => Ty::INT8,
            FrameMode::Range => match order {
                [(key, ..)] => match key.ty.id.category() {
                    "N" => plain(key.ty.id),
                    "D" | "T" => plain(TypeId::INTERVAL),
                    _ => return Err(self.not_built("a distance of this type")),
                },
                _ => return Err(self.not_built("a distance in an order of several columns")),
            },
        };
        let mut value = self.scalar(offset)?;
        if value.ty.is_unknown() {
            value = self.coerce(value, wanted, CastContext::Implicit)?;
        }
        if value.ty.id.category() != wanted.id.category() {
            return Err(self.not_built("a distance of another type"));
        }
        let is_whole = |datum: &Datum| datum.as_i64().is_some_and(|count| count >= 0);
        let fits = match &value.kind {
            Kind::Const(datum) if mode == FrameMode::Range => !datum.is_null() && !is_negative(datum),
            Kind::Const(datum) => is_whole(datum),
            _ => false,
        };
        if !fits {
            return Err(self.not_built("a distance that varies"));
        }
        Ok(if preceding { FrameBound::Preceding(value) } else { FrameBound::Following(value) })
    }

    /// The rows with a column for each call: a node for each window.
    pub(super) fn windowed(&mut self, rel: Rel, windows: Vec<PendingWindow>) -> BindResult<Rel> {
        if windows.is_empty() {
            return Ok(rel);
        }
        let mut exprs: Vec<(ColId, Scalar)> = Vec::new();
        let mut nodes: Vec<Node> = Vec::new();
        for pending in windows {
            let PendingWindow { col, func, args, filter, window, ty } = pending;
            let mut cols = Vec::with_capacity(args.len());
            for arg in &args {
                cols.push(self.column_of("argument", arg, &mut exprs)?);
            }
            let filter = filter.as_ref().map(|filter| self.column_of("filter", filter, &mut exprs)).transpose()?;
            let call = (col, WindowCall { func, args: cols, filter, ty });
            if let Some((_, _, calls)) = nodes.iter_mut().find(|(other, ..)| other.same_as(&window)) {
                calls.push(call);
                continue;
            }
            let mut partition = Vec::with_capacity(window.partition.len());
            for key in &window.partition {
                partition.push(self.column_of("key", key, &mut exprs)?);
            }
            let mut order = Vec::with_capacity(window.order.len());
            for (value, desc, nulls_first) in &window.order {
                let col = self.column_of("order", value, &mut exprs)?;
                order.push(Key { col, desc: *desc, nulls_first: *nulls_first });
            }
            let spec = WindowSpec { partition, order, frame: window.frame.clone() };
            nodes.push((window, spec, vec![call]));
        }
        if nodes.len() > MOST_WINDOWS {
            return Err(self.not_built("so many windows"));
        }
        let mut rel = match exprs.is_empty() {
            true => rel,
            false => Rel::Project { input: Box::new(rel), exprs },
        };
        for (_, spec, calls) in nodes {
            rel = Rel::Window { input: Box::new(rel), spec, calls };
        }
        Ok(rel)
    }
}
