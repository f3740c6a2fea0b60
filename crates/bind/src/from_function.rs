//! Functions in FROM: set-returning functions, and scalar functions, which return one row.

use crate::binder::Binder;
use crate::call_error::WindowError;
use crate::catalog_rows::is_expand_array;
use crate::clause::Clause;
use crate::error::{BindErrorKind, BindResult};
use crate::from::Source;
use crate::name::{fold, parts};
use crate::tree::{ColId, ColInfo, Kind, Rel, Scalar, SetCall, Span};
use builtins::resolve::Resolved;
use builtins::{Kind as FunctionKind, Ty, TypeId};
use sql::ast;
use types::Datum;

/// Binds the arguments of a call, within its clause.
type BindArguments<'a, B> = &'a dyn Fn(&mut B) -> BindResult<Vec<Scalar>>;

/// The rows of a function, and their columns by name.
pub(crate) type FunctionRows = (Rel, Vec<(String, ColId)>);

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
        let ident = match idents.as_deref() {
            Some([ident]) => ident,
            Some([schema, ident]) if fold(schema) == "pg_catalog" => ident,
            Some([schema, ident]) if is_expand_array(schema, ident) => ident,
            Some(idents) => {
                let list =
                    ast::FunctionArgumentList { duplicate_treatment: None, args: list.to_vec(), clauses: Vec::new() };
                let args = self.arguments(&list)?;
                return Err(self.no_function_of_schema(idents, &args));
            }
            None => return self.unsupported("a computed name in FROM"),
        };
        let (name, span) = (fold(ident), self.span(ident.span));
        let list = ast::FunctionArgumentList { duplicate_treatment: None, args: list.to_vec(), clauses: Vec::new() };
        if !ordinality
            && let Some(exprs) = plain_arguments(&list)
            && let Some(rows) = self.catalog_rows(&name, &exprs, alias, span)?
        {
            return Ok(rows);
        }
        let has_names = list.args.iter().any(|arg| matches!(arg, ast::FunctionArg::Named { .. }));
        let args = |binder: &mut Self| match has_names {
            true => binder.named_arguments(&name, &list),
            false => binder.arguments(&list),
        };
        self.function_rows(&name, &args, ordinality, alias, span)
    }

    /// Binds `UNNEST(a, b)`, which expands several arrays side by side.
    pub(crate) fn unnest_in_from(
        &mut self,
        arrays: &[ast::Expr],
        ordinality: bool,
        alias: Option<&ast::TableAlias>,
    ) -> BindResult<Source> {
        self.function_rows("unnest", &|binder| binder.scalars(arrays), ordinality, alias, Span::default())
    }

    fn function_rows(
        &mut self,
        name: &str,
        args: BindArguments<'_, Self>,
        ordinality: bool,
        alias: Option<&ast::TableAlias>,
        span: Span,
    ) -> BindResult<Source> {
        // A function in FROM may reference the items on its left, as with LATERAL.
        let ((rel, mut columns), free) = self.beside(true, |binder| {
            binder.in_clause(Clause::FunctionInFrom, |binder| binder.set_of(name, args, ordinality, span))
        })?;
        let shown = alias.map_or_else(|| name.to_owned(), |alias| fold(&alias.name));
        // A single column has the name of the relation.
        if let [(first, _), rest @ ..] = columns.as_mut_slice()
            && rest.len() == usize::from(ordinality)
        {
            first.clone_from(&shown);
        }
        self.remember(&shown, None);
        self.refuse_lock(&shown, "a function")?;
        let item = self.named_item(Some(name), columns, alias)?;
        Ok(Source { rel, items: vec![item], free })
    }

    fn set_of(
        &mut self,
        name: &str,
        args: BindArguments<'_, Self>,
        ordinality: bool,
        span: Span,
    ) -> BindResult<FunctionRows> {
        let args = args(self)?;
        if !self.returns_set(name, &args, span)? {
            return self.one_row_of(name, args, ordinality, span);
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

    /// Does a call of that name return a set? Aggregates and window functions are errors here.
    fn returns_set(&self, name: &str, args: &[Scalar], span: Span) -> BindResult<bool> {
        if self.relations.own_function(name).is_some() {
            return Ok(false);
        }
        if name == "unnest" && args.len() > 1 {
            return Ok(true);
        }
        let clause = Clause::FunctionInFrom;
        match self.resolve_call(name, args, span)? {
            Resolved::Cast(_) => Ok(false),
            Resolved::Call(call) => match call.function.kind {
                FunctionKind::Scalar => Ok(call.function.returns_set),
                FunctionKind::Window => self.error(WindowError::NotAllowed { clause }.into(), span),
                _ => self.error(BindErrorKind::AggregateNotAllowed { clause }, span),
            },
        }
    }

    /// Returns the value of a scalar function as one row.
    fn one_row_of(&mut self, name: &str, args: Vec<Scalar>, ordinality: bool, span: Span) -> BindResult<FunctionRows> {
        let value = self.call_named(name, args, span)?;
        let col = self.computed(name, &value)?;
        let (mut exprs, mut columns) = (vec![(col, value)], vec![(name.to_owned(), col)]);
        if ordinality {
            let one = Scalar { kind: Kind::Const(Datum::Int8(1)), ty: Ty::INT8, span };
            let col = self.computed("ordinality", &one)?;
            exprs.push((col, one));
            columns.push(("ordinality".to_owned(), col));
        }
        Ok((Rel::Project { input: Box::new(Rel::OneRow), exprs }, columns))
    }

    pub(crate) fn set_call(&mut self, name: &str, args: Vec<Scalar>, span: Span) -> BindResult<SetCall> {
        let Resolved::Call(call) = self.resolve_call(name, &args, span)? else {
            return Err(self.internal("a set that is a cast"));
        };
        if call.defaults > 0 || call.variadic.is_some() || call.returns.id == TypeId::RECORD {
            return self.unsupported_at(format!("function {name}() in FROM"), span);
        }
        self.note_call(call.function.id);
        let args = self.call_arguments(&call, args)?;
        // An element has the digits of the array.
        let digits = match (call.returns.id, args.first()) {
            (TypeId::NUMERIC, Some(array)) if array.ty.id.element().is_some() => array.ty.digits,
            _ => None,
        };
        let ty = Ty { digits, ..call.returns };
        let col = self.new_col(ColInfo { name: name.to_owned(), ty, nullable: true, origin: None })?;
        Ok(SetCall { func: call.function.id, args, cols: vec![col] })
    }
}

/// Returns the arguments, unless one has a name.
fn plain_arguments(list: &ast::FunctionArgumentList) -> Option<Vec<&ast::Expr>> {
    let plain = |arg| match arg {
        &ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().map(plain).collect()
}
