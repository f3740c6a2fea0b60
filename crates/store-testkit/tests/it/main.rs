//! The model passes the suite, and so do stacks of wrappers around it.

mod model;
