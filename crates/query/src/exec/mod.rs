//! Physical operators, one per file.

mod compute;
mod dynamic_filter;
mod dynamic_row_filter;
mod fewer_rows;
mod fitting_rows;
mod held_window;
pub(crate) mod intersection;
mod keep_order;
mod kept_rows;
mod key_runs;
mod long_rows;
pub(crate) mod narrowing;
pub(crate) mod order;
mod pass_through;
mod pausing;
mod pieces;
pub(crate) mod range_lists;
pub(crate) mod row_checks;
mod row_fetch;
pub(crate) mod row_parameter;
pub(crate) mod running_scan;
pub mod scan;
mod single_row;
mod skipping;
mod wrapped;

pub(crate) use compute::ComputeExec;
pub(crate) use fewer_rows::FewerRowsExec;
pub(crate) use fitting_rows::{FittingRowsExec, with_config};
pub(crate) use held_window::HeldWindowExec;
pub(crate) use keep_order::KeepOrderExec;
pub(crate) use kept_rows::{KeptRows, KeptRowsExec};
pub(crate) use long_rows::{Begun, LongRows, LongRowsExec, is_long};
pub(crate) use pass_through::only_input;
pub(crate) use pausing::PausingExec;
pub use scan::RegionScanExec;
pub(crate) use single_row::SingleRowExec;
