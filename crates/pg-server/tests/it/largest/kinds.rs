//! Every kind of statement on its largest input.

use super::{Work, all_beside_a_client};
use crate::client::{Server, Strs as _};
use crate::frames::frame;
use sql::Statement;
use std::collections::BTreeSet;

/// Names in statements that take a list of names.
const NAMES: usize = 5_000;
/// Tables that exist.
const TABLES: usize = 300;

/// The kind of a statement. No wildcard pattern: a new kind must be given an input here.
fn kind(statement: &Statement) -> &'static str {
    match statement {
        Statement::Query(_) => "query",
        Statement::LockingSelect(_) => "locking select",
        Statement::Insert(_) => "insert",
        Statement::Update(_) => "update",
        Statement::Delete(_) => "delete",
        Statement::CreateTable(_) => "create table",
        Statement::CreateSchema { .. } => "create schema",
        Statement::CreateView(_) => "create view",
        Statement::RenameView { .. } => "rename view",
        Statement::DropView { .. } => "drop view",
        Statement::CreateMaterializedView(_) => "create materialized view",
        Statement::RefreshMaterializedView(_) => "refresh materialized view",
        Statement::DropMaterializedView { .. } => "drop materialized view",
        Statement::CreateSequence(_) => "create sequence",
        Statement::AlterSequence(_) => "alter sequence",
        Statement::DropSequence { .. } => "drop sequence",
        Statement::DropTable { .. } => "drop table",
        Statement::DropSchema { .. } => "drop schema",
        Statement::CreateIndex(_) => "create index",
        Statement::DropIndex { .. } => "drop index",
        Statement::RenameIndex { .. } => "rename index",
        Statement::SetIndexOptions { .. } => "set index options",
        Statement::AlterIndex { .. } => "alter index",
        Statement::Reindex(_) => "reindex",
        Statement::CheckIndexes(_) => "check indexes",
        Statement::ShowJobs => "show jobs",
        Statement::ControlJob(_) => "control a job",
        Statement::AlterTable(_) => "alter table",
        Statement::RenameSchema { .. } => "rename schema",
        Statement::ChangeOwner(_) => "change owner",
        Statement::Comment(_) => "comment",
        Statement::Truncate { .. } => "truncate",
        Statement::Explain(_) => "explain",
        Statement::Set { .. } => "set",
        Statement::SetTransaction { .. } => "set transaction",
        Statement::SetTransactionSnapshot(_) => "set transaction snapshot",
        Statement::Show(_) => "show",
        Statement::Reset(_) => "reset",
        Statement::Begin(_) => "begin",
        Statement::Commit { .. } => "commit",
        Statement::Rollback { .. } => "rollback",
        Statement::Savepoint(_) => "savepoint",
        Statement::Release(_) => "release",
        Statement::RollbackTo(_) => "rollback to",
        Statement::DropAbsent(_) => "drop absent",
        Statement::CreateExtension(_) => "create extension",
        Statement::SetConstraints { .. } => "set constraints",
        Statement::Lock(_) => "lock",
        Statement::DeclareCursor(_) => "declare cursor",
        Statement::Fetch(_) => "fetch",
        Statement::CloseCursor(_) => "close cursor",
        Statement::Copy(_) => "copy",
        Statement::Prepare { .. } => "prepare",
        Statement::Execute { .. } => "execute",
        Statement::Deallocate(_) => "deallocate",
        Statement::Discard(_) => "discard",
        Statement::Analyze { .. } => "analyze",
        Statement::Vacuum { .. } => "vacuum",
        Statement::UpdateStatistics(_) => "update statistics",
    }
}

const KINDS: usize = 58;

/// Longer texts are not parsed for their kind.
const LONG: usize = 2 << 20;

/// Windows with distinct orders in one select list. DataFusion builds their names in cubic time and without a
/// cancellation point: with 1,600 windows the timeout takes effect after a minute.
const WINDOWS: usize = 100;

/// An endless join in which every batch is expensive.
const ENDLESS: &str = "generate_series(1, 10000000) AS a(i), generate_series(1, 10000000) AS b(j)";

/// `part` of each number below `count`, separated by commas.
fn list(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(", ")
}

