//! EXPLAIN of a program, as lines of text in the format of plans.
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
    lines: Vec<String>,
}

impl Program {
    /// The program as lines of text, the root node first; with the actual rows of `made` after an execution. `bound` is
    /// the statement it was compiled from; `costs` adds the estimated costs of scans.
    pub async fn explain(&self, bound: &Bound, input: Input<'_>, made: Option<&Made>, costs: bool) -> Vec<String> {
        let values = Values {
            env: input.env,
            params: input.params,
            outer: vec![Datum::Null; self.slots.len()],
            answers: vec![None; self.subqueries.len()],
        };
        let mut choices = Choices::default();
        choices.find(&self.root, &values, input.view, self.index_choice).await;
        let mut shown = Shown { program: self, bound, values, made, choices, costs, lines: Vec::new() };
        shown.draw(&self.root, 0, false);
        for (number, once) in self.once.iter().enumerate() {
            shown.beside(&format!("Once {}", number + 1), &once.node);
        }
        for (number, subquery) in self.subqueries.iter().enumerate() {
            shown.beside(&format!("Subquery {}", number + 1), &subquery.node);
        }
        shown.lines
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

    /// Prints a node outside of the tree: a CTE or a subquery.
    fn beside(&mut self, title: &str, node: &Node) {
        self.lines.push(format!("  {title}"));
        self.draw(node, 1, true);
    }

    /// Prints a node and its inputs. `correlated`: it may read outer columns, whose values are unknown here.
    fn draw(&mut self, node: &Node, depth: usize, correlated: bool) {
        let (title, details) = self.describe(node, correlated);
        if let Some(title) = &title {
            let (head, below) = match depth {
                0 => (String::new(), "  ".to_owned()),
                depth => (format!("{}->  ", " ".repeat(6 * depth - 4)), " ".repeat(6 * depth + 2)),
            };
            let rows = self.made.map(|made| made.0.get(&address(node)).copied().unwrap_or_default());
            let rows = rows.map_or(String::new(), |rows| format!(" (actual rows={rows})"));
            self.lines.push(format!("{head}{title}{rows}"));
            self.lines.extend(details.iter().map(|detail| format!("{below}{detail}")));
        }
        let depth = depth + usize::from(title.is_some());
        for (input, correlated) in node.inputs(correlated) {
            self.draw(input, depth, correlated);
        }
    }
}
