//! `pg_opclass` and `pg_opfamily`: the sort orders that indexes support.

use super::pg_am::INDEX;
use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};
use builtins::lists::operator_classes;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    for class in operator_classes() {
        rows.add([
            ("oid", class.oid.into()),
            ("opcmethod", INDEX.into()),
            ("opcname", class.name.into()),
            ("opcnamespace", PG_CATALOG.into()),
            ("opcowner", OWNER.into()),
            ("opcfamily", class.family.into()),
            ("opcintype", class.ty.into()),
            ("opcdefault", class.default.into()),
            ("opckeytype", class.key_type.into()),
        ]);
    }
}

pub(super) fn families(_: &Source, rows: &mut Rows) {
    let mut families: Vec<_> = operator_classes().iter().map(|class| (class.family, class.family_name)).collect();
    families.sort_unstable();
    families.dedup();
    for (oid, name) in families {
        rows.add([
            ("oid", oid.into()),
            ("opfmethod", INDEX.into()),
            ("opfname", name.into()),
            ("opfnamespace", PG_CATALOG.into()),
            ("opfowner", OWNER.into()),
        ]);
    }
}
