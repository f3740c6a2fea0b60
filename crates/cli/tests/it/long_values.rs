//! Joins, groups and window functions process long values in batches that fit in the configured memory.
#![cfg(target_os = "linux")]

use crate::memory::{Small, times};

/// `rows` rows of a number `k` and a text `t` of a megabyte.
fn long(rows: u64) -> String {
    format!("(SELECT g AS k, repeat(md5(g::text), 30000) AS t FROM generate_series(1, {rows}) AS s (g))")
}

/// `rows` rows with `k` of 1, 2 and 3.
fn narrow(rows: u64) -> String {
    format!("(SELECT 1 + g % 3 AS k, g FROM generate_series(1, {rows}) AS s (g))")
}

#[tokio::test]
async fn joins_that_multiply_long_rows_make_few_of_them_at_a_time() {
    let small = Small::start().await;
    let (long, narrow) = (long(3), narrow(times(400)));
    for (what, tables) in [
        ("an inner join", format!("{long} AS a JOIN {narrow} AS b USING (k)")),
        ("an outer join", format!("{narrow} AS b LEFT JOIN {long} AS a USING (k)")),
        ("a full join", format!("{long} AS a FULL JOIN {narrow} AS b USING (k)")),
        ("a cross join", format!("{long} AS a CROSS JOIN {narrow} AS b")),
        ("a join without keys", format!("{long} AS a JOIN {narrow} AS b ON a.k <= b.g")),
    ] {
        let statement = format!("SELECT sum(octet_length(t)) FROM {tables}");
        assert_eq!(small.run(&statement).await, Ok(()), "{what}");
        small.stayed_within(what);
    }
}

#[tokio::test]
async fn rows_turn_long_when_some_were_handed_out() {
    let small = Small::start().await;
    let rows = "(SELECT g % 50 AS k, repeat('x', CASE WHEN g > 100000 THEN 100000 ELSE 1 END) AS t \
                FROM generate_series(1, 100500) AS s (g))";
    let statement = format!("SELECT t FROM {rows} AS a JOIN (VALUES (1), (2), (2), (2), (2)) AS b (k) USING (k)");
    // A batch of thousands of such rows does not fit.
    let done = small.run(&statement).await;
    assert!(done.as_ref().err().is_none_or(|code| code == "53200"), "{done:?}");
    small.stayed_within("rows that turn long");
}

#[tokio::test]
async fn extremes_of_long_values_spill() {
    let small = Small::start().await;
    let rows = long(times(150));
    let statement = format!("SELECT sum(octet_length(m)) FROM (SELECT max(t) AS m FROM {rows} AS a GROUP BY k) AS x");
    let done = small.run(&statement).await;
    assert!(done.as_ref().err().is_none_or(|code| code == "53200"), "{done:?}");
    small.stayed_within("an extreme of each group");
}

#[tokio::test]
async fn window_functions_hold_no_more_rows_than_there_is_memory() {
    let small = Small::start().await;
    let refused = Err("53200".to_owned());
    let wide =
        format!("(SELECT g AS k, repeat(md5(g::text), 300) AS t FROM generate_series(1, {}) AS s (g))", times(15_000));
    let all =
        format!("SELECT count(*) FROM (SELECT t, count(*) OVER () AS c FROM {wide} AS a) AS x WHERE t <> c::text");
    assert_eq!(small.run(&all).await, refused, "rows of one partition that do not fit");
    let numbered = format!(
        "SELECT count(*) FROM (SELECT t, row_number() OVER (ORDER BY k) AS c FROM {wide} AS a) AS x WHERE t <> c::text"
    );
    assert_eq!(small.run(&numbered).await, Ok(()), "rows that go through");
    small.stayed_within("rows of window functions");
}

