//! The common type of UNION, CASE, VALUES, arrays, COALESCE, GREATEST and their like (10.5).

use super::coercion::can_coerce;
use crate::table::CastContext;
use crate::{Ty, TypeId};

/// Two types of unlike categories: the one so far, and the one that does not go with it (42804).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The type that those before have in common.
    pub so_far: TypeId,
    /// The type of the first that does not go with it.
    pub other: TypeId,
    /// Its place.
    pub at: usize,
}

/// The type that all of these are cast to. Modifiers are kept if all have the same.
///
/// That a cast to it exists is not said: a caller who casts finds out.
///
/// # Errors
/// [`Mismatch`].
pub fn common_type(types: &[Ty]) -> Result<Ty, Mismatch> {
    let ids: Vec<TypeId> = types.iter().map(|ty| ty.id).collect();
    let id = common_id(&ids)?;
    let same = types.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
    Ok(types.first().filter(|first| same && first.id == id).copied().unwrap_or_else(|| Ty::plain(id)))
}

/// As [`common_type`], of types without modifiers.
pub(super) fn common_id(types: &[TypeId]) -> Result<TypeId, Mismatch> {
    let mut so_far = TypeId::UNKNOWN;
    for (at, other) in types.iter().copied().enumerate() {
        if other == TypeId::UNKNOWN || other == so_far {
            continue;
        }
        if so_far == TypeId::UNKNOWN {
            so_far = other;
        } else if other.category() != so_far.category() {
            return Err(Mismatch { so_far, other, at });
        } else if !so_far.is_preferred() && goes(so_far, other) && !goes(other, so_far) {
            so_far = other;
        }
    }
    Ok(if so_far == TypeId::UNKNOWN { TypeId::TEXT } else { so_far })
}

fn goes(from: TypeId, to: TypeId) -> bool {
    can_coerce(&[from], &[to], CastContext::Implicit)
}
