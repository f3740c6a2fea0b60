//! The report: a table of the results of both sides, their ratio and its target. It is printed as it grows, and stored
//! on a page of the documentation between two marks that name the part.

use crate::error::BenchError;
use std::path::Path;

/// Whether more or less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    /// Rates.
    More,
    /// Times and sizes.
    Less,
}

/// One line: the results of all rounds of both sides.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    pub(crate) ours: Vec<f64>,
    pub(crate) theirs: Vec<f64>,
    /// The target ratio, if there is one.
    pub(crate) target: Option<f64>,
}

/// All lines, printed as they are added, so that a long run shows its progress.
#[derive(Debug)]
pub(crate) struct Report {
    head: &'static str,
    lines: Vec<String>,
    /// Workloads that could not be measured.
    failures: Vec<String>,
}

const HEAD: &str = "| work | Bennu | peer | unit | ratio | target | |\n|---|---|---|---|---|---|---|";

impl Default for Report {
    fn default() -> Self {
        Self::with_head(HEAD)
    }
}

impl Report {
    /// A table with other columns; its rows are added by [`Report::print`].
    pub(crate) fn with_head(head: &'static str) -> Self {
        Self { head, lines: Vec::new(), failures: Vec::new() }
    }

    /// Adds and prints a line, after the head if it is the first.
    pub(crate) fn add(&mut self, line: &Line) {
        let (ours, theirs) = (median(&line.ours), median(&line.theirs));
        let ratio = match line.better {
            Better::More => ours / theirs,
            Better::Less => theirs / ours,
        };
        let (target, verdict) = match line.target {
            Some(target) if ratio >= target => (format!("{target}x"), "met"),
            Some(target) => (format!("{target}x"), "short"),
            None => (String::new(), ""),
        };
        let (name, unit, ours, theirs) = (&line.name, line.unit, figure(ours), figure(theirs));
        self.print(format!("| {name} | {ours} | {theirs} | {unit} | {ratio:.2}x | {target} | {verdict} |"));
    }

    /// Adds and prints a formatted row.
    pub(crate) fn print(&mut self, line: String) {
        if self.lines.is_empty() {
            println!("{}", self.head);
        }
        println!("{line}");
        self.lines.push(line);
    }

    /// Records a failure; the run fails at its end.
    pub(crate) fn note(&mut self, failure: &str) {
        println!("missing: {failure}");
        self.failures.push(failure.into());
    }

    /// Returns the result of a workload, or records its failure.
    pub(crate) fn note_failure_of<T>(&mut self, workload: &str, done: Result<T, BenchError>) -> Option<T> {
        done.map_err(|error| self.note(&format!("{workload}: {error}"))).ok()
    }

    /// # Errors
    /// When a failure was recorded.
    pub(crate) fn end(self) -> Result<(), BenchError> {
        match self.failures.first() {
            None => Ok(()),
            Some(_) => Err(BenchError::Wrong(format!("not measured: {}", self.failures.join("; ")))),
        }
    }

    /// Replaces the table of `part` on `page`, which must have its marks.
    ///
    /// # Errors
    /// When the page cannot be read or written, or has no such marks.
    pub(crate) fn write_to(&self, page: &Path, part: &str) -> Result<(), BenchError> {
        let text = std::fs::read_to_string(page)?;
        let table = format!("{}\n{}", self.head, self.lines.join("\n"));
        let Some(text) = between_marks(&text, part, &table) else {
            return Err(BenchError::Wrong(format!("{} has no marks of {part}", page.display())));
        };
        Ok(std::fs::write(page, text)?)
    }

    /// Adds a value without a peer, compared with a limit.
    pub(crate) fn limit(&mut self, name: &str, value: f64, unit: &'static str, limit: f64) {
        let verdict = if value <= limit { "met" } else { "short" };
        self.print(format!("| {name} | {} | | {unit} | | under {limit} | {verdict} |", figure(value)));
    }
}

/// Replaces the text between the marks of `part`; `None` without marks.
fn between_marks(text: &str, part: &str, new: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {part}: begin -->"), format!("<!-- {part}: end -->"));
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{new}\n{end}{after}"))
}

/// The median; of an even count the lower middle value.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

pub(crate) fn figure(value: f64) -> String {
    if value >= 1000.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.3}")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(super::median(&[3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
        assert!(super::median(&[]).is_nan());
    }

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb";
        let new = super::between_marks(page, "x", "new");
        assert_eq!(new.as_deref(), Some("a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb"));
        assert_eq!(super::between_marks(page, "y", "new"), None);
    }
}
