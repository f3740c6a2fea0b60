//! PostgreSQL clients on a handle that the program uses too.

use bennu::{Bennu, DataType, Datum, Function, ServerOptions};
use std::net::TcpListener;
use tokio_postgres::NoTls;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn clients_and_the_program_see_each_other_until_it_stops() {
    let (db, mut session) = crate::session().await;
    session.execute("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    let doubled = Function::new("doubled", [DataType::Integer], DataType::Integer, |args| match args {
        [Datum::Int4(n)] => Ok(Datum::Int4(n * 2)),
        _ => Err("doubled wants an integer".into()),
    });
    db.register(doubled).unwrap();

    let (server, port, stop) = serve(&db);
    let (client, connection) =
        tokio_postgres::connect(&format!("host=127.0.0.1 port={port} user=me dbname=bennu"), NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    assert_eq!(client.execute("INSERT INTO t VALUES ($1, $2)", &[&1, &"from a client"]).await.unwrap(), 1);
    let seen: Vec<(i32, String)> = session.rows("SELECT * FROM t", &[]).await.unwrap();
    assert_eq!(seen, [(1, "from a client".to_string())]);
    session.run("UPDATE t SET k = 21 WHERE k = $1", &[&1]).await.unwrap();
    let row = client.query_one("SELECT doubled(k) FROM t", &[]).await.unwrap();
    assert_eq!(row.get::<_, i32>(0), 42);

    stop.cancel();
    server.await.unwrap().unwrap();
    // The server has ended the connection; the program's session goes on.
    assert!(connection.await.unwrap().is_err() || client.is_closed());
    assert_eq!(session.run("SELECT * FROM t", &[]).await.unwrap(), 1);
}

pub(crate) fn serve(db: &Bennu) -> (tokio::task::JoinHandle<Result<(), bennu::Error>>, u16, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let stop = CancellationToken::new();
    let (db, token) = (db.clone(), stop.clone());
    let options = ServerOptions { threads: 1, ..ServerOptions::default() };
    (tokio::spawn(async move { db.serve(listener, options, token).await }), port, stop)
}
