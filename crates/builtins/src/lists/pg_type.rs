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
    /// Bytes; -1 varies, -2 ends with a zero byte.
    pub len: i16,
    /// Is a value passed as one machine word?
    pub by_value: bool,
    /// `b` base, `p` pseudo.
    pub kind: &'static str,
    /// PostgreSQL's `typcategory`.
    pub category: &'static str,
    /// The one of its category that implicit casts prefer?
    pub preferred: bool,
    /// Of an array: its elements' type.
    pub element: u32,
    /// The type of arrays of it, 0 if there is none.
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

/// All types, by oid.
pub fn pg_types() -> &'static [PgType] {
    &TYPES
}

/// What the types of all relations' rows share; its name is that of the functions behind them.
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

/// What the types of arrays of them share.
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

    /// The type of that name in `pg_type`.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        pg_types().iter().find(|ty| ty.name == name)
    }

    /// The type of that oid.
    pub fn by_oid(oid: u32) -> Option<&'static Self> {
        pg_types().binary_search_by_key(&oid, |ty| ty.oid).ok().and_then(|place| pg_types().get(place))
    }

    /// Is it an array that only stands beside its element type, as `_text` beside `text`?
    pub fn is_plain_array(&self) -> bool {
        self.name.starts_with('_')
    }

    /// Its functions for input, output, and both in binary form: 0 where it has none.
    pub fn functions(&self) -> [u32; 4] {
        let base = if self.is_plain_array() { "array" } else { self.name };
        ["in", "out", "recv", "send"].map(|end| match oid_of(&format!("{base}{end}")) {
            0 => oid_of(&format!("{base}_{end}")),
            oid => oid,
        })
    }

    /// What takes its values apart by subscripts.
    pub fn subscripts(&self) -> u32 {
        match self {
            Self { element: 0, .. } => 0,
            Self { name: "name", .. } => oid_of("raw_array_subscript_handler"),
            _ => oid_of("array_subscript_handler"),
        }
    }
}

/// The oid of the one function of that name, or 0.
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
