//! COLLATE of a column or of an index column.

use super::fault::{Fault, FaultKind};
use super::{Cursor, Parse};
use types::{DataType, TypeError};

/// Parses `COLLATE name`. Text sorts by its bytes, as in `C`.
///
/// # Errors
/// 0A000 for collations with another order.
pub(super) fn collation(c: &mut Cursor<'_>) -> Parse<()> {
    c.need("COLLATE")?;
    let place = c.location();
    let name = c.object_name()?;
    match name.name.as_str() {
        "C" | "POSIX" | "default" | "ucs_basic" if name.schema.as_deref().is_none_or(|it| it == "pg_catalog") => Ok(()),
        other => Err(c.unsupported_at(place, format!("collation \"{other}\""))),
    }
}

/// Parses COLLATE of a column with this type.
///
/// # Errors
/// As [`collation`]; 42804 for a type that has no collation.
pub(super) fn of_type(c: &mut Cursor<'_>, ty: DataType) -> Parse<()> {
    let place = c.location();
    collation(c)?;
    match ty.item().unwrap_or(ty) {
        DataType::Text | DataType::Varchar(_) | DataType::Char(_) => Ok(()),
        other => {
            let kind = FaultKind::Type(TypeError::NotCollatable { ty: other.base_name().to_owned() });
            Err(Box::new(Fault { kind, location: place }))
        }
    }
}
