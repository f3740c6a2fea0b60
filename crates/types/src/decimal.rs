//! Exact decimal numbers of up to 38 digits.

use serde::{Deserialize, Serialize};

/// `unscaled * 10^-scale`, with `|unscaled| < 10^38`. PostgreSQL's `NaN` and infinities of numeric are not kept (22003).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Decimal {
    /// All digits as one integer.
    pub unscaled: i128,
    /// How many of them stand after the point, 0 to 38.
    pub scale: u8,
}
