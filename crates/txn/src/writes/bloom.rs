//! A filter of the keys that a run does not have.

use xxhash_rust::xxh3::xxh3_64;

/// Bits per key: 1 % false positives.
const BITS_OF_A_KEY: usize = 10;
const PROBES: u64 = 7;

/// A Bloom filter (Bloom 1970); the probes are derived from one hash by double hashing (Kirsch and Mitzenmacher 2006).
#[derive(Debug)]
pub(crate) struct Bloom {
    words: Vec<u64>,
}

impl Bloom {
    /// A filter for this number of keys.
    pub(crate) fn for_keys(keys: usize) -> Self {
        Self { words: vec![0; (keys * BITS_OF_A_KEY).div_ceil(64).max(1)] }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    pub(crate) fn add(&mut self, key: &[u8]) {
        let bits = self.bits();
        for bit in probes(key, bits) {
            if let Some(word) = self.words.get_mut(bit / 64) {
                *word |= 1 << (bit % 64);
            }
        }
    }

    pub(crate) fn may_have(&self, key: &[u8]) -> bool {
        probes(key, self.bits()).all(|bit| self.words.get(bit / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0))
    }

    fn bits(&self) -> u64 {
        self.words.len() as u64 * 64
    }
}

fn probes(key: &[u8], bits: u64) -> impl Iterator<Item = usize> {
    let hash = xxh3_64(key);
    let step = hash.rotate_left(32) | 1;
    (0..PROBES).map(move |probe| (hash.wrapping_add(probe.wrapping_mul(step)) % bits) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_all_keys_that_were_added_and_few_others() {
        let mut bloom = Bloom::for_keys(1000);
        (0..1000u32).for_each(|key| bloom.add(&key.to_be_bytes()));
        assert!((0..1000u32).all(|key| bloom.may_have(&key.to_be_bytes())));
        let wrong = (1000..11_000u32).filter(|key| bloom.may_have(&key.to_be_bytes())).count();
        assert!(wrong < 300, "{wrong} of 10000");
    }
}
