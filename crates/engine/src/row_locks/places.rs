//! What stands in FROM, as a locking clause sees it.

use sql::ast::{Cte, Ident, JoinOperator, ObjectName, Query, Select, TableFactor, TableWithJoins};

/// A thing in FROM with a name.
pub(super) struct Place<'q> {
    /// Its alias, or its own name.
    pub(super) name: String,
    /// May an outer join fill it with NULLs?
    pub(super) nullable: bool,
    pub(super) factor: &'q mut TableFactor,
}

/// What a place is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A table or view of that name.
    Relation(sql::ObjectName),
    Subquery,
    Function,
    With,
    Join,
    Other,
}

/// Everything in the FROM of a SELECT.
pub(super) fn places(select: &mut Select) -> Vec<Place<'_>> {
    let mut found = Vec::new();
    for from in &mut select.from {
        joined(from, false, &mut found);
    }
    found
}

fn joined<'q>(from: &'q mut TableWithJoins, nullable: bool, found: &mut Vec<Place<'q>>) {
    let TableWithJoins { relation, joins } = from;
    // A join that keeps the rows of its right side makes all that stands before it nullable.
    let filled = |join: &JoinOperator| {
        matches!(join, JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_))
    };
    let fills = |join: &JoinOperator| {
        matches!(join, JoinOperator::Left(_) | JoinOperator::LeftOuter(_) | JoinOperator::FullOuter(_))
    };
    let later: Vec<bool> = joins.iter().map(|join| filled(&join.join_operator)).collect();
    let any_from = |at: usize| later.get(at..).is_some_and(|rest| rest.contains(&true));
    factor(relation, nullable || any_from(0), found);
    for (at, join) in joins.iter_mut().enumerate() {
        let own = fills(&join.join_operator);
        factor(&mut join.relation, nullable || own || any_from(at + 1), found);
    }
}

fn factor<'q>(it: &'q mut TableFactor, nullable: bool, found: &mut Vec<Place<'q>>) {
    match it {
        TableFactor::NestedJoin { table_with_joins, alias: None } => joined(table_with_joins, nullable, found),
        it => {
            let name = name_of(it);
            found.push(Place { name, nullable, factor: it });
        }
    }
}

impl Place<'_> {
    /// What it is, among the queries of WITH that are known.
    pub(super) fn kind(&self, with: &[String]) -> Kind {
        match &*self.factor {
            TableFactor::Table { args: Some(_), .. } | TableFactor::Function { .. } | TableFactor::UNNEST { .. } => {
                Kind::Function
            }
            TableFactor::Table { name, .. } => match relation_name(name) {
                Some(name) if name.schema.is_none() && with.contains(&name.name) => Kind::With,
                Some(name) => Kind::Relation(name),
                None => Kind::Other,
            },
            TableFactor::Derived { .. } => Kind::Subquery,
            TableFactor::NestedJoin { .. } => Kind::Join,
            _ => Kind::Other,
        }
    }
}

fn name_of(factor: &TableFactor) -> String {
    let alias = match factor {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
        _ => None,
    };
    match (alias, factor) {
        (Some(alias), _) => folded(&alias.name),
        (None, TableFactor::Table { name, .. }) => relation_name(name).map(|name| name.name).unwrap_or_default(),
        _ => String::new(),
    }
}

/// `[database.][schema.]name`.
fn relation_name(name: &ObjectName) -> Option<sql::ObjectName> {
    let mut parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
    let last = parts.pop()?;
    Some(sql::ObjectName { database: None, schema: parts.pop(), name: last })
}

/// The names of a query's WITH.
pub(super) fn with_names(query: &Query) -> impl Iterator<Item = String> {
    let tables = query.with.iter().flat_map(|with| &with.cte_tables);
    tables.map(|Cte { alias, .. }| folded(&alias.name))
}

pub(super) fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { types::ident::fold(&name.value) }
}
