//! Everything that `pg_proc`, `pg_operator` and `pg_cast` list can be called.

use crate::client::Client;

/// A NULL of each type of `pg_type` that a query can name; for a pseudo-type, of a type that it accepts.
fn null_of(ty: &str) -> Option<String> {
    let ty = match ty {
        "\"any\"" | "anyelement" | "anynonarray" | "anycompatible" | "anycompatiblenonarray" => "integer",
        "anyarray" | "anycompatiblearray" => "integer[]",
        "cstring" | "internal" | "record" => return None,
        "unknown" => return Some("NULL".to_string()),
        other => other,
    };
    Some(format!("NULL::{ty}"))
}

async fn rows(client: &mut Client, query: &str) -> Vec<Vec<String>> {
    let answer = client.run(query).await;
    assert!(!answer.contains("ERROR"), "{query}\n{answer}");
    let mut rows: Vec<Vec<String>> = answer.lines().map(|line| line.split('|').map(str::to_string).collect()).collect();
    rows.pop();
    rows
}

/// The calls that cannot be prepared.
async fn refused(client: &mut Client, calls: Vec<String>) -> Vec<String> {
    let mut refused = Vec::new();
    for call in calls {
        if let Err(error) = client.session.prepare(&call, &[]).await {
            refused.push(format!("{call}: {}", error.message()));
        }
    }
    refused
}

fn call(name: &str, kind: &str, direct: usize, shown: &str, nulls: &[String]) -> String {
    let list = nulls.join(", ");
    match (name, kind) {
        ("position", _) => format!("SELECT position({})", nulls.iter().rev().cloned().collect::<Vec<_>>().join(" IN ")),
        ("overlaps", _) => {
            let (left, right) = nulls.split_at(nulls.len() / 2);
            format!("SELECT ({}) OVERLAPS ({})", left.join(", "), right.join(", "))
        }
        ("current_user" | "session_user" | "current_role" | "current_catalog", _) => format!("SELECT {name}"),
        // Its result type depends on the value of its argument.
        ("current_setting", _) => "SELECT current_setting('TimeZone')".to_string(),
        (_, "w") => format!("SELECT {name}({list}) OVER ()"),
        (_, "o") => {
            let (outside, inside) = nulls.split_at(direct);
            format!("SELECT {name}({}) WITHIN GROUP (ORDER BY {})", outside.join(", "), inside.join(", "))
        }
        (_, "n") if shown.is_empty() => format!("SELECT {name}(*)"),
        _ => format!("SELECT {name}({list})"),
    }
}

#[tokio::test]
async fn every_function_listed_can_be_called() {
    let mut client = Client::new().await;
    // Without the support functions of types and casts, which the server calls itself.
    let listed = "SELECT proname, coalesce(aggkind, prokind), coalesce(aggnumdirectargs, 0),
            array_to_string(ARRAY(SELECT format_type(a, NULL) FROM unnest(proargtypes) AS u(a)), ';')
        FROM pg_proc p LEFT JOIN pg_aggregate ON aggfnoid = p.oid
        WHERE NOT EXISTS (SELECT 1 FROM pg_type
                WHERE p.oid IN (typinput, typoutput, typreceive, typsend, typsubscript))
            AND p.oid NOT IN (SELECT castfunc FROM pg_cast) ORDER BY p.oid";
    let mut calls = Vec::new();
    for row in rows(&mut client, listed).await {
        let [name, kind, direct, types] = row.as_slice() else { panic!("{row:?}") };
        let nulls: Option<Vec<String>> = types.split(';').filter(|ty| !ty.is_empty()).map(null_of).collect();
        calls.push(call(name, kind, direct.parse().unwrap(), types, &nulls.unwrap_or_else(|| panic!("{row:?}"))));
    }
    assert!(calls.len() > 500, "{}", calls.len());
    let refused = refused(&mut client, calls).await;
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[tokio::test]
async fn every_operator_and_cast_listed_can_be_used() {
    let mut client = Client::new().await;
    let operators = "SELECT oprname, format_type(oprleft, NULL), format_type(oprright, NULL) FROM pg_operator";
    let mut calls = Vec::new();
    for row in rows(&mut client, operators).await {
        // The name may contain the field separator.
        let [name @ .., left, right] = row.as_slice() else { panic!("{row:?}") };
        let left = if left == "-" { String::new() } else { null_of(left).unwrap() };
        calls.push(format!("SELECT {left} {} {}", name.join("|"), null_of(right).unwrap()));
    }
    let casts = "SELECT format_type(castsource, NULL), format_type(casttarget, NULL) FROM pg_cast";
    for row in rows(&mut client, casts).await {
        calls.push(format!("SELECT {}::{}", null_of(&row[0]).unwrap(), row[1]));
    }
    assert!(calls.len() > 400, "{}", calls.len());
    let refused = refused(&mut client, calls).await;
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
