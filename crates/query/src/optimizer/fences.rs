//! Fences around DataFusion's rules: for each rule that returns wrong rows, fails or takes too long, the rule of ours
//! that replaces or precedes it, and a case that shows the defect.
//!
//! A fence finds DataFusion's rule by its name. A release that renames or drops the rule would silently disable the
//! fence, so a missing name is an error when a planner is built. The cases were verified with [`CHECKED_WITH`]; no
//! upstream issue is known for any of them, so each names a file of `sql-tests` that fails without the fence.

use super::dependencies::SoundDependencies;
use super::flat_choices::FlattenCoalesce;
use super::float_groups::FloatGroups;
use super::held_filters::HeldFilters;
use super::held_sorts::HeldSorts;
use super::join_claims::SoundJoins;
use super::kept_limits::KeptLimits;
use super::known_aggregates::KnownAggregates;
use super::lists_apart::SeparateInLists;
use super::misplaced_keys::HideMisplacedKeys;
use super::named_groups::NamedGroups;
use super::null_safe_keys::NullSafeKeys;
use super::pushed_filters::PushedFilters;
use super::same_types::SameTypes;
use crate::error::{QueryError, QueryResult};
use datafusion::DATAFUSION_VERSION;
use datafusion::optimizer::{AnalyzerRule, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use std::sync::Arc;

/// The release of DataFusion with which the cases were verified.
#[cfg(test)]
pub(super) const CHECKED_WITH: &str = "55.2.0";

/// A rule for logical plans.
pub(super) type Logical = dyn OptimizerRule + Send + Sync;
/// A rule for physical plans.
pub(super) type Physical = dyn PhysicalOptimizerRule + Send + Sync;

/// A rule of ours and the DataFusion rule that it replaces or precedes.
pub(super) struct Fence<R: ?Sized> {
    /// The name of DataFusion's rule.
    pub(super) rule: &'static str,
    /// The position of our rule.
    pub(super) place: Place,
    pub(super) ours: fn() -> Arc<R>,
    /// What fails without the fence.
    pub(super) case: &'static str,
    /// The file of `sql-tests`, or the test of this crate, that shows the case.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests look whether it is there"))]
    pub(super) shown_by: &'static str,
}

/// The position of our rule relative to DataFusion's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Replaces the rule.
    Instead,
    /// Directly before each occurrence of the rule.
    Before,
}

/// The fences of rules for logical plans.
pub(super) const LOGICAL: [Fence<Logical>; 10] = [
    Fence {
        rule: "simplify_expressions",
        place: Place::Before,
        ours: || Arc::new(SeparateInLists),
        case: "a IN ($1, $2) AND a NOT IN ($3, $4) loses the second list, and a IN (1) AND a IN (2) is false where a is NULL",
        shown_by: "sql-tests/query/lists_of_one_value.slt",
    },
    Fence {
        rule: "simplify_expressions",
        place: Place::Before,
        ours: || Arc::new(FlattenCoalesce),
        case: "coalesce(coalesce(a, b), c) becomes CASE with each operand twice, exponentially in its depth: sixteen FULL JOIN \
               … USING take seconds to plan",
        shown_by: "sql-tests/query/chained_full_joins.slt",
    },
    Fence {
        rule: "extract_equijoin_predicate",
        place: Place::Instead,
        ours: || Arc::new(NullSafeKeys::default()),
        case: "a IS NOT DISTINCT FROM b beside a plain equality: NULLs of the plain keys are equal, too",
        shown_by: "sql-tests/query/dependencies.slt",
    },
    Fence {
        rule: "push_down_filter",
        place: Place::Instead,
        ours: || Arc::new(HeldFilters::default()),
        case: "SELECT count(*) … HAVING now() < '2000-01-01': a condition without columns goes below the one group, whose row stays",
        shown_by: "sql-tests/select/conditions_without_columns.slt",
    },
    Fence {
        rule: "eliminate_group_by_constant",
        place: Place::Instead,
        ours: || Arc::new(NamedGroups::default()),
        case: "GROUP BY x, x::date fails: a cast is no part of a name, and both groups are x",
        shown_by: "sql-tests/select/groups_of_casts.slt",
    },
    Fence {
        rule: "single_distinct_aggregation_to_group_by",
        place: Place::Instead,
        ours: || Arc::new(SameTypes::default()),
        case: "sum(v), count(DISTINCT id) … HAVING sum(v) > 1 fails: the sum of sums is a wider decimal",
        shown_by: "sql-tests/query/sums_beside_distinct.slt",
    },
    Fence {
        rule: "replace_distinct_aggregate",
        place: Place::Before,
        ours: || Arc::new(SoundDependencies),
        case: UNSOUND,
        shown_by: "sql-tests/query/dependencies.slt",
    },
    Fence {
        rule: "eliminate_join",
        place: Place::Before,
        ours: || Arc::new(SoundDependencies),
        case: UNSOUND,
        shown_by: "sql-tests/query/dependencies.slt",
    },
    Fence {
        rule: "eliminate_duplicated_expr",
        place: Place::Before,
        ours: || Arc::new(SoundDependencies),
        case: UNSOUND,
        shown_by: "sql-tests/query/dependencies.slt",
    },
    Fence {
        rule: "optimize_projections",
        place: Place::Before,
        ours: || Arc::new(SoundDependencies),
        case: UNSOUND,
        shown_by: "sql-tests/query/dependencies.slt",
    },
];

