//! Short names of calls in schemas.
//!
//! A plan names an expression by its text, and planning asks for the name of each subexpression again and again: for
//! nested calls the time grows with the cube of their number. So a long name is replaced by one with a hash. Only plans
//! see these names.

use datafusion::logical_expr::Expr;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longer names are replaced.
const LONGEST: usize = 120;

/// Returns the name of a call in schemas: equal for equal arguments, different for others.
pub(super) fn short_name(name: &str, args: &[Expr]) -> String {
    let args: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
    let written = format!("{name}({})", args.join(","));
    if written.len() <= LONGEST {
        return written;
    }
    format!("{name}(#{:016x}{:016x})", hash(0, &written), hash(1, &written))
}

fn hash(half: u8, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (half, text).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};

    #[test]
    fn a_long_name_is_short_and_its_own() {
        assert_eq!(short_name("f", &[col("a"), lit(1_i32)]), "f(a,Int32(1))");
        let long = |end: &str| short_name("f", &[col(format!("{}{end}", "a".repeat(200)))]);
        assert_eq!(long("x"), long("x"));
        assert_ne!(long("x"), long("y"));
        assert_eq!(long("x").len(), "f(#)".len() + 32);
    }
}
