//! Detection of lost clients: PostgreSQL's settings `tcp_keepalives_…` and `tcp_user_timeout`.

use super::Settings;
use super::definition::{KEEPALIVES_COUNT, KEEPALIVES_IDLE, KEEPALIVES_INTERVAL, USER_TIMEOUT};
use crate::error::EngineResult;
use std::time::Duration;

/// When an idle client is probed, and when it counts as gone. Zero is the system's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Idle time before the first probe.
    pub idle: Duration,
    /// Time between probes.
    pub interval: Duration,
    /// Number of unanswered probes after which the client counts as gone.
    pub count: u32,
    /// How long sent data may stay unacknowledged before the client counts as gone.
    pub user_timeout: Duration,
}

impl Default for Keepalive {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(60),
            interval: Duration::from_secs(10),
            count: 6,
            user_timeout: Duration::ZERO,
        }
    }
}

impl Keepalive {
    /// The values as settings.
    pub(crate) fn settings(&self) -> [(&'static str, String); 4] {
        [
            (KEEPALIVES_IDLE, self.idle.as_secs().to_string()),
            (KEEPALIVES_INTERVAL, self.interval.as_secs().to_string()),
            (KEEPALIVES_COUNT, self.count.to_string()),
            (USER_TIMEOUT, self.user_timeout.as_millis().to_string()),
        ]
    }

    pub(super) fn read(settings: &Settings) -> EngineResult<Self> {
        // Validated when they were set.
        let number = |name: &str| settings.get(name).map(|value| value.parse::<u32>().unwrap_or(0));
        Ok(Self {
            idle: Duration::from_secs(number(KEEPALIVES_IDLE)?.into()),
            interval: Duration::from_secs(number(KEEPALIVES_INTERVAL)?.into()),
            count: number(KEEPALIVES_COUNT)?,
            user_timeout: Duration::from_millis(number(USER_TIMEOUT)?.into()),
        })
    }
}
