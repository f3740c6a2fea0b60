//! SQL names of types, from their oid and type modifier, as `format_type()` shows them.

use super::PgType;
use types::DataType;

/// Returns the name of a type; `???` for an unknown oid, `-` for 0.
pub fn format_type(oid: u32, typmod: Option<i32>) -> String {
    if oid == 0 {
        return "-".to_owned();
    }
    let Some(ty) = PgType::by_oid(oid) else { return "???".to_owned() };
    if ty.is_plain_array() {
        let (typmod, dimensions) = typmod.map_or((None, 1), |typmod| {
            let (typmod, dimensions) = without_dimensions(typmod);
            (Some(typmod), dimensions)
        });
        return format!("{}{}", format_type(ty.element, typmod), "[]".repeat(dimensions));
    }
    match (oid, typmod) {
        // As in PostgreSQL: bpchar with modifier -1 must not look like char(1).
        (1042, Some(_)) if typmod == Some(-1) => "bpchar".to_owned(),
        (1042, None) => "character".to_owned(),
        (18, _) => "\"char\"".to_owned(),
        (2276, _) => "\"any\"".to_owned(),
        _ => DataType::from_oid(oid, typmod.unwrap_or(-1)).map_or_else(|| ty.name.to_owned(), |ty| ty.sql_name()),
    }
}

/// Returns `pg_attribute.atttypmod` of a column: PostgreSQL's modifier, or a number below -1 that also contains the
/// dimensions of its arrays. A column holds only arrays of its declared dimensions, so a dump must contain the
/// dimensions, and pg_dump calls only [`format_type`] with this number.
pub fn attribute_typmod(ty: &DataType) -> i32 {
    let typmod = ty.typmod();
    match i32::from(ty.dimensions()) {
        dimensions @ 2.. if typmod < ROOM => -((typmod + 1) * STEP + dimensions),
        _ => typmod,
    }
}

/// Greater than the maximum number of dimensions.
const STEP: i32 = 8;
/// Modifiers from here on, which only limited intervals have, leave no room for dimensions.
const ROOM: i32 = i32::MAX / STEP - 1;

fn without_dimensions(typmod: i32) -> (i32, usize) {
    match typmod {
        -1.. => (typmod, 1),
        packed => {
            let packed = packed.saturating_neg();
            (packed / STEP - 1, usize::try_from(packed % STEP).unwrap_or(1).max(1))
        }
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
        let varchars = DataType::of_column_name("varchar[][]", &[4]).map(|ty| attribute_typmod(&ty));
        assert_eq!(varchars.map(|typmod| format_type(1015, Some(typmod))).as_deref(), Ok("character varying(4)[][]"));
        let integers = DataType::of_column_name("int[][][]", &[]).map(|ty| attribute_typmod(&ty));
        assert_eq!(integers.map(|typmod| format_type(1007, Some(typmod))).as_deref(), Ok("integer[][][]"));
        assert_eq!([0, 999_999].map(|oid| format_type(oid, None)), ["-", "???"]);
    }
}
