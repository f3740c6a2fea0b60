//! GROUP BY: keys, and the grouping sets of ROLLUP, CUBE and GROUPING SETS.
//!
//! ```text
//!   GROUP BY a, ROLLUP (b, c)      keys a b c, sets (a b c) (a b) (a)
//! ```

use super::keys::Outputs;
use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::name::fold;
use crate::same::same;
use crate::tree::{Scalar, Span};
use sql::ast;

/// Maximum number of grouping sets in a query.
const MOST_SETS: usize = 4096;
/// Maximum number of elements of CUBE.
const MOST_OF_CUBE: usize = 12;

/// The keys and grouping sets of GROUP BY.
#[derive(Default)]
pub(super) struct Groups {
    /// Is there a GROUP BY?
    pub(super) has_group_by: bool,
    /// The keys, without duplicates.
    pub(super) keys: Vec<Scalar>,
    /// Grouping sets, as indexes into `keys`; empty means one set of all keys.
    pub(super) sets: Vec<Vec<usize>>,
}

/// Grouping sets, as indexes into the list of keys.
type Sets = Vec<Vec<usize>>;

impl Binder<'_> {
    /// Binds GROUP BY: an unqualified name refers to a column before it refers to an output.
    pub(super) fn group_keys(&mut self, by: &ast::GroupByExpr, outputs: Outputs<'_>) -> BindResult<Groups> {
        let ast::GroupByExpr::Expressions(exprs, modifiers) = by else {
            return self.unsupported("GROUP BY ALL");
        };
        if !modifiers.is_empty() {
            return self.unsupported("a modifier of GROUP BY");
        }
        let (mut keys, mut sets, mut distinct): (Vec<Scalar>, Sets, bool) = (Vec::new(), vec![Vec::new()], false);
        for expr in exprs {
            if is_call_of(Some(expr), sql::DISTINCT_GROUPS) {
                distinct = true;
                continue;
            }
            let further = self.sets_of_group(expr, outputs, &mut keys)?;
            sets = self.cross_product_of_sets(&sets, &further)?;
        }
        if distinct {
            let mut seen = std::collections::BTreeSet::new();
            sets.retain(|set| {
                let mut set = set.clone();
                set.sort_unstable();
                seen.insert(set)
            });
        }
        if sets.len() == 1 {
            sets.clear();
        }
        Ok(Groups { has_group_by: !exprs.is_empty(), keys, sets })
    }

    /// Returns the grouping sets of one item of GROUP BY.
    fn sets_of_group(&mut self, expr: &ast::Expr, outputs: Outputs<'_>, keys: &mut Vec<Scalar>) -> BindResult<Sets> {
        match expr {
            ast::Expr::Rollup(items) => Ok(rolled_up(&self.key_lists(items, outputs, keys)?)),
            ast::Expr::Cube(items) => {
                let items = self.key_lists(items, outputs, keys)?;
                self.cubed(&items)
            }
            ast::Expr::GroupingSets(items) => {
                let mut all = Vec::new();
                for item in items {
                    match item.as_slice() {
                        [ast::Expr::Function(function)] if is_call_of(item.first(), "rollup") => {
                            let items = self.elements(function, outputs, keys)?;
                            all.extend(rolled_up(&items));
                        }
                        [ast::Expr::Function(function)] if is_call_of(item.first(), "cube") => {
                            let items = self.elements(function, outputs, keys)?;
                            all.extend(self.cubed(&items)?);
                        }
                        list => all.push(self.key_list(list, outputs, keys)?),
                    }
                }
                Ok(all)
            }
            expr => {
                let list = std::slice::from_ref(expr);
                Ok(vec![self.key_list(list, outputs, keys)?])
            }
        }
    }

    /// Returns the sets of CUBE: the first element is the last to be left out.
    fn cubed(&self, items: &[Vec<usize>]) -> BindResult<Sets> {
        if items.len() > MOST_OF_CUBE {
            return self.error(BindErrorKind::CubeElements { limit: MOST_OF_CUBE }, Span::default());
        }
        let chosen = |mask: usize| {
            let is_in = |at: usize| mask >> (items.len() - 1 - at) & 1 == 1;
            joined(items.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, item)| item))
        };
        Ok((0..1_usize << items.len()).rev().map(chosen).collect())
    }

    /// Binds the elements of ROLLUP and CUBE within GROUPING SETS, which sqlparser parses as function calls.
    fn elements(
        &mut self,
        function: &ast::Function,
        outputs: Outputs<'_>,
        keys: &mut Vec<Scalar>,
    ) -> BindResult<Vec<Vec<usize>>> {
        let ast::FunctionArguments::List(list) = &function.args else {
            return self.unsupported("a grouping set that is a call");
        };
        let mut items = Vec::with_capacity(list.args.len());
        for arg in &list.args {
            let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) = arg else {
                return self.error(BindErrorKind::Syntax { message: "syntax error in GROUPING SETS" }, Span::default());
            };
            items.push(self.key_list(std::slice::from_ref(expr), outputs, keys)?);
        }
        Ok(items)
    }

    fn key_lists(
        &mut self,
        items: &[Vec<ast::Expr>],
        outputs: Outputs<'_>,
        keys: &mut Vec<Scalar>,
    ) -> BindResult<Vec<Vec<usize>>> {
        items.iter().map(|item| self.key_list(item, outputs, keys)).collect()
    }

    /// Returns indexes of keys; parentheses are flattened.
    fn key_list(
        &mut self,
        exprs: &[ast::Expr],
        outputs: Outputs<'_>,
        keys: &mut Vec<Scalar>,
    ) -> BindResult<Vec<usize>> {
        let mut places = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match expr {
                ast::Expr::Tuple(items) => places.extend(self.key_list(items, outputs, keys)?),
                expr => places.push(self.group_key(expr, outputs, keys)?),
            }
        }
        Ok(joined([&places]))
    }

    fn cross_product_of_sets(&self, sets: &Sets, further: &Sets) -> BindResult<Sets> {
        if sets.len().saturating_mul(further.len()) > MOST_SETS {
            return self.error(BindErrorKind::TooManySets { limit: MOST_SETS }, Span::default());
        }
        Ok(sets.iter().flat_map(|set| further.iter().map(move |more| joined([set, more]))).collect())
    }

    /// Returns the index of a key, and adds a new key.
    fn group_key(&mut self, expr: &ast::Expr, outputs: Outputs<'_>, keys: &mut Vec<Scalar>) -> BindResult<usize> {
        let clause = Clause::GroupBy;
        let at = match expr {
            ast::Expr::Identifier(ident) => match self.own_column(&fold(ident), self.span(ident.span))? {
                true => None,
                false => self.output_named(ident, outputs, clause)?,
            },
            expr => self.position(expr, outputs.len(), clause)?.map(|(at, _)| at),
        };
        let key = match at.and_then(|at| outputs.get(at)) {
            Some((_, output)) => output.clone(),
            None => {
                let key = self.in_clause(clause, |binder| binder.scalar(expr))?;
                self.output_type(key)?
            }
        };
        if self.is_aggregate(&key) {
            return Err(BindError::new(BindErrorKind::AggregateNotAllowed { clause }, key.span));
        }
        self.equality(key.ty, key.span)?;
        Ok(keys.iter().position(|other| same(other, &key)).unwrap_or_else(|| {
            keys.push(key);
            keys.len() - 1
        }))
    }
}

/// Concatenates lists without duplicates.
fn joined<'s>(lists: impl IntoIterator<Item = &'s Vec<usize>>) -> Vec<usize> {
    let mut all = Vec::new();
    for place in lists.into_iter().flatten() {
        if !all.contains(place) {
            all.push(*place);
        }
    }
    all
}

/// Returns the sets of ROLLUP.
fn rolled_up(items: &[Vec<usize>]) -> Sets {
    (0..=items.len()).rev().map(|count| joined(items.iter().take(count))).collect()
}

fn is_call_of(expr: Option<&ast::Expr>, name: &str) -> bool {
    matches!(expr, Some(ast::Expr::Function(function))
        if function.name.to_string().trim_matches('"').eq_ignore_ascii_case(name))
}
