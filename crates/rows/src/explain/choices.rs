//! The access path of each scan, chosen as in an execution, and its estimated cost.

use crate::access::ScanPath;
use crate::exec::{Choice, described};
use crate::expr::{Frame, RowExpr, Values};
use crate::plan::{Limit, Node, NodeKind};
use index::IndexChoice;
use std::collections::HashMap;
use txn::ReadView;
use types::Datum;

/// The choices for scans whose operands are all known.
#[derive(Default)]
pub(super) struct Choices(HashMap<usize, Choice>);

impl Choices {
    /// The access path that a scan takes, and its cost.
    pub(super) fn of(&self, path: &ScanPath) -> Option<Choice> {
        self.0.get(&place(path)).copied()
    }

    /// Chooses for a node and all nodes below it. A scan whose operands fail to evaluate is left out; it fails in an
    /// execution, too.
    pub(super) async fn find(&mut self, root: &Node, values: &Values<'_>, view: &ReadView, choice: IndexChoice) {
        let mut open: Vec<(&Node, bool, Option<usize>)> = vec![(root, false, None)];
        while let Some((node, correlated, wanted)) = open.pop() {
            if let NodeKind::Scan(path) = &node.kind
                && !correlated
                && let Ok(found) = described(path, &Frame { row: &[], values }, view, choice).await
            {
                self.0.insert(place(path), found.best(choice, wanted));
            }
            let below = match &node.kind {
                NodeKind::Limit(limit) => most(limit, values),
                NodeKind::Pick { .. } | NodeKind::Project { .. } => wanted,
                _ => None,
            };
            open.extend(node.inputs(correlated).into_iter().map(|(input, correlated)| (input, correlated, below)));
        }
    }
}

/// The number of rows that a limit needs.
fn most(limit: &Limit, values: &Values<'_>) -> Option<usize> {
    let number = |expr: &RowExpr| match expr.eval(&Frame { row: &[], values }).ok()?.as_ref() {
        Datum::Null => None,
        value => usize::try_from(value.as_i64()?).ok(),
    };
    let count = number(limit.count.as_ref()?)?;
    Some(count.saturating_add(limit.offset.as_ref().and_then(number).unwrap_or(0)))
}

/// The address of a path identifies it for the lifetime of its program.
fn place(path: &ScanPath) -> usize {
    std::ptr::from_ref(path) as usize
}
