//! Ids and stamps as newtypes, so that they cannot be mixed up.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $label:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($label, "{}"), self.0)
            }
        }
    };
}

id!(
    /// One generation of a table's data. TRUNCATE and table rewrites take a new id; ids are never reused.
    TableId(u32),
    "t"
);
id!(
    /// A column family within its table.
    FamilyId(u16),
    "f"
);
id!(
    /// A region: a range of rowkeys of one table.
    RegionId(u64),
    "r"
);
id!(
    /// The position of a commit in the log. 0 is before the first commit.
    CommitNo(u64),
    "c"
);
id!(
    /// Milliseconds since 1970-01-01 UTC.
    Timestamp(u64),
    ""
);
