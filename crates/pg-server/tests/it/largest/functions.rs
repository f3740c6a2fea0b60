//! Every function of `pg_proc`.

use super::values::{SHAPES, Shape, largest};
use super::{Work, all_beside_a_client};
use crate::client::Server;

/// Functions that end other sessions' work.
const LEFT_OUT: [&str; 2] = ["pg_terminate_backend", "pg_cancel_backend"];

/// A row of `pg_proc`.
struct Routine {
    name: String,
    /// `f` function, `a` or `n` aggregate, `o` ordered-set and `h` hypothetical-set aggregate, `w` window function.
    kind: String,
    direct: usize,
    set: bool,
    types: Vec<String>,
}

async fn routines(server: &Server) -> Vec<Routine> {
    let listed = "SELECT string_agg(concat_ws('|', proname, coalesce(aggkind, prokind), coalesce(aggnumdirectargs, 0),
            proretset, array_to_string(ARRAY(SELECT format_type(a, NULL) FROM unnest(proargtypes) AS u(a)), ';')), E'\\n'
            ORDER BY p.oid)
        FROM pg_proc p LEFT JOIN pg_aggregate ON aggfnoid = p.oid
        WHERE NOT EXISTS (SELECT 1 FROM pg_type
                WHERE p.oid IN (typinput, typoutput, typreceive, typsend, typsubscript))";
    let text = server.session().await.run(listed).await.unwrap();
    let routine = |line: &str| {
        let fields: Vec<&str> = line.split('|').collect();
        let [name, kind, direct, set, types] = fields.as_slice() else { panic!("{line}") };
        let types = types.split(';').filter(|ty| !ty.is_empty()).map(str::to_string).collect();
        let (name, kind) = (name.to_string(), kind.to_string());
        Routine { name, kind, direct: direct.parse().unwrap(), set: *set == "t", types }
    };
    let all: Vec<Routine> = text.lines().map(routine).collect();
    assert!(all.len() > 500, "{}", all.len());
    all
}

/// The call in the function's own syntax.
fn call(routine: &Routine, arguments: &[String]) -> String {
    let (name, list) = (&routine.name, arguments.join(", "));
    match (name.as_str(), routine.kind.as_str()) {
        ("position", _) => format!("position({})", arguments.iter().rev().cloned().collect::<Vec<_>>().join(" IN ")),
        ("overlaps", _) => {
            let (left, right) = arguments.split_at(arguments.len() / 2);
            format!("({}) OVERLAPS ({})", left.join(", "), right.join(", "))
        }
        ("current_user" | "session_user" | "current_role" | "current_catalog", _) => name.clone(),
        (_, "w") => format!("\"{name}\"({list}) OVER (ORDER BY n)"),
        (_, "o" | "h") => {
            let (outside, inside) = arguments.split_at(routine.direct.min(arguments.len()));
            format!("\"{name}\"({}) WITHIN GROUP (ORDER BY {})", outside.join(", "), inside.join(", "))
        }
        (_, "n") if arguments.is_empty() => format!("\"{name}\"(*)"),
        _ => format!("\"{name}\"({list})"),
    }
}

/// Statements that call `routine`: with constants, which are folded while planning, and with columns.
fn statements(routine: &Routine, shape: Shape) -> Vec<String> {
    let arguments: Option<Vec<String>> =
        routine.types.iter().enumerate().map(|(place, ty)| largest(ty, shape, place)).collect();
    let Some(arguments) = arguments else { return Vec::new() };
    let columns: Vec<String> = (0..arguments.len()).map(|place| format!("c{place}")).collect();
    let named: Vec<String> =
        arguments.iter().zip(&columns).map(|(value, name)| format!(", {value} AS {name}")).collect();
    let rows = match (routine.kind.as_str(), arguments.is_empty()) {
        // A window function computes all rows in one step, which cannot be cancelled.
        ("w", true) => 100_000,
        ("w", false) => 100,
        (_, true) => 1_000_000,
        (_, false) => 2,
    };
    let source = format!("(SELECT n{} FROM generate_series(1, {rows}) AS g(n) OFFSET 0) AS t", named.concat());
    let (constant, computed) = (call(routine, &arguments), call(routine, &columns));
    if routine.set {
        return vec![
            format!("SELECT count(*) FROM {constant} AS f"),
            format!("SELECT count(*) FROM {source}, LATERAL {computed} AS f"),
        ];
    }
    let aggregated = matches!(routine.kind.as_str(), "a" | "n" | "o" | "h");
    let shown = if aggregated { format!("{computed}::text") } else { format!("max({computed}::text)") };
    let columns = match routine.kind.as_str() {
        "w" => format!("SELECT max(w::text) FROM (SELECT {computed} AS w FROM {source}) AS s"),
        _ => format!("SELECT length({shown}) FROM {source}"),
    };
    let constant = if aggregated {
        format!("SELECT {constant} FROM generate_series(1, 100) AS n")
    } else {
        format!("SELECT {constant} FROM (SELECT 1 AS n) AS one")
    };
    vec![constant, columns]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_function_on_its_largest_input_lets_others_be_answered() {
    let server = Server::start(100).await;
    let mut all = Vec::new();
    for routine in routines(&server).await.iter().filter(|routine| !LEFT_OUT.contains(&routine.name.as_str())) {
        all.extend(SHAPES.iter().flat_map(|shape| statements(routine, *shape)));
    }
    let all = super::share(all, 20).into_iter().map(Work::of).collect();
    let done = all_beside_a_client(server, all).await;
    let ran = done.iter().filter(|one| one.outcome.is_ok()).count();
    assert!(ran > done.len() / 4, "only {ran} of {} ran", done.len());
}
