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
