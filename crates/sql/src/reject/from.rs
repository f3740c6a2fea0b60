//! FROM: tables, functions, joins.

use super::name::check_name;
use super::{Place, Verdict, invalid, refuse_if, unsupported};
use sqlparser::ast::{
    Join, JoinConstraint, JoinOperator, Spanned, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins,
};
use std::ops::ControlFlow;

/// Checks one item of FROM. [`check_joins`] checks the joins after it.
pub(super) fn check(factor: &TableFactor) -> Verdict {
    match factor {
        TableFactor::Table { .. } => check_table(factor),
        TableFactor::Derived { lateral: _, subquery: _, alias, sample } => {
            refuse_if(sample.is_some(), "TABLESAMPLE", Place::Words(&["TABLESAMPLE"]))?;
            check_alias(alias.as_ref())
        }
        TableFactor::Function { lateral: _, name, args: _, with_ordinality: _, alias } => {
            name.0.iter().filter_map(|part| part.as_ident()).try_for_each(check_name)?;
            check_alias(alias.as_ref())
        }
        TableFactor::UNNEST { alias, array_exprs: _, with_offset, with_offset_alias: _, with_ordinality: _ } => {
            refuse_if(*with_offset, "WITH OFFSET", Place::Words(&["WITH", "OFFSET"]))?;
            check_alias(alias.as_ref())
        }
        TableFactor::NestedJoin { table_with_joins, alias } => {
            check_joins(table_with_joins)?;
            check_alias(alias.as_ref())
        }
        TableFactor::TableFunction { expr, .. } => unsupported("TABLE(function)", expr.span()),
        TableFactor::JsonTable { .. } => unsupported("JSON_TABLE", Place::Words(&["JSON_TABLE"])),
        TableFactor::OpenJsonTable { .. } => unsupported("OPENJSON", Place::Words(&["OPENJSON"])),
        TableFactor::Pivot { .. } => unsupported("PIVOT", Place::Words(&["PIVOT"])),
        TableFactor::Unpivot { .. } => unsupported("UNPIVOT", Place::Words(&["UNPIVOT"])),
        TableFactor::MatchRecognize { .. } => unsupported("MATCH_RECOGNIZE", Place::Words(&["MATCH_RECOGNIZE"])),
        TableFactor::XmlTable { .. } => unsupported("XMLTABLE", Place::Words(&["XMLTABLE"])),
        TableFactor::SemanticView { .. } => unsupported("SEMANTIC_VIEW", Place::Words(&["SEMANTIC_VIEW"])),
    }
}

fn check_table(factor: &TableFactor) -> Verdict {
    let TableFactor::Table {
        name,
        alias,
        args,
        with_hints,
        version,
        with_ordinality,
        partitions,
        json_path,
        sample,
        index_hints,
    } = factor
    else {
        return ControlFlow::Continue(());
    };
    name.0.iter().filter_map(|part| part.as_ident()).try_for_each(check_name)?;
    let place = name.span();
    refuse_if(args.as_ref().is_some_and(|args| args.settings.is_some()), "SETTINGS of a function", place)?;
    refuse_if(!with_hints.is_empty(), "a table hint", place)?;
    refuse_if(version.is_some(), "AS OF", place)?;
    let of_function = args.is_some();
    refuse_if(*with_ordinality && !of_function, "WITH ORDINALITY", Place::Words(&["WITH", "ORDINALITY"]))?;
    refuse_if(!partitions.is_empty(), "PARTITION in FROM", place)?;
    refuse_if(json_path.is_some(), "a path behind a table", place)?;
    refuse_if(sample.is_some(), "TABLESAMPLE", Place::Words(&["TABLESAMPLE"]))?;
    refuse_if(!index_hints.is_empty(), "an index hint", place)?;
    check_alias(alias.as_ref())
}

fn check_alias(alias: Option<&TableAlias>) -> Verdict {
    let Some(TableAlias { explicit: _, name, columns, at }) = alias else { return ControlFlow::Continue(()) };
    check_name(name)?;
    refuse_if(at.is_some(), "AT behind an alias", name.span)?;
    for TableAliasColumnDef { name, data_type } in columns {
        refuse_if(data_type.is_some(), "a column definition list in FROM", name.span)?;
    }
    ControlFlow::Continue(())
}

/// Checks the joins of one item of FROM.
pub(super) fn check_joins(table: &TableWithJoins) -> Verdict {
    let TableWithJoins { relation: _, joins } = table;
    for Join { relation, global, join_operator } in joins {
        refuse_if(*global, "GLOBAL JOIN", relation.span())?;
        check_operator(join_operator, relation)?;
    }
    ControlFlow::Continue(())
}

fn check_operator(operator: &JoinOperator, relation: &TableFactor) -> Verdict {
    let place = relation.span();
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint) => match constraint {
            JoinConstraint::On(_) | JoinConstraint::Using(_) | JoinConstraint::Natural => ControlFlow::Continue(()),
            JoinConstraint::None => invalid("JOIN needs ON or USING", place),
        },
        JoinOperator::CrossJoin(JoinConstraint::None) => ControlFlow::Continue(()),
        JoinOperator::CrossJoin(_) => invalid("CROSS JOIN takes neither ON nor USING", place),
        JoinOperator::Semi(_)
        | JoinOperator::LeftSemi(_)
        | JoinOperator::RightSemi(_)
        | JoinOperator::Anti(_)
        | JoinOperator::LeftAnti(_)
        | JoinOperator::RightAnti(_) => unsupported("SEMI JOIN and ANTI JOIN", place),
        JoinOperator::CrossApply | JoinOperator::OuterApply => unsupported("APPLY", place),
        JoinOperator::AsOf { .. } => unsupported("ASOF JOIN", place),
        JoinOperator::StraightJoin(_) => unsupported("STRAIGHT_JOIN", place),
        JoinOperator::ArrayJoin | JoinOperator::LeftArrayJoin | JoinOperator::InnerArrayJoin => {
            unsupported("ARRAY JOIN", place)
        }
    }
}
