//! The table: figure beside figure, their ratio beside its target.

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    /// Rates.
    More,
    /// Times and sizes.
    Less,
}

/// One line: the rounds of both sides.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    pub(crate) ours: Vec<f64>,
    pub(crate) theirs: Vec<f64>,
    /// The ratio to reach.
    pub(crate) target: f64,
}

/// All lines; printed as they come, so that a long run shows its progress.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: usize,
}

impl Report {
    /// Prints the line (and the head before the first).
    pub(crate) fn add(&mut self, line: &Line) {
        if self.lines == 0 {
            println!("| work | Bennu | peer | unit | ratio | target | |");
            println!("|---|---|---|---|---|---|---|");
        }
        self.lines += 1;
        let (ours, theirs) = (median(&line.ours), median(&line.theirs));
        let ratio = match line.better {
            Better::More => ours / theirs,
            Better::Less => theirs / ours,
        };
        let verdict = if ratio >= line.target { "met" } else { "short" };
        let (ours, theirs) = (figure(ours), figure(theirs));
        println!("| {} | {ours} | {theirs} | {} | {ratio:.2}x | {}x | {verdict} |", line.name, line.unit, line.target);
    }

    /// A figure without a peer, against a limit.
    pub(crate) fn limit(&mut self, name: &str, value: f64, unit: &'static str, limit: f64) {
        self.lines += 1;
        let verdict = if value <= limit { "met" } else { "short" };
        println!("| {name} | {} | | {unit} | | under {limit} | {verdict} |", figure(value));
    }
}

/// The middle value; with an even count the lower of the two.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

fn figure(value: f64) -> String {
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
}
