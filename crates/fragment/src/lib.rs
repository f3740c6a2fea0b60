//! The encoding of one row in one family, shared by every store.
//!
//! ```text
//!   header             dense: every column of the layout                      sparse: the cells that are not NULL
//!   [format flags      [NULL bits][fixed columns][ends][variable columns]     [count][qualifiers][ends][values]
//!    layout stamp]
//! ```
//! A column of a dense fragment is read without the columns before it: a fixed-width column is at an offset in the
//! [`Layout`], a variable one needs two end offsets. `docs/formats/fragment.md` specifies every byte.
//!
//! Invariants:
//! - Readers are total: invalid bytes give an error or `None`, never a panic.
//! - A dense fragment is never shorter than [`Layout::min_len`].
//! - A column is absent exactly if it is NULL; the fixed bytes of a NULL are zero.
//! - Everything is big-endian. Fixed columns are in an order-preserving encoding that the caller chose, so a store
//!   compares them as bytes ([`predicate`]).
//!
//! Read next: `rowkey` (the encoding of columns in keys), `store-fjall` (where fragments are stored).

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
