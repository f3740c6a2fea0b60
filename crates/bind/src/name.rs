//! Names in syntax: folded unless they are quoted.

use sql::ast;

/// The name that an identifier means.
pub(crate) fn fold(ident: &ast::Ident) -> String {
    match ident.quote_style {
        None => types::ident::fold(&ident.value),
        Some(_) => ident.value.clone(),
    }
}

/// The parts of a dotted name; `None` if one is no identifier.
pub(crate) fn parts(name: &ast::ObjectName) -> Option<Vec<&ast::Ident>> {
    name.0.iter().map(ast::ObjectNamePart::as_ident).collect()
}
