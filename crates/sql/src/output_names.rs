//! Renames the output columns of a query's text, for the column list of a view.

use crate::print::printed;
use sqlparser::ast::{Distinct, Expr, Ident, Query, Select, SelectItem, SetExpr};
use std::collections::HashSet;
use types::ident;

/// Returns the query as text, with its columns `own` renamed to `wanted`. Items of its output list get aliases if that
/// changes nothing else; otherwise the query becomes a derived table: `SELECT a AS b FROM (…) AS alias`.
pub fn with_names(query: &Query, own: &[&str], wanted: &[&str], alias: &str) -> String {
    if own == wanted {
        return printed(query);
    }
    if let Some(named) = with_named_items(query, own, wanted) {
        return printed(&named);
    }
    let query = printed(query);
    let alias = ident::quote(alias);
    if own.iter().collect::<HashSet<_>>().len() < own.len() {
        let names: Vec<String> = wanted.iter().map(|name| ident::quote(name).to_string()).collect();
        return format!("SELECT * FROM ({query}) AS {alias}({})", names.join(", "));
    }
    // By name, since a `*` in the query may expand to more columns later.
    let renamed = |(own, wanted): (&&str, &&str)| match own == wanted {
        true => ident::quote(own).to_string(),
        false => format!("{} AS {}", ident::quote(own), ident::quote(wanted)),
    };
    let items: Vec<String> = own.iter().zip(wanted).map(renamed).collect();
    format!("SELECT {} FROM ({query}) AS {alias}", items.join(", "))
}

/// Returns `None` if an alias could change the meaning: ORDER BY and GROUP BY may refer to output names.
fn with_named_items(query: &Query, own: &[&str], wanted: &[&str]) -> Option<Query> {
    let mut query = query.clone();
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    if query.order_by.is_some() || !is_plain(select) || select.projection.len() != wanted.len() {
        return None;
    }
    for ((item, own), wanted) in select.projection.iter_mut().zip(own).zip(wanted) {
        if own == wanted {
            continue;
        }
        let SelectItem::UnnamedExpr(expr) = item else { return None };
        let expr = std::mem::replace(expr, Expr::Identifier(Ident::new("")));
        *item = SelectItem::ExprWithAlias { expr, alias: identifier(wanted) };
    }
    Some(query)
}

/// Is each item of its list one column, to which no other clause refers?
fn is_plain(select: &Select) -> bool {
    let single = |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
    select.projection.iter().all(single) && !matches!(select.distinct, Some(Distinct::On(_)))
}

fn identifier(name: &str) -> Ident {
    if ident::quote(name).starts_with('"') { Ident::with_quote('"', name) } else { Ident::new(name) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::with_names;
    use crate::parse_query;

    #[test]
    fn names_are_given_to_items_or_to_the_whole() {
        let named =
            |text: &str, own: &[&str], wanted: &[&str]| with_names(&parse_query(text).unwrap(), own, wanted, "my view");
        assert_eq!(named("SELECT k, v FROM t", &["k", "v"], &["k", "v"]), "SELECT k, v FROM t");
        assert_eq!(named("SELECT k, v FROM t", &["k", "v"], &["aa", "v"]), "SELECT k AS aa, v FROM t");
        assert_eq!(
            named("SELECT count(*), k FROM t GROUP BY k", &["count", "k"], &["N", "k"]),
            "SELECT count(*) AS \"N\", k FROM t GROUP BY k"
        );
        for (text, own, items) in [
            ("SELECT * FROM t", ["k", "v"], "k AS aa, v AS bb"),
            ("SELECT k, v AS bb FROM t ORDER BY v", ["k", "bb"], "k AS aa, bb"),
            ("SELECT k AS z, v FROM t GROUP BY z, v", ["z", "v"], "z AS aa, v AS bb"),
            ("VALUES (1, 2)", ["column1", "column2"], "column1 AS aa, column2 AS bb"),
            ("SELECT k, v FROM t UNION SELECT 1, 2", ["k", "v"], "k AS aa, v AS bb"),
        ] {
            let want = format!("SELECT {items} FROM ({text}) AS \"my view\"");
            assert_eq!(named(text, &own, &["aa", "bb"]), want);
        }
        let aliased = r#"SELECT j.k, 'ß' FROM t JOIN u USING(k, l) AS "J, )" JOIN v USING(k) AS j"#;
        assert_eq!(named(aliased, &["k", "l"], &["k", "l"]), aliased);
        let twice = named("SELECT * FROM t, t AS u", &["k", "k"], &["a", "b"]);
        assert_eq!(twice, "SELECT * FROM (SELECT * FROM t, t AS u) AS \"my view\"(a, b)");
    }
}
