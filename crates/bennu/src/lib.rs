//! SQL over HBase's data model, embedded.
