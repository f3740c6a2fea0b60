//! The rows of `pg_type`: types that columns have here, those of the catalogs' own columns, and their arrays.

use crate::builtin::routines_named;

/// A type.
#[derive(Debug)]
pub(crate) struct PgType {
    pub(crate) oid: u32,
    pub(crate) name: &'static str,
    /// Bytes; -1 varies, -2 ends with a zero byte.
    pub(crate) len: i16,
    pub(crate) by_value: bool,
    /// `b` base, `p` pseudo.
    pub(crate) kind: &'static str,
    pub(crate) category: &'static str,
    pub(crate) preferred: bool,
    /// Of an array: its elements' type.
    pub(crate) element: u32,
    /// The type of arrays of it, if there is one.
    pub(crate) array: u32,
    pub(crate) align: &'static str,
    pub(crate) storage: &'static str,
    pub(crate) collation: u32,
}

macro_rules! types {
    ($($oid:literal $name:literal $len:literal $by_value:literal $kind:literal $category:literal $preferred:literal
       $element:literal $array:literal $align:literal $storage:literal $collation:literal;)*) => {
        &[$(PgType {
            oid: $oid, name: $name, len: $len, by_value: $by_value, kind: $kind, category: $category,
            preferred: $preferred, element: $element, array: $array, align: $align, storage: $storage,
            collation: $collation,
        }),*]
    };
}

/// By oid.
#[rustfmt::skip]
pub(crate) static TYPES: &[PgType] = types! {
      16 "bool" 1 true "b" "B" true 0 1000 "c" "p" 0;
      17 "bytea" -1 false "b" "U" false 0 1001 "i" "x" 0;
      18 "char" 1 true "b" "Z" false 0 1002 "c" "p" 0;
      19 "name" 64 false "b" "S" false 18 1003 "c" "p" 950;
      20 "int8" 8 true "b" "N" false 0 1016 "d" "p" 0;
      21 "int2" 2 true "b" "N" false 0 1005 "s" "p" 0;
      22 "int2vector" -1 false "b" "A" false 21 1006 "i" "p" 0;
      23 "int4" 4 true "b" "N" false 0 1007 "i" "p" 0;
      24 "regproc" 4 true "b" "N" false 0 1008 "i" "p" 0;
      25 "text" -1 false "b" "S" true 0 1009 "i" "x" 100;
      26 "oid" 4 true "b" "N" true 0 1028 "i" "p" 0;
      27 "tid" 6 false "b" "U" false 0 0 "s" "p" 0;
      28 "xid" 4 true "b" "U" false 0 1011 "i" "p" 0;
      29 "cid" 4 true "b" "U" false 0 0 "i" "p" 0;
      30 "oidvector" -1 false "b" "A" false 26 1013 "i" "p" 0;
     114 "json" -1 false "b" "U" false 0 199 "i" "x" 0;
     194 "pg_node_tree" -1 false "b" "Z" false 0 0 "i" "x" 100;
     199 "_json" -1 false "b" "A" false 114 0 "i" "x" 0;
     700 "float4" 4 true "b" "N" false 0 1021 "i" "p" 0;
     701 "float8" 8 true "b" "N" true 0 1022 "d" "p" 0;
     705 "unknown" -2 false "p" "X" false 0 0 "c" "p" 0;
    1000 "_bool" -1 false "b" "A" false 16 0 "i" "x" 0;
    1001 "_bytea" -1 false "b" "A" false 17 0 "i" "x" 0;
    1002 "_char" -1 false "b" "A" false 18 0 "i" "x" 0;
    1003 "_name" -1 false "b" "A" false 19 0 "i" "x" 950;
    1005 "_int2" -1 false "b" "A" false 21 0 "i" "x" 0;
    1006 "_int2vector" -1 false "b" "A" false 22 0 "i" "x" 0;
    1007 "_int4" -1 false "b" "A" false 23 0 "i" "x" 0;
    1008 "_regproc" -1 false "b" "A" false 24 0 "i" "x" 0;
    1009 "_text" -1 false "b" "A" false 25 0 "i" "x" 100;
    1011 "_xid" -1 false "b" "A" false 28 0 "i" "x" 0;
    1013 "_oidvector" -1 false "b" "A" false 30 0 "i" "x" 0;
    1014 "_bpchar" -1 false "b" "A" false 1042 0 "i" "x" 100;
    1015 "_varchar" -1 false "b" "A" false 1043 0 "i" "x" 100;
    1016 "_int8" -1 false "b" "A" false 20 0 "d" "x" 0;
    1021 "_float4" -1 false "b" "A" false 700 0 "i" "x" 0;
    1022 "_float8" -1 false "b" "A" false 701 0 "d" "x" 0;
    1028 "_oid" -1 false "b" "A" false 26 0 "i" "x" 0;
    1033 "aclitem" 12 false "b" "U" false 0 1034 "i" "p" 0;
    1034 "_aclitem" -1 false "b" "A" false 1033 0 "i" "x" 0;
    1042 "bpchar" -1 false "b" "S" false 0 1014 "i" "x" 100;
    1043 "varchar" -1 false "b" "S" false 0 1015 "i" "x" 100;
    1082 "date" 4 true "b" "D" false 0 1182 "i" "p" 0;
    1083 "time" 8 true "b" "D" false 0 1183 "d" "p" 0;
    1114 "timestamp" 8 true "b" "D" false 0 1115 "d" "p" 0;
    1115 "_timestamp" -1 false "b" "A" false 1114 0 "d" "x" 0;
    1182 "_date" -1 false "b" "A" false 1082 0 "i" "x" 0;
    1183 "_time" -1 false "b" "A" false 1083 0 "d" "x" 0;
    1184 "timestamptz" 8 true "b" "D" true 0 1185 "d" "p" 0;
    1185 "_timestamptz" -1 false "b" "A" false 1184 0 "d" "x" 0;
    1186 "interval" 16 false "b" "T" true 0 1187 "d" "p" 0;
    1187 "_interval" -1 false "b" "A" false 1186 0 "d" "x" 0;
    1231 "_numeric" -1 false "b" "A" false 1700 0 "i" "x" 0;
    1700 "numeric" -1 false "b" "N" false 0 1231 "i" "m" 0;
    2205 "regclass" 4 true "b" "N" false 0 2210 "i" "p" 0;
    2206 "regtype" 4 true "b" "N" false 0 2211 "i" "p" 0;
    2210 "_regclass" -1 false "b" "A" false 2205 0 "i" "x" 0;
    2211 "_regtype" -1 false "b" "A" false 2206 0 "i" "x" 0;
    2249 "record" -1 false "p" "P" false 0 0 "d" "x" 0;
    2275 "cstring" -2 false "p" "P" false 0 0 "c" "p" 0;
    2276 "any" 4 true "p" "P" false 0 0 "i" "p" 0;
    2277 "anyarray" -1 false "p" "P" false 0 0 "d" "x" 0;
    2278 "void" 4 true "p" "P" false 0 0 "i" "p" 0;
    2281 "internal" 8 true "p" "P" false 0 0 "d" "p" 0;
    2283 "anyelement" 4 true "p" "P" false 0 0 "i" "p" 0;
    2776 "anynonarray" 4 true "p" "P" false 0 0 "i" "p" 0;
    2950 "uuid" 16 false "b" "U" false 0 2951 "c" "p" 0;
    2951 "_uuid" -1 false "b" "A" false 2950 0 "i" "x" 0;
    3220 "pg_lsn" 8 true "b" "U" false 0 0 "d" "p" 0;
    4089 "regnamespace" 4 true "b" "N" false 0 4090 "i" "p" 0;
    4090 "_regnamespace" -1 false "b" "A" false 4089 0 "i" "x" 0;
    4096 "regrole" 4 true "b" "N" false 0 4097 "i" "p" 0;
    4097 "_regrole" -1 false "b" "A" false 4096 0 "i" "x" 0;
    5077 "anycompatible" 4 true "p" "P" false 0 0 "i" "p" 0;
    5078 "anycompatiblearray" -1 false "p" "P" false 0 0 "d" "x" 0;
    5079 "anycompatiblenonarray" 4 true "p" "P" false 0 0 "i" "p" 0;
};

