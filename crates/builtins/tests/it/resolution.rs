//! Chapter 10 compared with PostgreSQL 15, whose catalogs were reduced to the rows that are listed here.
//!
//! The fixtures are results of Describe for `SELECT NULL::a op NULL::b` and the like: the oid of the result type,
//! nothing without a candidate (42883), `?` for several candidates (42725), `!` for undetermined pseudo-types (42804).

use builtins::resolve::{self, Failure, Resolved};
use builtins::{CastContext, Ty, TypeId};

fn ty(oid: &str) -> Ty {
    Ty::plain(TypeId(oid.parse().unwrap()))
}

fn shown(result: Result<Ty, Failure>) -> String {
    match result {
        // A result of unknown type is a text.
        Ok(ty) if ty.is_unknown() => "25".to_owned(),
        Ok(ty) => ty.id.0.to_string(),
        Err(Failure::None) => String::new(),
        Err(Failure::Ambiguous) => "?".to_owned(),
        Err(Failure::Undetermined) => "!".to_owned(),
    }
}

fn assert_agreement(differing: &[String], asked: usize, least: usize) {
    assert!(asked > least, "{asked}");
    assert!(
        differing.is_empty(),
        "{} of {asked}:\n{}",
        differing.len(),
        differing[..differing.len().min(60)].join("\n")
    );
}

#[test]
fn operators_are_those_that_postgresql_chooses() {
    let mut lines = include_str!("../../fixtures/operators.txt").lines();
    let types: Vec<&str> = lines.next().unwrap().split(' ').skip(1).collect();
    let (mut differing, mut asked) = (Vec::new(), 0);
    for line in lines {
        let mut words = line.split(' ');
        let (name, left) = (words.next().unwrap(), words.next().unwrap());
        let expected: Vec<(&str, &str)> = words.map(|word| word.split_once('=').unwrap()).collect();
        for right in &types {
            asked += 1;
            let wanted = expected.iter().find(|(one, _)| one == right).map_or("", |(_, result)| result);
            let left_type = (left != "0").then(|| ty(left));
            let found = shown(resolve::operator(name, left_type, ty(right)).map(|call| call.returns));
            if found != wanted {
                differing.push(format!("{left} {name} {right}: {found}, PostgreSQL {wanted}"));
            }
        }
    }
    assert_agreement(&differing, asked, 20_000);
}

#[test]
fn functions_are_those_that_postgresql_chooses() {
    let mut lines = include_str!("../../fixtures/functions.txt").lines();
    let one: Vec<&str> = lines.next().unwrap().split(' ').skip(1).collect();
    let two: Vec<&str> = lines.next().unwrap().split(' ').skip(1).collect();
    let (mut differing, mut asked) = (Vec::new(), 0);
    for line in lines {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let (name, counts) = (words.next().unwrap(), words.next().unwrap());
        let expected: Vec<(&str, &str)> = words.map(|word| word.split_once('=').unwrap()).collect();
        let mut calls: Vec<String> = expected.iter().map(|(args, _)| (*args).to_owned()).collect();
        if counts.split(',').any(|count| count == "1") {
            calls.extend(one.iter().map(|ty| (*ty).to_owned()));
        }
        if counts.split(',').any(|count| count == "2") {
            calls.extend(two.iter().flat_map(|a| two.iter().map(move |b| format!("{a},{b}"))));
        }
        calls.sort_unstable();
        calls.dedup();
        for call in calls {
            asked += 1;
            let wanted = expected.iter().find(|(args, _)| *args == call).map_or("", |(_, result)| result);
            let args: Vec<Ty> = call.split(',').filter(|arg| !arg.is_empty()).map(ty).collect();
            let found = shown(resolve::function(name, &args, false).map(|resolved| match resolved {
                Resolved::Call(call) => call.returns,
                Resolved::Cast(to) => to,
            }));
            if found != wanted.trim_start_matches('-') {
                differing.push(format!("{name}({call}): {found}, PostgreSQL {wanted}"));
            }
        }
    }
    assert_agreement(&differing, asked, 30_000);
}

#[test]
fn common_types_are_those_of_postgresql() {
    let (mut differing, mut asked) = (Vec::new(), 0);
    for line in include_str!("../../fixtures/common_types.txt").lines() {
        asked += 1;
        let (types, wanted) = line.split_once(" = ").unwrap();
        let types: Vec<Ty> = types.split(' ').map(ty).collect();
        let found = match resolve::common_type(&types) {
            Err(_) => "!".to_owned(),
            Ok(common) => {
                let reached = |from: &Ty| resolve::can_coerce(&[from.id], &[common.id], CastContext::Implicit);
                if types.iter().all(reached) { common.id.0.to_string() } else { ">".to_owned() }
            }
        };
        if found != wanted {
            differing.push(format!("{line}: {found}"));
        }
    }
    assert_agreement(&differing, asked, 2_000);
}

#[test]
fn casts_are_allowed_where_postgresql_allows_them() {
    let (mut differing, mut asked) = (Vec::new(), 0);
    for line in include_str!("../../fixtures/casts.txt").lines() {
        let mut words = line.split(' ');
        let from = ty(words.next().unwrap()).id;
        for word in words {
            asked += 1;
            let (to, wanted) = word.split_once(':').unwrap();
            let allowed = |context| resolve::coercion(from, ty(to).id, context).is_some();
            let explicit = if allowed(CastContext::Explicit) { "e" } else { "" };
            let assignment = if allowed(CastContext::Assignment) { "a" } else { "" };
            let found = format!("{explicit}{assignment}");
            if found != wanted.trim_start_matches('-') {
                differing.push(format!("{} to {to}: {found}, PostgreSQL {wanted}", from.0));
            }
        }
    }
    assert_agreement(&differing, asked, 600);
}
