//! Tests of the binder from outside: trees, messages, and the corpus of `sql-tests`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

extern crate bennu_bind as bind;

mod corpus;
mod errors;
mod soup;
mod support;
mod trees;
mod writes;
