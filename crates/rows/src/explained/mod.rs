//! What EXPLAIN shows: one tree for row programs, plans and writes, printed in every format.
//!
//! ```text
//!   row program ┐                    ┌──> lines of text                       (text.rs)
//!   plan        ├──> ExplainedPlan ──┤
//!   write       ┘                    └──> document ──> JSON, XML, YAML        (document.rs, json.rs, xml.rs, yaml.rs)
//! ```

mod document;
mod json;
#[cfg(test)]
mod tests;
mod text;
mod xml;
mod yaml;

use std::time::Duration;

/// A plan or program as EXPLAIN shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExplainedPlan {
    /// The tree. Almost always one node.
    pub roots: Vec<PlanNode>,
    /// What runs it, if that is shown.
    pub executor: Option<&'static str>,
    /// The planning time, if it is shown.
    pub planning: Option<Planning>,
    /// The execution time, if it is shown.
    pub execution: Option<Duration>,
}

/// A node of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanNode {
    /// The first line of its text.
    pub title: String,
    /// What kind of node it is.
    pub kind: String,
    /// What the title says beside the kind.
    pub named: Vec<Property>,
    /// The lines below the title.
    pub details: Vec<Property>,
    /// The estimates, if they are shown.
    pub estimate: Estimate,
    /// The counts of an execution.
    pub actual: Option<Actual>,
    /// The name of a query that is computed beside the tree.
    pub subplan: Option<String>,
    /// The nodes whose rows it reads.
    pub inputs: Vec<PlanNode>,
}

/// The estimates of a node, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The cost of the node itself, in rows that are read.
    pub cost: Option<f64>,
    /// The number of rows that it returns.
    pub rows: Option<u64>,
}

/// What a node did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actual {
    /// The number of rows that it returned.
    pub rows: u64,
    /// The time that it computed, without its inputs.
    pub busy: Option<Duration>,
}

/// The time of planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planning {
    /// The whole time.
    pub total: Duration,
    /// Its phases, by name.
    pub phases: Vec<(&'static str, Duration)>,
}

/// A property of a node: `Key ranges: [7]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name, as a line of text begins.
    pub name: String,
    /// Its value; `None` of a property that a node has or has not.
    pub value: Option<String>,
}

impl Property {
    /// A property with a value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Some(value.into()) }
    }

    /// A property that a node has or has not.
    pub fn flag(name: impl Into<String>) -> Self {
        Self { name: name.into(), value: None }
    }
}

impl PlanNode {
    /// A node whose title is its kind.
    pub fn of(kind: impl Into<String>) -> Self {
        let kind = kind.into();
        Self { title: kind.clone(), kind, ..Self::default() }
    }

    /// A node with the title `kind: value`. `name` is the name of the value where the title is not printed.
    pub fn doing(kind: &str, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        let named = vec![Property::new(name, value.as_str())];
        Self { title: format!("{kind}: {value}"), kind: kind.to_owned(), named, ..Self::default() }
    }

    /// Constant rows: `Values: rows=2`.
    pub fn values(rows: usize) -> Self {
        Self::of("Values").titled(format!("Values: rows={rows}")).naming("Values", rows.to_string())
    }

    /// A join: `Hash semi join`. `matching` is `inner` for one without a word of its own; `of` ends the title.
    pub fn joining(how: &str, matching: &str, of: &str) -> Self {
        let word = if matching == "inner" { String::new() } else { format!(" {matching}") };
        let node = Self::of(format!("{how} join")).titled(format!("{how}{word} join{of}"));
        node.naming("Join type", in_capitals(matching))
    }

    /// The node with another title.
    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// The node with a property that the title names.
    #[must_use]
    pub fn naming(mut self, name: &str, value: impl Into<String>) -> Self {
        self.named.push(Property::new(name, value));
        self
    }

    /// The node with more lines below its title.
    #[must_use]
    pub fn with(mut self, details: impl IntoIterator<Item = Property>) -> Self {
        self.details.extend(details);
        self
    }

    /// The estimated cost of the node and all its inputs.
    fn total_cost(&self) -> Option<f64> {
        let inputs = self.inputs.iter().map(Self::total_cost);
        std::iter::once(self.estimate.cost).chain(inputs).flatten().reduce(|sum, cost| sum + cost)
    }

    /// The time of the node and all its inputs.
    fn total_time(&self) -> Option<Duration> {
        let inputs = self.inputs.iter().map(Self::total_time);
        let own = self.actual.and_then(|actual| actual.busy);
        std::iter::once(own).chain(inputs).flatten().reduce(|sum, time| sum.saturating_add(time))
    }
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// Every word with a capital, as PostgreSQL writes names: `Key ranges` is `Key Ranges`.
fn in_capitals(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    name.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
