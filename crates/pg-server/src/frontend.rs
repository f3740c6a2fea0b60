//! Frontend messages: frames cut from the stream and decoded by total functions, so that no byte can panic.
//!
//! pgwire's own decoders trust the lengths inside a frame; these do not. A frame is cut out whole first, and its fields
//! are read within its bounds.

use bytes::{Bytes, BytesMut};
use engine::ClientFault;
use std::fmt;

/// Longest frame that carries text or data, as in PostgreSQL: its allocation limit less one byte.
const MAX_FRAME: usize = 0x3fff_fffe;
/// Longest frame of the other types, which are short.
const MAX_SMALL_FRAME: usize = 10_000;
/// Longest startup packet, as in PostgreSQL.
const MAX_STARTUP: usize = 10_000;

const SSL_REQUEST: i32 = 80_877_103;
const GSS_REQUEST: i32 = 80_877_104;
const CANCEL_REQUEST: i32 = 80_877_102;

/// The first packet of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Asks for TLS or GSS encryption.
    Encryption,
    /// Asks to cancel the statement of another connection.
    Cancel { process: i32, secret: i32 },
    /// Begins a session.
    Startup { minor: u16, parameters: Vec<(String, String)> },
}

/// A message of a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Query(String),
    Parse {
        name: String,
        text: String,
        types: Vec<u32>,
    },
    Bind(Bind),
    Describe(Target),
    Close(Target),
    Execute {
        portal: String,
        max_rows: i32,
    },
    Flush,
    Sync,
    CopyData(Bytes),
    CopyDone,
    CopyFail(String),
    /// A function call by OID. It is refused, so its contents are not decoded.
    FunctionCall,
    Terminate,
}

/// A Bind message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Bind {
    pub(crate) portal: String,
    pub(crate) statement: String,
    pub(crate) formats: Vec<i16>,
    pub(crate) values: Vec<Option<Bytes>>,
    pub(crate) results: Vec<i16>,
}

/// The object of Describe and Close.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Statement(String),
    Portal(String),
}

/// A message that breaks the protocol (08P01), or text that is not UTF-8 (22021).
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    Truncated(&'static str),
    /// The frame has bytes after its contents.
    TooLong,
    /// A parameter with a negative length other than -1 (NULL).
    Parameter(i32),
    Length(usize),
    Type(u8),
    Version(u16, u16),
    Encoding(&'static str),
    Target(u8),
}

impl Malformed {
    /// Returns whether the stream is out of sync after this error: a wrong length or type.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, Self::Length(_) | Self::Type(_) | Self::Version(..))
    }

    /// The error that the client receives.
    pub(crate) fn fault(&self) -> ClientFault {
        match self {
            Self::Encoding(_) => ClientFault::Encoding(self.to_string()),
            Self::Version(major, minor) => ClientFault::Version(*major, *minor),
            _ => ClientFault::Protocol(self.to_string()),
        }
    }
}

/// A session message that cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadFrame {
    /// The message type.
    pub(crate) kind: u8,
    pub(crate) why: Malformed,
}

impl BadFrame {
    /// Returns whether the client expects ReadyForQuery after this message. After others it comes with the next Sync.
    pub(crate) fn expects_ready_for_query(&self) -> bool {
        matches!(self.kind, b'Q' | b'F' | b'S')
    }

    /// Returns whether the message belongs to a COPY; outside of one it is ignored.
    pub(crate) fn is_copy(&self) -> bool {
        matches!(self.kind, b'd' | b'c' | b'f')
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(what) => write!(f, "invalid {what} message: it ends before its contents do"),
            Self::TooLong => f.write_str("invalid message format"),
            Self::Parameter(n) => write!(f, "invalid Bind message: a parameter of length {n}"),
            Self::Length(n) => write!(f, "invalid message length {n}"),
            Self::Type(t) => write!(f, "invalid frontend message type {t}"),
            Self::Version(major, minor) => ClientFault::Version(*major, *minor).fmt(f),
            Self::Encoding(what) => write!(f, "invalid byte sequence for encoding \"UTF8\" in {what} message"),
            Self::Target(t) => write!(f, "invalid target type {t}: expected S (statement) or P (portal)"),
        }
    }
}

