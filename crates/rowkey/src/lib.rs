//! Between SQL values and bytes: keys, cell values and key ranges.
