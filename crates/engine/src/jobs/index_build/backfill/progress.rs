//! How far a backfill is: the position that a restart goes on from, and how fast it may go.

use super::{Backfill, Piece};
use crate::error::EngineResult;
use crate::jobs::index_build::position::{Left, Position};
use catalog::JobCounts;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::Durability;
use tokio::time::Instant;

/// Time between two positions that are kept.
const KEEP_EVERY: Duration = Duration::from_millis(300);

impl Backfill {
    pub(super) fn position(&self) -> Position {
        let is_left = |piece: &&Piece| piece.left.end.as_ref().is_none_or(|end| piece.left.start < *end);
        let left = self.left.lock().iter().filter(is_left).map(|piece| Left::of(&piece.left)).collect();
        Position { rows: self.table.storage, entries: self.entries, left, swapped: false }
    }

    pub(super) async fn keep_now_and_then(&self) -> EngineResult<()> {
        {
            let mut kept = self.kept.lock();
            if kept.elapsed() < KEEP_EVERY {
                return Ok(());
            }
            *kept = Instant::now();
        }
        self.keep().await
    }

    /// Keeps the position. What is behind it is in the log before it.
    pub(super) async fn keep(&self) -> EngineResult<()> {
        let position = crate::jobs::kind::to_json(&self.position())?;
        let counts = JobCounts {
            rows: self.before.rows + self.rows.load(Ordering::Relaxed),
            bytes: self.before.bytes + self.bytes.load(Ordering::Relaxed),
            ..self.before
        };
        self.context
            .save(Durability::Buffered, |record| {
                record.position = position;
                record.counts = counts;
            })
            .await
    }

    /// No faster than its rate; and others have a turn between two batches.
    pub(super) async fn throttle(&self) -> EngineResult<()> {
        tokio::task::yield_now().await;
        if self.spec.rate == 0 {
            return Ok(());
        }
        let due = Duration::from_secs_f64(self.rows.load(Ordering::Relaxed) as f64 / self.spec.rate as f64);
        let ahead = due.saturating_sub(self.began.elapsed());
        self.context
            .stoppable(async {
                tokio::time::sleep(ahead).await;
                Ok(())
            })
            .await
    }
}
