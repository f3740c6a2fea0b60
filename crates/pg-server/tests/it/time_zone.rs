//! `timestamptz` is shown in the session's time zone, in arrays and in COPY too.

use crate::client::Server;
use crate::client::Strs as _;

#[tokio::test]
async fn arrays_of_times_are_shown_in_the_sessions_zone() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("SET TIME ZONE 'America/New_York'").await.unwrap();
    let times = "ARRAY['2020-07-01 12:00+00'::timestamptz, NULL, '2020-01-01 12:00+00'::timestamptz]";
    let shown = "{\"2020-07-01 08:00:00-04\",NULL,\"2020-01-01 07:00:00-05\"}";
    assert_eq!(client.run(&format!("SELECT {times}")).await.strs(), Ok(shown));
    client.send(&crate::frames::query(&format!("COPY (SELECT {times}) TO STDOUT"))).await;
    let answer = client.answer().await;
    let data = answer.iter().find(|message| message.kind == b'd').unwrap();
    assert_eq!(String::from_utf8_lossy(&data.body), format!("{shown}\n"));
}
