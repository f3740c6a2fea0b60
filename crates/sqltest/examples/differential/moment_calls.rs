//! Functions of dates, timestamps and intervals with constants near the limits of their types.

use crate::random::Random;

fn moment(random: &mut Random) -> &'static str {
    random.of(&[
        "timestamp '2024-02-29 23:59:59.5'",
        "timestamp '1999-12-31 00:00'",
        "timestamp '2000-01-01 12:34:56'",
        "timestamp '0001-01-01 BC'",
        "date '2024-03-31'",
        "date '2021-01-03'",
        "date '1969-12-31'",
        "timestamptz '2024-07-01 10:00+05'",
        "NULL::timestamp",
    ])
}

/// A call or an operator over dates and timestamps.
pub(crate) fn moments(random: &mut Random) -> String {
    let field = random.of(&[
        "year",
        "month",
        "day",
        "hour",
        "minute",
        "second",
        "milliseconds",
        "microseconds",
        "epoch",
        "dow",
        "isodow",
        "doy",
        "week",
        "isoyear",
        "quarter",
        "decade",
        "century",
        "millennium",
        "julian",
        "timezone",
        "foo",
    ]);
    let picture = random.of(&[
        "YYYY-MM-DD HH24:MI:SS.MS",
        "Day, DD Month YYYY",
        "FMDay FMDD FMMonth",
        "IYYY-\"W\"IW-ID",
        "DDth Mon YY",
        "HH12:MI AM",
        "J Q W WW CC",
        "Dy DY dy",
        "SSSS US",
        "YYYY BC",
        "Y,YYY",
        "MONTH Mon mon",
        "TZ",
        "RM",
        "FF3",
    ]);
    let (x, y) = (moment(random), moment(random));
    match random.below(20) {
        0..3 => format!("extract({field} from {x})"),
        3 => format!("date_part('{field}', {x})"),
        4 | 5 => format!("date_trunc('{field}', {x})"),
        6..9 => format!("to_char({x}, '{picture}')"),
        9 => format!("age({x}, {y})"),
        10 => format!("{x} - {y}"),
        11 => format!("{x} + interval '1 month', {y} - interval '1 mon 1 day 1 hour'"),
        12 => format!(
            "make_date({}, {}, {})",
            random.of(&["2024", "0", "-5", "2023"]),
            random.of(&["2", "13"]),
            random.of(&["29", "1", "0"])
        ),
        13 => format!(
            "make_time({}, 5, {}), make_timestamp(2024, 2, 29, {}, 0, 0.5)",
            random.of(&["23", "24"]),
            random.of(&["1.5", "60"]),
            random.of(&["0", "25"])
        ),
        14 => format!(
            "to_date('{}', '{}')",
            random.of(&["2024-02-29", "29 Feb 2024", "20241301", "24/2/9", "2024 060"]),
            random.of(&["YYYY-MM-DD", "DD Mon YYYY", "YY/MM/DD", "YYYY DDD"])
        ),
        15 => format!(
            "to_timestamp('{}', '{}')",
            random.of(&["2024-02-29 13:14:15", "12:30 PM 2024", "1700000000"]),
            random.of(&["YYYY-MM-DD HH24:MI:SS", "HH12:MI AM YYYY", "SSSSS"])
        ),
        16 => format!("date_bin('{}', {x}, {y})", random.of(&["15 minutes", "1 day", "1 month", "0 s", "-1 hour"])),
        17 => format!("{x} < {y}, {x} = {y}, {x} IS DISTINCT FROM {y}, greatest({x}, {y})"),
        18 => format!("({x})::date + {}, ({y})::date - ({x})::date", random.of(&["1", "-400", "100000000"])),
        _ => format!(
            "{x} AT TIME ZONE '{}', isfinite({y})",
            random.of(&["UTC", "Europe/Berlin", "+3", "America/New_York", "nowhere"])
        ),
    }
}

/// A call or an operator over intervals.
pub(crate) fn intervals(random: &mut Random) -> String {
    let mut i = || {
        random.of(&[
            "interval '1 day'",
            "interval '-1 mon 2 days'",
            "interval '36:00'",
            "interval '1 year 2 mons 3 days 04:05:06.7'",
            "interval '-00:00:00.5'",
            "interval '100 days'",
            "interval '0'",
            "NULL::interval",
            "interval '1.5' hour",
            "interval '3' month",
            "interval '30 days'",
            "interval '1 mon'",
            "interval '24:00'",
            "interval '1-2' year to month",
        ])
    };
    let (x, y) = (i(), i());
    match random.below(12) {
        0 => format!("{x} + {y}, {x} - {y}"),
        1 => format!("{x} * {}", random.of(&["2", "0.5", "-1.5", "1.0/3", "NULL"])),
        2 => format!("{x} / {}", random.of(&["2", "0.5", "3", "0", "7"])),
        3 => format!("{x} < {y}, {x} = {y}, {x} >= {y}"),
        4 => format!("justify_days({x}), justify_hours({y}), justify_interval({x})"),
        5 => format!(
            "extract({} from {x})",
            random.of(&["epoch", "day", "hour", "month", "second", "year", "quarter", "decade"])
        ),
        6 => format!("to_char({x}, '{}')", random.of(&["HH24:MI:SS", "DD", "YYYY-MM", "HH12 AM", "SSSS", "DDD"])),
        7 => format!("greatest({x}, {y}), least({x}, {y}), nullif({x}, {y})"),
        8 => format!(
            "make_interval({})",
            random.of(&["1, 2, 3, 4, 5, 6, 7.5", "years => -1", "secs => 90.25", "days => 40, mins => -5"])
        ),
        9 => format!("time '12:00' + {x}, time '01:00' - {y}"),
        10 => format!("{x} IN ({y}, interval '1 day'), {x} IS DISTINCT FROM {y}, - {x}"),
        _ => format!("date_trunc('{}', {x})", random.of(&["hour", "month", "day", "year"])),
    }
}
