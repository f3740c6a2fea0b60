//! Physical operators, one per file.

mod dynamic_filter;
mod keep_order;
mod kept_rows;
mod order;
pub(crate) mod row_checks;
pub(crate) mod row_parameter;
pub(crate) mod running_scan;
pub mod scan;

pub(crate) use keep_order::KeepOrderExec;
pub(crate) use kept_rows::{KeptRows, KeptRowsExec};
pub use scan::RegionScanExec;
