//! Typical operations with tokio-postgres; each step prints one line: `step | result`.
//!
//!     tokio_postgres HOST PORT

use bytes::{Bytes, BytesMut};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use clients::{address, show};
use futures::{SinkExt, StreamExt, TryStreamExt, channel::mpsc, future, pin_mut, stream};
use rust_decimal::Decimal;
use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutStream};
use tokio_postgres::types::{FromSql, FromSqlOwned, IsNull, ToSql, Type, accepts, to_sql_checked};
use tokio_postgres::{AsyncMessage, Client, NoTls, SimpleQueryMessage};
use uuid::Uuid;

type Notices = mpsc::UnboundedReceiver<(String, String, String)>;

/// `interval`, for which the driver has no type.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    months: i32,
    days: i32,
    micros: i64,
}

impl ToSql for Interval {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.micros.to_be_bytes());
        out.extend_from_slice(&self.days.to_be_bytes());
        out.extend_from_slice(&self.months.to_be_bytes());
        Ok(IsNull::No)
    }
    accepts!(INTERVAL);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Interval {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let (micros, rest) = raw.split_first_chunk().ok_or("too short")?;
        let (days, rest) = rest.split_first_chunk().ok_or("too short")?;
        let (months, []) = rest.split_first_chunk().ok_or("too short")? else { return Err("too long".into()) };
        Ok(Self {
            months: i32::from_be_bytes(*months),
            days: i32::from_be_bytes(*days),
            micros: i64::from_be_bytes(*micros),
        })
    }
    accepts!(INTERVAL);
}

async fn connect() -> (Client, Notices) {
    let (host, port) = address();
    let config = format!("host={host} port={port} user=clients dbname=bennu");
    let (client, mut connection) = tokio_postgres::connect(&config, NoTls).await.expect("no connection");
    let version = connection.parameter("server_version").unwrap_or_default().split('.').next().map(str::to_owned);
    show("server version", Ok::<_, tokio_postgres::Error>((version, connection.parameter("client_encoding"))));
    let (sender, notices) = mpsc::unbounded();
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    tokio::spawn(async move {
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notice(n) = message {
                let _ = sender.unbounded_send((n.severity().into(), n.code().code().into(), n.message().into()));
            }
        }
    });
    (client, notices)
}

async fn there_and_back<T: ToSql + FromSqlOwned + Debug + Sync>(client: &Client, name: &str, value: T) {
    let text = format!("SELECT $1::{name}, NULL::{name}, pg_typeof($1::{name})::text");
    let row = client.query_one(&text, &[&value]).await;
    show(name, row.map(|row| (row.get::<_, T>(0), row.get::<_, Option<T>>(1), row.get::<_, String>(2))));
    // The simple protocol answers in text.
    let text = format!("SELECT c::text, c FROM (SELECT v::{name} AS c FROM texts WHERE t = '{name}') AS s");
    show(&format!("text {name}"), client.simple_query(&text).await.map(cells));
}

fn cells(messages: Vec<SimpleQueryMessage>) -> Vec<Vec<Option<String>>> {
    let row = |message| match message {
        SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect()),
        _ => None,
    };
    messages.into_iter().filter_map(row).collect()
}

