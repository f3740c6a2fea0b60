//! Workloads and peers: each figure is measured beside its peer in one run.