/// Rules for logical plans that never apply to lowered plans, and why. Each would visit the whole plan in each pass.
pub(super) const IDLE: [(&str, &str); 5] = [
    ("rewrite_set_comparison", "quantified comparisons are lowered to joins and EXISTS"),
    ("unions_to_filter", "it is off by its setting"),
    ("filter_null_join_keys", "it is off by its setting"),
    ("extract_leaf_expressions", "no value is a struct whose fields are read"),
    ("push_down_leaf_projections", "likewise"),
];

const UNSOUND: &str = "of a group over a join the key of one table is said to determine all columns, and of unnested arrays the \
                       elements: DISTINCT and keys of ORDER BY and GROUP BY are dropped";

/// The fences of rules for physical plans. Of two before the same rule, the first in this list runs first.
pub(super) const PHYSICAL: [Fence<Physical>; 8] = [
    Fence {
        rule: "aggregate_statistics",
        place: Place::Instead,
        ours: || Arc::new(KnownAggregates),
        case: "SELECT count(*) FILTER (WHERE n > 0) FROM (SELECT count(*) AS n) AS s fails: the inner count is put in its place",
        shown_by: "sql-tests/query/filtered_aggregates_of_aggregates.slt",
    },
    Fence {
        rule: "LimitAggregation",
        place: Place::Instead,
        ours: || Arc::new(FloatGroups::default()),
        case: "SELECT DISTINCT x … ORDER BY x LIMIT n of floats: NaN is a group each time, and too many of them panic",
        shown_by: "sql-tests/query/groups_of_nan.slt",
    },
    Fence {
        rule: "FilterPushdown",
        place: Place::Instead,
        ours: || Arc::new(PushedFilters::of_queries()),
        case: "SELECT a.x, b.x … WHERE: a condition is led down by the first column of its name",
        shown_by: "sql-tests/select/filters_behind_outer_joins.slt",
    },
    Fence {
        rule: "FilterPushdown(Post)",
        place: Place::Instead,
        ours: || Arc::new(PushedFilters::running()),
        case: "a semi join hands the filter of its keys to the other side by name, and drops rows",
        shown_by: "sql-tests/query/semi_join_filters.slt",
    },
    Fence {
        rule: "EnsureRequirements",
        place: Place::Before,
        ours: || Arc::new(SoundJoins),
        case: "a join claims the order of its build side, and constants of rows that are made of NULLs: ORDER BY is dropped",
        shown_by: "sql-tests/query/orders_of_joins.slt",
    },
    Fence {
        rule: "EnsureRequirements",
        place: Place::Before,
        ours: || Arc::new(HideMisplacedKeys),
        case: "a projection passes keys of its input on by place and not by column: ORDER BY loses keys behind windows",
        shown_by: "sql-tests/query/window_order.slt",
    },
    Fence {
        rule: "EnsureRequirements",
        place: Place::Before,
        ours: || Arc::new(HeldSorts),
        case: "SELECT … FROM t JOIN (SELECT 1 AS k, a …) … ORDER BY k, a fails: a join forgets the constants of its right side",
        shown_by: "sql-tests/query/constants_of_one_side.slt",
    },
    Fence {
        rule: "EnsureRequirements",
        place: Place::Before,
        ours: || Arc::new(KeptLimits),
        case: "ORDER BY id LIMIT 1 over a view with another order, or over a hash join in the order of id: the sort is dropped \
               with its limit",
        shown_by: "sql-tests/query/limits_of_ordered_joins.slt",
    },
];

/// Builds the list of rules with the fences applied.
///
/// # Errors
/// [`QueryError::Internal`] if DataFusion lacks a rule that a fence names.
pub(super) fn fenced<R: ?Sized>(
    mut rules: Vec<Arc<R>>,
    fences: &[Fence<R>],
    name: impl Fn(&R) -> &str,
) -> QueryResult<Vec<Arc<R>>> {
    for fence in fences {
        if !rules.iter().any(|rule| name(rule) == fence.rule) {
            return Err(missing(fence.rule, fence.place, fence.case));
        }
        rules = rules.into_iter().flat_map(|rule| placed(fence, rule, &name)).collect();
    }
    Ok(rules)
}

