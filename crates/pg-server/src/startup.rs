//! The first packets of a connection: encryption refused, cancel requests served, sessions begun.

use crate::end::End;
use crate::frontend::{self, Malformed, Opening};
use crate::seats::{ConnectionSlots, Full, Seat};
use crate::startup_options::{self, InvalidOption};
use crate::wire::Wire;
use bytes::BufMut;
use engine::{ClientFault, Engine, Session, SessionStart};
use std::net::SocketAddr;
use std::sync::Arc;

/// Result of the opening packets.
pub(crate) enum Opened {
    /// A session that has received its ReadyForQuery, with its slot.
    Session(Box<Session>, Seat),
    /// Nothing more to do: refused, disconnected, or a cancel request.
    Done,
}

/// Begins the session of a new connection if a slot is free. Cancel requests need no slot.
/// The last slots are reserved for the user `operator`.
pub(crate) async fn open(
    wire: &mut Wire,
    engine: &Arc<Engine>,
    peer: SocketAddr,
    seats: &Arc<ConnectionSlots>,
    operator: &str,
) -> Opened {
    match opening(wire, engine).await {
        Ok(Some((minor, parameters))) => match seats.take(is_operator(&parameters, operator)) {
            Ok(seat) => match begin(wire, engine, peer, minor, parameters).await {
                Some(session) => Opened::Session(session, seat),
                None => Opened::Done,
            },
            Err(full) => {
                refuse(wire, ClientFault::TooManySessions(full.to_string())).await;
                Opened::Done
            }
        },
        Ok(None) | Err(Err(_)) => Opened::Done,
        Err(Ok(malformed)) => {
            refuse(wire, malformed.fault()).await;
            Opened::Done
        }
    }
}

/// Refuses a session when the limit of sockets is reached. Cancel requests are still served.
pub(crate) async fn refuse_over_limit(wire: &mut Wire, engine: &Engine) {
    if let Ok(Some(_)) = opening(wire, engine).await {
        refuse(wire, ClientFault::TooManySessions(Full::All.to_string())).await;
    }
}

type Parameters = Vec<(String, String)>;

fn is_operator(parameters: &Parameters, operator: &str) -> bool {
    parameters.iter().any(|(name, value)| name == "user" && value == operator)
}

async fn opening(wire: &mut Wire, engine: &Engine) -> Result<Option<(u16, Parameters)>, Result<Malformed, End>> {
    loop {
        match frontend::opening(&mut wire.input).map_err(Ok)? {
            None => wire.fill().await.map_err(Err)?,
            Some(Opening::Encryption) => {
                wire.out.buffer.put_u8(b'N');
                wire.flush().await.map_err(Err)?;
            }
            Some(Opening::Cancel { process, secret }) => {
                engine.cancel(process, secret);
                return Ok(None);
            }
            Some(Opening::Startup { minor, parameters }) => return Ok(Some((minor, parameters))),
        }
    }
}

async fn begin(
    wire: &mut Wire,
    engine: &Arc<Engine>,
    peer: SocketAddr,
    minor: u16,
    given: Parameters,
) -> Option<Box<Session>> {
    // Names that begin with _pq_. are protocol options; none is supported.
    let (options, mut parameters): (Parameters, Parameters) = given.into_iter().partition(|p| p.0.starts_with("_pq_."));
    if minor > 0 || !options.is_empty() {
        let names: Vec<String> = options.into_iter().map(|option| option.0).collect();
        wire.out.negotiate_version(&names);
    }
    let mut take = |name: &str| {
        let at = parameters.iter().position(|p| p.0 == name)?;
        Some(parameters.remove(at).1)
    };
    let Some(user) = take("user").filter(|u| !u.is_empty()) else {
        refuse(wire, ClientFault::NoUser).await;
        return None;
    };
    let database = take("database").filter(|d| !d.is_empty()).unwrap_or_else(|| user.clone());
    if take("replication").is_some_and(|r| !matches!(r.as_str(), "" | "false" | "off" | "no" | "0")) {
        refuse(wire, ClientFault::Unsupported("replication connections are".to_string())).await;
        return None;
    }
    if let Some(options) = take("options") {
        match startup_options::settings(&options) {
            // In front: settings that the packet sets by name override those in `options`.
            Ok(settings) => parameters.splice(..0, settings),
            Err(InvalidOption(argument)) => {
                refuse(wire, ClientFault::StartupOption(argument)).await;
                return None;
            }
        };
    }
    if !peer.ip().to_canonical().is_loopback() {
        refuse(wire, ClientFault::ForeignAddress(peer.ip())).await;
        return None;
    }
    match engine.session(SessionStart { user, database, parameters, client: Some(peer) }) {
        Ok(session) => greet(wire, session).await,
        Err(error) => {
            wire.out.error("FATAL", &error);
            let _ = wire.flush().await;
            None
        }
    }
}

async fn greet(wire: &mut Wire, session: Session) -> Option<Box<Session>> {
    wire.out.authentication_ok();
    for (name, value) in session.reported_parameters() {
        wire.out.parameter_status(name, &value);
    }
    wire.out.key_data(session.process_id(), session.secret());
    wire.out.ready(session.status());
    match wire.flush().await {
        Ok(()) => Some(Box::new(session)),
        Err(_) => None,
    }
}

/// Sends a FATAL error before the session begins.
async fn refuse(wire: &mut Wire, fault: ClientFault) {
    wire.out.error("FATAL", &fault.into());
    let _ = wire.flush().await;
}
