//! Writers of a table, as those see them who change what they must do.

use crate::error::EngineResult;
use crate::jobs::job::JobContext;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use store::TableId;
use txn::{LockMode, LockOwner, LockWait, TxnId};

/// Time between the first two looks at who is left; it grows.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// The longest time between two looks.
const LAST_LOOK: Duration = Duration::from_millis(50);

/// Waits until all who hold the table's lock now have let it go: they may know definitions of before. Those who come
/// meanwhile go on.
///
/// # Errors
/// 57P01 when the engine is being closed.
pub(crate) async fn wait_for_writers(context: &JobContext, table: TableId) -> EngineResult<()> {
    let locks = Arc::clone(context.engine()?.locks());
    let mut before: BTreeSet<TxnId> = locks.holders(table).into_iter().collect();
    let mut pause = FIRST_LOOK;
    while !before.is_empty() {
        context
            .while_open(async {
                tokio::time::sleep(pause).await;
                Ok(())
            })
            .await?;
        let now: BTreeSet<TxnId> = locks.holders(table).into_iter().collect();
        before.retain(|owner| now.contains(owner));
        pause = (pause * 2).min(LAST_LOOK);
    }
    Ok(())
}

/// The table's lock as a writer holds it, until what is returned is dropped: DDL that needs the table alone is kept off.
///
/// # Errors
/// 57P01, and those of [`JobContext::check`] unless the job takes back what it did.
pub(super) async fn share(context: &JobContext, table: TableId) -> EngineResult<LockOwner> {
    let mut owner = LockOwner::new(Arc::clone(context.engine()?.locks()));
    let lock = async {
        owner.lock_table(table, LockMode::Shared, LockWait::Forever).await?;
        Ok(())
    };
    context.while_open(lock).await?;
    Ok(owner)
}
