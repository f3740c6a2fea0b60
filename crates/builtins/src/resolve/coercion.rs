//! Whether and how a value of one type is cast to another.

use super::polymorphic;
use crate::table::{self, CastContext, CastMethod};
use crate::{FuncId, TypeId};

/// How a value of one type is cast to another. Type modifiers are applied by a separate step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The value is unchanged.
    Relabel,
    /// By a function of the table.
    Function(FuncId),
    /// Through the text of the value.
    Text,
    /// Each element of an array is cast, as [`coercion`] returns for the element types.
    Elements,
}

/// Returns how a value of one type is cast to another; `None` if the context does not allow it. The caller handles
/// literals of unknown type, which are read as values of the target type.
pub fn coercion(from: TypeId, to: TypeId, context: CastContext) -> Option<Via> {
    if from == to {
        return Some(Via::Relabel);
    }
    if let Some(cast) = table::cast(from, to) {
        return (context >= cast.context).then_some(match cast.method {
            CastMethod::Function(id) => Via::Function(id),
            CastMethod::Relabel => Via::Relabel,
            CastMethod::Text => Via::Text,
        });
    }
    array_coercion(from, to, context).or_else(|| text_coercion(from, to, context))
}

fn array_coercion(from: TypeId, to: TypeId, context: CastContext) -> Option<Via> {
    if matches!(to, TypeId::OIDVECTOR | TypeId::INT2VECTOR) {
        return None;
    }
    coercion(from.element()?, to.element()?, context).map(|_| Via::Elements)
}

/// Casts to a string in an assignment, and from a string in an explicit cast.
fn text_coercion(from: TypeId, to: TypeId, context: CastContext) -> Option<Via> {
    let to_text = context >= CastContext::Assignment && to.category() == "S";
    let from_text = context == CastContext::Explicit && from.category() == "S";
    (to_text || from_text).then_some(Via::Text)
}

/// Returns whether arguments of types `from` can be passed as `to`, including pseudo-types and literals of unknown
/// type.
pub fn can_coerce(from: &[TypeId], to: &[TypeId], context: CastContext) -> bool {
    let mut generic = false;
    let each = from.iter().zip(to).all(|(from, to)| {
        generic |= to.is_polymorphic();
        can_coerce_one(*from, *to, context)
    });
    each && (!generic || polymorphic::is_consistent(from, to))
}

fn can_coerce_one(from: TypeId, to: TypeId, context: CastContext) -> bool {
    from == to
        || to == TypeId::ANY
        || to.is_polymorphic()
        || from == TypeId::UNKNOWN
        || coercion(from, to, context).is_some()
}