#[tokio::test]
async fn values_over_frames_are_counted() {
    let small = Small::start().await;
    let refused = Err("53200".to_owned());
    let first = format!(
        "SELECT sum(octet_length(f)) FROM (SELECT first_value(t) OVER (ORDER BY g) AS f FROM \
         (SELECT g, CASE WHEN g = 1 THEN repeat('x', 300000) ELSE 'x' END AS t FROM generate_series(1, {}) AS s (g)) \
         AS a) AS x",
        times(2000)
    );
    assert_eq!(small.run(&first).await, Ok(()), "one long value for each row");
    for call in ["cardinality(array_agg(g)", "length(string_agg(md5(g::text), ',')"] {
        let (name, argument) = call.split_once('(').unwrap();
        let values =
            format!("SELECT {argument} OVER (ORDER BY g) AS v FROM generate_series(1, {}) AS s (g)", times(10_000));
        assert_eq!(small.run(&format!("SELECT max({name}(v)) FROM ({values}) AS x")).await, refused, "{call}");
    }
    small.stayed_within("values over frames");
}

/// `rows` rows of a distinct text of 100 kB and a number.
fn texts(rows: u64) -> String {
    format!("(SELECT g AS k, repeat(md5(g::text), 3000) AS t FROM generate_series(1, {rows}) AS s (g))")
}

#[tokio::test]
async fn groups_by_long_texts_spill() {
    let small = Small::start().await;
    for (what, groups) in [
        ("GROUP BY", format!("SELECT t, count(*) FROM {} AS a GROUP BY t", texts(times(1500)))),
        ("GROUP BY of two columns", format!("SELECT t, k, count(*) FROM {} AS a GROUP BY t, k", texts(times(1500)))),
        ("DISTINCT", format!("SELECT DISTINCT t FROM {} AS a", texts(times(1500)))),
        ("DISTINCT of a megabyte", format!("SELECT DISTINCT t FROM {} AS a", long(times(150)))),
    ] {
        let done = small.run(&format!("SELECT count(*) FROM ({groups}) AS x")).await;
        assert!(done.as_ref().err().is_none_or(|code| code == "53200"), "{what}: {done:?}");
        small.stayed_within(what);
    }
}

#[tokio::test]
async fn sorts_by_texts_of_a_megabyte_spill() {
    let small = Small::start().await;
    let rows = times(200);
    for (what, order) in [("texts", "t"), ("numbers", "-k")] {
        let sorted = format!("SELECT k, t FROM {} AS a ORDER BY {order} OFFSET {}", long(rows), rows - 1);
        let done = small.run(&format!("SELECT octet_length(t) FROM ({sorted}) AS x")).await;
        assert!(done.as_ref().err().is_none_or(|code| code == "53200"), "{what}: {done:?}");
        small.stayed_within(what);
    }
}

#[tokio::test]
async fn aggregates_that_keep_all_values_spill_or_are_refused() {
    let small = Small::start().await;
    let rows = |groups| {
        let many = times(10_000);
        format!("(SELECT g % {groups} AS k, repeat(md5(g::text), 300) AS t FROM generate_series(1, {many}) AS s (g))")
    };
    for (what, aggregate, input) in [
        ("texts of a few groups", "length(string_agg(t, ','))", rows(10)),
        ("texts of many groups", "length(string_agg(t, ','))", rows(5000)),
        ("long texts", "length(string_agg(t, ','))", long(times(120))),
        ("long items", "cardinality(array_agg(t))", long(times(120))),
    ] {
        let groups = format!("SELECT k, {aggregate} AS v FROM {input} AS a GROUP BY k");
        let done = small.run(&format!("SELECT max(v) FROM ({groups}) AS x")).await;
        assert!(done.as_ref().err().is_none_or(|code| code == "53200"), "{what}: {done:?}");
        small.stayed_within(what);
    }
    let refused = Err("53200".to_owned());
    for call in ["length(string_agg(t, ','))", "cardinality(array_agg(t))"] {
        assert_eq!(small.run(&format!("SELECT {call} FROM {} AS a", rows(10))).await, refused, "{call} of all rows");
        small.stayed_within(call);
    }
}
