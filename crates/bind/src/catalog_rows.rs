//! Catalog functions in FROM whose rows have several columns, and schema-qualified functions.
//!
//! - `pg_get_keywords()` and `pg_show_all_settings()` are computed relations.
//! - `pg_options_to_table(x)` splits the elements of `x`, which have the form `name=value`.
//! - `information_schema._pg_expandarray(x)` returns each element of `x` and its index, counted from 1.

use crate::binder::{Binder, plain};
use crate::clause::Clause;
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::from::Source;
use crate::from_function::FunctionRows;
use crate::name::fold;
use crate::relations::Found;
use crate::tree::{ColId, ColRef, Kind, Rel, Scalar, SetCall, Span};
use builtins::Ty;
use sql::ast;
use types::Datum;

/// The columns of a row by name.
type Columns = Vec<(String, ColId)>;

/// The columns of `information_schema._pg_expandarray`.
const ELEMENT_AND_PLACE: [&str; 2] = ["x", "n"];

/// Is it `information_schema._pg_expandarray`?
pub(crate) fn is_expand_array(schema: &ast::Ident, name: &ast::Ident) -> bool {
    fold(schema) == "information_schema" && fold(name) == "_pg_expandarray"
}

impl Binder<'_> {
    /// Binds a call of such a function. Returns `None` for any other name.
    pub(crate) fn catalog_rows(
        &mut self,
        name: &str,
        exprs: &[&ast::Expr],
        alias: Option<&ast::TableAlias>,
        span: Span,
    ) -> BindResult<Option<Source>> {
        let relation = match (name, exprs) {
            ("pg_get_keywords", []) => Some("pg_get_keywords()"),
            ("pg_show_all_settings", []) => Some("pg_settings"),
            _ => None,
        };
        if let Some(relation) = relation {
            let Some(Found::Computed(found)) = self.relations.find(None, Some("pg_catalog"), relation) else {
                return Err(self.internal("the catalog behind a function is not there"));
            };
            let mut source = self.computed_in_from(found, alias)?;
            if let (None, Some(item)) = (alias, source.items.first_mut()) {
                item.name = Some(name.to_owned());
            }
            return Ok(Some(source));
        }
        let [arg] = exprs else { return Ok(None) };
        let bind: fn(&mut Self, &ast::Expr, Span) -> BindResult<FunctionRows> = match name {
            "pg_options_to_table" => Self::options_to_table,
            "_pg_expandarray" => Self::expanded_array,
            _ => return Ok(None),
        };
        let ((rel, columns), free) =
            self.beside(true, |binder| binder.in_clause(Clause::FunctionInFrom, |binder| bind(binder, arg, span)))?;
        self.remember(&alias.map_or_else(|| name.to_owned(), |alias| fold(&alias.name)), None);
        let item = self.named_item(Some(name), columns, alias)?;
        Ok(Some(Source { rel, items: vec![item], free }))
    }

    fn options_to_table(&mut self, arg: &ast::Expr, span: Span) -> BindResult<FunctionRows> {
        let options = self.scalar(arg)?;
        let options = self.coerce(options, plain(builtins::TypeId::TEXT_ARRAY), crate::tree::CastContext::Implicit)?;
        let call = self.set_call("unnest", vec![options], span)?;
        let Some(option) = call.cols.first().copied() else { return Err(self.internal("a set without columns")) };
        let option = || Scalar { kind: Kind::Col(ColRef { id: option, level: 0 }), ty: Ty::TEXT, span };
        let text = |text: &str| Scalar { kind: Kind::Const(Datum::Text(text.to_owned())), ty: Ty::TEXT, span };
        let number = |number| Scalar { kind: Kind::Const(Datum::Int4(number)), ty: Ty::INT4, span };
        let name = self.call_named("split_part", vec![option(), text("="), number(1)], span)?;
        let place = self.call_named("strpos", vec![option(), text("=")], span)?;
        let behind = self.operator("+", Some(place.clone()), number(1), span)?;
        let rest = self.call_named("substr", vec![option(), behind], span)?;
        let has_value = self.operator(">", Some(place), number(0), span)?;
        let value = Scalar { kind: Kind::Case { arms: vec![(has_value, rest)], other: None }, ty: Ty::TEXT, span };
        let names = ["option_name", "option_value"].map(str::to_owned);
        let (mut exprs, mut columns) = (Vec::new(), Vec::new());
        for (name, value) in names.into_iter().zip([name, value]) {
            let col = self.computed(&name, &value)?;
            exprs.push((col, value));
            columns.push((name, col));
        }
        let rows = Rel::Unnest { input: Box::new(Rel::OneRow), calls: vec![call], ordinality: None, outer: false };
        Ok((Rel::Project { input: Box::new(rows), exprs }, columns))
    }

    fn expanded_array(&mut self, arg: &ast::Expr, span: Span) -> BindResult<FunctionRows> {
        let array = self.scalar(arg)?;
        let (calls, columns) = self.elements_with_index(array, span)?;
        Ok((Rel::Unnest { input: Box::new(Rel::OneRow), calls, ordinality: None, outer: false }, columns))
    }

    /// Returns the calls that give the elements and their indexes side by side, and the columns of both.
    pub(crate) fn elements_with_index(&mut self, array: Scalar, span: Span) -> BindResult<(Vec<SetCall>, Columns)> {
        let one = || Scalar { kind: Kind::Const(Datum::Int4(1)), ty: Ty::INT4, span };
        let length = self.call_named("array_length", vec![array.clone(), one()], span)?;
        let elements = self.set_call("unnest", vec![array], span)?;
        let places = self.set_call("generate_series", vec![one(), length], span)?;
        let cols = elements.cols.iter().chain(&places.cols).copied();
        let columns = ELEMENT_AND_PLACE.iter().map(|name| (*name).to_owned()).zip(cols).collect();
        Ok((vec![elements, places], columns))
    }

    /// Binds a call of a function with another schema than `pg_catalog`.
    pub(crate) fn function_of_schema(
        &mut self,
        idents: &[&ast::Ident],
        function: &ast::Function,
    ) -> BindResult<Scalar> {
        let span = idents.iter().fold(Span::default(), |all, ident| all.with(self.span(ident.span)));
        let args = match &function.args {
            ast::FunctionArguments::List(list) => self.arguments(list)?,
            _ => Vec::new(),
        };
        match (idents, args.as_slice()) {
            ([schema, name], [array]) if is_expand_array(schema, name) => self.record_of_set(array.clone(), span),
            _ => Err(self.no_function_of_schema(idents, &args)),
        }
    }

    /// Returns the error for a schema-qualified function that does not exist.
    pub(crate) fn no_function_of_schema(&self, idents: &[&ast::Ident], args: &[Scalar]) -> BindError {
        let span = idents.iter().fold(Span::default(), |all, ident| all.with(self.span(ident.span)));
        if let [schema, _] = idents
            && !self.relations.has_schema(&fold(schema))
        {
            return BindError::new(BindErrorKind::UndefinedSchema { name: fold(schema) }, span);
        }
        let name = idents.iter().map(|ident| fold(ident)).collect::<Vec<_>>().join(".");
        let args = args.iter().map(|arg| name_of(arg.ty)).collect();
        BindError::new(BindErrorKind::UndefinedFunction { name, args }, span).with_hint(
            "No function matches the given name and argument types. You might need to add explicit type casts.",
        )
    }
}