/// Like [`list`] from 1 and without separators.
fn chain(count: usize, part: impl Fn(usize) -> String) -> String {
    (1..count).map(part).collect()
}

fn first_of_each(count: usize) -> String {
    let lateral = |n| format!(" JOIN LATERAL (SELECT k, v FROM t WHERE t.k = t{}.k LIMIT 1) AS t{n} ON true", n - 1);
    format!("SELECT count(*) FROM t AS t0{}", chain(count, lateral))
}

fn sums_of_each(count: usize) -> String {
    let lateral = |n| format!(", LATERAL (SELECT sum(v)::int AS k FROM t WHERE t.k = t{}.k) AS t{n}", n - 1);
    format!("SELECT count(*) FROM t AS t0{}", chain(count, lateral))
}

fn queries() -> Vec<String> {
    let branches = |count| (0..count).map(|n| format!("SELECT {n} AS n")).collect::<Vec<_>>().join(" UNION ALL ");
    let nested = |count| format!("{}SELECT 1 AS n{}", "SELECT n FROM (".repeat(count), ") AS s".repeat(count));
    vec![
        first_of_each(24),
        sums_of_each(16),
        format!("SELECT {}1{}", "(".repeat(5 << 20), ")".repeat(5 << 20)),
        format!("SELECT count(*) FROM t WHERE k IN ({})", list(1_000_000, |n| n.to_string())),
        format!("SELECT count(*) FROM (VALUES {}) AS v(n)", list(50_000, |n| format!("({n})"))),
        branches(1_000),
        nested(60),
        format!(
            "WITH {} SELECT * FROM c499",
            list(500, |n| match n {
                0 => "c0 AS (SELECT 1 AS n)".to_string(),
                n => format!("c{n} AS (SELECT n + 1 AS n FROM c{})", n - 1),
            })
        ),
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r".to_string(),
        format!("SELECT CASE k {} END FROM t", (0..10_000).map(|n| format!("WHEN {n} THEN {n} ")).collect::<String>()),
        format!("SELECT {} FROM t", list(WINDOWS, |n| format!("sum(v) OVER (ORDER BY k + {n})"))),
        "SELECT max(s) FROM (SELECT sum(i::float8) OVER (ORDER BY i ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING)
            AS s FROM generate_series(1, 1000000) AS g(i)) AS x"
            .to_string(),
        "SELECT repeat('a', 1000000) LIKE repeat('%a', 5000) || 'b'".to_string(),
        "SELECT count(*) FROM generate_series(1, 1000) AS g(i)
            WHERE repeat('a', 1000000 + i) LIKE '%' || repeat('_a', 5000) || 'b%'"
            .to_string(),
        format!("SELECT count(*) FROM {ENDLESS} WHERE i * j = -1"),
        format!("SELECT k FROM t WHERE {}", (0..20_000).map(|n| format!("v = {n}")).collect::<Vec<_>>().join(" OR ")),
    ]
}

fn writes() -> Vec<String> {
    vec![
        format!("INSERT INTO t (k, v) VALUES {} ON CONFLICT DO NOTHING", list(100_000, |n| format!("({n}, {n})"))),
        format!("INSERT INTO t SELECT -i - j, 1 FROM {ENDLESS} ON CONFLICT DO NOTHING"),
        format!("INSERT INTO t SELECT i, j FROM {ENDLESS} WHERE i * j = -1"),
        format!("UPDATE t SET v = (SELECT count(*) FROM {ENDLESS} WHERE i * j = -t.k)"),
        "UPDATE t SET v = a.i FROM generate_series(1, 100000000) AS a(i) WHERE a.i % 7919 = t.k".to_string(),
        format!("UPDATE t SET v = CASE k {} END", chain(10_000, |n| format!("WHEN {n} THEN {n} "))),
        format!("SELECT t.k FROM t, {ENDLESS} WHERE i * j = -t.k FOR UPDATE OF t"),
        format!("DELETE FROM t USING {ENDLESS} WHERE t.k = i * j - 1"),
        format!("DELETE FROM t WHERE k IN ({})", list(200_000, |n| (n + 1_000_000).to_string())),
    ]
}

