//! Locking clauses of queries, read from the form that `lexer/row_locks.rs` converts them to.

use super::{Cursor, Fault, Parse};
use crate::Statement;
use crate::lexer::row_locks::{DOT, STRENGTHS};
use crate::locking_subqueries::{has_locking_subquery, locks_rows};
use crate::statement::{LockingSelect, RowLock, RowLockStrength, RowLockWait, walk};
use sqlparser::ast::{Ident, LockClause, NonBlock, Query, Visitor};
use sqlparser::tokenizer::Location;
use std::ops::ControlFlow;

/// Returns a query as a statement: a locking one, if the query or a subquery of it has a locking clause.
pub(super) fn statement(c: &Cursor<'_>, mut query: Box<Query>) -> Parse<Statement> {
    let locks = std::mem::take(&mut query.locks);
    if locks.is_empty() && !locks_rows(&query) {
        return Ok(Statement::Query(query));
    }
    let locks = locks.iter().map(|clause| read(clause).map_err(|bad| bad.fault(c))).collect::<Parse<_>>()?;
    Ok(Statement::LockingSelect(Box::new(LockingSelect { query, locks })))
}

/// Checks the locking clauses of subqueries: only statements that can lock rows may have them.
pub(super) fn check(c: &Cursor<'_>, statement: &Statement) -> Parse<()> {
    match walk::shared::statement(statement, &mut Clauses) {
        ControlFlow::Continue(()) => {}
        ControlFlow::Break(bad) => return Err(bad.fault(c)),
    }
    let takes = |statement: &Statement| {
        matches!(
            statement,
            Statement::LockingSelect(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)
        )
    };
    let taken = match statement {
        Statement::Prepare { statement, .. } => takes(statement),
        Statement::Explain(explain) => takes(&explain.statement),
        other => takes(other),
    };
    match !taken && has_locking_subquery(statement) {
        true => Err(c.unsupported("a locking clause at this place")),
        false => Ok(()),
    }
}

/// An error in a locking clause.
pub(crate) enum Bad {
    Syntax,
    Qualified(Location, RowLockStrength),
}

impl Bad {
    fn fault(self, c: &Cursor<'_>) -> Box<Fault> {
        match self {
            Self::Syntax => c.syntax(),
            Self::Qualified(place, strength) => {
                let message = format!("{} must specify unqualified relation names", strength.words());
                c.invalid_at(Some(place), &message)
            }
        }
    }
}

struct Clauses;

impl Visitor for Clauses {
    type Break = Bad;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Bad> {
        match query.locks.iter().find_map(|clause| read(clause).err()) {
            Some(bad) => ControlFlow::Break(bad),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Converts a clause back from that form.
pub(crate) fn read(clause: &LockClause) -> Result<RowLock, Bad> {
    let LockClause { lock_type: _, of, nonblock } = clause;
    let mut parts = of.iter().flat_map(|of| &of.0).filter_map(|part| part.as_ident());
    let written = parts.next().map(|ident| ident.value.as_str()).unwrap_or_default();
    let strength = match STRENGTHS.iter().position(|(_, name)| *name == written) {
        Some(0) => RowLockStrength::NoKeyUpdate,
        Some(1) => RowLockStrength::KeyShare,
        Some(2) => RowLockStrength::Update,
        Some(3) => RowLockStrength::Share,
        _ => return Err(Bad::Syntax),
    };
    let mut of = Vec::new();
    for part in parts {
        if part.value == DOT {
            return Err(Bad::Qualified(part.span.start, strength));
        }
        of.push(match part.quote_style {
            Some(_) => part.clone(),
            None => Ident { value: part.value.to_ascii_lowercase(), ..part.clone() },
        });
    }
    let wait = match nonblock {
        None => RowLockWait::Block,
        Some(NonBlock::SkipLocked) => RowLockWait::Skip,
        Some(NonBlock::Nowait) => RowLockWait::Fail,
    };
    Ok(RowLock { strength, of, wait })
}
