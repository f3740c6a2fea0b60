//! Where PostgreSQL and DataFusion differ: the answers are PostgreSQL's.

use crate::fixture::Fixture;
use query::QueryError;
use types::{DataType, TypeError};

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
        (
            "select pg_typeof(1), pg_typeof(1.5), pg_typeof('x'::varchar(3)), pg_typeof(now())",
            "integer|numeric|character varying|timestamp with time zone",
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
        assert!(matches!(db.error(query).await, QueryError::OutOfRange { .. }), "{query}");
    }
    for query in ["select k / z from t", "select k % z from t", "select 1 / 0", "select 1.0 / 0", "select a / z from t"]
    {
        assert!(matches!(db.error(query).await, QueryError::DivisionByZero), "{query}");
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
        assert!(matches!(db.error(query).await, QueryError::NoSuchOperator { .. }), "{query}");
    }
    assert_eq!(db.query("select k from t where v = '5' and k = '1'").await, ["1"]);
    let QueryError::Type(TypeError::InvalidText { ty, input }) = db.error("select * from t where k = 'x'").await else {
        panic!("another error")
    };
    assert_eq!((ty.as_str(), input.as_str()), ("integer", "x"));
}

#[tokio::test]
async fn names_that_do_not_exist_are_named() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let error = db.error("select * from fligths").await;
    assert_eq!(error.to_string(), "relation \"fligths\" does not exist");
    assert_eq!(error.hint().unwrap(), "Perhaps you meant to reference the table \"flights\".");
    let error = db.error("select carier from flights").await;
    assert_eq!(error.to_string(), "column \"carier\" does not exist");
    assert_eq!(error.hint().unwrap(), "Perhaps you meant to reference the column \"carrier\".");
    assert!(matches!(db.error("select x.carrier from flights").await, QueryError::MissingFrom { .. }));
    assert!(matches!(db.error("select nosuch(1)").await, QueryError::NoSuchFunction { .. }));
    assert!(matches!(db.error("select carrier, count(*) from flights").await, QueryError::Grouping { .. }));
    assert!(matches!(db.error("select flight from flights a, flights b").await, QueryError::AmbiguousColumn { .. }));
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