/// Drops the idle rules.
///
/// # Errors
/// [`QueryError::Internal`] if DataFusion lacks such a rule: the rule that succeeds it may not be idle.
pub(super) fn without(mut rules: Vec<Arc<Logical>>, idle: &[(&str, &str)]) -> QueryResult<Vec<Arc<Logical>>> {
    for (name, why) in idle {
        let before = rules.len();
        rules.retain(|rule| rule.name() != *name);
        if rules.len() == before {
            return Err(QueryError::internal(format!(
                "DataFusion {DATAFUSION_VERSION} has no rule \"{name}\", which is left out: {why}"
            )));
        }
    }
    Ok(rules)
}

fn placed<R: ?Sized>(fence: &Fence<R>, rule: Arc<R>, name: impl Fn(&R) -> &str) -> Vec<Arc<R>> {
    match fence.place {
        _ if name(&rule) != fence.rule => vec![rule],
        Place::Instead => vec![(fence.ours)()],
        Place::Before => vec![(fence.ours)(), rule],
    }
}

fn missing(rule: &str, place: Place, case: &str) -> QueryError {
    let role = match place {
        Place::Instead => "in whose place",
        Place::Before => "before which",
    };
    QueryError::internal(format!(
        "DataFusion {DATAFUSION_VERSION} has no rule \"{rule}\", {role} a rule of Bennu has to stand: {case}"
    ))
}

/// Checks that DataFusion has exactly the analyzer rules that are run. The run rules are listed explicitly, so a new
/// rule of a DataFusion release would otherwise be missed.
///
/// # Errors
/// [`QueryError::Internal`] that names both lists.
pub(super) fn check_analyzer(
    theirs: &[Arc<dyn AnalyzerRule + Send + Sync>],
    taken: &[Arc<dyn AnalyzerRule + Send + Sync>],
) -> QueryResult<()> {
    let names = |rules: &[Arc<dyn AnalyzerRule + Send + Sync>]| -> Vec<String> {
        rules.iter().map(|rule| rule.name().to_owned()).collect()
    };
    let (theirs, taken) = (names(theirs), names(taken));
    match theirs == taken {
        true => Ok(()),
        false => Err(QueryError::internal(format!(
            "DataFusion {DATAFUSION_VERSION} has the analyzer rules {}, and Bennu runs {}",
            theirs.join(", "),
            taken.join(", ")
        ))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use datafusion::optimizer::optimizer::Optimizer;
    use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
    use std::path::Path;

    #[test]
    fn each_fence_stands_where_it_says() {
        let rules = fenced(Optimizer::new().rules, &LOGICAL, |rule| rule.name()).unwrap();
        let names: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
        let before = |name: &str| names.get(names.iter().position(|rule| *rule == name).unwrap() - 1).copied().unwrap();
        assert_eq!(before("simplify_expressions"), "flat_choices");
        for reader in
            ["replace_distinct_aggregate", "eliminate_join", "eliminate_duplicated_expr", "optimize_projections"]
        {
            assert_eq!(before(reader), "sound_dependencies");
        }
        let rules = fenced(PhysicalOptimizer::new().rules, &PHYSICAL, |rule| rule.name()).unwrap();
        let names: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
        let at = names.iter().position(|rule| *rule == "EnsureRequirements").unwrap();
        let before = names.get(at - 4..at).unwrap();
        assert_eq!(before, ["sound_joins", "hide_misplaced_keys", "held_sorts", "keep_limits"]);
    }

    #[test]
    fn a_rule_that_is_gone_is_an_error_that_names_it() {
        let rules: Vec<Arc<Logical>> =
            Optimizer::new().rules.into_iter().filter(|rule| rule.name() != "eliminate_group_by_constant").collect();
        let error = fenced(rules, &LOGICAL, |rule| rule.name()).unwrap_err().to_string();
        assert!(error.contains("has no rule \"eliminate_group_by_constant\", in whose place"), "{error}");
        assert!(check_analyzer(&[], &super::super::analyzer_rules_of_datafusion()).is_err());
    }

    #[test]
    fn cases_were_seen_with_this_release_and_have_tests() {
        assert_eq!(DATAFUSION_VERSION, CHECKED_WITH, "see whether each case still fails without its fence");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let shown = LOGICAL.iter().map(|fence| fence.shown_by).chain(PHYSICAL.iter().map(|fence| fence.shown_by));
        for file in shown {
            assert!(root.join(file).is_file(), "{file}");
        }
    }
}