/// Takes the opening packet from `input` once it is complete.
pub(crate) fn opening(input: &mut BytesMut) -> Result<Option<Opening>, Malformed> {
    let Some(length) = peek_length(input, 0) else { return Ok(None) };
    if !(8..=MAX_STARTUP).contains(&length) {
        return Err(Malformed::Length(length));
    }
    if input.len() < length {
        return Ok(None);
    }
    let mut body = Reader::new(input.split_to(length).freeze().slice(4..), "startup");
    match body.int32()? {
        SSL_REQUEST | GSS_REQUEST => Ok(Some(Opening::Encryption)),
        CANCEL_REQUEST => Ok(Some(Opening::Cancel { process: body.int32()?, secret: body.int32()? })),
        version => startup((version >> 16) as u16, version as u16, body).map(Some),
    }
}

fn startup(major: u16, minor: u16, mut body: Reader) -> Result<Opening, Malformed> {
    if major != 3 {
        return Err(Malformed::Version(major, minor));
    }
    let mut parameters = Vec::new();
    loop {
        let name = body.string()?;
        if name.is_empty() {
            return Ok(Opening::Startup { minor, parameters });
        }
        parameters.push((name, body.string()?));
    }
}

/// Takes one message from `input` once it is complete.
///
/// # Errors
/// An undecodable message. Its frame was removed from `input` unless the error [`Malformed::is_fatal`].
pub(crate) fn message(input: &mut BytesMut) -> Result<Option<Message>, BadFrame> {
    let Some(&kind) = input.first() else { return Ok(None) };
    let bad = |why| BadFrame { kind, why };
    let longest = longest(kind).ok_or_else(|| bad(Malformed::Type(kind)))?;
    let Some(length) = peek_length(input, 1) else { return Ok(None) };
    if !(4..=longest).contains(&length) {
        return Err(bad(Malformed::Length(length)));
    }
    if input.len() <= length {
        return Ok(None);
    }
    let frame = input.split_to(length + 1).freeze();
    decode(kind, frame.slice(5..)).map(Some).map_err(bad)
}

/// The longest frame of a message type; `None` for an unknown type.
fn longest(kind: u8) -> Option<usize> {
    match kind {
        b'Q' | b'P' | b'B' | b'd' | b'F' | b'p' => Some(MAX_FRAME),
        b'D' | b'C' | b'E' | b'H' | b'S' | b'c' | b'f' | b'X' => Some(MAX_SMALL_FRAME),
        _ => None,
    }
}

/// The type of the next message other than Close, once its first byte has arrived.
pub(crate) fn next_kind_except_close(input: &[u8]) -> Option<u8> {
    let mut rest = input;
    loop {
        let kind = *rest.first()?;
        if kind != b'C' {
            return Some(kind);
        }
        let length = peek_length(rest, 1)?;
        // An invalid length is reported when the message is decoded.
        rest = rest.get(1 + length.max(4)..)?;
    }
}

fn decode(kind: u8, body: Bytes) -> Result<Message, Malformed> {
    let mut r = Reader::new(body, "");
    let message = match kind {
        b'Q' => Message::Query(r.named("Query").string()?),
        b'P' => {
            r.named("Parse");
            let (name, text) = (r.string()?, r.string()?);
            let count = r.count()?;
            let types = (0..count).map(|_| r.int32().map(i32::cast_unsigned)).collect::<Result<_, _>>()?;
            Message::Parse { name, text, types }
        }
        b'B' => Message::Bind(bind(r.named("Bind"))?),
        b'D' => Message::Describe(target(r.named("Describe"))?),
        b'C' => Message::Close(target(r.named("Close"))?),
        b'E' => {
            r.named("Execute");
            Message::Execute { portal: r.string()?, max_rows: r.int32()? }
        }
        b'H' => Message::Flush,
        b'S' => Message::Sync,
        b'f' => Message::CopyFail(r.named("CopyFail").string()?),
        // The bodies of these messages are not checked.
        b'd' => return Ok(Message::CopyData(r.frame)),
        b'c' => return Ok(Message::CopyDone),
        b'F' => return Ok(Message::FunctionCall),
        b'X' => return Ok(Message::Terminate),
        other => return Err(Malformed::Type(other)),
    };
    if r.rest().is_empty() { Ok(message) } else { Err(Malformed::TooLong) }
}

