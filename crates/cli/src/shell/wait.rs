//! While a statement runs: Ctrl-C cancels it, and a person sees how long it takes.

use super::failure::Failure;
use bennu::CancelHandle;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Silence before progress is shown, and between two signs of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Waits for `work`. Ctrl-C cancels the statement, which then ends with its own error.
pub(super) async fn watched<T>(
    work: impl Future<Output = Result<T, Failure>>,
    cancel: &CancelHandle,
    progress: bool,
) -> Result<T, Failure> {
    let started = Instant::now();
    let progress = progress && std::io::stderr().is_terminal();
    let mut shown = false;
    let mut work = std::pin::pin!(work);
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            _ = tokio::signal::ctrl_c() => cancel.cancel(),
            () = tokio::time::sleep(PATIENCE), if progress => {
                shown = true;
                let _ = write!(std::io::stderr(), "\r… {} s (Ctrl-C cancels)", started.elapsed().as_secs());
            }
        }
    };
    if shown {
        let _ = write!(std::io::stderr(), "\r{:30}\r", "");
    }
    done
}
