//! What can go wrong in the engine itself. Variants carry data; their SQLSTATEs are in `sqlstate.rs`.

/// A failure that no crate below knows of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// A feature that is not built.
    #[error("{feature} is not supported")]
    Unsupported { feature: String },
    /// Connecting to another database.
    #[error("database \"{name}\" does not exist")]
    NoSuchDatabase { name: String },
}
