//! Adds schemas to the unqualified relation names of a query.

use crate::SqlError;
use crate::lexer::byte_of;
use crate::name::folded;
use crate::parser::parse_query;
use sqlparser::ast::{Ident, ObjectName, Query, Visit, Visitor};
use std::collections::HashSet;
use std::ops::ControlFlow;
use types::ident;

/// Returns the text of a query with the schemas that `schema_of` has for unqualified names of relations.
///
/// # Errors
/// As [`parse_query`].
pub fn qualify(text: &str, schema_of: &dyn Fn(&str) -> Option<String>) -> Result<String, SqlError> {
    let query = parse_query(text)?;
    let mut found = Found::default();
    let _ = query.visit(&mut found);
    let mut places: Vec<(usize, String)> = Vec::new();
    for name in &found.bare {
        let folded = folded(name);
        // Names that the rewriting of catalog queries adds are not in the text.
        if name.span.start.line == 0 || found.named_by_with.contains(&folded) {
            continue;
        }
        places.extend(schema_of(&folded).map(|schema| (byte_of(text, name.span.start), schema)));
    }
    places.sort();
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (place, schema) in places {
        out.push_str(text.get(from..place).unwrap_or_default());
        out.push_str(&ident::quote(&schema));
        out.push('.');
        from = place;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Ok(out)
}

/// Unqualified relation names, and the names of CTEs.
#[derive(Default)]
struct Found {
    bare: Vec<Ident>,
    named_by_with: HashSet<String>,
}

impl Visitor for Found {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        if let [part] = name.0.as_slice() {
            self.bare.extend(part.as_ident().cloned());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let with = query.with.iter().flat_map(|with| &with.cte_tables);
        self.named_by_with.extend(with.map(|cte| folded(&cte.alias.name)));
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::qualify;

    #[test]
    fn bare_names_of_relations_get_their_schemas() {
        let schema_of = |name: &str| matches!(name, "t" | "Big" | "c").then(|| "My s".to_owned());
        let text = r#"WITH c AS (SELECT * FROM t) SELECT t.a, 'FROM t' FROM T, "Big" AS b, other.t, c, u
                      WHERE EXISTS (SELECT 1 FROM t)"#;
        let found = qualify(text, &schema_of).unwrap();
        let wanted = r#"WITH c AS (SELECT * FROM "My s".t) SELECT t.a, 'FROM t' FROM "My s".T, "My s"."Big" AS b, other.t, c, u
                      WHERE EXISTS (SELECT 1 FROM "My s".t)"#;
        assert_eq!(found, wanted);
    }
}
