//! A program that embeds Bennu. `README.md` explains how to run it.

use bennu::arrow::array::AsArray;
use bennu::{Bennu, DataType, Datum, Error, FromRow, Function, Row, ServerOptions};
use std::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A row of `readings`.
struct Reading {
    sensor: String,
    celsius: f64,
}

impl FromRow for Reading {
    fn from_row(row: Row) -> Result<Self, Error> {
        Ok(Self { sensor: row.get("sensor")?, celsius: row.get("celsius")? })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let db = match arguments.next() {
        Some(folder) => Bennu::open(folder).await?,
        None => Bennu::in_memory().await?,
    };
    fill(&db).await?;
    ask(&db).await?;
    change(&db).await?;
    if let Some(port) = arguments.next() {
        serve(&db, port.parse()?).await?;
    }
    db.close().await?;
    Ok(())
}

/// Creates a table whose key order serves "the newest readings of a sensor", and loads many rows past the log.
async fn fill(db: &Bennu) -> Result<(), Error> {
    let mut session = db.session()?;
    session.execute("DROP TABLE IF EXISTS readings").await?;
    session
        .execute(
            "CREATE TABLE readings (
                 sensor varchar NOT NULL, at timestamptz NOT NULL, celsius double precision,
                 PRIMARY KEY (sensor, at DESC)
             )",
        )
        .await?;
    let start = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let mut appender = session.appender("readings").await?;
    for minute in 0..10_000_u32 {
        for sensor in ["cellar", "roof"] {
            let at = start + std::time::Duration::from_secs(60) * minute;
            let celsius = if sensor == "roof" { f64::from(minute % 40) } else { 11.5 };
            appender.row((sensor, at, celsius)).await?;
        }
    }
    println!("{} rows appended", appender.finish().await?);
    Ok(())
}

/// Reads typed rows and Arrow batches, and calls a Rust function in SQL.
async fn ask(db: &Bennu) -> Result<(), Error> {
    let fahrenheit = Function::new("fahrenheit", [DataType::Double], DataType::Double, |args| match args {
        [Datum::Float8(celsius)] => Ok(Datum::Float8(celsius * 1.8 + 32.0)),
        _ => Err("fahrenheit wants a double precision".into()),
    });
    db.register(fahrenheit)?;

    let mut session = db.session()?;
    let newest = session
        .prepare(
            "SELECT sensor, fahrenheit(celsius) AS celsius FROM readings WHERE sensor = $1 ORDER BY at DESC LIMIT 1",
        )
        .await?;
    for name in ["cellar", "roof"] {
        if let Some(Reading { sensor, celsius }) = session.row(&newest, &[&name]).await? {
            println!("{sensor}: {celsius:.1} °F");
        }
    }

    let mut batches = session.query("SELECT celsius FROM readings WHERE sensor = $1", &[&"roof"]).await?;
    let (mut sum, mut count) = (0.0, 0);
    while let Some(batch) = batches.next().await? {
        let column = batch.column(0).as_primitive::<bennu::arrow::datatypes::Float64Type>();
        sum += column.values().iter().sum::<f64>();
        count += column.len();
    }
    println!("mean of {count} on the roof: {:.2} °C", sum / count as f64);
    Ok(())
}

/// Changes rows in a transaction, which is retried on a serialization failure.
async fn change(db: &Bennu) -> Result<(), Error> {
    let mut session = db.session()?;
    let gone = session
        .transaction_retrying(5, async |tx| {
            tx.run("UPDATE readings SET celsius = celsius + $1 WHERE sensor = 'cellar'", &[&0.5]).await?;
            tx.run("DELETE FROM readings WHERE celsius > $1", &[&38.5]).await
        })
        .await?;
    println!("{gone} readings were too hot");
    Ok(())
}

/// Serves PostgreSQL clients on the same handle until Ctrl-C.
async fn serve(db: &Bennu, port: u16) -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("psql -h 127.0.0.1 -p {port} -d bennu");
    let stop = CancellationToken::new();
    let on_signal = stop.clone();
    tokio::spawn(async move {
        // If the signal cannot be handled, only the end of the process stops the server.
        if tokio::signal::ctrl_c().await.is_ok() {
            on_signal.cancel();
        }
    });
    db.serve(listener, ServerOptions::default(), stop).await?;
    Ok(())
}
