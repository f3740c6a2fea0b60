//! COPY between the client and tables.
//!
//! ```text
//!   CopyData ──> lines ──> fields ──> rowkey, fragment ──> bulk load (or the block's transaction)
//!   plan ──> batches ──> lines ──> CopyData
//! ```
//! Outside a transaction block, COPY FROM locks its table exclusively and bulk-loads sorted runs, which become visible
//! in one commit. Inside a block, its rows are ordinary writes of the transaction.

mod append;
mod binary;
mod block;
mod blocks;
mod format;
mod input;
mod lines;
mod loader;
mod output;
mod plain;
mod rows;

pub use append::Append;
pub use block::CopyBlock;
pub use input::CopyIn;
pub use output::CopyOut;

use crate::error::EngineResult;
use crate::statement::Source;
use crate::{Answer, Session};
use sql::{Copy, CopyDirection, CopyTarget};

impl Session {
    pub(crate) async fn copy(&mut self, copy: &Copy, source: &Source) -> EngineResult<Answer> {
        match (&copy.target, copy.direction) {
            (CopyTarget::Table { name, columns }, CopyDirection::FromStdin) => {
                Ok(Answer::CopyIn(Box::new(self.copy_in(copy, name, columns).await?)))
            }
            _ => self.copy_out(copy, source).await.map(Answer::CopyOut),
        }
    }
}
