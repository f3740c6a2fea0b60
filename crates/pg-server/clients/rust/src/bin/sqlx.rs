//! Typical operations with sqlx; each step prints one line: `step | result`.
//!
//!     sqlx HOST PORT

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use clients::{address, show};
use futures::TryStreamExt;
use rust_decimal::Decimal;
use sqlx::postgres::types::PgInterval;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions, PgRow, PgSslMode};
use sqlx::{Column, Connection, Decode, Encode, Executor, Postgres, Row, Statement, Type, TypeInfo};
use std::fmt::Debug;
use std::time::Duration;
use uuid::Uuid;

fn options() -> PgConnectOptions {
    let (host, port) = address();
    PgConnectOptions::new().host(&host).port(port).username("clients").database("bennu").ssl_mode(PgSslMode::Prefer)
}

async fn there_and_back<T>(conn: &mut PgConnection, name: &str, value: T)
where
    T: for<'q> Encode<'q, Postgres> + for<'r> Decode<'r, Postgres> + Type<Postgres> + Clone + Debug + Send + 'static,
{
    let text = format!("SELECT $1::{name}, NULL::{name}, pg_typeof($1::{name})::text");
    let row: Result<(T, Option<T>, String), _> = async {
        let row = sqlx::query(&text).bind(value.clone()).fetch_one(&mut *conn).await?;
        Ok::<_, sqlx::Error>((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    }
    .await;
    show(name, row);
}

async fn types(conn: &mut PgConnection) {
    let date = NaiveDate::from_ymd_opt(1999, 12, 31).expect("a date");
    let time = NaiveTime::from_hms_micro_opt(23, 59, 59, 999_999).expect("a time");
    let instant: DateTime<Utc> = NaiveDateTime::new(date, time).and_utc();
    let uuid = Uuid::from_u128(0xa0ee_bc99_9c0b_4ef8_bb6d_6bb9_bd38_0a11);
    let interval = PgInterval { months: -14, days: 3, microseconds: 1_234_567 };
    there_and_back(conn, "boolean", false).await;
    there_and_back(conn, "smallint", i16::MAX).await;
    there_and_back(conn, "integer", i32::MIN).await;
    there_and_back(conn, "bigint", i64::MAX).await;
    there_and_back(conn, "real", -0.5f32).await;
    there_and_back(conn, "double precision", 1e300f64).await;
    there_and_back(conn, "numeric(12,3)", Decimal::new(125, 3)).await;
    there_and_back(conn, "numeric", Decimal::new(-98_765_432_109_876_543, 10)).await;
    there_and_back(conn, "text", "text with ' and \\ and ü".to_owned()).await;
    there_and_back(conn, "varchar(5)", String::new()).await;
    there_and_back(conn, "char(4)", "abc".to_owned()).await;
    there_and_back(conn, "bytea", vec![0u8, 255]).await;
    there_and_back(conn, "date", date).await;
    there_and_back(conn, "time", time).await;
    there_and_back(conn, "timestamp", instant.naive_utc()).await;
    there_and_back(conn, "timestamptz", instant).await;
    there_and_back(conn, "uuid", uuid).await;
    there_and_back(conn, "interval", interval.clone()).await;
    there_and_back(conn, "int[]", vec![Some(1), None, Some(3)]).await;
    there_and_back(conn, "text[]", vec![Some("a b".to_owned()), None, Some(String::new())]).await;
    there_and_back(conn, "numeric(6,2)[]", vec![Decimal::new(150, 2)]).await;
    there_and_back(conn, "boolean[]", vec![true, false]).await;
    there_and_back(conn, "float8[]", vec![0.5f64, -1e300]).await;
    there_and_back(conn, "date[]", vec![date]).await;
    there_and_back(conn, "timestamptz[]", vec![instant]).await;
    there_and_back(conn, "interval[]", vec![interval]).await;
    there_and_back(conn, "uuid[]", vec![uuid]).await;
    there_and_back(conn, "bigint[]", Vec::<i64>::new()).await;
}

/// The simple query protocol: values as text, undecoded.
async fn texts(conn: &mut PgConnection) {
    for value in [
        "true",
        "1::smallint",
        "-7",
        "9007199254740993::bigint",
        "1.5::real",
        "1e-300::float8",
        "1.500::numeric(12,3)",
        "'x'::char(3)",
        "'\\x00ff'::bytea",
        "'2020-02-29'::date",
        "'12:34:56.789'::time",
        "'2020-02-29 12:34'::timestamp",
        "'2020-02-29 12:34+02'::timestamptz",
        "'1 mon -1 day 00:00:01.5'::interval",
        "'{1,NULL}'::int[]",
        "ARRAY['a b', NULL, '']",
        "ARRAY['2020-02-29 12:34+02'::timestamptz]",
        "ARRAY['1 day'::interval]",
    ] {
        let row = conn.fetch_one(&*format!("SELECT {value} AS v")).await;
        let text = row.and_then(|row| Ok(row.try_get_raw(0)?.as_str().unwrap_or("!").to_owned()));
        show(&format!("text {value}"), text);
    }
}

fn numbers(rows: Vec<PgRow>) -> Vec<i32> {
    rows.iter().map(|row| row.get(0)).collect()
}

async fn statements(conn: &mut PgConnection) {
    let described = conn.prepare("SELECT n, s FROM numbers WHERE n = $1 AND s = $2").await.map(|statement| {
        let columns: Vec<_> =
            statement.columns().iter().map(|c| (c.name().to_owned(), c.type_info().name().to_owned())).collect();
        (format!("{:?}", statement.parameters()), columns)
    });
    show("described", described);
    let nullable = conn.describe("SELECT n, s, n + 1 AS more FROM numbers").await;
    show("nullable", nullable.map(|d| (0..3).map(|at| d.nullable(at)).collect::<Vec<_>>()));
    let mut found = Vec::new();
    for n in 1..4 {
        let one: Result<String, _> =
            sqlx::query_scalar("SELECT s FROM numbers WHERE n = $1").bind(n).fetch_one(&mut *conn).await;
        found.push(one.unwrap_or_else(|error| error.to_string()));
    }
    show("prepared once", Ok::<_, sqlx::Error>((found, conn.cached_statements_size())));
    let any = sqlx::query("SELECT n FROM numbers WHERE n = ANY($1) ORDER BY n").bind(vec![3, 1, 9999]);
    show("any of a list", any.fetch_all(&mut *conn).await.map(numbers));
    let unnest = "INSERT INTO numbers SELECT * FROM unnest($1::int[], $2::text[])";
    let unnest = sqlx::query(unnest).bind(vec![2000, 2001]).bind(vec!["a".to_owned(), "b".to_owned()]);
    show("many at once", unnest.execute(&mut *conn).await.map(|done| done.rows_affected()));
    let returned = sqlx::query("UPDATE numbers SET s = 'r' WHERE n < $1 RETURNING n").bind(2);
    show("returning", returned.fetch_all(&mut *conn).await.map(numbers));
    // fetch_one and fetch_optional execute the portal with a limit of one row.
    show(
        "row limit",
        conn.fetch_optional(sqlx::query("SELECT n FROM numbers ORDER BY n DESC"))
            .await
            .map(|r| r.map(|r| r.get::<i32, _>(0))),
    );
    let mut stream = sqlx::query("SELECT n FROM numbers ORDER BY n").fetch(&mut *conn);
    let mut sum = 0;
    let streamed = async {
        while let Some(row) = stream.try_next().await? {
            sum += row.get::<i32, _>(0);
            if sum > 100 {
                break;
            }
        }
        Ok::<_, sqlx::Error>(sum)
    };
    show("stream left early", streamed.await);
    drop(stream);
    show("goes on after it", sqlx::query_scalar::<_, i32>("SELECT 1").fetch_one(&mut *conn).await);
}

async fn transactions(conn: &mut PgConnection) {
    let nested = async {
        let mut outer = conn.begin().await?;
        sqlx::query("INSERT INTO numbers VALUES (6000, 'kept')").execute(&mut *outer).await?;
        let mut inner = outer.begin().await?;
        sqlx::query("INSERT INTO numbers VALUES (6001, 'gone')").execute(&mut *inner).await?;
        inner.rollback().await?;
        outer.commit().await
    };
    show("nested", nested.await);
    show("kept", conn.fetch_all("SELECT n FROM numbers WHERE n >= 6000").await.map(numbers));
    let dropped = async {
        let mut transaction = conn.begin().await?;
        sqlx::query("DELETE FROM numbers").execute(&mut *transaction).await.map(|done| done.rows_affected())
    };
    show("dropped", dropped.await);
    show(
        "rolled back",
        sqlx::query_scalar::<_, i64>("SELECT count(*) FROM numbers WHERE n < 10").fetch_one(&mut *conn).await,
    );
    let batch = "INSERT INTO numbers VALUES (7000, 'a'); INSERT INTO numbers VALUES (1, 'again')";
    show("batch", conn.execute(batch).await.map(|done| done.rows_affected()));
    show("batch undone", conn.fetch_all("SELECT n FROM numbers WHERE n >= 7000").await.map(numbers));
    let several = conn.fetch_all("SELECT 1; SELECT 2; SELECT 3").await;
    show("several", several.map(numbers));
}

async fn copies(conn: &mut PgConnection) {
    let table = "DROP TABLE IF EXISTS copied; CREATE TABLE copied (a int PRIMARY KEY, b text, e int)";
    show("table", conn.execute(table).await.map(|_| ()));
    for (form, options, data) in [
        ("text", "", &b"1\tone\t12\n2\t\\N\t\\N\n"[..]),
        ("csv", " (FORMAT csv)", b"3,\"a,b\",7\n4,,\n"),
        (
            "binary",
            " (FORMAT binary)",
            b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\x05\0\0\0\x01x\xff\xff\xff\xff\xff\xff",
        ),
        ("bad text", "", b"1\n"),
        ("bad binary", " (FORMAT binary)", b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x02"),
    ] {
        let done = async {
            let mut copy = conn.copy_in_raw(&format!("COPY copied FROM STDIN{options}")).await?;
            copy.send(data).await?;
            copy.finish().await
        };
        show(&format!("copy {form} in"), done.await);
    }
    for options in ["", " (FORMAT csv, HEADER)", " (FORMAT binary)"] {
        let done = async {
            let text = format!("COPY (SELECT * FROM copied ORDER BY a) TO STDOUT{options}");
            let blocks: Vec<_> = conn.copy_out_raw(&text).await?.try_collect().await?;
            Ok::<_, sqlx::Error>(blocks.concat().escape_ascii().to_string())
        };
        show(&format!("copy out{options}"), done.await);
    }
    let given_up = async {
        let mut copy = conn.copy_in_raw("COPY copied FROM STDIN").await?;
        copy.send(&b"100\tx\t1\n"[..]).await?;
        copy.abort("no more").await
    };
    show("copy given up", given_up.await);
    show("nothing of it", conn.fetch_all("SELECT a FROM copied ORDER BY a").await.map(numbers));
}

async fn failures(conn: &mut PgConnection) {
    for (name, statement) in [
        ("syntax", "SELEC 1"),
        ("no table", "SELECT * FROM nowhere"),
        ("division", "SELECT 1 / 0"),
        ("duplicate key", "INSERT INTO numbers VALUES (1, 'x')"),
        ("not null", "INSERT INTO numbers VALUES (NULL, 'x')"),
    ] {
        show(&format!("error: {name}"), sqlx::query(statement).fetch_all(&mut *conn).await.map(numbers));
    }
    let wrong = sqlx::query("SELECT n FROM numbers WHERE n = $1").bind("text").fetch_all(&mut *conn).await;
    show("error: a parameter of another type", wrong.map(numbers));
    let error = conn.execute("INSERT INTO numbers VALUES (1, 'x')").await.err();
    let fields = error.as_ref().and_then(sqlx::Error::as_database_error).map(|e| {
        (
            e.message().to_owned(),
            e.table().map(str::to_owned),
            e.constraint().map(str::to_owned),
            e.is_unique_violation(),
        )
    });
    show("fields of an error", Ok::<_, sqlx::Error>(fields));
}

async fn sessions(conn: &mut PgConnection) {
    let pool = async {
        let pool = PgPoolOptions::new().max_connections(3).connect_with(options()).await?;
        let query = |n: i32| sqlx::query_scalar::<_, i32>("SELECT $1 * 2").bind(n).fetch_one(&pool);
        let found = futures::future::try_join_all((0..10).map(query)).await;
        pool.close().await;
        found
    };
    show("pool", pool.await);
    let set = options().application_name("clients").options([("statement_timeout", "300ms")]);
    let options_given = async {
        let mut conn = PgConnection::connect_with(&set).await?;
        let shown: (String, String) =
            sqlx::query_as("SELECT current_setting('application_name'), current_setting('statement_timeout')")
                .fetch_one(&mut conn)
                .await?;
        let slow =
            sqlx::query("SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d").fetch_one(&mut conn).await;
        show("statement timeout", slow.map(|_| ()));
        conn.close().await?;
        Ok::<_, sqlx::Error>(shown)
    };
    show("startup options", options_given.await);
    // sqlx cancels by closing the connection.
    let mut other = PgConnection::connect_with(&options()).await.expect("no connection");
    let slow = sqlx::query(
        "DELETE FROM numbers WHERE n = 5 AND (SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d) > 0",
    );
    let cut = tokio::time::timeout(Duration::from_millis(300), slow.execute(&mut other)).await;
    show("cut off", Ok::<_, sqlx::Error>(cut.is_err()));
    drop(other);
    let row = tokio::time::timeout(Duration::from_secs(20), conn.execute("DELETE FROM numbers WHERE n = 5")).await;
    show(
        "its locks",
        row.map_or_else(|_| Err(sqlx::Error::PoolTimedOut), |done| done.map(|done| done.rows_affected())),
    );
    show("ping", conn.ping().await);
    show("no such database", PgConnection::connect_with(&options().database("nowhere")).await.map(|_| ()));
}

#[tokio::main]
async fn main() -> Result<(), sqlx::Error> {
    let mut conn = PgConnection::connect_with(&options()).await?;
    let table = "DROP TABLE IF EXISTS numbers; CREATE TABLE numbers (n int PRIMARY KEY, s text); \
        INSERT INTO numbers SELECT n, 'n' || n FROM generate_series(0, 999) AS n";
    conn.execute(table).await?;
    types(&mut conn).await;
    texts(&mut conn).await;
    statements(&mut conn).await;
    transactions(&mut conn).await;
    copies(&mut conn).await;
    failures(&mut conn).await;
    sessions(&mut conn).await;
    conn.close().await
}
