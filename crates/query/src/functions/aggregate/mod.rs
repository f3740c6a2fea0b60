//! Aggregates and window functions that DataFusion lacks or defines differently.

pub(super) mod average;
pub(super) mod by_row;
pub(super) mod counted;
pub(super) mod even_items;
pub(super) mod extremes;
pub(super) mod fold;
pub(super) mod interval_extremes;
pub(super) mod moving_frame;
pub(super) mod ntile;
pub(super) mod of_own;
pub(super) mod regression;
pub(super) mod sorted_values;
pub(super) mod spread;
pub(super) mod spread_of_values;
pub(super) mod sum;
