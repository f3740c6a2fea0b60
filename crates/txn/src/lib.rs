//! One transaction over any store: own writes over a snapshot, locks, commit.
