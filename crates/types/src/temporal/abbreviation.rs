//! Abbreviations of time zones in PostgreSQL's default set: those that never had another offset.
//!
//! Each has one offset all year round: EST is five hours behind UTC in summer too, when local time is EDT.

/// Minutes east of UTC, and the abbreviations.
const ABBREVIATIONS: &[(i32, &str)] = &[
    (-600, "HST"),
    (-540, "AKST"),
    (-480, "AKDT PST"),
    (-420, "MST PDT"),
    (-360, "CST MDT"),
    (-300, "CDT EST PET"),
    (-240, "AST BOT EDT"),
    (-210, "NFT NST"),
    (-180, "ADT BRT PMST"),
    (-150, "NDT"),
    (-120, "BRST PMDT"),
    (0, "GMT UCT UT UTC WET Z ZULU"),
    (60, "BST CET MET MEZ WAT WETDST"),
    (120, "CEST CETDST EET IST MEST MESZ METDST SAST"),
    (180, "EAT EEST EETDST IDT"),
    (300, "PKT"),
    (345, "NPT"),
    (420, "ICT"),
    (480, "AWST HKT MYT PHT SGT"),
    (525, "ACWST"),
    (540, "JST KST"),
    (570, "ACST"),
    (600, "AEST"),
    (630, "ACDT"),
    (660, "AEDT"),
    (720, "NZST NZT"),
    (765, "CHAST"),
    (780, "NZDT"),
    (825, "CHADT"),
];

/// Returns the seconds east of UTC of an abbreviation in any case.
pub fn abbreviation(name: &str) -> Option<i32> {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    let found = ABBREVIATIONS.iter().find(|(_, names)| names.split(' ').any(is));
    found.map(|(minutes, _)| minutes * 60)
}

/// The abbreviations of daylight saving time.
const SUMMER: &str = "ACDT ADT AEDT AKDT BRST BST CDT CEST CETDST CHADT EDT EEST EETDST IDT MDT MEST MESZ METDST NDT NZDT \
    PDT PMDT WETDST";

/// Returns all abbreviations by name, with their seconds east of UTC.
pub fn abbreviations() -> impl Iterator<Item = (&'static str, i32)> {
    let mut all: Vec<(&str, i32)> = ABBREVIATIONS
        .iter()
        .flat_map(|(minutes, names)| names.split(' ').map(move |name| (name, minutes * 60)))
        .collect();
    all.sort_unstable();
    all.into_iter()
}

/// Returns whether it is an abbreviation of daylight saving time.
pub fn is_summer_time(abbreviation: &str) -> bool {
    SUMMER.split_whitespace().any(|name| name.eq_ignore_ascii_case(abbreviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_are_found_in_any_case() {
        assert_eq!(abbreviation("PDT"), Some(-7 * 3600));
        assert_eq!(abbreviation("cest"), Some(2 * 3600));
        assert_eq!(abbreviation("NPT"), Some(5 * 3600 + 45 * 60));
        assert_eq!(abbreviation("Z"), Some(0));
        assert_eq!(abbreviation("XYZ"), None);
        assert_eq!(abbreviation(""), None);
    }
}
