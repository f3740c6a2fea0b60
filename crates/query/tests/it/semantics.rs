//! Semantics in which PostgreSQL and DataFusion differ: the results are PostgreSQL's.

use crate::fixture::{Failure, Fixture};
use query::QueryError;
use types::DataType;

#[tokio::test]
async fn expressions_have_postgresqls_values() {
    let db = Fixture::new().await;
    for (query, answer) in [
        ("select 7 / 2, -7 / 2, 7 % 3, 7.0 / 2", "3|-3|1|3.5"),
        ("select 2 / 3.0", "0.66666666666666666667"),
        ("select 1.5 + 1, 0.1 * 3, 1e2", "2.5|0.3|100"),
        ("select 'a' || 'b', 'a' || null", "ab|"),
        ("select 1 = '1', 2.5 > '2.4', date '2024-01-01' < '2024-06-01'", "t|t|t"),
        ("select date '2024-01-31' + 1, date '2024-03-01' - date '2024-02-01'", "2024-02-01|29"),
        ("select (1, 2) < (1, 3), (2, 1) < (1, 3), (1, 'a') = (1, 'a')", "t|f|t"),
        ("select avg(x), sum(x), count(x) from (values (1), (2), (4)) v(x)", "2.3333333333333333|7|3"),
        ("select sum(x) from (values (9223372036854775807), (1)) v(x)", "9223372036854775808"),
        ("select x from (values (2), (null), (1)) v(x) order by x", "1"),
        (
            "select now(), current_date, current_user, current_database(), current_schema()",
            "2024-03-01 12:30:00+00|2024-03-01|ada|bennu|public",
        ),
        ("select 'abc'::varchar(2), 'ab '::char(4), cast(1.255 as numeric(4,2))", "ab|ab  |1.26"),
        ("select version() like 'PostgreSQL 15%'", "t"),
        ("select length(gen_random_uuid()::text)", "36"),
    ] {
        let rows = db.query(query).await;
        assert_eq!(rows[0], answer, "{query}");
    }
}

#[tokio::test]
async fn overflow_and_division_by_zero_are_errors() {
    let db = Fixture::new().await;
    db.table("t", "k integer!, a bigint, z integer", "k", None).await;
    db.insert("t", &["1|9223372036854775807|0", "2147483647|1|0"]).await;
    for query in ["select a + 1 from t", "select a * 2 from t", "select -2 - a from t", "select k + 1 from t"] {
        assert!(matches!(db.error(query).await, Failure::Query(QueryError::OutOfRange { .. })), "{query}");
    }
    for query in ["select k / z from t", "select k % z from t", "select 1 / 0", "select 1.0 / 0", "select a / z from t"]
    {
        assert!(matches!(db.error(query).await, Failure::Query(QueryError::DivisionByZero)), "{query}");
    }
}

#[tokio::test]
async fn text_is_not_compared_with_numbers() {
    let db = Fixture::new().await;
    db.table("t", "k integer!, v text", "k", None).await;
    db.insert("t", &["1|5"]).await;
    for query in [
        "select * from t where v = 5",
        "select * from t where v in (1, 2)",
        "select v + 1 from t",
        "select * from t where k like '1%'",
        "select * from t where v between 1 and 2",
    ] {
        assert_eq!(db.error(query).await.code(), "42883", "{query}");
    }
    assert_eq!(db.query("select k from t where v = '5' and k = '1'").await, ["1"]);
    assert_eq!(db.error("select * from t where k = 'x'").await.code(), "22P02");
}

#[tokio::test]
async fn names_that_do_not_exist_are_errors_of_the_binder() {
    let db = Fixture::new().await;
    db.flights(None).await;
    assert_eq!(db.error("select * from fligths").await.code(), "42P01");
    assert_eq!(db.error("select carier from flights").await.code(), "42703");
    assert_eq!(db.error("select x.carrier from flights").await.code(), "42P01");
    assert_eq!(db.error("select nosuch(1)").await.code(), "42883");
    assert_eq!(db.error("select carrier, count(*) from flights").await.code(), "42803");
    assert_eq!(db.error("select flight from flights a, flights b").await.code(), "42702");
}

#[tokio::test]
async fn columns_have_postgresqls_names_and_types() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let plan = db
        .plan(
            "select 1, 1, count(*), sum(delay), avg(delay), max(dest), sum(price), min(departed), carrier \
             from flights group by carrier",
            &[],
        )
        .await
        .unwrap();
    let shown: Vec<String> =
        plan.columns.iter().map(|column| format!("{} {}", column.name, column.ty.sql_name())).collect();
    assert_eq!(
        shown,
        [
            "?column? integer",
            "?column? integer",
            "count bigint",
            "sum bigint",
            "avg numeric",
            "max character(3)",
            "sum numeric(20,2)",
            "min timestamp without time zone",
            "carrier character varying",
        ]
    );
    let carrier = plan.columns.last().unwrap();
    let table = db.catalog.current().must_get_table("public", "flights").unwrap().oid.0;
    assert_eq!((carrier.table_oid, carrier.column_number), (table, 1));
    assert_eq!(db.plan("select * from flights", &[]).await.unwrap().columns[3].ty, DataType::Char(3));
}
