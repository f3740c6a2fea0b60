//! Names in syntax: folded unless they are quoted.

use sql::ast;
pub(crate) use sql::folded as fold;

/// The parts of a dotted name; `None` if one is no identifier.
pub(crate) fn parts(name: &ast::ObjectName) -> Option<Vec<&ast::Ident>> {
    name.0.iter().map(ast::ObjectNamePart::as_ident).collect()
}
