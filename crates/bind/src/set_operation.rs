//! UNION, INTERSECT, EXCEPT, and ORDER BY over the outputs of queries that are not a SELECT.

use crate::binder::Binder;
use crate::clause::Clause;
use crate::coerce::with_digits;
use crate::error::{BindErrorKind, BindResult};
use crate::name::fold;
use crate::select::Selected;
use crate::tree::{ColId, ColInfo, ColRef, Key, Kind, Rel, Scalar, SetOpKind, Span};
use builtins::{TypeId, digits};
use sql::ast;

impl Binder<'_> {
    pub(crate) fn set_operation(
        &mut self,
        left: &ast::SetExpr,
        op: ast::SetOperator,
        quantifier: ast::SetQuantifier,
        right: &ast::SetExpr,
    ) -> BindResult<Selected> {
        let (kind, name) = match op {
            ast::SetOperator::Union => (SetOpKind::Union, "UNION"),
            ast::SetOperator::Intersect => (SetOpKind::Intersect, "INTERSECT"),
            ast::SetOperator::Except | ast::SetOperator::Minus => (SetOpKind::Except, "EXCEPT"),
        };
        let all = match quantifier {
            ast::SetQuantifier::All => true,
            ast::SetQuantifier::Distinct | ast::SetQuantifier::None => false,
            _ => return self.unsupported(format!("{name} BY NAME")),
        };
        if self.depth >= super::scalar::MAX_DEPTH {
            return self.error(BindErrorKind::TooDeep { what: "set operations are" }, Span::default());
        }
        self.depth += 1;
        let (left, right) = (self.operand(left)?, self.operand(right)?);
        self.depth -= 1;
        self.last_query_items.clear();
        if left.outputs.len() != right.outputs.len() {
            let span = right.outputs.first().map(|(_, value)| value.span).unwrap_or_default();
            return self.error(BindErrorKind::UnequalColumns { op: name }, span);
        }
        self.combine((kind, all, name), left, right)
    }

    fn combine(
        &mut self,
        (op, all, what): (SetOpKind, bool, &'static str),
        left: Selected,
        right: Selected,
    ) -> BindResult<Selected> {
        let (mut cols, mut outputs) = (Vec::new(), Vec::new());
        let (mut of_left, mut of_right, mut above) = (Vec::new(), Vec::new(), Vec::new());
        for ((name, a), (_, b)) in left.outputs.into_iter().zip(right.outputs) {
            let own = match a.ty.id {
                TypeId::NUMERIC => Some(a.ty.digits),
                TypeId::UNKNOWN => None,
                id => Some(digits::of_integer(id)),
            };
            let mut pair = vec![a, b];
            let ty = self.unify_values(&mut pair, what)?;
            let Ok([a, b]) = <[Scalar; 2]>::try_from(pair) else {
                return Err(self.internal("a pair of columns that is none"));
            };
            if !all {
                self.equality(ty, a.span)?;
            }
            let typmod = if a.ty.typmod == b.ty.typmod { a.ty.typmod } else { -1 };
            let ty = builtins::Ty { typmod, ..ty };
            let (a, b) = (self.column_of(&name, &a, &mut of_left)?, self.column_of(&name, &b, &mut of_right)?);
            let nullable = [a, b].iter().any(|id| self.cols.get(id.index()).is_none_or(|info| info.nullable));
            let col = self.new_col(ColInfo { name: name.clone(), ty, nullable, origin: None })?;
            cols.push((col, a, b));
            let mut value = Scalar { kind: Kind::Col(ColRef { id: col, level: 0 }), ty, span: Span::default() };
            // The result of INTERSECT and EXCEPT has rows of the left side, with its digits.
            let kept = own.filter(|digits| op != SetOpKind::Union && *digits != ty.digits);
            if let (TypeId::NUMERIC, Some(digits)) = (ty.id, kept) {
                let id = self.column_of(&name, &with_digits(value, digits), &mut above)?;
                value = Scalar { kind: Kind::Col(ColRef { id, level: 0 }), ty: self.col_ty(id), span: Span::default() };
            }
            outputs.push((name, value));
        }
        let (left, right) = (projected(left.rel, of_left), projected(right.rel, of_right));
        let rel = projected(Rel::SetOp { op, all, left, right, cols }, above);
        Ok(Selected { rel: *rel, outputs })
    }

    /// Sorts by ORDER BY, whose keys can only be names and positions of outputs.
    pub(crate) fn sorted_outputs(&mut self, selected: Selected, order_by: &[ast::OrderByExpr]) -> BindResult<Selected> {
        if order_by.is_empty() {
            return Ok(selected);
        }
        let mut keys = Vec::with_capacity(order_by.len());
        for key in order_by {
            let at = self.output_place(&key.expr, &selected.outputs)?;
            let Some((_, Scalar { kind: Kind::Col(col), ty, span })) = selected.outputs.get(at) else {
                return Err(self.internal("an output that is no column"));
            };
            self.ordering(*ty, *span)?;
            let desc = key.options.asc == Some(false);
            keys.push(Key { col: col.id, desc, nulls_first: key.options.nulls_first.unwrap_or(desc) });
        }
        Ok(Selected { rel: Rel::Sort { input: Box::new(selected.rel), keys }, outputs: selected.outputs })
    }

    fn output_place(&mut self, expr: &ast::Expr, outputs: &[(String, Scalar)]) -> BindResult<usize> {
        let clause = Clause::OrderBy;
        if let ast::Expr::Identifier(ident) = expr {
            let (name, span) = (fold(ident), self.span(ident.span));
            let mut named = outputs.iter().enumerate().filter(|(_, (output, _))| *output == name);
            return match (named.next(), named.next()) {
                (Some((at, _)), None) => Ok(at),
                (Some(_), Some(_)) => self.error(BindErrorKind::AmbiguousOutput { clause, name }, span),
                (None, _) => self.error(BindErrorKind::UndefinedColumn { relation: None, name }, span),
            };
        }
        match self.position(expr, outputs.len(), clause)? {
            Some((at, _)) => Ok(at),
            None => self.error(BindErrorKind::SetOperationOrder, Span::default()),
        }
    }
}

fn projected(rel: Rel, exprs: Vec<(ColId, Scalar)>) -> Box<Rel> {
    match exprs.is_empty() {
        true => Box::new(rel),
        false => Box::new(Rel::Project { input: Box::new(rel), exprs }),
    }
}
