//! A type's SQL name from its oid and modifier, as `format_type()` shows it.

use super::types::PgType;
use types::DataType;

/// The name; `None` for an oid that is no type's, `-` for 0.
pub(crate) fn format_type(oid: u32, typmod: Option<i32>) -> String {
    if oid == 0 {
        return "-".to_owned();
    }
    let Some(ty) = PgType::by_oid(oid) else { return "???".to_owned() };
    if ty.is_plain_array() {
        return format!("{}[]", format_type(ty.element, typmod));
    }
    match (oid, typmod) {
        // As PostgreSQL: with a modifier that says nothing, bpchar must not look like char(1).
        (1042, Some(_)) if typmod == Some(-1) => "bpchar".to_owned(),
        (1042, None) => "character".to_owned(),
        (18, _) => "\"char\"".to_owned(),
        (2276, _) => "\"any\"".to_owned(),
        _ => DataType::from_oid(oid, typmod.unwrap_or(-1)).map_or_else(|| ty.name.to_owned(), |ty| ty.sql_name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_sql() {
        let shown = [(1043, Some(7)), (1043, None), (1700, Some(655_366)), (1042, Some(8)), (1042, Some(-1))];
        let shown = shown.map(|(oid, typmod)| format_type(oid, typmod));
        assert_eq!(shown, ["character varying(3)", "character varying", "numeric(10,2)", "character(4)", "bpchar"]);
        assert_eq!(
            [1009, 1015, 19, 18, 26].map(|oid| format_type(oid, Some(-1))),
            ["text[]", "character varying[]", "name", "\"char\"", "oid"]
        );
        assert_eq!([0, 999_999].map(|oid| format_type(oid, None)), ["-", "???"]);
    }
}
