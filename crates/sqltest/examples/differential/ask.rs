//! Runs one query on a server.

use crate::{ordered, writes};
use std::error::Error;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// Rows as text, sorted unless the query marks them as ordered; or the SQLSTATE and message.
pub(crate) type Answer = Result<Vec<String>, (String, String)>;

pub(crate) async fn connect(server: &str) -> Result<Client, Box<dyn Error>> {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

pub(crate) async fn ask(client: &Client, query: &str) -> Answer {
    let messages = match client.simple_query(query).await {
        Ok(messages) => messages,
        Err(error) => {
            if query.starts_with(writes::MARK) {
                let _ = client.simple_query("ROLLBACK").await;
            }
            return Err(match error.as_db_error() {
                Some(db) => (db.code().code().to_owned(), db.message().to_owned()),
                None => ("lost".to_owned(), error.to_string()),
            });
        }
    };
    let cells = |row: &tokio_postgres::SimpleQueryRow| {
        (0..row.len()).map(|i| row.get(i).unwrap_or("NULL").to_owned()).collect::<Vec<_>>().join("|")
    };
    let mut rows: Vec<String> = messages
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(cells(row)),
            SimpleQueryMessage::CommandComplete(count) if query.starts_with(writes::MARK) => Some(count.to_string()),
            _ => None,
        })
        .collect();
    if !query.starts_with(ordered::MARK) {
        rows.sort();
    }
    Ok(rows)
}
