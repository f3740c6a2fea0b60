//! `pg_get_keywords()`: all keywords of PostgreSQL, also those without a meaning in Bennu, because clients quote
//! identifiers by this list.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;
use types::keyword::Category;

/// The rows of a function, so it is not listed in `pg_class`.
pub(super) const PG_GET_KEYWORDS: Definition = Definition {
    oid: 0,
    name: "pg_get_keywords()",
    kind: Kind::View,
    columns: "word:text catcode:char barelabel:bool catdesc:text baredesc:text",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
    for keyword in types::keyword::all() {
        let (category, described) = match keyword.category {
            Category::Reserved => ("R", "reserved"),
            Category::TypeOrFunctionName => ("T", "reserved (can be function or type name)"),
            Category::ColumnName => ("C", "unreserved (cannot be function or type name)"),
            Category::Unreserved => ("U", "unreserved"),
        };
        rows.add([
            ("word", keyword.word.into()),
            ("catcode", category.into()),
            ("barelabel", keyword.bare_label.into()),
            ("catdesc", described.into()),
            ("baredesc", if keyword.bare_label { "can be bare label" } else { "requires AS" }.into()),
        ]);
    }
}
