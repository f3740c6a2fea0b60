//! Waits for writers of a table before a change of its definition takes effect.

use crate::error::EngineResult;
use crate::jobs::job::JobContext;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use store::TableId;
use txn::{LockMode, LockOwner, LockWait, TxnId};

/// Time between the first two checks for remaining writers; it doubles.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// The longest time between two checks.
const LAST_LOOK: Duration = Duration::from_millis(50);

/// Waits until all current holders of the table's lock have released it: they may use older definitions. Does not
/// wait for later holders.
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

/// Takes the table's lock in a writer's mode until the return value is dropped, which excludes DDL that needs an
/// exclusive lock.
///
/// # Errors
/// 57P01, if the engine is being closed.
pub(super) async fn share(context: &JobContext, table: TableId) -> EngineResult<LockOwner> {
    let mut owner = LockOwner::new(Arc::clone(context.engine()?.locks()));
    let lock = async {
        owner.lock_table(table, LockMode::Shared, LockWait::Forever).await?;
        Ok(())
    };
    context.while_open(lock).await?;
    Ok(owner)
}
