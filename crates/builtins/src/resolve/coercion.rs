//! Whether a value of one type may become one of another, and how.

use super::polymorphic;
use crate::table::{self, CastContext, CastMethod};
use crate::{FuncId, TypeId};

/// How a value of one type becomes one of another. Modifiers (lengths, digits) are a step of their own behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The value stays.
    Relabel,
    /// By a function of the table.
    Function(FuncId),
    /// Through the text of the value.
    Text,
    /// Each element of an array in the way of its type, which [`coercion`] tells for the types of elements.
    Elements,
}

/// How a value of a type becomes one of another; `None` if it may not in this context. The type of a literal that is not
/// decided yet is the caller's matter: it is read as a value of the wanted type.
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

/// To a string in an assignment, from a string if asked for.
fn text_coercion(from: TypeId, to: TypeId, context: CastContext) -> Option<Via> {
    let to_text = context >= CastContext::Assignment && to.category() == "S";
    let from_text = context == CastContext::Explicit && from.category() == "S";
    (to_text || from_text).then_some(Via::Text)
}

/// May arguments of these types go where those are declared? Pseudo-types and literals of unknown type included.
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
