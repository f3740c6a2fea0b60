//! The only module that uses lsm-tree's hidden types and the bytes of its tables.
//!
//! Written for **fjall =3.1.13 and lsm-tree =3.1.10** (table version 3). The types it uses are public but
//! `doc(hidden)`, and may change in any release: the versions are pinned, and an upgrade requires a review of this
//! module and the property tests of `read/`.
//!
//! ```text
//!   keyspace  memtable (active)            everything outside the base run: the overlay, the
//!             level 0   run, run, ..       newest visible version of each key, streamed (`overlay.rs`)
//!             level 1..5
//!             level 6   run of tables  <── the run with most entries in the range is the base: its
//!                                          data blocks are read one by one (`table.rs`, `index.rs`, `run.rs`)
//! ```
//! A table consists of data blocks, an index of them (of one or two levels) and a meta block. A version of a key is
//! visible at snapshot `s` if its sequence number is below `s`. Tables of an ingestion have one global number, which is
//! added to the numbers in the blocks. All versions of a key are in one table of a run, newest first, possibly in
//! neighbouring blocks.

mod format;
mod group;
mod image;
mod index;
mod lens;
mod long_scans;
mod overlay;
mod points;
mod run;
mod samples;
mod table;
mod unfinished;
mod view;
mod views;

pub(crate) use format::{Entries, Entry, Malformed, compare_key};
pub(crate) use group::GROUP;
pub(crate) use image::Image;
pub(crate) use lens::Rows;
pub(crate) use long_scans::{LongScans, ScanCaching};
pub(crate) use lsm_tree::Memtable;
pub(crate) use overlay::{Change, Overlay, SharedSlice};
pub(crate) use points::Points;
pub(crate) use run::{ReverseCursor, Run, RunBlock, RunCursor, Stretch};
pub(crate) use samples::Samples;
pub(crate) use table::{Caching, DataBlock};
pub(crate) use unfinished::is_unfinished_run_of;
pub(crate) use view::{Files, View};
pub(crate) use views::Views;
