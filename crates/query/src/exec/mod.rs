//! Physical operators, one per file.

mod dynamic_filter;
mod order;
pub(crate) mod row_checks;
pub(crate) mod row_parameter;
pub(crate) mod running_scan;
pub mod scan;

pub use scan::RegionScanExec;