const TEXTS: &[(&str, &str)] = &[
    ("boolean", "yes"),
    ("smallint", "-32768"),
    ("integer", "2147483647"),
    ("bigint", "-9223372036854775808"),
    ("real", "1.5"),
    ("double precision", "0.1"),
    ("numeric(12,3)", "-123456789.125"),
    ("numeric", "12345678901234567890.5"),
    ("text", "a \\ ü"),
    ("varchar(5)", "five5"),
    ("char(4)", "ab"),
    ("bytea", "\\x0001fe"),
    ("date", "2013-01-31"),
    ("time", "23:59:59.999999"),
    ("timestamp", "2013-01-31 05:15:00.123456"),
    ("timestamptz", "2013-01-31 05:15:00+02"),
    ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("interval", "1 year 2 mons -3 days 04:05:06.789"),
    ("int[]", "{1,NULL,3}"),
    ("int[][]", "{{1,2},{3,4}}"),
    ("text[]", "{a,\"b c\",NULL,\"\",\"NULL\"}"),
    ("numeric(6,2)[]", "{1.5,2}"),
    ("boolean[]", "{t,f}"),
    ("float8[]", "{1.5,NaN,Infinity}"),
    ("date[]", "{2013-01-31}"),
    ("timestamptz[]", "{\"2013-01-31 05:15:00+02\"}"),
    ("interval[]", "{\"1 day\"}"),
    ("uuid[]", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"),
];

async fn types(client: &Client) -> Result<(), tokio_postgres::Error> {
    client.batch_execute("DROP TABLE IF EXISTS texts; CREATE TABLE texts (t text PRIMARY KEY, v text)").await?;
    for (name, text) in TEXTS {
        client.execute("INSERT INTO texts VALUES ($1, $2)", &[name, text]).await?;
    }
    let date = NaiveDate::from_ymd_opt(2013, 1, 31).expect("a date");
    let time = NaiveTime::from_hms_micro_opt(23, 59, 59, 999_999).expect("a time");
    let instant: DateTime<Utc> = NaiveDateTime::new(date, time).and_utc();
    let uuid = Uuid::from_u128(0xa0ee_bc99_9c0b_4ef8_bb6d_6bb9_bd38_0a11);
    let interval = Interval { months: 14, days: -3, micros: 1_234_567 };
    let decimal = Decimal::new(-123_456_789_125, 3);
    there_and_back(client, "boolean", true).await;
    there_and_back(client, "smallint", i16::MIN).await;
    there_and_back(client, "integer", i32::MAX).await;
    there_and_back(client, "bigint", i64::MIN).await;
    there_and_back(client, "real", 1.5f32).await;
    there_and_back(client, "double precision", f64::INFINITY).await;
    there_and_back(client, "numeric(12,3)", decimal).await;
    there_and_back(client, "numeric", Decimal::new(12_345_678_901_234_567, 12)).await;
    there_and_back(client, "text", "text with ' and \\ and ü".to_owned()).await;
    there_and_back(client, "varchar(5)", "five5".to_owned()).await;
    there_and_back(client, "char(4)", "ab".to_owned()).await;
    there_and_back(client, "bytea", vec![0u8, 1, 254]).await;
    there_and_back(client, "date", date).await;
    there_and_back(client, "time", time).await;
    there_and_back(client, "timestamp", instant.naive_utc()).await;
    there_and_back(client, "timestamptz", instant).await;
    there_and_back(client, "uuid", uuid).await;
    there_and_back(client, "interval", interval).await;
    there_and_back(client, "int[]", vec![Some(1), None, Some(3)]).await;
    there_and_back(client, "text[]", vec![Some("a b".to_owned()), None, Some(String::new())]).await;
    there_and_back(client, "numeric(6,2)[]", vec![Decimal::new(150, 2)]).await;
    there_and_back(client, "boolean[]", vec![true, false]).await;
    there_and_back(client, "float8[]", vec![0.5f64, -1e300]).await;
    there_and_back(client, "date[]", vec![date]).await;
    there_and_back(client, "timestamptz[]", vec![Some(instant), None]).await;
    there_and_back(client, "interval[]", vec![interval]).await;
    there_and_back(client, "uuid[]", vec![uuid]).await;
    there_and_back(client, "bigint[]", Vec::<i64>::new()).await;
    Ok(())
}

async fn statements(client: &Client) {
    let described = async {
        let statement = client.prepare("SELECT n, s FROM numbers WHERE n = $1 AND s = $2").await?;
        let columns: Vec<_> = statement.columns().iter().map(|c| (c.name().to_owned(), c.type_().clone())).collect();
        Ok::<_, tokio_postgres::Error>((statement.params().to_vec(), columns))
    };
    show("described", described.await);
    let untyped = client.prepare("SELECT $1 + 1, $2 || 'x', $3::date - 1, coalesce($4, 1.5)").await;
    show("inferred", untyped.map(|statement| statement.params().to_vec()));
    let typed = client.prepare_typed("SELECT $1, $2 FROM numbers LIMIT 0", &[Type::INT8, Type::BYTEA]).await;
    show("typed", typed.map(|s| s.columns().iter().map(|c| c.type_().clone()).collect::<Vec<_>>()));
    let found = client.query("SELECT n FROM numbers WHERE n = ANY($1) ORDER BY n", &[&vec![3, 1, 9999]]).await;
    show("any of a list", found.map(|rows| rows.iter().map(|row| row.get::<_, i32>(0)).collect::<Vec<_>>()));
    let at_once = client.query_typed("SELECT s FROM numbers WHERE n = $1", &[(&5i32, Type::INT4)]).await;
    show("without preparing", at_once.map(|rows| rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>()));
    show("changed", client.execute("UPDATE numbers SET s = $1 WHERE n < $2", &[&"u", &4i32]).await);
    let returned = client.query_one("DELETE FROM numbers WHERE n = 999 RETURNING n, s", &[]).await;
    show("returned", returned.map(|row| (row.get::<_, i32>(0), row.get::<_, String>(1))));
    show("several rows for one", client.query_opt("SELECT n FROM numbers WHERE n < 0", &[]).await.map(|r| r.is_none()));
}

async fn portals(client: &mut Client) -> Result<(), tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    let portal = transaction.bind("SELECT n FROM numbers WHERE n >= $1 ORDER BY n", &[&10i32]).await?;
    let other = transaction.bind("SELECT n FROM numbers ORDER BY n DESC", &[]).await?;
    for step in ["portal", "portal goes on", "portal to its end", "portal after its end"] {
        let rows = transaction.query_portal(&portal, if step == "portal to its end" { 0 } else { 3 }).await;
        show(step, rows.map(|r| (r.len(), r.first().map(|r| r.get::<_, i32>(0)))));
    }
    let rows = transaction.query_portal(&other, 2).await;
    show("two portals", rows.map(|r| r.iter().map(|r| r.get::<_, i32>(0)).collect::<Vec<_>>()));
    show("transaction", transaction.commit().await);
    Ok(())
}

