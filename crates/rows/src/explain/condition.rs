//! The part of a condition that the key decides.

use crate::access::KeyTest;

/// Does the test restrict the key?
pub(super) fn is_known(test: &KeyTest) -> bool {
    match test {
        KeyTest::And(all) => all.iter().any(is_known),
        KeyTest::Or(any) => any.iter().all(is_known),
        KeyTest::Unknown => false,
        _ => true,
    }
}
