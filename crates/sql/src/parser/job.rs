//! SHOW JOBS, PAUSE JOB, RESUME JOB, CANCEL JOB.

use super::{Cursor, Parse};
use crate::Statement;
use crate::statement::{ControlJob, JobAction};
use sqlparser::tokenizer::Token;

/// Parses `{PAUSE | RESUME | CANCEL} JOB n`.
pub(super) fn control(c: &mut Cursor<'_>) -> Parse<Statement> {
    let action = if c.eat("PAUSE") {
        JobAction::Pause
    } else if c.eat("RESUME") {
        JobAction::Resume
    } else {
        c.need("CANCEL")?;
        JobAction::Cancel
    };
    c.need("JOB")?;
    let Token::Number(digits, _) = c.peek() else { return Err(c.expected("the number of a job")) };
    let id = digits.parse().map_err(|_| c.expected("the number of a job"))?;
    c.next();
    Ok(Statement::ControlJob(ControlJob { action, id }))
}