async fn pipelines(client: &mut Client) {
    // Futures that are polled together are pipelined.
    let both = future::try_join3(
        client.query_one("SELECT 1", &[]),
        client.query_one("SELECT $1::int + 1", &[&1i32]),
        client.execute("INSERT INTO numbers VALUES (5000, 'p')", &[]),
    );
    show("pipeline", both.await.map(|(a, b, c)| (a.get::<_, i32>(0), b.get::<_, i32>(0), c)));
    let (a, b) = future::join(client.execute("SELECT 1 / 0", &[]), client.execute("SELECT 1", &[])).await;
    show("pipeline: the bad one", a);
    show("pipeline: the good one", b);
    let undone = async {
        let mut transaction = client.transaction().await?;
        transaction.execute("INSERT INTO numbers VALUES (6000, 'gone')", &[]).await?;
        let savepoint = transaction.savepoint("inside").await?;
        savepoint.execute("INSERT INTO numbers VALUES (6001, 'gone too')", &[]).await?;
        savepoint.rollback().await?;
        transaction.rollback().await?;
        client.query_one("SELECT count(*) FROM numbers WHERE n >= 6000", &[]).await
    };
    show("savepoint", undone.await.map(|row| row.get::<_, i64>(0)));
}

async fn copies(client: &Client) -> Result<(), tokio_postgres::Error> {
    let table = "DROP TABLE IF EXISTS copied; \
        CREATE TABLE copied (a int PRIMARY KEY, b text, c numeric(6,2), d timestamptz, e smallint, f bytea)";
    client.batch_execute(table).await?;
    let lines = "1\tone\\ttab\t1.5\t2020-01-01 00:00:00+00\t12\t\\\\x00ff\n2\t\\N\t\\N\t\\N\t\\N\t\\N\n";
    show("copy text in", feed(client, "COPY copied FROM STDIN", lines).await);
    let lines = "a,b\n3,\"quoted \"\" and, comma\"\n4,\n";
    show("copy csv in", feed(client, "COPY copied (a, b) FROM STDIN (FORMAT csv, HEADER)", lines).await);
    let binary = async {
        let sink = client.copy_in("COPY copied (a, b, e) FROM STDIN (FORMAT binary)").await?;
        let writer = BinaryCopyInWriter::new(sink, &[Type::INT4, Type::TEXT, Type::INT2]);
        pin_mut!(writer);
        writer.as_mut().write(&[&5i32, &"binary", &7i16]).await?;
        writer.as_mut().write(&[&6i32, &Option::<&str>::None, &Option::<i16>::None]).await?;
        writer.finish().await
    };
    show("copy binary in", binary.await);
    let all = "SELECT * FROM copied ORDER BY a";
    show("copy text out", drain(client, &format!("COPY ({all}) TO STDOUT")).await);
    show("copy csv out", drain(client, &format!("COPY ({all}) TO STDOUT (FORMAT csv, HEADER, NULL 'null')")).await);
    show("copy table out", drain(client, "COPY copied (b, a) TO STDOUT (DELIMITER '|')").await);
    let binary = async {
        let stream =
            client.copy_out("COPY (SELECT a, b, e FROM copied WHERE a > 4 ORDER BY a) TO STDOUT (FORMAT binary)");
        let rows = BinaryCopyOutStream::new(stream.await?, &[Type::INT4, Type::TEXT, Type::INT2]);
        rows.map_ok(|r| (r.get::<i32>(0), r.get::<Option<String>>(1), r.get::<Option<i16>>(2)))
            .try_collect::<Vec<_>>()
            .await
    };
    show("copy binary out", binary.await);
    show("copy of a bad row", feed(client, "COPY copied FROM STDIN", "x\n").await);
    show("copy of a key twice", feed(client, "COPY copied (a) FROM STDIN", "1\n").await);
    let given_up = async {
        let sink = client.copy_in::<_, Bytes>("COPY copied (a) FROM STDIN").await?;
        pin_mut!(sink);
        sink.send(Bytes::from_static(b"100\n")).await
        // Dropped unfinished: the driver sends CopyFail.
    };
    show("copy given up", given_up.await);
    let stored = "DROP TABLE IF EXISTS stored; CREATE TABLE stored (a int PRIMARY KEY, b int[], c interval)";
    show("arrays and intervals in a table", client.batch_execute(stored).await);
    show("nothing of it", client.query_one("SELECT count(*) FROM copied", &[]).await.map(|row| row.get::<_, i64>(0)));
    Ok(())
}

