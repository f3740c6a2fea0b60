//! Statements of PostgreSQL's tools that have no effect report so.

use crate::client::Client;
use crate::copy::copy;

#[tokio::test]
async fn hints_about_storage_are_told_to_have_no_effect() {
    let mut c = Client::new().await;
    assert_eq!(
        c.run("CREATE UNLOGGED TABLE t (a int PRIMARY KEY) WITH (fillfactor = 90) TABLESPACE fast").await,
        "CREATE TABLE\nNOTICE 00000 UNLOGGED has no effect: all tables are logged\n\
         NOTICE 00000 TABLESPACE \"fast\" has no effect: all tables are in the data folder\n\
         NOTICE 00000 parameter \"fillfactor\" has no effect: rows are not kept in pages"
    );
    assert_eq!(
        c.run("ALTER TABLE t SET (fillfactor = 70)").await,
        "ALTER TABLE\nNOTICE 00000 parameter \"fillfactor\" has no effect: rows are not kept in pages"
    );
    assert_eq!(copy(&mut c, "COPY t FROM STDIN WITH (FREEZE)", "1\n2\n", 1000).await.unwrap(), "COPY 2");
    let told: Vec<String> = c.session.take_notices().into_iter().map(|notice| notice.message).collect();
    assert_eq!(told, ["FREEZE has no effect: rows have no transaction numbers to freeze"]);
}

#[tokio::test]
async fn objects_of_kinds_that_are_not_built_are_skipped() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (a int PRIMARY KEY)").await;
    for (statement, told) in [
        ("DROP TRIGGER IF EXISTS x ON t", "trigger \"x\" for relation \"t\" does not exist"),
        ("DROP TRIGGER IF EXISTS x ON u", "relation \"u\" does not exist"),
        ("DROP FUNCTION IF EXISTS f(text)", "function f(text) does not exist"),
        ("DROP PROCEDURE IF EXISTS f", "procedure f() does not exist"),
        ("DROP USER IF EXISTS x", "role \"x\" does not exist"),
        ("DROP DOMAIN IF EXISTS x", "type \"x\" does not exist"),
        ("DROP MATERIALIZED VIEW IF EXISTS x", "materialized view \"x\" does not exist"),
        ("DROP EXTENSION IF EXISTS x CASCADE", "extension \"x\" does not exist"),
    ] {
        let tag = statement.split(" IF").next().unwrap();
        assert_eq!(c.run(statement).await, format!("{tag}\nNOTICE 00000 {told}, skipping"));
    }
    let user = c.run("SELECT quote_ident(current_user)").await;
    let own = format!("DROP ROLE IF EXISTS {}", user.lines().next().unwrap());
    assert!(c.run(&own).await.starts_with("ERROR 0A000"), "{own}");
    assert!(c.run("DROP FUNCTION IF EXISTS lower(text)").await.starts_with("ERROR 0A000"));
    assert_eq!(
        c.run("CREATE EXTENSION IF NOT EXISTS plpgsql").await,
        "CREATE EXTENSION\nNOTICE 00000 extension \"plpgsql\" has no effect: there are no functions of users"
    );
    assert_eq!(
        c.run("SET CONSTRAINTS ALL DEFERRED").await,
        "SET CONSTRAINTS\nWARNING 25P01 SET CONSTRAINTS can only be used in transaction blocks"
    );
}
