//! Values of types that only system catalogs have.
//!
//! An OID alias type (`regclass` and the like) is a number in a plan, and is converted to a name where it is printed:
//! in a result, in a cast to text, in a function that prints its argument. Vectors are arrays until they are printed.

use crate::functions::{name_of_text, vector_text};
use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use crate::lower::scalar::constant::{constant, parameter};
use ::bind::tree::{CastContext, CastVia, Kind, ParamId, Scalar};
use builtins::lists::{PgType, casts};
use builtins::{FuncId, Function, Ty, TypeId};
use datafusion::common::{DFSchema, DFSchemaRef, ScalarValue};
use datafusion::logical_expr::{Expr, lit};
use std::collections::HashMap;
use std::sync::LazyLock;
use types::{DataType, Datum};

/// The functions that implement casts, and their target types.
static CASTS: LazyLock<HashMap<FuncId, TypeId>> = LazyLock::new(|| {
    let between = casts().iter().filter(|cast| cast.function != 0 && cast.source != cast.target);
    let named = between.filter(|cast| {
        // A function that serves casts to several types belongs to its result type.
        builtins::function(FuncId(cast.function)).is_some_and(|function| function.returns.0 == cast.target)
    });
    named.map(|cast| (FuncId(cast.function), TypeId(cast.target))).collect()
});

/// Functions with an `any` parameter that count, name or collect values and do not print them.
const NOT_PRINTING: [&str; 6] = ["count", "pg_typeof", "num_nulls", "num_nonnulls", "pg_column_size", "array_agg"];

/// Functions with polymorphic parameters that print their arguments.
const PRINTING: [&str; 4] = ["array_to_string", "quote_literal", "quote_nullable", "to_json"];

/// Functions of a sequence: they take its name if the argument is a cast of a name.
const OF_SEQUENCES: [&str; 3] = ["nextval", "currval", "setval"];

impl Lowering<'_> {
    /// The printed form of a value.
    pub(in crate::lower) fn as_shown(&mut self, value: Expr, ty: Ty) -> LowerResult<Expr> {
        if let (TypeId::REGTYPE, Some(known)) = (ty.id, constant_oid(&value).and_then(PgType::by_oid)) {
            return Ok(lit(TypeId(known.oid).sql_name()));
        }
        if let Some(alias) = ty.id.oid_alias() {
            return self.named(&format!("{alias}_name"), vec![value]);
        }
        if let Some(alias) = ty.id.element().and_then(TypeId::oid_alias) {
            return self.named(&format!("{alias}_names"), vec![value]);
        }
        Ok(if ty.id.is_vector() { vector_text(value) } else { value })
    }

    /// The parameter `$n`, if clients may send its type as a name.
    pub(in crate::lower) fn parameter(&mut self, id: ParamId, ty: Ty) -> LowerResult<Expr> {
        if let Some(alias) = ty.id.oid_alias() {
            let name = parameter(id, Ty::TEXT)?;
            return self.named(&format!("{alias}_oid"), vec![name]);
        }
        if let Some(alias) = ty.id.element().and_then(TypeId::oid_alias) {
            let names = parameter(id, Ty::plain(TypeId::TEXT_ARRAY))?;
            return self.named(&format!("{alias}_oids"), vec![names]);
        }
        parameter(id, ty)
    }

    /// A cast from or to a catalog type; `None` for any other cast.
    pub(in crate::lower) fn catalog_cast(
        &mut self,
        value: &Expr,
        arg: &Scalar,
        via: CastVia,
        to: Ty,
        schema: &DFSchema,
    ) -> LowerResult<Option<Expr>> {
        let from = arg.ty;
        if via == CastVia::Length {
            return Ok(None);
        }
        let (is_text, to_text) = (is_text(from.id), is_text(to.id));
        if let (true, Some(alias)) = (is_text, to.id.oid_alias()) {
            return self.named(&format!("{alias}_oid"), vec![value.clone()]).map(Some);
        }
        if to_text && (from.id.oid_alias().is_some() || from.id.is_vector() || is_named_array(from.id)) {
            let shown = self.as_shown(value.clone(), from)?;
            // An array of names is printed as an array.
            let whole = if is_named_array(from.id) { self.written(shown, &DataType::Text, schema)? } else { shown };
            return Ok(Some(whole));
        }
        if from.id.is_oid() && to.id.is_oid() {
            return Ok(Some(value.clone()));
        }
        if let (Some(from), Some(to)) = (from.id.element(), to.id.element()) {
            return self.elements_cast(value, from, to);
        }
        Ok(match (from.id, to.id) {
            (TypeId::CHAR, TypeId::INT4) => Some(self.sql_call("ascii", &[DataType::Text], vec![value.clone()])?),
            (TypeId::INT4, TypeId::CHAR) => Some(self.sql_call("chr", &[DataType::Integer], vec![value.clone()])?),
            (_, TypeId::NAME) if is_text && from.id != TypeId::NAME => Some(name_of_text(value.clone())),
            (TypeId::CHAR, _) if to_text => Some(value.clone()),
            (_, TypeId::CHAR) if is_text => {
                let types = [DataType::Text, DataType::Integer, DataType::Integer];
                Some(self.sql_call("substr", &types, vec![value.clone(), lit(1_i32), lit(1_i32)])?)
            }
            (from, _) if from.is_catalog_text() && to_text => Some(value.clone()),
            _ => None,
        })
    }

    fn elements_cast(&mut self, value: &Expr, from: TypeId, to: TypeId) -> LowerResult<Option<Expr>> {
        if let (true, Some(alias)) = (is_text(from), to.oid_alias()) {
            return self.named(&format!("{alias}_oids"), vec![value.clone()]).map(Some);
        }
        if let (Some(alias), true) = (from.oid_alias(), is_text(to)) {
            return self.named(&format!("{alias}_names"), vec![value.clone()]).map(Some);
        }
        let alike = from == to || from.is_oid() && to.is_oid() || is_text(from) && is_text(to) && to != TypeId::BPCHAR;
        Ok(alike.then(|| value.clone()))
    }

    /// A call with a special form for catalogs; `None` for any other call.
    pub(in crate::lower) fn catalog_call(
        &mut self,
        function: &Function,
        args: &[Scalar],
        schema: &DFSchemaRef,
    ) -> LowerResult<Option<Expr>> {
        if let (Some(to), [arg]) = (CASTS.get(&function.id), args) {
            let value = self.expr(arg, schema)?;
            let via = CastVia::Function(function.id);
            return self.cast(value, arg, (via, CastContext::Explicit), Ty::plain(*to), schema).map(Some);
        }
        if let ("pg_typeof", [arg]) = (function.name, args) {
            return constant(&Datum::Int8(i64::from(arg.ty.id.0)), Ty::plain(TypeId::OID)).map(Some);
        }
        if function.returns.oid_alias().is_some() && function.name.starts_with("to_reg") {
            let args = self.exprs(args, schema)?;
            return self.named(&format!("{}_oid", function.name), args).map(Some);
        }
        if let (true, Some((sequence, others))) = (OF_SEQUENCES.contains(&function.name), args.split_first()) {
            let mut lowered = vec![match name_of_relation(sequence) {
                Some(name) => self.expr(name, schema)?,
                None => self.expr(sequence, schema)?,
            }];
            lowered.extend(self.exprs(others, schema)?);
            return self.named(function.name, lowered).map(Some);
        }
        Ok(None)
    }

    /// Converts an argument to its printed form if the function prints it.
    pub(in crate::lower) fn argument(
        &mut self,
        value: Expr,
        arg: &Scalar,
        function: &Function,
        at: usize,
    ) -> LowerResult<Expr> {
        if prints(function, at) { self.as_shown(value, arg.ty) } else { Ok(value) }
    }
}

