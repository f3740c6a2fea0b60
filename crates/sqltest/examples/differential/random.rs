//! A pseudorandom generator: the same seed gives the same choices.

/// Xorshift (Marsaglia 2003).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let start =
            seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_add(1).wrapping_mul(0xD1B5_4A32_D192_ED03);
        let mut random = Self(start | 1);
        for _ in 0..4 {
            let _ = random.below(2);
        }
        random
    }

    /// A number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % n.max(1)
    }

    /// True with probability 1 / `n`.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `all`.
    pub(crate) fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}
