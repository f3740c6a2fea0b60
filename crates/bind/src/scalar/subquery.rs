//! Subqueries in expressions.

use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::query::Rows;
use crate::scope::Boundary;
use crate::tree::{ColRef, Kind, Scalar, Span, Subquery, SubqueryKind};
use builtins::Ty;
use sql::ast;
use std::collections::BTreeMap;
use types::CompareOp;

impl Binder<'_> {
    pub(super) fn scalar_subquery(&mut self, query: &ast::Query) -> BindResult<Scalar> {
        let (rows, free) = self.inner_query(query)?;
        let ty = match self.one_column(&rows) {
            Err(mut error) => {
                error.span = self.before_query(query);
                return Err(error);
            }
            ty => ty?,
        };
        self.subquery(SubqueryKind::Scalar, rows, free, ty)
    }

    /// Returns the position of the parenthesis that opens a subquery.
    fn before_query(&self, query: &ast::Query) -> Span {
        let within = self.span(ast::Spanned::span(query));
        let before = self.lines.text().get(..within.start as usize).unwrap_or_default();
        let at = before.rfind('(').filter(|_| !within.is_empty()).and_then(|at| u32::try_from(at).ok());
        at.map(|at| Span { start: at, end: at + 1 }).unwrap_or_default()
    }

    pub(super) fn exists(&mut self, query: &ast::Query, negated: bool) -> BindResult<Scalar> {
        let (rows, free) = self.inner_query(query)?;
        let exists = self.subquery(SubqueryKind::Exists, rows, free, Ty::BOOL)?;
        Ok(self.negated(exists, negated))
    }

    pub(super) fn array_subquery(&mut self, query: &ast::Query) -> BindResult<Scalar> {
        let (rows, free) = self.inner_query(query)?;
        let element = self.one_column(&rows)?;
        match element.id.array() {
            Some(id) => self.subquery(SubqueryKind::ArrayOf, rows, free, Ty { id, ..element }),
            None => self.unsupported(format!("an array of {}", crate::coerce::name_of(element))),
        }
    }

    pub(super) fn in_subquery(&mut self, left: &ast::Expr, query: &ast::Query, negated: bool) -> BindResult<Scalar> {
        let test = self.quantified_subquery(left, "=", query, false)?;
        Ok(self.negated(test, negated))
    }

    /// Binds `x op ANY (SELECT …)`. The subquery's columns are cast to the types of the operator.
    pub(super) fn quantified_subquery(
        &mut self,
        left: &ast::Expr,
        op: &str,
        query: &ast::Query,
        all: bool,
    ) -> BindResult<Scalar> {
        let values = super::row::items_of(left).unwrap_or_else(|| vec![left]);
        if values.len() > 1 && CompareOp::of_sign(op).is_none() {
            return self.unsupported(format!("operator {op} on rows"));
        }
        let (mut rows, free) = self.inner_query(query)?;
        if values.len() != rows.outputs.len() {
            let kind = BindErrorKind::SubqueryWidth { many: rows.outputs.len() > values.len() };
            return self.error(kind, Span::default());
        }
        let (mut lefts, mut ops, mut exprs) = (Vec::new(), Vec::new(), Vec::new());
        for (value, (name, col)) in values.into_iter().zip(&mut rows.outputs) {
            let value = self.scalar(value)?;
            let output =
                Scalar { kind: Kind::Col(ColRef { id: *col, level: 0 }), ty: self.col_ty(*col), span: value.span };
            let (op, value, output) = self.comparison(op, value, output)?;
            if !matches!(output.kind, Kind::Col(_)) {
                *col = self.computed(name, &output)?;
                exprs.push((*col, output));
            }
            lefts.push(value);
            ops.push(op);
        }
        if !exprs.is_empty() {
            let input = Box::new(std::mem::replace(&mut rows.rel, crate::tree::Rel::OneRow));
            rows.rel = crate::tree::Rel::Project { input, exprs };
        }
        self.subquery(SubqueryKind::Quantified { left: lefts, ops, all }, rows, free, Ty::BOOL)
    }

    /// Binds a query in the current scope; also returns the columns of enclosing queries that it reads.
    pub(super) fn inner_query(&mut self, query: &ast::Query) -> BindResult<(Rows, Vec<ColRef>)> {
        if self.scopes.is_empty() {
            // VALUES of a statement have no scope of their own.
            self.scopes.push(crate::scope::Scope::new());
        }
        let clause = self.scope().clause;
        if clause.is_over_one_row() {
            return self.error(BindErrorKind::SubqueryNotAllowed { clause }, Span::default());
        }
        self.boundaries.push(Boundary { depth: self.scopes.len(), free: BTreeMap::new(), in_expression: true });
        let rows = self.subquery_rows(query);
        let free = self.boundaries.pop().map(|boundary| boundary.free).unwrap_or_default();
        Ok((rows?, free.into_iter().map(|(id, level)| ColRef { id, level }).collect()))
    }

    /// Returns one output of a query as a scalar subquery; `None` if the query does not have `width` outputs.
    pub(crate) fn nth_of_subquery(
        &mut self,
        query: &ast::Query,
        place: usize,
        width: usize,
    ) -> BindResult<Option<Scalar>> {
        let (mut rows, free) = self.inner_query(query)?;
        if rows.outputs.len() != width || place >= width {
            return Ok(None);
        }
        let output = rows.outputs.swap_remove(place);
        rows.outputs = vec![output];
        self.first_of_subquery(rows, free).map(Some)
    }

    /// Returns the first output of a bound query as a scalar subquery.
    pub(super) fn first_of_subquery(&mut self, mut rows: Rows, free: Vec<ColRef>) -> BindResult<Scalar> {
        rows.outputs.truncate(1);
        let ty = self.one_column(&rows)?;
        self.subquery(SubqueryKind::Scalar, rows, free, ty)
    }

    fn one_column(&self, rows: &Rows) -> BindResult<Ty> {
        match rows.outputs.as_slice() {
            [(_, col)] => Ok(self.col_ty(*col)),
            _ => self.error(BindErrorKind::SubqueryColumns, Span::default()),
        }
    }

    fn subquery(&self, kind: SubqueryKind, rows: Rows, free: Vec<ColRef>, ty: Ty) -> BindResult<Scalar> {
        let cols = rows.outputs.into_iter().map(|(_, col)| col).collect();
        let kind = Kind::Subquery(Box::new(Subquery { kind, rel: rows.rel, cols, free }));
        Ok(Scalar { kind, ty, span: Span::default() })
    }
}
