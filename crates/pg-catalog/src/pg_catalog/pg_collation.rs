//! `pg_collation`: text is compared by bytes in all of these collations.

use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};

/// Oid, name and provider.
pub(crate) static COLLATIONS: [(u32, &str, &str); 3] = [(100, "default", "d"), (950, "C", "c"), (951, "POSIX", "c")];

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    for (oid, name, provider) in COLLATIONS {
        rows.add([
            ("oid", oid.into()),
            ("collname", name.into()),
            ("collnamespace", PG_CATALOG.into()),
            ("collowner", OWNER.into()),
            ("collprovider", provider.into()),
            ("collisdeterministic", true.into()),
            ("collencoding", (-1).into()),
            ("collcollate", (provider == "c").then_some(name).into()),
            ("collctype", (provider == "c").then_some(name).into()),
        ]);
    }
}
