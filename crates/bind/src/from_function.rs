//! Functions in FROM: sets of rows, and single values.

use crate::binder::Binder;
use crate::error::{BindResult, Clause};
use crate::from::Source;
use crate::name::{fold, parts};
use crate::tree::{ColId, ColInfo, Rel, Scalar, SetCall, Span};
use builtins::resolve::Resolved;
use builtins::{Kind as FunctionKind, Ty, TypeId};
use sql::ast;

/// The rows of a function, and its columns by name.
type FunctionRows = (Rel, Vec<(String, ColId)>);

impl Binder<'_> {
    /// `f(x) [WITH ORDINALITY] [AS a (b, c)]`.
    pub(crate) fn function_in_from(
        &mut self,
        name: &ast::ObjectName,
        list: &[ast::FunctionArg],
        ordinality: bool,
        alias: Option<&ast::TableAlias>,
    ) -> BindResult<Source> {
        let idents = parts(name);
        let Some([ident]) = idents.as_deref() else { return Err(self.not_built("a function with a schema")) };
        let mut exprs = Vec::with_capacity(list.len());
        for arg in list {
            let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) = arg else {
                return Err(self.not_built("an argument with a name, or a star"));
            };
            exprs.push(expr);
        }
        let (name, span) = (fold(ident), self.span(ident.span));
        self.function_rows(&name, &exprs, ordinality, alias, span)
    }

    /// `UNNEST(a, b)`, of which several arrays go beside each other.
    pub(crate) fn unnest_in_from(
        &mut self,
        arrays: &[ast::Expr],
        ordinality: bool,
        alias: Option<&ast::TableAlias>,
    ) -> BindResult<Source> {
        let exprs: Vec<&ast::Expr> = arrays.iter().collect();
        self.function_rows("unnest", &exprs, ordinality, alias, Span::default())
    }

    fn function_rows(
        &mut self,
        name: &str,
        exprs: &[&ast::Expr],
        ordinality: bool,
        alias: Option<&ast::TableAlias>,
        span: Span,
    ) -> BindResult<Source> {
        // A function reads what stands on its left as LATERAL does.
        let ((rel, mut columns), free) = self.beside(true, |binder| {
            binder.in_clause(Clause::FunctionInFrom, |binder| binder.set_of(name, exprs, ordinality, span))
        })?;
        let shown = alias.map_or_else(|| name.to_owned(), |alias| fold(&alias.name));
        // The only column is called as the relation is.
        if let [(first, _), rest @ ..] = columns.as_mut_slice()
            && rest.len() == usize::from(ordinality)
        {
            first.clone_from(&shown);
        }
        self.remember(&shown, None);
        let item = self.named_item(Some(name), columns, alias)?;
        Ok(Source { rel, items: vec![item], free })
    }

    fn set_of(&mut self, name: &str, exprs: &[&ast::Expr], ordinality: bool, span: Span) -> BindResult<FunctionRows> {
        let mut args = Vec::with_capacity(exprs.len());
        for expr in exprs {
            args.push(self.scalar(expr)?);
        }
        let mut groups: Vec<Vec<Scalar>> = vec![args];
        if name == "unnest" && groups.iter().all(|args| args.len() > 1) {
            groups = groups.into_iter().flatten().map(|arg| vec![arg]).collect();
        }
        let (mut calls, mut columns) = (Vec::with_capacity(groups.len()), Vec::with_capacity(groups.len()));
        for args in groups {
            let call = self.set_call(name, args, span)?;
            columns.extend(call.cols.iter().map(|col| (name.to_owned(), *col)));
            calls.push(call);
        }
        let counted = match ordinality {
            true => {
                let info = ColInfo { name: "ordinality".to_owned(), ty: Ty::INT8, nullable: false, origin: None };
                let col = self.new_col(info)?;
                columns.push(("ordinality".to_owned(), col));
                Some(col)
            }
            false => None,
        };
        Ok((Rel::Unnest { input: Box::new(Rel::OneRow), calls, ordinality: counted, outer: false }, columns))
    }

    fn set_call(&mut self, name: &str, args: Vec<Scalar>, span: Span) -> BindResult<SetCall> {
        let Resolved::Call(call) = self.resolve_call(name, &args, span)? else {
            return Err(self.not_built("a cast in FROM"));
        };
        if call.function.kind != FunctionKind::Scalar || !call.function.returns_set {
            return Err(self.not_built("a function without a set in FROM"));
        }
        if call.defaults > 0 || call.variadic.is_some() || call.returns.id == TypeId::RECORD {
            return Err(self.not_built("this function in FROM"));
        }
        self.note_call(call.function.id);
        let args = self.call_arguments(&call, args)?;
        // An element has the form of the array's numerics.
        let digits = match (call.returns.id, args.first()) {
            (TypeId::NUMERIC, Some(array)) if array.ty.id.element().is_some() => array.ty.digits,
            _ => None,
        };
        let ty = Ty { digits, ..call.returns };
        let col = self.new_col(ColInfo { name: name.to_owned(), ty, nullable: true, origin: None })?;
        Ok(SetCall { func: call.function.id, args, cols: vec![col] })
    }
}
