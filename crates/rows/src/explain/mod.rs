//! EXPLAIN of a program, as the tree that plans have, too.
//!
//! ```text
//!   Sort: placed DESC
//!     ->  Lookup join on customers
//!           Key: id = orders.customer
//!           ->  Point lookup on orders
//!                 Key ranges: [7]
//! ```

mod choices;
mod condition;
mod expr;
mod node;

use crate::exec::address;
use crate::explained::{Actual, PlanNode};
use crate::expr::Values;
use crate::plan::Node;
use crate::program::{Input, Program};
use bind::tree::{Bound, ColId};
use choices::Choices;
use std::collections::HashMap;
use types::Datum;

/// The number of rows that each node of a program returned.
#[derive(Clone, Debug, Default)]
pub struct Made(pub(crate) HashMap<usize, u64>);

/// The state of printing a program.
pub(crate) struct Shown<'a> {
    program: &'a Program,
    bound: &'a Bound,
    values: Values<'a>,
    made: Option<&'a Made>,
    choices: Choices,
    costs: bool,
}

impl Program {
    /// The program as a tree; with the actual rows of `made` after an execution. `bound` is the statement it was
    /// compiled from; `costs` adds the estimated costs of scans.
    pub async fn explain(&self, bound: &Bound, input: Input<'_>, made: Option<&Made>, costs: bool) -> Vec<PlanNode> {
        let values = Values {
            env: input.env,
            params: input.params,
            outer: vec![Datum::Null; self.slots.len()],
            answers: vec![None; self.subqueries.len()],
        };
        let mut choices = Choices::default();
        choices.find(&self.root, &values, input.view, self.index_choice).await;
        let shown = Shown { program: self, bound, values, made, choices, costs };
        let once = self.once.iter().enumerate();
        let once = once.map(|(number, once)| shown.beside(format!("Once {}", number + 1), &once.node));
        let subqueries = self.subqueries.iter().enumerate();
        let subqueries = subqueries.map(|(number, of)| shown.beside(format!("Subquery {}", number + 1), &of.node));
        let beside: Vec<PlanNode> = once.chain(subqueries).flatten().collect();
        let mut roots = shown.nodes_of(&self.root, false);
        match roots.last_mut() {
            Some(root) => root.inputs.extend(beside),
            None => roots = beside,
        }
        roots
    }
}

impl Shown<'_> {
    /// The name of a column.
    fn name(&self, col: ColId) -> String {
        self.bound.col(col).map_or_else(|| "?".to_owned(), |info| info.name.clone())
    }

    fn names(&self, cols: &[ColId], places: &[usize]) -> String {
        let names: Vec<String> = places.iter().filter_map(|at| cols.get(*at)).map(|col| self.name(*col)).collect();
        names.join(", ")
    }

    /// A CTE or a subquery.
    fn beside(&self, name: String, node: &Node) -> Vec<PlanNode> {
        let mut nodes = self.nodes_of(node, true);
        if let Some(first) = nodes.first_mut() {
            first.subplan = Some(name);
        }
        nodes
    }

    /// A node with its inputs below it; of a node that is not shown its inputs, which take its place. `correlated`: it
    /// may read outer columns, whose values are unknown here.
    fn nodes_of(&self, node: &Node, correlated: bool) -> Vec<PlanNode> {
        let inputs = node.inputs(correlated);
        let inputs = inputs.into_iter().flat_map(|(input, correlated)| self.nodes_of(input, correlated)).collect();
        let Some(shown) = self.describe(node, correlated) else { return inputs };
        let rows = self.made.map(|made| made.0.get(&address(node)).copied().unwrap_or_default());
        vec![PlanNode { actual: rows.map(|rows| Actual { rows, busy: None }), inputs, ..shown }]
    }
}
