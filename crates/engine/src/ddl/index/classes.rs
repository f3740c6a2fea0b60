//! Access methods and operator classes by name: those that mean what an index here is.

use crate::error::{EngineResult, Fault, fail};
use builtins::lists::operator_classes;
use types::DataType;

/// Entries are kept in order, which clients know as `btree`.
pub(super) fn check_method(method: Option<&str>) -> EngineResult<()> {
    match method {
        None | Some("btree") => Ok(()),
        Some(name @ ("hash" | "gist" | "gin" | "spgist" | "brin")) => {
            fail(Fault::Unsupported { feature: format!("access method \"{name}\" of an index") })
        }
        Some(name) => fail(Fault::NoAccessMethod { name: name.to_string() }),
    }
}

/// Every operator class of a type means the order that the type has. Those whose names end in `_pattern_ops` are for the
/// order of bytes, which text has here anyway.
pub(super) fn check_operator_class(class: &str, ty: DataType) -> EngineResult<()> {
    match operator_classes().iter().find(|known| known.name == class) {
        Some(known) if known.accepts(ty.oid()) => Ok(()),
        Some(_) => fail(Fault::UnfitOperatorClass { name: class.to_string(), ty: ty.column_name() }),
        None => fail(Fault::NoOperatorClass { name: class.to_string() }),
    }
}
