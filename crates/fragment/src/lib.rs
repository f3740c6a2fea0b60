//! The bytes of one row in one family, shared by every store.
//!
//! ```text
//!   header             dense: every column of the layout                      sparse: the cells that are there
//!   [format flags      [NULL bits][fixed columns][ends][variable columns]     [count][qualifiers][ends][values]
//!    layout stamp]
//! ```
//! A dense fragment is read column by column without looking at the columns before: a fixed-width
//! column is at an offset that the [`Layout`] knows, a variable one is two loads away. `docs/formats/fragment.md`
//! has every byte.
//!
//! Invariants:
//! - Readers are total: bytes that no encoder wrote give an error or `None`, never a panic.
//! - A dense fragment is never shorter than [`Layout::min_len`].
//! - A column is absent exactly when it is NULL; the fixed bytes of a NULL are zero.
//! - Everything is big-endian, and fixed columns are in an order-preserving form that the caller chose:
//!   a store compares them as bytes ([`predicate`]).
//!
//! Read next: `rowkey` (what the bytes of a column are), `store-fjall` (where fragments are kept).

pub mod decoder;
pub mod dense;
pub mod encoder;
mod error;
pub mod header;
pub mod layout;
pub mod merge;
pub mod predicate;
pub mod sparse;

pub use decoder::{DenseView, Fragment};
pub use dense::{FixedColumn, VariableColumn, is_dense_of};
pub use encoder::encode_dense;
pub use error::FragmentError;
pub use header::stamp;
pub use layout::{Layout, LayoutColumn};
pub use merge::{CellChange, merge};
pub use predicate::{Verdict, matches};
pub use sparse::{SparseView, encode_sparse};
