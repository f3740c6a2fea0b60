//! The salt: a first byte that distributes adjacent keys over buckets.
//!
//! The salt is `xxh3_64(key without salt) % buckets`, seed 0. It is a function of the key, so a full key is read from
//! one bucket; any other range must be read from all buckets.

use xxhash_rust::xxh3::xxh3_64;

/// The id of the hash. Each table records it, so that another hash can be added.
pub const SALT_HASH_ID: u16 = 1;

/// Maximum number of buckets: the salt is one byte.
pub(crate) const MAX_BUCKETS: u16 = 256;

/// The bucket of a key without its salt. `buckets` is from 1 to 256.
pub fn salt_of(unsalted: &[u8], buckets: u16) -> u8 {
    let buckets = u64::from(buckets.clamp(1, MAX_BUCKETS));
    // The remainder is below 256.
    (xxh3_64(unsalted) % buckets) as u8
}
