//! Programs over the built-in functions, by their OIDs in `pg_proc`.

use super::tree::{INT4, TEXT, agg, aggregate, col, filter, int, is, project, query, scan, text};
use super::world::{World, env, row};
use bind::tree::Bound;
use builtins::FuncId;
use rows::{Builtins, Functions, Input, Limits, Options, Test, compile};
use types::{CompareOp, Datum};

const INT4EQ: FuncId = FuncId(65);
const TEXTLIKE: FuncId = FuncId(850);
const INT4PL: FuncId = FuncId(177);
const SUM_INT4: FuncId = FuncId(2108);
const COUNT: FuncId = FuncId(2803);

async fn run(world: &World, bound: &Bound) -> Vec<Vec<Datum>> {
    let program = compile(bound, &Builtins, Options { full_scans: false, ..Options::default() }).unwrap();
    let (view, env) = (world.view().await, env());
    let input = Input { view: &view, env: &env, params: &[], limits: Limits::default() };
    program.run(&Builtins, input).await.unwrap().rows
}

#[test]
fn comparisons_and_like_are_known_by_their_oids() {
    assert_eq!(Builtins.test(INT4EQ), Some(Test::Compare(CompareOp::Eq)));
    assert_eq!(Builtins.test(TEXTLIKE), Some(Test::Like));
    assert_eq!(Builtins.test(INT4PL), None);
}

#[tokio::test]
async fn built_in_bodies_and_accumulators_run() {
    let world = World::new().await;
    let table = world.table("t", Some(2), true).await;
    world.insert(&table, &[row(1, "xa", Some(4), "w"), row(1, "xb", Some(5), "w"), row(1, "y", None, "w")]).await;
    let of_one = |like: &str| {
        filter(scan(&table, 0), vec![is(INT4EQ, col(0, INT4), int(1)), is(TEXTLIKE, col(1, TEXT), text(like))])
    };
    let sums = aggregate(of_one("%"), &[], vec![(10, agg(SUM_INT4, &[2])), (11, agg(COUNT, &[]))]);
    assert_eq!(run(&world, &query(sums, &[10, 11])).await, [[Datum::Int8(9), Datum::Int8(3)]]);
    let added = project(of_one("x%"), vec![(5, super::tree::call(INT4PL, col(2, INT4), int(1), INT4))]);
    let sorted = super::tree::sort(added, vec![super::tree::key(1, false)]);
    assert_eq!(run(&world, &query(sorted, &[5])).await, [[Datum::Int4(5)], [Datum::Int4(6)]]);
}
