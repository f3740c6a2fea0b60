//! Health and metrics over HTTP.
