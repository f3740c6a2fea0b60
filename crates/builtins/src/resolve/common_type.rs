//! The common type of UNION, CASE, VALUES, arrays, COALESCE, GREATEST and the like (10.5).

use super::coercion::can_coerce;
use crate::table::CastContext;
use crate::{Ty, TypeId};

/// Two types of different categories: the common type so far, and the type that does not fit it (42804).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The common type of the types before.
    pub so_far: TypeId,
    /// The first type that does not fit.
    pub other: TypeId,
    /// Its index.
    pub at: usize,
}

/// Returns the type to which all of these are cast. Type modifiers are kept if all types have the same.
///
/// Does not check whether the casts exist.
///
/// # Errors
/// [`Mismatch`].
pub fn common_type(types: &[Ty]) -> Result<Ty, Mismatch> {
    let ids: Vec<TypeId> = types.iter().map(|ty| ty.id).collect();
    let id = common_id(&ids)?;
    let same = types.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
    Ok(types.first().filter(|first| same && first.id == id).copied().unwrap_or_else(|| Ty::plain(id)))
}

/// As [`common_type`], for types without modifiers.
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