async fn feed(client: &Client, statement: &str, lines: &'static str) -> Result<u64, tokio_postgres::Error> {
    let sink = client.copy_in(statement).await?;
    pin_mut!(sink);
    sink.send(Bytes::from_static(lines.as_bytes())).await?;
    sink.finish().await
}

async fn drain(client: &Client, statement: &str) -> Result<String, tokio_postgres::Error> {
    let blocks: Vec<Bytes> = client.copy_out(statement).await?.try_collect().await?;
    Ok(String::from_utf8_lossy(&blocks.concat()).into_owned())
}

async fn failures(client: &Client, notices: &mut Notices) {
    for (name, statement) in [
        ("syntax", "SELEC 1"),
        ("no table", "SELECT * FROM nowhere"),
        ("division", "SELECT 1 / 0"),
        ("cast", "SELECT 'x'::int"),
        ("duplicate key", "INSERT INTO numbers VALUES (1, 'x')"),
        ("not null", "INSERT INTO numbers VALUES (NULL, 'x')"),
        ("interval", "SELECT 'nothing'::interval"),
        ("array", "SELECT '{1,2'::int[]"),
    ] {
        show(&format!("error: {name}"), client.query(statement, &[]).await.map(|rows| rows.len()));
    }
    let error = client.execute("INSERT INTO numbers VALUES (1, 'x')", &[]).await.err();
    let fields = error.as_ref().and_then(tokio_postgres::Error::as_db_error).map(|e| {
        let place = (e.schema(), e.table(), e.constraint());
        (e.severity(), e.parsed_severity(), e.message(), e.detail(), place)
    });
    show("fields of an error", Ok::<_, tokio_postgres::Error>(fields));
    let error = client.prepare("SELECT 1,\n nothing FROM numbers").await.err();
    let position = error.as_ref().and_then(tokio_postgres::Error::as_db_error).map(|e| e.position().cloned());
    show("position", Ok::<_, tokio_postgres::Error>(position));
    let _ = client.batch_execute("DROP TABLE IF EXISTS never_there").await;
    show("notice", Ok::<_, tokio_postgres::Error>(notices.next().await));
    let batch = "INSERT INTO numbers VALUES (7000, 'a'); INSERT INTO numbers VALUES (7001, 'b'); SELECT 1 / 0";
    show("batch", client.batch_execute(batch).await);
    let count = "SELECT count(*) FROM numbers WHERE n >= 7000";
    show("batch undone", client.query_one(count, &[]).await.map(|row| row.get::<_, i64>(0)));
    let several = client.simple_query("SELECT 1 AS a; SELECT 'x', NULL; UPDATE numbers SET s = s WHERE n < 3").await;
    show("several", several.map(cells));
}

