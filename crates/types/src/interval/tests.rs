//! Tests of intervals. The expected texts are from PostgreSQL 15.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::{IntervalStyle, TypeError};

fn parse_interval(text: &str) -> Result<Interval, TypeError> {
    parse_styled(text, IntervalFields::default(), || IntervalStyle::Postgres)
}

fn shown(text: &str) -> String {
    let mut out = String::new();
    print_interval(parse_interval(text).unwrap_or_else(|error| panic!("{text}: {error}")), &mut out);
    out
}

#[test]
fn every_form_is_read() {
    for (text, want) in [
        ("1 day 02:03", "1 day 02:03:00"),
        ("1 year 2 mons -3 days 04:05:06.5", "1 year 2 mons -3 days +04:05:06.5"),
        ("@ 1 minute ago", "-00:01:00"),
        ("1-2", "1 year 2 mons"),
        ("3 4:05:06", "3 days 04:05:06"),
        ("P1Y2M3DT4H5M6S", "1 year 2 mons 3 days 04:05:06"),
        ("P0001-02-03T04:05:06", "1 year 2 mons 3 days 04:05:06"),
        ("1.5 days", "1 day 12:00:00"),
        ("1.5 months", "1 mon 15 days"),
        ("1.5 years", "1 year 6 mons"),
        ("2 weeks", "14 days"),
        ("90", "00:01:30"),
        ("1h30m", "01:30:00"),
        ("1 century", "100 years"),
        ("-1 day -00:00:01", "-1 days -00:00:01"),
        ("100:00:00", "100:00:00"),
        ("04:05.5", "00:04:05.5"),
        ("0", "00:00:00"),
    ] {
        assert_eq!(shown(text), want, "{text}");
    }
    for text in ["", "x", "1 parsec", "1 2 3", "p", "1:2:3:4", "ago"] {
        assert!(matches!(parse_interval(text), Err(crate::TypeError::InvalidText { .. })), "{text}");
    }
    assert!(matches!(parse_interval("9999999999 years"), Err(crate::TypeError::IntervalRange { .. })));
}

#[test]
fn fractions_go_down_to_the_next_unit() {
    let times = |text: &str, factor: f64| {
        let mut out = String::new();
        print_interval(parse_interval(text).unwrap().checked_mul(factor).unwrap(), &mut out);
        out
    };
    assert_eq!(times("1 day", 3.0), "3 days");
    assert_eq!(times("1 mon", 0.5), "15 days");
    assert_eq!(times("1 day", 1.5), "1 day 12:00:00");
    assert_eq!(times("1 mon 1 day", 0.1), "3 days 02:24:00");
}

#[test]
fn months_are_added_first_and_cut_to_the_last_day() {
    let date = |year, month, day| days_from_civil(Civil { year, month, day }) * DAY;
    let add = |text: &str, to| parse_interval(text).unwrap().add_to(to).unwrap();
    assert_eq!(add("1 mon", date(2024, 1, 31)), date(2024, 2, 29));
    assert_eq!(add("-1 mon 1 day", date(2024, 3, 31)), date(2024, 3, 1));
    assert_eq!(add("1 day", i64::MAX), i64::MAX);
}

#[test]
fn a_month_equals_thirty_days() {
    assert_eq!(parse_interval("1 mon").unwrap(), parse_interval("30 days").unwrap());
    assert!(parse_interval("25 hours").unwrap().span() > parse_interval("1 day").unwrap().span());
}

#[test]
fn parts_are_justified() {
    let shown = |interval: Interval| {
        let mut out = String::new();
        print_interval(interval, &mut out);
        out
    };
    let read = |text| parse_interval(text).unwrap();
    assert_eq!(shown(read("35 days").justify_days().unwrap()), "1 mon 5 days");
    assert_eq!(shown(read("27 hours").justify_hours().unwrap()), "1 day 03:00:00");
    assert_eq!(shown(read("1 mon -1 hour").justify().unwrap()), "29 days 23:00:00");
}