fn definitions() -> Vec<String> {
    let absent = list(NAMES, |n| format!("absent{n}"));
    let mut all = vec![
        format!("CREATE TABLE wide (k int PRIMARY KEY, {})", list(1_599, |n| format!("c{n} int DEFAULT {n}"))),
        format!("CREATE TABLE computed AS SELECT i, j FROM {ENDLESS}"),
        format!("CREATE SCHEMA \"{}\"", "s".repeat(500_000)),
        format!("CREATE VIEW chained AS {}", first_of_each(24)),
        format!("ALTER VIEW absent RENAME TO \"{}\"", "v".repeat(500_000)),
        format!("CREATE MATERIALIZED VIEW endless AS SELECT i, j FROM {ENDLESS}"),
        "REFRESH MATERIALIZED VIEW filled".to_string(),
        format!("CREATE SEQUENCE long START 1 MAXVALUE 9223372036854775807 -- {}", "x".repeat(1 << 20)),
        format!("ALTER SEQUENCE numbers RESTART 5 /* {} */", "x".repeat(1 << 20)),
        format!("ALTER TABLE grown {}", list(1_500, |n| format!("ADD COLUMN c{n} int DEFAULT {n}"))),
        "ALTER TABLE grown ADD COLUMN late text DEFAULT repeat('x', 1000)".to_string(),
        format!("ALTER SCHEMA absent RENAME TO \"{}\"", "s".repeat(500_000)),
        format!("ALTER TABLE t OWNER TO \"{}\"", "o".repeat(1_000_000)),
        format!("COMMENT ON COLUMN t.v IS '{}'", "c".repeat(1_000_000)),
        format!("TRUNCATE {}", list(TABLES, |n| format!("truncated{n}"))),
        format!("TRUNCATE {absent}"),
        format!("DROP TABLE {}", list(TABLES, |n| format!("dropped{n}"))),
    ];
    all.extend(
        [
            "CREATE UNIQUE INDEX built ON indexed (v, k)",
            "REINDEX TABLE indexed",
            "REINDEX TABLE CONCURRENTLY indexed",
            "CHECK TABLE indexed",
            "CHECK TABLE indexed REPAIR",
            "UPDATE indexed SET v = v + 1",
        ]
        .map(str::to_string),
    );
    all.push(format!("ALTER INDEX built SET ({})", list(NAMES, |_| "fillfactor = 70".to_string())));
    all.push(format!("ALTER INDEX built RENAME TO \"{}\"", "i".repeat(500_000)));
    let kinds = ["TABLE", "INDEX", "VIEW", "MATERIALIZED VIEW", "SEQUENCE", "SCHEMA"];
    all.extend(kinds.iter().map(|kind| format!("DROP {kind} IF EXISTS {absent}")));
    all
}

fn sessions() -> Vec<String> {
    let names = list(NAMES, |n| format!("t{n}"));
    let savepoints = |step: &str| (0..NAMES).map(|n| format!("{step} s{n};")).collect::<String>();
    vec![
        format!("EXPLAIN {}", first_of_each(24)),
        format!("EXPLAIN ANALYZE SELECT count(*) FROM {ENDLESS} WHERE i * j = -1"),
        format!("SET search_path = {names}"),
        format!("SET application_name = '{}'", "x".repeat(1 << 20)),
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED".to_string(),
        format!("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '{}'", "0".repeat(1 << 20)),
        "SHOW ALL".to_string(),
        "SHOW JOBS".to_string(),
        format!("CANCEL JOB {}", u64::MAX),
        "RESET ALL".to_string(),
        format!("BEGIN; {}{}ROLLBACK", savepoints("SAVEPOINT"), savepoints("RELEASE")),
        format!("BEGIN; {}{}COMMIT", savepoints("SAVEPOINT"), savepoints("ROLLBACK TO")),
        "BEGIN; INSERT INTO t SELECT -i, 1 FROM generate_series(1, 1000000) AS g(i) ON CONFLICT DO NOTHING; COMMIT"
            .to_string(),
        format!("BEGIN; LOCK TABLE {} IN SHARE MODE", list(TABLES, |n| format!("locked{n}"))),
        format!("BEGIN; DECLARE c CURSOR FOR SELECT i, j FROM {ENDLESS}; FETCH ALL FROM c"),
        format!("BEGIN; DECLARE c CURSOR FOR {}", first_of_each(24)),
        format!("BEGIN; {}", (0..NAMES).map(|n| format!("CLOSE c{n};")).collect::<String>()),
        format!("PREPARE p AS {}", first_of_each(24)),
        format!("PREPARE q AS SELECT 1; EXECUTE q({})", list(60_000, |n| n.to_string())),
        format!("DEALLOCATE \"{}\"", "p".repeat(1_000_000)),
        "DISCARD ALL".to_string(),
        format!("DROP TYPE IF EXISTS {}", list(NAMES, |n| format!("absent{n}"))),
        format!("DROP FUNCTION IF EXISTS f({})", list(100_000, |_| "int".to_string())),
        format!("CREATE EXTENSION \"{}\"", "x".repeat(1 << 20)),
        format!("SET CONSTRAINTS {} DEFERRED", list(NAMES, |n| format!("absent{n}"))),
        format!("ANALYZE {names}"),
        "ANALYZE".to_string(),
        "UPDATE STATISTICS indexed ALL".to_string(),
        format!("VACUUM {names}"),
    ]
}

