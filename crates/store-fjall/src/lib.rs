//! The embedded store: regions, placement and the commit pipeline on fjall.
