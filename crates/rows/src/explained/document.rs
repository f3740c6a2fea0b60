//! The document of the other formats, with PostgreSQL's names where it has such a property.

use super::{Estimate, ExplainedPlan, PlanNode, Property, in_capitals, millis};

/// A part of the document.
pub(super) enum Value {
    Text(String),
    /// A number, printed.
    Number(String),
    True,
    /// Parts with names, in order.
    Group(Vec<(String, Self)>),
    /// Groups; the name of each in formats in which items of a list have names.
    List(&'static str, Vec<Self>),
}

impl ExplainedPlan {
    /// The one statement of the document.
    pub(super) fn document(&self) -> Value {
        let mut parts = vec![("Plan".to_owned(), self.tree())];
        parts.extend(self.executor.map(|executor| ("Executor".to_owned(), Value::Text(executor.to_owned()))));
        if let Some(planning) = &self.planning {
            parts.push(("Planning Time".to_owned(), time(millis(planning.total))));
            let phases: Vec<_> =
                planning.phases.iter().map(|(name, took)| (in_capitals(name), time(millis(*took)))).collect();
            if !phases.is_empty() {
                parts.push(("Planning Phases".to_owned(), Value::Group(phases)));
            }
        }
        parts.extend(self.execution.map(|took| ("Execution Time".to_owned(), time(millis(took)))));
        Value::List("Query", vec![Value::Group(parts)])
    }

    fn tree(&self) -> Value {
        match self.roots.as_slice() {
            [root] => root.document(),
            roots => PlanNode { inputs: roots.to_vec(), ..PlanNode::of("Result") }.document(),
        }
    }
}

impl PlanNode {
    fn document(&self) -> Value {
        let mut parts = vec![("Node Type".to_owned(), Value::Text(in_capitals(&self.kind)))];
        parts.extend(self.subplan.iter().map(|name| ("Subplan Name".to_owned(), Value::Text(name.clone()))));
        parts.extend(self.named.iter().chain(&self.details).map(Property::document));
        let Estimate { rows, .. } = self.estimate;
        parts.extend(self.total_cost().map(|cost| ("Total Cost".to_owned(), Value::Number(format!("{cost:.2}")))));
        parts.extend(rows.map(|rows| ("Plan Rows".to_owned(), Value::Number(rows.to_string()))));
        if let Some(actual) = self.actual {
            parts.extend(self.total_time().map(|took| ("Actual Total Time".to_owned(), time(millis(took)))));
            parts.push(("Actual Rows".to_owned(), Value::Number(actual.rows.to_string())));
            // The counts are those of all loops together.
            parts.push(("Actual Loops".to_owned(), Value::Number("1".to_owned())));
        }
        if !self.inputs.is_empty() {
            let inputs = self.inputs.iter().map(Self::document).collect();
            parts.push(("Plans".to_owned(), Value::List("Plan", inputs)));
        }
        Value::Group(parts)
    }
}

impl Property {
    fn document(&self) -> (String, Value) {
        let value = self.value.clone().map_or(Value::True, Value::Text);
        (in_capitals(&self.name), value)
    }
}

fn time(millis: f64) -> Value {
    Value::Number(format!("{millis:.3}"))
}