fn bind(r: &mut Reader) -> Result<Bind, Malformed> {
    let (portal, statement) = (r.string()?, r.string()?);
    let formats = r.formats()?;
    let count = r.count()?;
    let mut values = Vec::with_capacity(count.min(1024));
    for _ in 0..count {
        let length = r.int32()?;
        values.push(match usize::try_from(length) {
            Ok(length) => Some(r.bytes(length)?),
            Err(_) if length == -1 => None,
            Err(_) => return Err(Malformed::Parameter(length)),
        });
    }
    Ok(Bind { portal, statement, formats, values, results: r.formats()? })
}

fn target(r: &mut Reader) -> Result<Target, Malformed> {
    match u8::from_be_bytes(r.array()?) {
        b'S' => Ok(Target::Statement(r.string()?)),
        b'P' => Ok(Target::Portal(r.string()?)),
        other => Err(Malformed::Target(other)),
    }
}

fn peek_length(input: &[u8], offset: usize) -> Option<usize> {
    let bytes = input.get(offset..offset + 4)?;
    // A negative length becomes huge, and the caller refuses it.
    Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
}

/// Reads fields of one frame and never past its end.
struct Reader {
    frame: Bytes,
    at: usize,
    what: &'static str,
}

impl Reader {
    fn new(frame: Bytes, what: &'static str) -> Self {
        Self { frame, at: 0, what }
    }

    fn named(&mut self, what: &'static str) -> &mut Self {
        self.what = what;
        self
    }

    fn rest(&self) -> &[u8] {
        self.frame.get(self.at..).unwrap_or_default()
    }

    fn bytes(&mut self, length: usize) -> Result<Bytes, Malformed> {
        if self.rest().len() < length {
            return Err(Malformed::Truncated(self.what));
        }
        let bytes = self.frame.slice(self.at..self.at + length);
        self.at += length;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let array = *self.rest().first_chunk().ok_or(Malformed::Truncated(self.what))?;
        self.at += N;
        Ok(array)
    }