/// What the types of all relations' rows share; its name is that of the functions behind them.
pub(crate) static ROW: PgType = RECORD;

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
pub(crate) static ARRAY_OF_ROWS: PgType =
    PgType { oid: 2287, name: "_record", kind: "b", category: "A", element: 2249, array: 0, ..RECORD };

impl PgType {
    pub(crate) fn by_name(name: &str) -> Option<&'static Self> {
        TYPES.iter().find(|ty| ty.name == name)
    }

    pub(crate) fn by_oid(oid: u32) -> Option<&'static Self> {
        TYPES.binary_search_by_key(&oid, |ty| ty.oid).ok().and_then(|place| TYPES.get(place))
    }

    /// Is it an array that only stands beside its element type, as `_text` beside `text`?
    pub(crate) fn is_plain_array(&self) -> bool {
        self.name.starts_with('_')
    }

    /// Its functions for input, output, and both in binary form: 0 where it has none.
    pub(crate) fn functions(&self) -> [u32; 4] {
        let base = if self.is_plain_array() { "array" } else { self.name };
        ["in", "out", "recv", "send"].map(|end| match oid_of(&format!("{base}{end}")) {
            0 => oid_of(&format!("{base}_{end}")),
            oid => oid,
        })
    }

    /// What takes its values apart by subscripts.
    pub(crate) fn subscripts(&self) -> u32 {
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
        assert!(TYPES.is_sorted_by_key(|ty| ty.oid));
        for ty in TYPES.iter().filter(|ty| ty.array != 0) {
            assert_eq!(PgType::by_oid(ty.array).unwrap().element, ty.oid, "{}", ty.name);
        }
        for ty in TYPES.iter().filter(|ty| ty.is_plain_array()) {
            assert_eq!(PgType::by_oid(ty.element).unwrap().array, ty.oid, "{}", ty.name);
        }
    }
}