/// COPY in both directions. CopyData outside of a COPY is ignored.
fn copies() -> Vec<Work> {
    let line = frame(b'd', &["x".repeat(1 << 20).as_bytes()]);
    let rows: String = (0..20_000).map(|n| format!("{}\t{n}\n", n + 10_000_000)).collect();
    let input =
        |data: Vec<u8>| Work { frames: [data, frame(b'c', &[])].concat(), ..Work::of("COPY t FROM STDIN".into()) };
    vec![
        Work::of(format!("COPY (SELECT i, j FROM {ENDLESS}) TO STDOUT")),
        input(line.repeat(20)),
        input(frame(b'd', &[rows.as_bytes()]).repeat(20)),
    ]
}

async fn fill(server: &Server) {
    let mut client = server.session().await;
    let table = |kind: &'static str| move |n: usize| format!("CREATE TABLE {kind}{n} (k int PRIMARY KEY, v int);");
    let mut text = String::from("CREATE SEQUENCE numbers; CREATE TABLE grown (k int PRIMARY KEY);");
    for kind in ["dropped", "truncated", "locked"] {
        text.extend((0..TABLES).map(table(kind)));
    }
    assert_eq!(client.run(&text).await.strs(), Ok("CREATE TABLE"));
    let view = format!("CREATE MATERIALIZED VIEW filled AS SELECT i, j FROM {ENDLESS} WITH NO DATA");
    assert_eq!(client.run(&view).await.strs(), Ok("CREATE MATERIALIZED VIEW"));
    let rows =
        "CREATE TABLE t (k int PRIMARY KEY, v int); INSERT INTO t SELECT i, i FROM generate_series(1, 2000) AS g(i);
        INSERT INTO grown SELECT i FROM generate_series(1, 2000) AS g(i);
        CREATE TABLE indexed (k int PRIMARY KEY, v int);
        INSERT INTO indexed SELECT i, i / 3 FROM generate_series(1, 200000) AS g(i); CREATE INDEX ON indexed (v)";
    assert_eq!(client.run(rows).await.strs(), Ok("CREATE INDEX"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_statement_on_its_largest_input_lets_others_be_answered() {
    let server = Server::start(100).await;
    fill(&server).await;
    let texts = [queries(), writes(), definitions(), sessions()].concat();
    let mut all: Vec<Work> = texts.into_iter().map(Work::of).collect();
    all.extend(copies());
    // The longest texts are queries and slow to parse.
    let texts = all.iter().map(|work| work.text.as_str()).filter(|text| text.len() <= LONG);
    let parsed = texts.filter_map(|text| sql::parse(text).ok()).flatten();
    let kinds: BTreeSet<&str> = parsed.map(|one| kind(&one.statement)).collect();
    assert_eq!(kinds.len(), KINDS, "{kinds:?}");
    all_beside_a_client(server, all).await;
}
