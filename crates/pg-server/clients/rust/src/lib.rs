//! Shared by both programs: each step prints `step | result`.

use std::fmt::Debug;

/// Prints the result of a step, or the class and SQLSTATE of its error.
pub fn show<T: Debug, E: Failure>(step: &str, result: Result<T, E>) {
    match result {
        Ok(value) => println!("{step} | {value:?}"),
        Err(error) => println!("{step} | {}", error.text()),
    }
}

/// An error of a driver.
pub trait Failure {
    /// Its class and SQLSTATE; begins with `!` if the error is not the server's.
    fn text(&self) -> String;
}

impl Failure for tokio_postgres::Error {
    fn text(&self) -> String {
        match self.code() {
            Some(code) => format!("DbError {code:?}"),
            None => format!("!{self}: {:?}", std::error::Error::source(self).map(ToString::to_string)),
        }
    }
}

impl Failure for sqlx::Error {
    fn text(&self) -> String {
        match self.as_database_error() {
            Some(error) => format!("Database {} {:?}", error.code().unwrap_or_default(), error.kind()),
            None => format!("!{self}"),
        }
    }
}

/// The address that the program was given: host and port.
pub fn address() -> (String, u16) {
    let mut arguments = std::env::args().skip(1);
    let host = arguments.next().expect("arguments: HOST PORT");
    (host, arguments.next().and_then(|port| port.parse().ok()).expect("arguments: HOST PORT"))
}
