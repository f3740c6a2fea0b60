//! Row values and their comparison.

use super::condition::{any_of, within};
use crate::binder::Binder;
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::query::Rows;
use crate::tree::{ColId, ColInfo, Cte, CteBody, CteId, Kind, Rel, Scalar, Span};
use builtins::{Ty, TypeId, Volatility};
use sql::ast;
use types::CompareOp;

impl Binder<'_> {
    /// Binds `(a, b)`.
    pub(super) fn row(&mut self, items: &[ast::Expr]) -> BindResult<Scalar> {
        let values = self.scalars(items)?;
        self.row_of(values)
    }

    /// Returns a row of bound fields.
    pub(super) fn row_of(&mut self, values: Vec<Scalar>) -> BindResult<Scalar> {
        let values = values.into_iter().map(|value| self.output_type(value)).collect::<BindResult<Vec<_>>>()?;
        let span = values.iter().fold(Span::default(), |all, value| all.with(value.span));
        Ok(Scalar { kind: Kind::Row(values), ty: Ty::plain(TypeId::RECORD), span })
    }

    /// Returns the fields of a row constructor, or of the whole row that a relation's name stands for.
    pub(super) fn fields_of(&mut self, expr: &ast::Expr) -> BindResult<Option<Vec<Scalar>>> {
        if let Some(items) = items_of(expr) {
            return self.scalars_of(&items).map(Some);
        }
        match expr {
            ast::Expr::Nested(inner) => self.fields_of(inner),
            ast::Expr::Identifier(ident) => self.whole_row(ident),
            _ => Ok(None),
        }
    }

    /// Binds `(a, b) < (c, d)`.
    pub(super) fn compare_rows(
        &mut self,
        left: &ast::Expr,
        op: &ast::BinaryOperator,
        right: &ast::Expr,
    ) -> BindResult<Scalar> {
        let name = self.operator_name(op)?;
        let Some(fields) = self.fields_of(left)? else {
            // A query stands for a row on the right side only.
            let left = self.scalar(left)?;
            return self.undefined_row_operator(name_of(left.ty), &name, "record".to_owned(), left.span);
        };
        self.compare_fields(fields, &name, right)
    }

    /// Compares a row with a row or with a query of one.
    fn compare_fields(&mut self, left: Vec<Scalar>, name: &str, right: &ast::Expr) -> BindResult<Scalar> {
        let fields = match self.fields_of(right)? {
            Some(fields) => fields,
            None => match query_of(right) {
                Some(query) => self.fields_of_query(query, left.len())?,
                None => {
                    let right = self.scalar(right)?;
                    return self.undefined_row_operator("record".to_owned(), name, name_of(right.ty), right.span);
                }
            },
        };
        let Some(op) = CompareOp::of_sign(name) else { return self.refuse_row_operator(name, left, fields) };
        // A whole row is a value of a composite type, and so are nested rows.
        if items_of(right).is_none() && query_of(right).is_none() {
            let of = |fields: Vec<Scalar>| {
                let span = fields.iter().fold(Span::default(), |all, field| all.with(field.span));
                Scalar { kind: Kind::Row(fields), ty: Ty::plain(TypeId::RECORD), span }
            };
            let equal = self.equal_records(op, of(left), of(fields))?;
            return Ok(self.negated(equal, op == CompareOp::Ne));
        }
        self.row_comparison(op, left, fields)
    }

    /// Returns the columns of a query's only row, NULLs if it has none.
    fn fields_of_query(&mut self, query: &ast::Query, width: usize) -> BindResult<Vec<Scalar>> {
        let before = std::mem::replace(&mut self.facts.volatility, Volatility::Immutable);
        let bound = self.inner_query(query);
        let own = std::mem::replace(&mut self.facts.volatility, before);
        self.facts.volatility = before.max(own);
        let (rows, free) = bound?;
        if rows.outputs.len() != width {
            return self.error(BindErrorKind::SubqueryWidth { many: rows.outputs.len() > width }, Span::default());
        }
        if own == Volatility::Volatile && free.is_empty() && !self.reads_work_table(&rows.rel) {
            return self.fields_of_materialized(rows);
        }
        let mut fields = vec![self.first_of_subquery(rows, free)?];
        for at in 1..width {
            match self.nth_of_subquery(query, at, width)? {
                Some(field) => fields.push(field),
                None => return Err(self.internal("a query that has other columns the next time")),
            }
        }
        Ok(fields)
    }

    /// Returns the columns of a query's only row, where the query is computed once for all of them.
    fn fields_of_materialized(&mut self, rows: Rows) -> BindResult<Vec<Scalar>> {
        let (cte, cols): (CteId, Vec<ColId>) = (self.new_cte(), rows.outputs.iter().map(|(_, col)| *col).collect());
        self.cte_bodies.push(Cte { id: cte, cols, body: CteBody::Materialized(rows.rel) });
        let mut fields = Vec::with_capacity(rows.outputs.len());
        for (name, of) in rows.outputs {
            let ty = self.col_ty(of);
            let own = self.new_col(ColInfo { name: name.clone(), ty, nullable: true, origin: None })?;
            let rel = Rel::CteScan { cte, cols: vec![(of, own)] };
            fields.push(self.first_of_subquery(Rows { rel, outputs: vec![(name, own)] }, Vec::new())?);
        }
        Ok(fields)
    }

    fn undefined_row_operator<T>(&self, left: String, name: &str, right: String, span: Span) -> BindResult<T> {
        let kind = BindErrorKind::UndefinedOperator { left: Some(left), name: name.to_owned(), right };
        let hint = "No operator matches the given name and argument types. You might need to add explicit type casts.";
        Err(BindError::new(kind, span).with_hint(hint))
    }

    /// Returns the error for an operator on rows that is not a comparison.
    fn refuse_row_operator<T>(&mut self, name: &str, left: Vec<Scalar>, right: Vec<Scalar>) -> BindResult<T> {
        let (Some(left), Some(right)) = (left.into_iter().next(), right.into_iter().next()) else {
            return self.unsupported(format!("operator {name} on rows without fields"));
        };
        let span = left.span.with(right.span);
        let value = self.operator(name, Some(left), right, span)?;
        match value.ty.id == TypeId::BOOL {
            true => self.unsupported(format!("operator {name} on rows")),
            false => self.error(BindErrorKind::RowOperator { found: name_of(value.ty) }, span),
        }
    }

    pub(super) fn row_comparison(
        &mut self,
        op: CompareOp,
        left: Vec<Scalar>,
        right: Vec<Scalar>,
    ) -> BindResult<Scalar> {
        let span = left.iter().chain(&right).fold(Span::default(), |all, value| all.with(value.span));
        if left.len() != right.len() {
            return self.error(BindErrorKind::UnequalRows, span);
        }
        let (mut pairs, mut nested) = (Vec::with_capacity(left.len()), Vec::new());
        for (left, right) in left.into_iter().zip(right) {
            if matches!(left.kind, Kind::Row(_)) || matches!(right.kind, Kind::Row(_)) {
                nested.push(self.equal_records(op, left, right)?);
                continue;
            }
            let (eq, left, right) = self.comparison("=", left, right)?;
            let lt = match op {
                CompareOp::Eq | CompareOp::Ne => eq,
                _ => {
                    let (left, right) = (self.copy(&left)?, self.copy(&right)?);
                    self.comparison("<", left, right)?.0
                }
            };
            pairs.push((eq, lt, left, right));
        }
        if nested.is_empty() {
            return Ok(Scalar { kind: Kind::RowCompare { op, pairs }, ty: Ty::BOOL, span });
        }
        if !pairs.is_empty() {
            let kind = Kind::RowCompare { op: CompareOp::Eq, pairs };
            nested.push(Scalar { kind, ty: Ty::BOOL, span });
        }
        let all = Scalar { kind: Kind::And(nested), ty: Ty::BOOL, span };
        Ok(self.negated(all, op == CompareOp::Ne))
    }

    /// Compares nested rows as values of a composite type: NULL equals NULL.
    fn equal_records(&mut self, op: CompareOp, left: Scalar, right: Scalar) -> BindResult<Scalar> {
        let span = left.span.with(right.span);
        let (a, b) = match (left, right) {
            (Scalar { kind: Kind::Row(a), .. }, Scalar { kind: Kind::Row(b), .. }) => (a, b),
            (left, right) => return self.undefined_row_operator(name_of(left.ty), op.sign(), name_of(right.ty), span),
        };
        if !matches!(op, CompareOp::Eq | CompareOp::Ne) {
            return self.unsupported("an order of rows within rows");
        }
        if a.len() != b.len() {
            return self.error(BindErrorKind::UnequalRows, span);
        }
        let mut tests = Vec::with_capacity(a.len());
        for (a, b) in a.into_iter().zip(b) {
            tests.push(match (&a.kind, &b.kind) {
                (Kind::Row(_), _) | (_, Kind::Row(_)) => self.equal_records(op, a, b)?,
                _ => self.distinct_values(a, b, true)?,
            });
        }
        Ok(Scalar { kind: Kind::And(tests), ty: Ty::BOOL, span })
    }

    /// Binds `(a, b) OVERLAPS (c, d)`.
    pub(super) fn overlaps(&mut self, left: &ast::Expr, right: &ast::Expr) -> BindResult<Scalar> {
        let mut args = Vec::with_capacity(4);
        for side in [left, right] {
            let Some([start, end]) = items_of(side).and_then(|items| <[&ast::Expr; 2]>::try_from(items).ok()) else {
                let message = "wrong number of parameters in OVERLAPS expression: each side has two";
                return self.error(BindErrorKind::Syntax { message }, Span::default());
            };
            args.push(self.scalar(start)?);
            args.push(self.scalar(end)?);
        }
        let span = args.iter().fold(Span::default(), |all, arg| all.with(arg.span));
        self.call_named("overlaps", args, span)
    }

    /// Binds `(a, b) IN ((1, 2), (3, 4))`.
    pub(super) fn in_rows(&mut self, arg: &ast::Expr, list: &[ast::Expr], negated: bool) -> BindResult<Scalar> {
        let Some(arg) = self.fields_of(arg)? else {
            let arg = self.scalar(arg)?;
            return self.undefined_row_operator(name_of(arg.ty), "=", "record".to_owned(), arg.span);
        };
        let mut tests = Vec::with_capacity(list.len());
        for row in list {
            let arg = arg.iter().map(|value| self.copy(value)).collect::<BindResult<Vec<_>>>()?;
            let Some(fields) = self.fields_of(row)? else {
                let row = self.scalar(row)?;
                return self.undefined_row_operator("record".to_owned(), "=", name_of(row.ty), row.span);
            };
            tests.push(self.row_comparison(CompareOp::Eq, arg, fields)?);
        }
        let span = tests.iter().fold(Span::default(), |all, test| all.with(test.span));
        Ok(self.negated(any_of(tests, span), negated))
    }

    /// Binds `(a, b) BETWEEN (1, 2) AND (3, 4)`.
    pub(super) fn between_rows(
        &mut self,
        arg: &ast::Expr,
        negated: bool,
        low: &ast::Expr,
        high: &ast::Expr,
    ) -> BindResult<Scalar> {
        let Some(arg) = self.fields_of(arg)? else {
            let arg = self.scalar(arg)?;
            return self.undefined_row_operator(name_of(arg.ty), ">=", "record".to_owned(), arg.span);
        };
        let copy = arg.iter().map(|value| self.copy(value)).collect::<BindResult<Vec<_>>>()?;
        let (from, to) = if negated { ("<", ">") } else { (">=", "<=") };
        let both = vec![self.compare_fields(copy, from, low)?, self.compare_fields(arg, to, high)?];
        let span = both.iter().fold(Span::default(), |all, test| all.with(test.span));
        Ok(within(both, negated, span))
    }

    /// Checks that a function with arguments of type `any` takes a row.
    pub(super) fn row_argument(&mut self, name: &str, row: Scalar) -> BindResult<Scalar> {
        match name {
            "count" | "json_build_array" | "json_build_object" | "to_json" => Ok(row),
            _ => self.unsupported(format!("a row as an argument of {name}()")),
        }
    }
}

fn query_of(expr: &ast::Expr) -> Option<&ast::Query> {
    match expr {
        ast::Expr::Nested(inner) => query_of(inner),
        ast::Expr::Subquery(query) => Some(query),
        _ => None,
    }
}

/// Returns the values of a row constructor: `(a, b)`, `ROW(a, b)`.
pub(super) fn items_of(expr: &ast::Expr) -> Option<Vec<&ast::Expr>> {
    match expr {
        ast::Expr::Nested(inner) => items_of(inner),
        ast::Expr::Tuple(items) => Some(items.iter().collect()),
        ast::Expr::Function(function) => arguments_of_row(function),
        _ => None,
    }
}

fn arguments_of_row(function: &ast::Function) -> Option<Vec<&ast::Expr>> {
    let is_row = match function.name.0.as_slice() {
        [part] => {
            part.as_ident().is_some_and(|ident| ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("row"))
        }
        _ => false,
    };
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    if !is_row || function.over.is_some() || function.filter.is_some() || list.duplicate_treatment.is_some() {
        return None;
    }
    let value = |arg| match arg {
        &ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().map(value).collect()
}
