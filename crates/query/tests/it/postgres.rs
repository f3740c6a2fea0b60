//! Results of PostgreSQL 15 over the same rows (`postgres_answers.txt`), value for value.

use crate::fixture::Fixture;

#[tokio::test]
async fn answers_are_those_of_postgresql() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let columns = "k integer!, a bigint, b smallint, r real, d double precision, n numeric, p numeric(12,3), \
                   v varchar(10), c char(5), x bytea, ts timestamp, tz timestamptz, dt date, tm time, u uuid, f boolean";
    db.table("t", columns, "k", None).await;
    let values = "1|10|2|1.5|2.25|3.14159|12.345|hello|ab|\\x0102|2024-01-02 03:04:05|2024-01-02 03:04:05+00|\
                  2024-01-02|03:04:05|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|t";
    db.insert("t", &[values, "2|||||||||||||||"]).await;
    let mut wrong = Vec::new();
    let mut asked = 0;
    let cases = format!("\n{}", include_str!("postgres_answers.txt"));
    for case in cases.split("\n> ").filter(|case| !case.is_empty()) {
        let mut lines = case.trim_end_matches('\n').split('\n');
        let query = lines.next().unwrap();
        let expected: Vec<&str> = lines.collect();
        asked += 1;
        match db.try_query(query).await {
            Ok(rows) if rows == expected || (rows == [""] && expected.is_empty()) => {}
            other => wrong.push(format!("{query}\n  expected {expected:?}\n  found {other:?}")),
        }
    }
    assert!(asked > 100 && wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong.join("\n"));
}
