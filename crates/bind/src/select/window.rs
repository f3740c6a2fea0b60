//! Window functions: each call becomes a column that a window node above the grouping computes.

use super::frame::same_frame;
use crate::binder::Binder;
use crate::call_error::{SetError, WindowError};
use crate::clause::Clause;
use crate::error::{BindError, BindResult};
use crate::name::fold;
use crate::same::same;
use crate::tree::{
    ColId, ColInfo, ColRef, Frame, FrameBound, FrameMode, Key, Kind, Rel, Scalar, Span, WindowCall, WindowSpec,
};
use builtins::resolve::{FunctionCall, Resolved};
use builtins::{FuncId, Kind as FunctionKind, Ty, TypeId, digits};
use sql::ast;

/// Maximum number of windows with different partitions or orders in a query: each is an operator above all others, and
/// planning takes the third power of their number.
const MOST_WINDOWS: usize = 250;

/// A window function call that is not in a window node yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingWindow {
    /// The column of its result.
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

/// A window over expressions for comparison, the same window over columns, and its calls.
type Node = (Window, WindowSpec, Vec<(ColId, WindowCall)>);

impl PendingWindow {
    /// Returns all expressions over the input rows.
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

/// Does the value read one of these columns?
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
    /// Records the definitions of the WINDOW clause. A window may refer to those before it.
    pub(super) fn name_windows(&mut self, named: &[ast::NamedWindowDefinition]) -> BindResult<()> {
        for ast::NamedWindowDefinition(name, window) in named {
            let (span, name) = (self.span(name.span), fold(name));
            if self.scope().named_windows.iter().any(|(other, _)| *other == name) {
                return self.error(WindowError::Twice { name }.into(), span);
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
        let (span, name) = (self.span(name.span), fold(name));
        let found = self.scope().named_windows.iter().find(|(other, _)| *other == name).map(|(_, spec)| spec.clone());
        found.map_or_else(|| self.error(WindowError::Undefined { name }.into(), span), Ok)
    }

    /// Completes a window definition with the clauses of the window that it refers to.
    fn complete_window(&mut self, spec: &ast::WindowSpec) -> BindResult<ast::WindowSpec> {
        let mut spec = spec.clone();
        let Some(name) = spec.window_name.take() else { return Ok(spec) };
        let base = self.window_named(&name)?;
        let (span, named) = (self.span(name.span), fold(&name));
        let (parted, ordered) = (!spec.partition_by.is_empty(), !spec.order_by.is_empty() && !base.order_by.is_empty());
        if parted || ordered {
            let what = if parted { "PARTITION BY" } else { "ORDER BY" };
            return self.error(WindowError::Overrides { what, name: named }.into(), span);
        }
        if base.window_frame.is_some() {
            let error = BindError::new(WindowError::CopiesFrame { name: named }.into(), span);
            let bare = spec.order_by.is_empty() && spec.window_frame.is_none();
            return Err(if bare { error.with_hint("Omit the parentheses in this OVER clause.") } else { error });
        }
        spec.partition_by = base.partition_by;
        if spec.order_by.is_empty() {
            spec.order_by = base.order_by;
        }
        Ok(spec)
    }

    /// Binds `f(…) OVER …`.
    pub(crate) fn window_call(
        &mut self,
        name: &str,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        over: &ast::WindowType,
        span: Span,
    ) -> BindResult<Scalar> {
        self.check_window_place(span)?;
        let spec = match over {
            ast::WindowType::NamedWindow(name) => self.window_named(name)?,
            ast::WindowType::WindowSpec(spec) => self.complete_window(spec)?,
        };
        let (args, filter, window) = self.window_parts(function, list, &spec)?;
        let call = match self.resolve_call(name, &args, span)? {
            Resolved::Call(call) => call,
            Resolved::Cast(_) => {
                return self.error(WindowError::NoWindowFunction { name: name.to_owned() }.into(), span);
            }
        };
        self.check_window_call(&call, list, filter.is_some(), span)?;
        let of_window = call.function.kind == FunctionKind::Window;
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

    /// Checks that the current clause allows a window function.
    fn check_window_place(&mut self, span: Span) -> BindResult<()> {
        let scope = self.scope();
        let wrong = match scope.clause {
            clause if !matches!(clause, Clause::SelectList | Clause::OrderBy | Clause::DistinctOn) => {
                WindowError::NotAllowed { clause }
            }
            _ if scope.in_aggregate => WindowError::InAggregate,
            _ if scope.in_window => WindowError::Nested,
            _ => return Ok(()),
        };
        self.error(wrong.into(), span)
    }

    /// Checks that the function can be called with OVER and with these clauses.
    fn check_window_call(
        &self,
        call: &FunctionCall,
        list: &ast::FunctionArgumentList,
        filtered: bool,
        span: Span,
    ) -> BindResult<()> {
        let of_window = call.function.kind == FunctionKind::Window;
        let name = || call.function.name.to_owned();
        let sorted = list.clauses.iter().any(|clause| matches!(clause, ast::FunctionArgumentClause::OrderBy(_)));
        let missing = |what, functions| WindowError::NotImplemented { what, functions };
        let wrong = if !of_window && call.function.kind != FunctionKind::Aggregate {
            WindowError::NoWindowFunction { name: name() }
        } else if call.function.direct.is_some() {
            WindowError::OrderedSet { name: name() }
        } else if matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct)) {
            missing("DISTINCT", "window functions")
        } else if sorted {
            missing("aggregate ORDER BY", "window functions")
        } else if of_window && filtered {
            missing("FILTER", "non-aggregate window functions")
        } else if call.defaults > 0 || call.variadic.is_some() {
            return Err(self.internal("a window function with defaults or variadic arguments"));
        } else {
            return Ok(());
        };
        self.error(wrong.into(), span)
    }

    fn window_parts(
        &mut self,
        function: &ast::Function,
        list: &ast::FunctionArgumentList,
        spec: &ast::WindowSpec,
    ) -> BindResult<(Vec<Scalar>, Option<Scalar>, Window)> {
        let star = matches!(list.args.as_slice(), [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)]);
        let sets = self.sets_so_far();
        let args = if star { Vec::new() } else { self.within_window(|binder| binder.arguments(list))? };
        self.refuse_sets_as(sets, SetError::InCall { call: "window function" })?;
        let condition =
            |binder: &mut Self, filter| binder.in_clause(Clause::Filter, |binder| binder.boolean(filter, "FILTER"));
        let filter = function.filter.as_ref().map(|filter| condition(self, filter)).transpose()?;
        let window = self.within_window(|binder| {
            binder.in_clause(Clause::WindowDefinition, |binder| binder.window_definition(spec))
        });
        Ok((args, filter, window?))
    }

