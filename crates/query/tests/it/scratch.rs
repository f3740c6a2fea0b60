use crate::fixture::Fixture;

#[tokio::test]
async fn show() {
    let db = Fixture::new().await;
    db.flights(None).await;
    db.table("t", "k integer!, a bigint, b smallint, r real, d double precision, n numeric, p numeric(12,3), v varchar(10), c char(5), x bytea, ts timestamp, tz timestamptz, dt date, tm time, u uuid, f boolean", "k", None).await;
    db.insert("t", &["1|10|2|1.5|2.25|3.14159|12.345|hello|ab|\\x0102|2024-01-02 03:04:05|2024-01-02 03:04:05+00|2024-01-02|03:04:05|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|t", "2||||||||||||||||"]).await;
    let list = std::fs::read_to_string("/work/t/query-scratch.sql").unwrap();
    let mut out = String::new();
    for q in list.lines().filter(|l| !l.trim().is_empty()) {
        let r = match db.try_query(q).await {
            Ok(rows) => rows.join(" // "),
            Err(e) => format!("ERROR {e:?}"),
        };
        out.push_str(&format!("{q}\x1f{r}\x1e\n"));
    }
    std::fs::write("/work/t/query-out.txt", out).unwrap();
}
