//! Identifiers of the syntax tree: folded to lower case unless they are quoted.

use sql::ast;
pub(crate) use sql::folded as fold;

/// Returns the parts of a dotted name, or `None` if one is not an identifier.
pub(crate) fn parts(name: &ast::ObjectName) -> Option<Vec<&ast::Ident>> {
    name.0.iter().map(ast::ObjectNamePart::as_ident).collect()
}
