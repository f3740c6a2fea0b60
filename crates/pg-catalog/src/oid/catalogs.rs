//! Oids of the system catalogs that `classid` columns refer to.

pub(crate) const PG_TYPE: u32 = 1247;
pub(crate) const PG_CLASS: u32 = 1259;
pub(crate) const PG_DATABASE: u32 = 1262;
pub(crate) const PG_ATTRDEF: u32 = 2604;
pub(crate) const PG_CONSTRAINT: u32 = 2606;
pub(crate) const PG_NAMESPACE: u32 = 2615;
pub(crate) const PG_REWRITE: u32 = 2618;
