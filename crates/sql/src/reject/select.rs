//! Checks of SELECT.

use super::from::check_joins;
use super::name::check_label;
use super::{Place, Verdict, invalid, refuse_if, unsupported, unsupported_hint};
use sqlparser::ast::{GroupByExpr, Select, SelectFlavor, SelectItem, Spanned, WildcardAdditionalOptions};
use std::ops::ControlFlow;

/// Checks one SELECT.
pub(super) fn check(select: &Select) -> Verdict {
    let Select {
        select_token: _,
        optimizer_hints,
        distinct: _,
        select_modifiers,
        top,
        top_before_distinct: _,
        projection,
        exclude,
        into,
        from,
        lateral_views,
        prewhere,
        selection: _,
        connect_by,
        group_by,
        cluster_by,
        distribute_by,
        sort_by,
        having: _,
        named_window: _,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor,
    } = select;
    let place = Place::Words(&["SELECT"]);
    if into.is_some() {
        return unsupported_hint("SELECT INTO", "Use CREATE TABLE AS.", Place::Words(&["INTO"]));
    }
    refuse_if(!optimizer_hints.is_empty(), "a hint", place)?;
    refuse_if(select_modifiers.is_some(), "a modifier of SELECT", place)?;
    refuse_if(top.is_some(), "TOP", Place::Words(&["TOP"]))?;
    refuse_if(exclude.is_some(), "EXCLUDE", Place::Words(&["EXCLUDE"]))?;
    refuse_if(!lateral_views.is_empty(), "LATERAL VIEW", Place::Words(&["LATERAL"]))?;
    refuse_if(prewhere.is_some(), "PREWHERE", Place::Words(&["PREWHERE"]))?;
    refuse_if(!connect_by.is_empty(), "CONNECT BY", Place::Words(&["CONNECT", "BY"]))?;
    refuse_if(!cluster_by.is_empty(), "CLUSTER BY", Place::Words(&["CLUSTER", "BY"]))?;
    refuse_if(!distribute_by.is_empty(), "DISTRIBUTE BY", Place::Words(&["DISTRIBUTE", "BY"]))?;
    refuse_if(!sort_by.is_empty(), "SORT BY", Place::Words(&["SORT", "BY"]))?;
    refuse_if(qualify.is_some(), "QUALIFY", Place::Words(&["QUALIFY"]))?;
    refuse_if(value_table_mode.is_some(), "SELECT AS STRUCT and AS VALUE", place)?;
    refuse_if(!matches!(flavor, SelectFlavor::Standard), "FROM before SELECT", Place::Words(&["FROM"]))?;
    check_group_by(group_by)?;
    from.iter().try_for_each(check_joins)?;
    projection.iter().try_for_each(check_item)
}

fn check_group_by(group_by: &GroupByExpr) -> Verdict {
    match group_by {
        GroupByExpr::All(_) => invalid("GROUP BY ALL wants a list of groups", Place::Words(&["GROUP", "BY", "ALL"])),
        GroupByExpr::Expressions(_, modifiers) => {
            refuse_if(!modifiers.is_empty(), "GROUP BY … WITH", Place::Words(&["GROUP", "BY"]))
        }
    }
}

/// Checks one item of SELECT or RETURNING.
pub(super) fn check_item(item: &SelectItem) -> Verdict {
    match item {
        SelectItem::UnnamedExpr(_) => ControlFlow::Continue(()),
        SelectItem::ExprWithAlias { expr: _, alias } => check_label(alias),
        SelectItem::ExprWithAliases { expr, .. } => unsupported("a list of aliases", expr.span()),
        SelectItem::QualifiedWildcard(_, options) | SelectItem::Wildcard(options) => check_wildcard(options),
    }
}

fn check_wildcard(options: &WildcardAdditionalOptions) -> Verdict {
    let WildcardAdditionalOptions {
        wildcard_token,
        opt_ilike,
        opt_exclude,
        opt_except,
        opt_replace,
        opt_rename,
        opt_alias,
    } = options;
    let changed = opt_ilike.is_some()
        || opt_exclude.is_some()
        || opt_except.is_some()
        || opt_replace.is_some()
        || opt_rename.is_some();
    let place = wildcard_token.0.span;
    refuse_if(changed, "* with EXCLUDE, EXCEPT, REPLACE, RENAME or ILIKE", place)?;
    if opt_alias.is_some() { invalid("* cannot have an alias", place) } else { ControlFlow::Continue(()) }
}
