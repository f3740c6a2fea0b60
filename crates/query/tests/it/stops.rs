//! Cancellation during planning.

use crate::fixture::{Failure, Fixture};
use query::{QueryError, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stops after this many checks.
#[derive(Debug)]
struct StopsAfter(AtomicUsize);

impl Stop for StopsAfter {
    fn is_stopped(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
    }
}

#[tokio::test]
async fn planning_ends_when_its_statement_is_stopped() {
    let fixture = Fixture::new().await;
    fixture.flights(None).await;
    let query = "select count(*) from flights a, flights b where a.flight = b.flight";
    for asked in [0, 1, 10] {
        let mut cx = fixture.context().await;
        cx.stop = Arc::new(StopsAfter(AtomicUsize::new(asked)));
        let planned = fixture.plan_in(&cx, query, &[]).await.map(|plan| plan.columns.len());
        assert!(matches!(planned, Err(Failure::Query(QueryError::Stopped))), "asked {asked} times: {planned:?}");
    }
}
