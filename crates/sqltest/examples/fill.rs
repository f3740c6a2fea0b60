//! Writes PostgreSQL's results into sqllogictest files: `fill 'host=127.0.0.1 port=5432 user=test' FILE...`. Each file
//! runs in a new database.
#![allow(clippy::print_stderr, clippy::print_stdout)]

use bennu_sqltest::fill_from;
use std::path::Path;
use tokio_postgres::NoTls;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let server = arguments.next().ok_or("which server?")?;
    let (admin, connection) = tokio_postgres::connect(&format!("{server} dbname=template1"), NoTls).await?;
    tokio::spawn(connection);
    for file in arguments {
        admin.batch_execute("DROP DATABASE IF EXISTS bennu WITH (FORCE)").await?;
        admin.batch_execute("CREATE DATABASE bennu TEMPLATE template0").await?;
        fill_from(&format!("{server} dbname=bennu"), Path::new(&file)).await?;
        println!("{file}");
    }
    Ok(())
}
