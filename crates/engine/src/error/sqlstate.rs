//! The one place where SQLSTATEs are chosen: every match here is exhaustive, so that a new variant of any
//! crate's error does not compile until it has a code.

use super::{EngineError, Fault, Report};

fn fault_code(fault: &Fault) -> &'static str {
    match fault {
        Fault::Unsupported { .. } => "0A000",
        Fault::NoSuchDatabase { .. } => "3D000",
    }
}

impl From<Fault> for EngineError {
    fn from(fault: Fault) -> Self {
        let report = Report { code: fault_code(&fault), message: fault.to_string(), ..Report::default() };
        Self { report: Box::new(report) }
    }
}
