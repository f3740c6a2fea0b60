//! EXPLAIN (FORMAT TEXT): an indented tree.
//!
//! ```text
//!   Sort: placed DESC
//!     ->  Range scan on orders (rows=10)
//!           Key ranges: [7,*]
//! ```

use super::{Actual, Estimate, ExplainedPlan, PlanNode, Property, millis};

impl ExplainedPlan {
    /// The lines of FORMAT TEXT.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.roots.iter().for_each(|root| root.draw(0, &mut lines));
        lines.extend(self.executor.map(|executor| format!("Executor: {executor}")));
        if let Some(planning) = &self.planning {
            lines.push(format!("Planning Time: {:.3} ms", millis(planning.total)));
            let phase = |(name, took): &(&str, _)| format!("{name}: {:.3} ms", millis(*took));
            let phases: Vec<String> = planning.phases.iter().map(phase).collect();
            if !phases.is_empty() {
                lines.push(format!("  {}", phases.join(", ")));
            }
        }
        lines.extend(self.execution.map(|took| format!("Execution Time: {:.3} ms", millis(took))));
        lines
    }
}

impl PlanNode {
    /// Appends the lines of a node and its inputs.
    fn draw(&self, depth: usize, lines: &mut Vec<String>) {
        let (before, below) = match depth {
            0 => (String::new(), "  ".to_owned()),
            depth => (" ".repeat(6 * depth - 4), " ".repeat(6 * depth + 2)),
        };
        lines.extend(self.subplan.iter().map(|name| format!("{before}{name}")));
        let arrow = if depth == 0 { "" } else { "->  " };
        let actual = self.actual.map(|actual| actual.text()).unwrap_or_default();
        lines.push(format!("{before}{arrow}{}{}{actual}", self.title, self.estimate.text()));
        lines.extend(self.details.iter().map(|detail| format!("{below}{}", detail.text())));
        self.inputs.iter().for_each(|input| input.draw(depth + 1, lines));
    }
}

impl Property {
    fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}: {value}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Estimate {
    fn text(self) -> String {
        let cost = self.cost.map(|cost| format!("cost={cost:.2}"));
        let rows = self.rows.map(|rows| format!("rows={rows}"));
        let parts: Vec<String> = cost.into_iter().chain(rows).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(" ")) }
    }
}

impl Actual {
    fn text(self) -> String {
        match self.busy {
            Some(busy) => format!(" (actual rows={}, busy={:.3} ms)", self.rows, millis(busy)),
            None => format!(" (actual rows={})", self.rows),
        }
    }
}