/// Does a function print an argument?
pub(in crate::lower) fn prints(function: &Function, at: usize) -> bool {
    match function.args.get(at).copied().or(function.variadic) {
        Some(TypeId::ANY) => !NOT_PRINTING.contains(&function.name),
        // The function of `text || anynonarray`.
        Some(wanted) if wanted.is_polymorphic() => {
            PRINTING.contains(&function.name) || [FuncId::TEXTANYCAT, FuncId::ANYTEXTCAT].contains(&function.id)
        }
        _ => false,
    }
}

/// Converts a subscript to that of the array; subscripts of vectors start at 0.
pub(in crate::lower) fn place(at: Expr, array: &Scalar) -> Expr {
    if has_zero_based_subscripts(array) { at + lit(1_i32) } else { at }
}

/// Do the subscripts of an array start at 0? Those of vectors do, also after a cast to an array of their elements.
pub(in crate::lower) fn has_zero_based_subscripts(array: &Scalar) -> bool {
    match &array.kind {
        Kind::Cast { via: CastVia::Relabel | CastVia::Elements, arg, .. } => has_zero_based_subscripts(arg),
        _ => array.ty.id.is_vector(),
    }
}

/// The OID of a constant.
fn constant_oid(value: &Expr) -> Option<u32> {
    match value {
        Expr::Cast(cast) => constant_oid(&cast.expr),
        Expr::Literal(ScalarValue::Int64(Some(oid)), _) => u32::try_from(*oid).ok(),
        Expr::Literal(ScalarValue::Int32(Some(oid)), _) => u32::try_from(*oid).ok(),
        _ => None,
    }
}

/// The text that is cast to `regclass`.
fn name_of_relation(value: &Scalar) -> Option<&Scalar> {
    match &value.kind {
        Kind::Cast { arg, .. } if value.ty.id == TypeId::REGCLASS && is_text(arg.ty.id) => Some(arg),
        _ => None,
    }
}

fn is_text(id: TypeId) -> bool {
    matches!(id, TypeId::TEXT | TypeId::VARCHAR | TypeId::BPCHAR | TypeId::NAME)
}

fn is_named_array(id: TypeId) -> bool {
    id.element().is_some_and(|element| element.oid_alias().is_some())
}
