//! Why a connection ends, and what fails without ending it.

use engine::{ClientFault, EngineError};
use std::io;

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum End {
    /// The client sent Terminate or disconnected, or the socket failed.
    Closed,
    /// The server stops, or another session ended this one.
    Shutdown,
    /// The client broke the protocol beyond repair.
    Protocol,
    /// The client was silent for too long.
    Idle,
    /// No memory for the client's message; the error was sent.
    Memory,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// A failed statement: the session goes on, or the connection ends.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Reported to the client.
    Statement(EngineError),
    /// Not reported.
    End(End),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Statement(error)
    }
}

impl From<ClientFault> for Failure {
    fn from(fault: ClientFault) -> Self {
        Self::Statement(fault.into())
    }
}

impl From<End> for Failure {
    fn from(end: End) -> Self {
        Self::End(end)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::End(error.into())
    }
}
