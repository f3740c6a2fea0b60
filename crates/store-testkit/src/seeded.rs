//! Random choices determined by a seed, so that failures are reproducible.

/// A random sequence: Knuth's linear congruential generator, of which the upper half of the bits is used.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of the seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`, which must be in `1..=2^31`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A random index of a list with that length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// A random element of a non-empty list.
    pub fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.get(self.index(of.len())).copied().unwrap_or_default()
    }
}

/// A number from an environment variable, such as a seed.
pub fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
