//! `pg_timezone_names` and `pg_timezone_abbrevs`: the zones that `TimeZone` and AT TIME ZONE accept.

use crate::rows::{Cell, Rows};
use crate::source::Source;
use types::temporal::{abbreviations, is_summer_time};

pub(super) fn names(source: &Source, rows: &mut Rows) {
    for zone in source.live.time_zones() {
        rows.add([
            ("name", zone.name.into()),
            ("abbrev", zone.abbreviation.into()),
            ("utc_offset", Cell::Seconds(i64::from(zone.offset))),
            ("is_dst", zone.is_dst.into()),
        ]);
    }
}

pub(super) fn abbrevs(_: &Source, rows: &mut Rows) {
    for (name, offset) in abbreviations() {
        rows.add([
            ("abbrev", name.into()),
            ("utc_offset", Cell::Seconds(i64::from(offset))),
            ("is_dst", is_summer_time(name).into()),
        ]);
    }
}
