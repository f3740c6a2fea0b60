//! Array parameters of one dimension and of several, which have the same SQL type.

use crate::client::Client;
use types::{DataType, Datum, ElementType, text};

fn array(element: ElementType, shown: &str) -> Datum {
    text::parse(&DataType::Array(element), shown).unwrap()
}

#[tokio::test]
async fn parameters_of_several_dimensions_are_what_was_sent() {
    let mut client = Client::new().await;
    for (query, shown, answer) in [
        ("SELECT $1::text[]", "{{a,b},{c,NULL}}", "{{a,b},{c,NULL}}"),
        ("SELECT $1::text[]", "{{{a},{b}},{{c},{d}}}", "{{{a},{b}},{{c},{d}}}"),
        ("SELECT $1::text[]", "{a,b}", "{a,b}"),
        ("SELECT $1::text[]", "{}", "{}"),
        ("SELECT ($1::text[])[2][1], array_dims($1::text[])", "{{a,b},{c,it's}}", "c|[1:2][1:2]"),
        ("SELECT count(*) FROM unnest($1::text[]) AS u", "{{a,b},{c,d}}", "4"),
        ("SELECT 'd' = ANY ($1::text[])", "{{a,b},{c,d}}", "t"),
        ("SELECT array_cat($1::text[], $1::text[])", "{{a,b}}", "{{a,b},{a,b}}"),
    ] {
        let params = [array(ElementType::Text, shown)];
        let tag = "SELECT 1";
        assert_eq!(client.execute(query, &params).await, format!("{answer}\n{tag}"), "{query} {shown}");
    }
}

#[tokio::test]
async fn the_plan_is_kept_for_none_of_them() {
    let mut client = Client::new().await;
    let prepared = client.session.prepare("SELECT $1::integer[], $2::text, $3::date", &[]).await.unwrap();
    for shown in ["{{1,2},{3,4}}", "{5,6}", "{{7},{8}}", "{9}", "{{1,2},{3,4}}"] {
        let params = [array(ElementType::Integer, shown), Datum::Text("it's".into()), Datum::Null];
        let answer = client.run_prepared(&prepared, &params).await;
        assert_eq!(answer, format!("{shown}|it's|~\nSELECT 1"));
    }
}

/// Columns accept only one-dimensional arrays.
#[tokio::test]
async fn a_column_refuses_them() {
    let mut client = Client::new().await;
    client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer[])").await;
    let nested = array(ElementType::Integer, "{{1,2},{3,4}}");
    let refused = client.execute("INSERT INTO t VALUES ($1, $2)", &[Datum::Int4(2), nested]).await;
    assert!(refused.starts_with("ERROR 0A000"), "{refused}");
    let flat = array(ElementType::Integer, "{1,2}");
    assert_eq!(client.execute("INSERT INTO t VALUES ($1, $2)", &[Datum::Int4(2), flat]).await, "INSERT 0 1");
}
