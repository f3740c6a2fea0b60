//! Plans and runs rows: DataFusion over the store, and compiled key programs without it.

mod classify;
pub mod convert;
mod error;
pub mod row_codec;

pub use error::{QueryError, QueryResult};
pub use row_codec::RowCodec;
pub use txn::ReadView as Reader;
