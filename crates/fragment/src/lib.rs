//! The bytes of one row in one family, shared by every store.