async fn sessions(client: &Client) {
    show("setting", client.batch_execute("SET TIME ZONE 'America/New_York'").await);
    let text =
        "SELECT now() IS NOT NULL, '2020-07-01 12:00+00'::timestamptz, ARRAY['2020-07-01 12:00+00'::timestamptz]";
    show("time zone", client.simple_query(text).await.map(cells));
    let cancel = client.cancel_token();
    let slow = client.query("SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d", &[]);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel_query(NoTls).await
    };
    let (slow, stopped) = future::join(slow, stop).await;
    show("cancel", slow.map(|rows| rows.len()));
    show("cancel request", stopped);
    show("goes on", client.query_one("SELECT 'yes'", &[]).await.map(|row| row.get::<_, String>(0)));
    let (host, port) = address();
    let nowhere = format!("host={host} port={port} user=clients dbname=nowhere");
    show("no such database", tokio_postgres::connect(&nowhere, NoTls).await.map(|_| ()));
    let options = format!(
        "host={host} port={port} user=clients dbname=bennu application_name=clients options='-c statement_timeout=5s'"
    );
    let options = async {
        let (client, connection) = tokio_postgres::connect(&options, NoTls).await?;
        tokio::spawn(connection);
        let text = "SELECT current_setting('statement_timeout'), current_setting('application_name')";
        client.simple_query(text).await.map(cells)
    };
    show("startup options", options.await);
}

#[tokio::main]
async fn main() -> Result<(), tokio_postgres::Error> {
    let (mut client, mut notices) = connect().await;
    let table = "DROP TABLE IF EXISTS numbers; CREATE TABLE numbers (n int PRIMARY KEY, s text); \
        INSERT INTO numbers SELECT n, 'n' || n FROM generate_series(0, 999) AS n";
    client.batch_execute(table).await?;
    while let Ok(_) = notices.try_recv() {}
    types(&client).await?;
    statements(&client).await;
    portals(&mut client).await?;
    pipelines(&mut client).await;
    copies(&client).await?;
    while let Ok(_) = notices.try_recv() {}
    failures(&client, &mut notices).await;
    sessions(&client).await;
    Ok(())
}
