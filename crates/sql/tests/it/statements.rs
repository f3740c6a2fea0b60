//! Every statement of `fixtures/statements.txt` prints as written there, and reads back as itself.

use crate::one;
use crate::printed::Printed;

#[test]
fn statements_print_and_read_back() {
    let mut lines =
        include_str!("../../fixtures/statements.txt").lines().filter(|line| !line.starts_with('#')).peekable();
    let mut count = 0;
    while let Some(text) = lines.next() {
        let printed = lines.next_if(|line| line.starts_with("  -> ")).map_or(text, |line| &line[5..]);
        let statement = one(text);
        assert_eq!(Printed(&statement).to_string(), printed, "{text}");
        let again = one(printed);
        assert_eq!(again, statement, "{text}");
        assert_eq!(Printed(&again).to_string(), printed, "{text}");
        count += 1;
    }
    assert!(count > 120, "only {count} statements were found");
}
