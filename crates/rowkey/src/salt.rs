//! The salt: a first byte that spreads neighbouring keys over buckets.
//!
//! It is `xxh3_64(key without salt) % buckets`, seed 0: a function of the key alone, so a full key leads to one
//! bucket, and everything else has to look into all of them.

use xxhash_rust::xxh3::xxh3_64;

/// Names the hash. Each table records it, so that a table salted otherwise can be told apart.
pub const SALT_HASH_ID: u16 = 1;

/// Most buckets: the salt is one byte.
pub(crate) const MAX_BUCKETS: u16 = 256;

/// The bucket of a key that is given without its salt. `buckets` is 1 to 256.
pub fn salt_of(unsalted: &[u8], buckets: u16) -> u8 {
    let buckets = u64::from(buckets.clamp(1, MAX_BUCKETS));
    // Below 256: the remainder of a division by at most 256.
    (xxh3_64(unsalted) % buckets) as u8
}
