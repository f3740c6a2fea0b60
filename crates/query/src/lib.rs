//! Plans and runs rows: DataFusion over the store, and compiled key programs without it.
