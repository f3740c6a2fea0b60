//! The rows of `pg_type`: types that columns have here, those of the catalogs' own columns, and their arrays.
//!
//! ```text
//!   16 bool 1 v b B p 0 1000 c p 0      oid, name, bytes, by value (v) or not (r), kind, category, preferred (p),
//!                                       element, array, alignment, storage, collation
//! ```

use super::routines_named;
use std::sync::LazyLock;

/// A row of `pg_type`.
#[derive(Debug)]
pub struct PgType {
    /// Its oid.
    pub oid: u32,
    /// Its name in `pg_type`.
    pub name: &'static str,
    /// Size in bytes; -1 for variable, -2 for null-terminated.
    pub len: i16,
    /// Whether a value is passed by value.
    pub by_value: bool,
    /// `b` base, `c` composite, `p` pseudo.
    pub kind: &'static str,
    /// PostgreSQL's `typcategory`.
    pub category: &'static str,
    /// Whether it is the preferred type of its category.
    pub preferred: bool,
    /// The element type of an array.
    pub element: u32,
    /// The type of its arrays, or 0.
    pub array: u32,
    /// PostgreSQL's `typalign`.
    pub align: &'static str,
    /// PostgreSQL's `typstorage`.
    pub storage: &'static str,
    /// Oid of its collation, or 0.
    pub collation: u32,
}

static TYPES: LazyLock<Vec<PgType>> =
    LazyLock::new(|| include_str!("../data/types.txt").lines().filter_map(PgType::read).collect());

/// Returns all types, by oid.
pub fn pg_types() -> &'static [PgType] {
    &TYPES
}

/// What the row types of all relations have in common; its functions have its name.
pub static ROW: PgType = RECORD;

const RECORD: PgType = PgType {
    oid: 2249,
    name: "record",
    len: -1,
    by_value: false,
    kind: "c",
    category: "C",
    preferred: false,
    element: 0,
    array: 2287,
    align: "d",
    storage: "x",
    collation: 0,
};

/// What the array types of row types have in common.
pub static ARRAY_OF_ROWS: PgType =
    PgType { oid: 2287, name: "_record", kind: "b", category: "A", element: 2249, array: 0, ..RECORD };

impl PgType {
    fn read(line: &'static str) -> Option<Self> {
        let mut words = line.split(' ');
        Some(Self {
            oid: words.next()?.parse().ok()?,
            name: words.next()?,
            len: words.next()?.parse().ok()?,
            by_value: words.next()? == "v",
            kind: words.next()?,
            category: words.next()?,
            preferred: words.next()? == "p",
            element: words.next()?.parse().ok()?,
            array: words.next()?.parse().ok()?,
            align: words.next()?,
            storage: words.next()?,
            collation: words.next()?.parse().ok()?,
        })
    }

    /// Returns the type of that name in `pg_type`.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        pg_types().iter().find(|ty| ty.name == name)
    }

    /// Returns the type of that oid.
    pub fn by_oid(oid: u32) -> Option<&'static Self> {
        pg_types().binary_search_by_key(&oid, |ty| ty.oid).ok().and_then(|place| pg_types().get(place))
    }

    /// Returns whether it is the array type of another type, as `_text` is of `text`.
    pub fn is_plain_array(&self) -> bool {
        self.name.starts_with('_')
    }

    /// Returns its functions for input, output, and both in binary form; 0 for those that it lacks.
    pub fn functions(&self) -> [u32; 4] {
        let base = if self.is_plain_array() { "array" } else { self.name };
        ["in", "out", "recv", "send"].map(|end| match oid_of(&format!("{base}{end}")) {
            0 => oid_of(&format!("{base}_{end}")),
            oid => oid,
        })
    }

    /// Returns its subscript handler.
    pub fn subscripts(&self) -> u32 {
        match self {
            Self { element: 0, .. } => 0,
            Self { name: "name", .. } => oid_of("raw_array_subscript_handler"),
            _ => oid_of("array_subscript_handler"),
        }
    }
}

/// Returns the oid of the only function of that name, or 0.
fn oid_of(name: &str) -> u32 {
    routines_named(name).next().map_or(0, |routine| routine.oid)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn types_are_sorted_and_refer_to_each_other() {
        assert_eq!(pg_types().len(), include_str!("../data/types.txt").lines().count());
        assert!(pg_types().is_sorted_by_key(|ty| ty.oid));
        for ty in pg_types().iter().filter(|ty| ty.array != 0) {
            assert_eq!(PgType::by_oid(ty.array).unwrap().element, ty.oid, "{}", ty.name);
        }
        for ty in pg_types().iter().filter(|ty| ty.is_plain_array()) {
            assert_eq!(PgType::by_oid(ty.element).unwrap().array, ty.oid, "{}", ty.name);
        }
    }
}