    fn within_window<T>(&mut self, bind: impl FnOnce(&mut Self) -> BindResult<T>) -> BindResult<T> {
        self.scope().in_window = true;
        let bound = bind(self);
        self.scope().in_window = false;
        bound
    }

    fn window_definition(&mut self, spec: &ast::WindowSpec) -> BindResult<Window> {
        let mut partition = Vec::with_capacity(spec.partition_by.len());
        for key in &spec.partition_by {
            for value in self.key_values(key)? {
                self.equality(value.ty, value.span)?;
                partition.push(value);
            }
        }
        let mut order = Vec::with_capacity(spec.order_by.len());
        for key in &spec.order_by {
            let descending = key.options.asc == Some(false);
            for value in self.key_values(&key.expr)? {
                self.ordering(value.ty, value.span)?;
                order.push((value, descending, key.options.nulls_first.unwrap_or(descending)));
            }
        }
        let frame = match &spec.window_frame {
            Some(frame) => self.frame(frame, &order)?,
            None => Frame { mode: FrameMode::Range, start: FrameBound::Unbounded, end: FrameBound::Current },
        };
        Ok(Window { partition, order, frame })
    }

    /// Adds a column for each call: one window node per window.
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
        let mut orders: Vec<&WindowSpec> = Vec::new();
        for (_, spec, _) in &nodes {
            if !orders.iter().any(|other| other.partition == spec.partition && other.order == spec.order) {
                orders.push(spec);
            }
        }
        if orders.len() > MOST_WINDOWS {
            return self.error(WindowError::TooMany { limit: MOST_WINDOWS }.into(), Span::default());
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
