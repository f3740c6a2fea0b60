//! While a statement runs, Ctrl-C cancels it and the terminal shows progress.

use super::failure::Failure;
use bennu::CancelHandle;
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use tokio::time::MissedTickBehavior;

/// Time before progress is shown, and between updates.
const PATIENCE: Duration = Duration::from_secs(1);

/// Progress of a statement, updated by the code that runs it.
#[derive(Debug)]
pub(super) struct Progress {
    /// Whether to show progress.
    watched: Cell<bool>,
    /// Characters of the progress line on the screen.
    shown: Cell<usize>,
    rows: Cell<u64>,
    /// Bytes read of the file, and its size.
    file: Cell<Option<(u64, u64)>>,
}

impl Progress {
    /// `person` if input is interactive. Progress is shown only if standard error is a terminal.
    pub(super) fn new(person: bool) -> Self {
        let watched = person && std::io::stderr().is_terminal();
        Self { watched: Cell::new(watched), shown: Cell::new(0), rows: Cell::new(0), file: Cell::new(None) }
    }

    /// Adds `more` rows.
    pub(super) fn rows(&self, more: usize) {
        self.rows.set(self.rows.get() + more as u64);
    }

    /// Sets the bytes read of a file of `size` bytes.
    pub(super) fn file(&self, read: u64, size: u64) {
        self.file.set(Some((read, size)));
    }

    /// Stops showing progress if rows are now printed to a terminal.
    pub(super) fn output_begins(&self) {
        if std::io::stdout().is_terminal() {
            self.erase();
            self.watched.set(false);
        }
    }

    fn show(&self, running: Duration) {
        let text = self.text(running);
        let width = self.shown.get();
        let _ = write!(std::io::stderr(), "\r{text:width$}");
        self.shown.set(text.chars().count().max(width));
    }

    fn erase(&self) {
        let width = self.shown.replace(0);
        if width > 0 {
            let _ = write!(std::io::stderr(), "\r{:width$}\r", "");
        }
    }

    fn text(&self, running: Duration) -> String {
        let mut text = format!("… {} s", running.as_secs());
        if self.rows.get() > 0 {
            text += &format!(", {} rows", self.rows.get());
        }
        if let Some((read, size)) = self.file.get() {
            let percent = (u128::from(read) * 100).checked_div(u128::from(size));
            // A pipe has no size.
            text += &percent.map_or(format!(", {} MB", read >> 20), |p| format!(", {} % of the file", p.min(100)));
        }
        text + " (Ctrl-C cancels)"
    }
}

/// Waits for `work`. Ctrl-C cancels the statement, which then ends with its own error.
pub(super) async fn watched<T>(
    work: impl Future<Output = Result<T, Failure>>,
    cancel: &CancelHandle,
    progress: &Progress,
) -> Result<T, Failure> {
    let started = Instant::now();
    let mut work = std::pin::pin!(work);
    let mut tick = tokio::time::interval_at((started + PATIENCE).into(), PATIENCE);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            _ = tokio::signal::ctrl_c() => cancel.cancel(),
            _ = tick.tick(), if progress.watched.get() => progress.show(started.elapsed()),
        }
    };
    progress.erase();
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_tells_what_is_known() {
        let progress = Progress::new(false);
        let told = || progress.text(Duration::from_secs(3));
        assert_eq!(told(), "… 3 s (Ctrl-C cancels)");
        progress.rows(7);
        progress.rows(5);
        assert_eq!(told(), "… 3 s, 12 rows (Ctrl-C cancels)");
        let progress = Progress::new(false);
        progress.file(5 << 20, 20 << 20);
        assert_eq!(progress.text(Duration::from_secs(61)), "… 61 s, 25 % of the file (Ctrl-C cancels)");
        progress.file(5 << 20, 0);
        assert_eq!(progress.text(Duration::from_secs(61)), "… 61 s, 5 MB (Ctrl-C cancels)");
    }
}