    fn int32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }

    fn int16(&mut self) -> Result<i16, Malformed> {
        self.array().map(i16::from_be_bytes)
    }

    /// Counts are unsigned on the wire.
    fn count(&mut self) -> Result<usize, Malformed> {
        Ok(usize::from(self.int16()?.cast_unsigned()))
    }

    fn formats(&mut self) -> Result<Vec<i16>, Malformed> {
        let count = self.count()?;
        (0..count).map(|_| self.int16()).collect()
    }

    fn string(&mut self) -> Result<String, Malformed> {
        let end = self.rest().iter().position(|&b| b == 0).ok_or(Malformed::Truncated(self.what))?;
        let bytes = self.rest().get(..end).unwrap_or_default();
        let text = std::str::from_utf8(bytes).map(str::to_string);
        self.at += end + 1;
        text.map_err(|_| Malformed::Encoding(self.what))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn frame(kind: u8, body: &[u8]) -> BytesMut {
        let mut out = BytesMut::from(&[kind][..]);
        out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        out.extend_from_slice(body);
        out
    }

    fn why(input: &mut BytesMut) -> Option<Malformed> {
        message(input).err().map(|bad| bad.why)
    }

    #[test]
    fn the_next_message_is_seen_behind_closes() {
        let close = frame(b'C', b"P\0");
        let all = [close.as_ref(), close.as_ref(), &frame(b'S', b"")].concat();
        assert_eq!(next_kind_except_close(&all), Some(b'S'));
        for cut in 0..close.len() * 2 {
            assert_eq!(next_kind_except_close(&all[..cut]), None, "cut at {cut}");
        }
        assert_eq!(next_kind_except_close(b"E"), Some(b'E'));
        assert_eq!(next_kind_except_close(b"C\0\0\0\0E"), Some(b'E'), "a length that cannot be");
    }

    #[test]
    fn a_bind_is_read_whole() {
        let body = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\0";
        let got = message(&mut frame(b'B', body)).unwrap().unwrap();
        let want = Bind {
            portal: "p".into(),
            statement: "s".into(),
            formats: vec![1],
            values: vec![Some(Bytes::from_static(b"ab")), None],
            results: vec![],
        };
        assert_eq!(got, Message::Bind(want));
    }

    #[test]
    fn a_message_cut_anywhere_is_an_error_and_the_next_one_is_found() {
        let body = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\0";
        for cut in 0..body.len() {
            let mut input = frame(b'B', &body[..cut]);
            input.extend_from_slice(&frame(b'S', b""));
            assert_eq!(why(&mut input), Some(Malformed::Truncated("Bind")), "cut at {cut}");
            assert_eq!(message(&mut input), Ok(Some(Message::Sync)));
        }
    }

    #[test]
    fn an_incomplete_frame_waits_for_more() {
        let whole = frame(b'Q', b"select 1\0");
        for cut in 0..whole.len() {
            assert_eq!(message(&mut BytesMut::from(&whole[..cut])), Ok(None));
        }
        assert_eq!(message(&mut whole.clone()), Ok(Some(Message::Query("select 1".into()))));
    }

    #[test]
    fn lengths_and_types_that_cannot_be_are_fatal() {
        let of = |bytes: &[u8]| why(&mut BytesMut::from(bytes));
        assert_eq!(of(b"Q\xff\xff\xff\xff"), Some(Malformed::Length(0xffff_ffff)));
        assert_eq!(of(b"Q\x3f\xff\xff\xff"), Some(Malformed::Length(0x3fff_ffff)));
        assert_eq!(of(b"Q\x3f\xff\xff\xfe"), None);
        assert_eq!(of(b"S\0\0\x27\x11"), Some(Malformed::Length(10_001)));
        assert_eq!(of(b"S\0\0\x27\x10"), None);
        assert_eq!(of(b"Q\0\0\0\x03"), Some(Malformed::Length(3)));
        assert_eq!(of(b"\x01"), Some(Malformed::Type(1)));
        assert!(Malformed::Length(3).is_fatal() && !Malformed::Truncated("Bind").is_fatal());
    }

    #[test]
    fn text_that_is_not_utf8_is_refused() {
        assert_eq!(why(&mut frame(b'Q', b"\xff\0")), Some(Malformed::Encoding("Query")));
    }

    #[test]
    fn bytes_behind_the_contents_are_refused() {
        for (kind, body) in [
            (b'Q', &b"select 1\0"[..]),
            (b'P', b"\0select 1\0\0\0"),
            (b'B', b"\0\0\0\0\0\0\0\0"),
            (b'D', b"S\0"),
            (b'C', b"P\0"),
            (b'E', b"\0\0\0\0\0"),
            (b'H', b""),
            (b'S', b""),
            (b'f', b"why\0"),
        ] {
            assert_eq!(why(&mut frame(kind, body)), None, "{}", char::from(kind));
            let long = [body, b"x"].concat();
            assert_eq!(why(&mut frame(kind, &long)), Some(Malformed::TooLong), "{}", char::from(kind));
        }
    }

    #[test]
    fn openings_are_told_apart() {
        let packet = |code: i32, rest: &[u8]| {
            let mut out = BytesMut::new();
            out.extend_from_slice(&(rest.len() as u32 + 8).to_be_bytes());
            out.extend_from_slice(&code.to_be_bytes());
            out.extend_from_slice(rest);
            out
        };
        assert_eq!(opening(&mut packet(SSL_REQUEST, b"")), Ok(Some(Opening::Encryption)));
        let cancel = opening(&mut packet(CANCEL_REQUEST, b"\0\0\0\x05\0\0\0\x06"));
        assert_eq!(cancel, Ok(Some(Opening::Cancel { process: 5, secret: 6 })));
        let startup = opening(&mut packet(196_608, b"user\0u\0\0"));
        let parameters = vec![("user".to_string(), "u".to_string())];
        assert_eq!(startup, Ok(Some(Opening::Startup { minor: 0, parameters })));
        assert_eq!(opening(&mut packet(131_072, b"\0")), Err(Malformed::Version(2, 0)));
    }
}
