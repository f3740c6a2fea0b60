//! Errors that a front end reports to its client: about messages, portals, parameters and connections.

use super::{EngineError, Report};

/// An error in a client's message, or the reason why its connection ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientFault {
    /// A message that violates the protocol.
    #[error("{0}")]
    Protocol(String),
    /// A text that is not UTF-8.
    #[error("{0}")]
    Encoding(String),
    /// A protocol version that is not supported.
    #[error("unsupported frontend protocol {0}.{1}: server supports 3.0")]
    Version(u16, u16),
    /// A protocol feature that is not supported.
    #[error("{0} not supported")]
    Unsupported(String),
    /// A command-line argument in a startup packet that is not a setting.
    #[error("invalid command-line argument for server process: {0}")]
    StartupOption(String),
    /// A startup packet without a user.
    #[error("no PostgreSQL user name specified in startup packet")]
    NoUser,
    /// A client whose address may not connect.
    #[error("connections from {0} are not accepted: only loopback is, until there are roles")]
    ForeignAddress(std::net::IpAddr),
    /// Too many sessions.
    #[error("{0}")]
    TooManySessions(String),
    /// An unknown prepared statement; the empty name is the unnamed one.
    #[error("{} does not exist", prepared(.0))]
    NoPrepared(String),
    /// The name of an existing prepared statement.
    #[error("prepared statement \"{0}\" already exists")]
    DuplicatePrepared(String),
    /// A portal that does not exist.
    #[error("portal \"{0}\" does not exist")]
    NoPortal(String),
    /// The name of an existing portal or cursor.
    #[error("cursor \"{0}\" already exists")]
    DuplicatePortal(String),
    /// A portal that ran to its end and cannot run again.
    #[error("portal \"{0}\" cannot be run")]
    PortalDone(String),
    /// A portal whose statement returns no rows.
    #[error("portal \"{0}\" cannot be run")]
    PortalWithoutRows(String),
    /// A format of values that is neither text nor binary.
    #[error("unsupported format code: {0}")]
    FormatCode(i16),
    /// A binary parameter that is not a valid value of its type.
    #[error("incorrect binary data format in bind parameter {0}")]
    BinaryParameter(usize),
    /// A value that does not fit into the binary format of its column.
    #[error("value of column \"{0}\" out of range")]
    ColumnOutOfRange(String),
    /// An answer whose columns differ from those described to the client.
    #[error("a plan answered with columns of other types: {0}")]
    AnswerColumns(String),
    /// A message to the client that exceeds the protocol's size limit.
    #[error("message too large for the protocol")]
    AnswerTooLarge,
    /// A message of the client for which there is not enough memory.
    #[error("out of memory for a message of the client (query_memory_mib)")]
    MessageMemory,
    /// The server stops.
    #[error("terminating connection due to administrator command")]
    Shutdown,
    /// The client was idle for too long.
    #[error("terminating connection due to idle-session timeout")]
    IdleSession,
    /// The client was idle for too long in a transaction.
    #[error("terminating connection due to idle-in-transaction timeout")]
    IdleInTransaction,
}

fn prepared(name: &str) -> String {
    match name {
        "" => "unnamed prepared statement".to_string(),
        name => format!("prepared statement \"{name}\""),
    }
}

impl ClientFault {
    fn code(&self) -> &'static str {
        match self {
            Self::Protocol(_) => "08P01",
            Self::Encoding(_) => "22021",
            Self::Version(..) | Self::Unsupported(_) => "0A000",
            Self::StartupOption(_) => "42601",
            Self::NoUser | Self::ForeignAddress(_) => "28000",
            Self::TooManySessions(_) => "53300",
            Self::NoPrepared(_) => "26000",
            Self::DuplicatePrepared(_) => "42P05",
            Self::NoPortal(_) => "34000",
            Self::DuplicatePortal(_) => "42P03",
            Self::PortalDone(_) => "55000",
            Self::PortalWithoutRows(_) => "24000",
            Self::FormatCode(_) => "22023",
            Self::BinaryParameter(_) => "22P03",
            Self::ColumnOutOfRange(_) => "22003",
            Self::AnswerColumns(_) => "XX000",
            Self::AnswerTooLarge => "54000",
            Self::MessageMemory => "53200",
            Self::Shutdown => "57P01",
            Self::IdleSession => "57P05",
            Self::IdleInTransaction => "25P03",
        }
    }
}

impl From<ClientFault> for EngineError {
    fn from(fault: ClientFault) -> Self {
        let report = Report { code: fault.code(), message: fault.to_string(), ..Report::default() };
        Self { report: Box::new(report) }
    }
}
