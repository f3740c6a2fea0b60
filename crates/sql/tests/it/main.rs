//! The grammar through its public door.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use bennu_sql as sql;
#[test]
fn dump() {
    for l in std::fs::read_to_string("/tmp/good.txt").unwrap().lines() {
        match sql::parse(l) {
            Ok(v) => {
                let shown: Vec<String> = v.iter().map(|p| p.statement.to_string()).collect();
                let shown = shown.join("; ");
                let again = sql::parse(&shown);
                let same = match again {
                    Ok(a) => {
                        if a.iter().map(|p| &p.statement).eq(v.iter().map(|p| &p.statement)) {
                            ""
                        } else {
                            "  !!DIFF"
                        }
                    }
                    Err(_) => "  !!NOPARSE",
                };
                if shown == l { println!("{l}{same}") } else { println!("{l}\n  -> {shown}{same}") }
            }
            Err(e) => println!("{l}\n  ERR {e} {:?} {:?}", e.position(), e.hint()),
        }
    }
    println!("=======");
    for l in std::fs::read_to_string("/tmp/bad.txt").unwrap().lines() {
        match sql::parse(l) {
            Ok(_) => println!("??OK  {l}"),
            Err(e) => {
                let code = format!("{e:?}");
                let code = code.split([' ', '{']).next().unwrap().to_owned();
                let b = e.position().map_or(0, |p| p.byte);
                println!("{code} {e} [{}]\n   {}¶{}", e.hint().unwrap_or_default(), &l[..b], &l[b..])
            }
        }
    }
}
#[test]
fn diff() {
    let a = sql::parse("CREATE TABLE t (c timestamptz NOT NULL DEFAULT 7, d int)").unwrap();
    let b = sql::parse(&a[0].statement.to_string()).unwrap();
    println!("{:#?}\n{:#?}", a, b);
    assert_eq!(a[0].statement, b[0].statement);
}
#[test]
fn deep() {
    for (name, text) in [
        ("parens", format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000))),
        ("from parens", format!("SELECT * FROM {}t{}", "(".repeat(90), ")".repeat(90))),
        ("from parens open", format!("SELECT * FROM {}", "(".repeat(90))),
        ("parens open", format!("SELECT {}", "(".repeat(90))),
        ("parens 90", format!("SELECT {}1{}", "(".repeat(90), ")".repeat(90))),
        ("select parens 90", format!("{}SELECT 1{}", "(".repeat(90), ")".repeat(90))),
        ("subq 90", format!("{}1{}", "SELECT (".repeat(90), ")".repeat(90))),
        ("func 90", format!("SELECT {}1{}", "f(".repeat(90), ")".repeat(90))),
        ("case 90", format!("SELECT {}1{}", "CASE WHEN 1=1 THEN ".repeat(90), " END".repeat(90))),
        ("case 90 open", format!("SELECT {}1", "CASE WHEN 1=1 THEN ".repeat(90))),
        ("not", format!("SELECT {}true", "NOT ".repeat(100_000))),
        ("not 240", format!("SELECT {}true", "NOT ".repeat(240))),
        ("minus", format!("SELECT {}1", "- ".repeat(100_000))),
        ("plus", format!("SELECT 1{}", "+ 1".repeat(100_000))),
        ("plus 240", format!("SELECT 1{}", "+ 1".repeat(1_900))),
        ("or 19000", format!("SELECT * FROM t WHERE 1{}", " OR a=1 AND b=2".repeat(9_000))),
        ("or err", format!("SELECT * FROM t WHERE 1{} x y", " OR a=1".repeat(19_000))),
        ("deep product", (0..90).fold("1".to_string(), |s, _| format!("({s})+1+1+1+1"))),
        ("cast 1900", format!("SELECT 1{}", "::int".repeat(1_900))),
        ("is null 1900", format!("SELECT 1{}", " is null".repeat(1_900))),
        ("union 1900", format!("SELECT 1{}", " UNION SELECT 1".repeat(900))),
        ("join 900", format!("SELECT * FROM t {}", " CROSS JOIN t".repeat(900))),
        ("explain", format!("{} SELECT 1", "EXPLAIN ".repeat(100_000))),
        ("explain 1900", format!("{} SELECT 1", "EXPLAIN ".repeat(1_900))),
        ("prepare", format!("{} SELECT 1", "PREPARE p AS ".repeat(100_000))),
        ("with", format!("{} SELECT 1 {}", "WITH w AS (".repeat(90), ") SELECT 1".repeat(90))),
        ("brackets", format!("SELECT {}1{}", "ARRAY[".repeat(90), "]".repeat(90))),
        ("subscripts", format!("SELECT a{}", "[1]".repeat(100_000))),
        ("interval", format!("SELECT {}1", "INTERVAL ".repeat(1000))),
        ("exists", format!("SELECT {}1{}", "EXISTS (SELECT ".repeat(90), ")".repeat(90))),
        ("between", format!("SELECT 1{}", " BETWEEN 1 AND 2".repeat(90))),
        ("in", format!("SELECT * FROM t WHERE a IN ({})", "1,".repeat(500_000) + "1")),
        ("dots", format!("SELECT a{}", ".a".repeat(100_000))),
        ("at", format!("SELECT a{}", " AT TIME ZONE 'x'".repeat(1900))),
        ("collate", format!("SELECT a{}", " COLLATE x".repeat(1900))),
        ("like", format!("SELECT a{}", " LIKE a".repeat(290))),
        ("types", format!("SELECT a::{}int{}", "array<".repeat(1000), ">".repeat(1000))),
        ("over", format!("SELECT {}1{}", "f(x) OVER (ORDER BY ".repeat(90), ")".repeat(90))),
        ("nested join", format!("SELECT * FROM {}t{}", "(t JOIN ".repeat(60), " ON true)".repeat(60))),
        ("lateral", format!("SELECT * FROM {}t{}", "LATERAL (SELECT * FROM ".repeat(60), ") x".repeat(60))),
        ("derived", format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(90), ") x".repeat(90))),
    ] {
        let t = std::time::Instant::now();
        let r = sql::parse(&text);
        let shown = match &r {
            Ok(p) => format!("ok {}", p.len()),
            Err(e) => {
                let s = format!("{e} {:?}", e.position());
                s.chars().take(100).collect()
            }
        };
        let took = t.elapsed();
        let t = std::time::Instant::now();
        if let Ok(p) = r {
            let c = p.clone();
            assert!(c == p);
            let s = c[0].statement.to_string();
            assert!(s.len() > 3);
            drop(c);
            drop(p);
        }
        println!("{name:20} {took:?} {:?} {shown}", t.elapsed());
    }
}
#[test]
fn step() {
    let n: usize = std::env::var("N").map_or(1900, |n| n.parse().unwrap());
    let text = format!("SELECT * FROM t WHERE 1{}", " OR 1".repeat(n));
    let p = sql::parse(&text).unwrap();
    eprintln!("parsed");
    let c = p.clone();
    eprintln!("cloned");
    assert!(c == p);
    eprintln!("eq");
    let s = c[0].statement.to_string();
    eprintln!("shown {}", s.len());
    drop(c);
    eprintln!("dropped");
    let s = format!("{p:?}");
    eprintln!("debug {}", s.len());
}
#[test]
fn one() {
    let t = std::env::var("SQL").unwrap();
    println!("{:#?}", sql::parse(&t));
}
