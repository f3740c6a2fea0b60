//! Progress of a backfill: the position from which a restart continues, and its rate.

use super::{Backfill, Piece};
use crate::error::EngineResult;
use crate::jobs::index_build::position::{Left, Position};
use catalog::JobCounts;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::Durability;
use tokio::time::Instant;

/// Bounds of a worker's pause between two batches while other sessions run statements.
const LEAST_REST: Duration = Duration::from_millis(1);
const MOST_REST: Duration = Duration::from_millis(20);
/// Time between two saved positions.
const KEEP_EVERY: Duration = Duration::from_millis(300);

/// Number of statements that had begun when the worker last checked.
#[derive(Debug, Default)]
pub(super) struct Pace {
    statements: u64,
}

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

    /// Saves the position. Entries before the position are in the write-ahead journal before it.
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

    /// If other sessions began statements since the last batch, pauses for twice the duration of that batch: the
    /// build takes longer, but the statements do not wait for a core.
    pub(super) async fn give_way(&self, pace: &mut Pace, worked: Duration) -> EngineResult<()> {
        let statements = self.context.engine()?.counters().statements.get();
        if std::mem::replace(&mut pace.statements, statements) == statements {
            tokio::task::yield_now().await;
            return Ok(());
        }
        self.context
            .stoppable(async {
                tokio::time::sleep((worked * 2).clamp(LEAST_REST, MOST_REST)).await;
                Ok(())
            })
            .await
    }

    /// Limits the backfill to its rate.
    pub(super) async fn throttle(&self) -> EngineResult<()> {
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
