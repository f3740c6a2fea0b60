//! Checks the access method and the operator classes of CREATE INDEX.

use crate::error::{EngineResult, Fault, fail};
use builtins::lists::operator_classes;
use types::DataType;

/// Refuses access methods other than `btree`, because index entries are sorted.
pub(super) fn check_method(method: Option<&str>) -> EngineResult<()> {
    match method {
        None | Some("btree") => Ok(()),
        Some(name @ ("hash" | "gist" | "gin" | "spgist" | "brin")) => {
            fail(Fault::Unsupported { feature: format!("access method \"{name}\" of an index") })
        }
        Some(name) => fail(Fault::NoAccessMethod { name: name.to_string() }),
    }
}

/// Refuses an operator class that does not fit the type. All operator classes of a type mean its only sort order;
/// `_pattern_ops` classes mean byte order, which is the order of text anyway.
pub(super) fn check_operator_class(class: &str, ty: DataType) -> EngineResult<()> {
    match operator_classes().iter().find(|known| known.name == class) {
        Some(known) if known.accepts(ty.oid()) => Ok(()),
        Some(_) => fail(Fault::UnfitOperatorClass { name: class.to_string(), ty: ty.column_name() }),
        None => fail(Fault::NoOperatorClass { name: class.to_string() }),
    }
}
