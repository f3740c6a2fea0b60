//! Frames as a client sends them, and whole sessions made of them.

/// A session: its opening packet and its frames.
pub(crate) struct Script {
    pub(crate) opening: Vec<u8>,
    pub(crate) frames: Vec<Vec<u8>>,
}

/// A frame of type `kind`.
pub(crate) fn frame(kind: u8, body: &[&[u8]]) -> Vec<u8> {
    let body = body.concat();
    let mut out = vec![kind];
    out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    out.extend_from_slice(&body);
    out
}

/// The opening packet of a session.
pub(crate) fn startup() -> Vec<u8> {
    startup_as("ada")
}

pub(crate) fn startup_as(user: &str) -> Vec<u8> {
    let rest = format!("user\0{user}\0database\0bennu\0options\0-c statement_timeout=5000\0\0");
    packet(196_608, rest.as_bytes())
}

fn packet(code: i32, rest: &[u8]) -> Vec<u8> {
    let mut out = (rest.len() as u32 + 8).to_be_bytes().to_vec();
    out.extend_from_slice(&code.to_be_bytes());
    out.extend_from_slice(rest);
    out
}

pub(crate) fn query(text: &str) -> Vec<u8> {
    frame(b'Q', &[text.as_bytes(), b"\0"])
}

pub(crate) fn parse(name: &str, text: &str, types: &[u32]) -> Vec<u8> {
    let types: Vec<u8> = types.iter().flat_map(|oid| oid.to_be_bytes()).collect();
    let count = (types.len() as u16 / 4).to_be_bytes();
    frame(b'P', &[name.as_bytes(), b"\0", text.as_bytes(), b"\0", &count, &types])
}

/// A Bind with all values and results in one format: 0 text, 1 binary.
pub(crate) fn bind(portal: &str, name: &str, format: u16, values: &[Option<&[u8]>]) -> Vec<u8> {
    bind_as(portal, name, &[format], values)
}

/// A Bind with a format for each value; the results are in the first format.
pub(crate) fn bind_as(portal: &str, name: &str, formats: &[u16], values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = [portal.as_bytes(), b"\0", name.as_bytes(), b"\0"].concat();
    body.extend_from_slice(&(formats.len() as u16).to_be_bytes());
    body.extend(formats.iter().flat_map(|format| format.to_be_bytes()));
    body.extend_from_slice(&(values.len() as u16).to_be_bytes());
    for value in values {
        body.extend_from_slice(&value.map_or(-1, |v| v.len() as i32).to_be_bytes());
        body.extend_from_slice(value.unwrap_or_default());
    }
    body.extend_from_slice(&[&[0, 1][..], &formats.first().copied().unwrap_or_default().to_be_bytes()].concat());
    frame(b'B', &[&body])
}

/// The frames of a query without parameters or row limit.
pub(crate) fn extended(text: &str) -> Vec<Vec<u8>> {
    vec![parse("", text, &[]), bind("", "", 0, &[]), execute("", 0), sync()]
}

pub(crate) fn execute(portal: &str, rows: u32) -> Vec<u8> {
    frame(b'E', &[portal.as_bytes(), b"\0", &rows.to_be_bytes()])
}

fn sync() -> Vec<u8> {
    frame(b'S', &[])
}

/// One session for each part of the protocol.
pub(crate) fn scripts() -> Vec<Script> {
    let terminate = || frame(b'X', &[]);
    let describe = |kind: &[u8], name: &[u8]| frame(b'D', &[kind, name, b"\0"]);
    let sessions = vec![
        vec![query("SELECT 1, 'a', NULL, now()"), query(""), terminate()],
        vec![query("SELECT k, v FROM t ORDER BY k LIMIT 3; SELECT count(*) FROM t"), query("SELECT 1/0"), terminate()],
        vec![
            parse("s", "SELECT v, n, d FROM t WHERE k = $1", &[23]),
            describe(b"S", b"s"),
            bind("", "s", 1, &[Some(&[0, 0, 0, 2])]),
            execute("", 0),
            sync(),
            bind("", "s", 0, &[Some(b"3")]),
            execute("", 0),
            frame(b'C', &[b"Ss\0"]),
            sync(),
        ],
        vec![
            query("BEGIN"),
            parse("", "SELECT * FROM t", &[]),
            bind("p", "", 0, &[]),
            describe(b"P", b"p"),
            execute("p", 2),
            frame(b'H', &[]),
            execute("p", 2),
            frame(b'C', &[b"Pp\0"]),
            sync(),
            query("ROLLBACK"),
        ],
        vec![
            parse("", "INSERT INTO t (k, v, n) VALUES ($1, $2, $3) ON CONFLICT (k) DO NOTHING", &[]),
            bind("", "", 0, &[Some(b"77"), Some(b"x"), None]),
            execute("", 0),
            sync(),
        ],
        vec![
            query("COPY u FROM STDIN (FORMAT csv)"),
            frame(b'd', &[b"1,one\n2,"]),
            frame(b'd', &[b"two\n"]),
            frame(b'c', &[]),
            query("DELETE FROM u"),
        ],
        vec![query("COPY u FROM STDIN"), frame(b'd', &[b"5\tfive\n"]), frame(b'f', &[b"no more\0"]), sync()],
        vec![query("COPY t TO STDOUT"), query("COPY (SELECT k FROM t) TO STDOUT (FORMAT csv, HEADER)")],
        vec![query("SET TimeZone = 'Europe/Paris'; SHOW TimeZone"), query("UPSERT INTO u VALUES (9, 'nine')")],
    ];
    let mut scripts: Vec<Script> = sessions.into_iter().map(|frames| Script { opening: startup(), frames }).collect();
    scripts.push(Script { opening: packet(80_877_103, b""), frames: vec![startup(), query("SELECT 2")] });
    scripts.push(Script { opening: packet(80_877_102, &[0, 0, 0, 1, 0, 0, 0, 2]), frames: Vec::new() });
    scripts
}
