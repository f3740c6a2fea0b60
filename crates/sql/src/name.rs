//! Names as the catalog stores them.

use sqlparser::ast::Ident;
use types::ident;

/// Returns the name in lower case, unless it is quoted.
#[must_use]
pub fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { ident::fold(&name.value) }
}
