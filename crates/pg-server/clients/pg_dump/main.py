"""What pg_dump 15 writes of a schema, each entry of it as one line: `entry | its statements`.

    main.py HOST PORT BIN
"""

import re
import subprocess
import sys
from pathlib import Path

HOST, PORT, BIN = sys.argv[1:]
WHERE = ["-h", HOST, "-p", PORT, "-U", "clients", "-d", "bennu"]


def run(name, *arguments, text=None):
    done = subprocess.run([f"{BIN}/{name}", *WHERE, *arguments], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout, " ".join(done.stderr.split())


def entries(dump):
    """`Type Name` of each entry, with its statements on one line."""
    parts = re.split(r"^-- (?:Data for )?Name: (.*?); Type: (.*?);.*$", dump, flags=re.MULTILINE)
    yield "settings", parts[0]
    for name, kind, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        yield f"{kind} {name}", body


def plain(body):
    lines = [line for line in body.splitlines() if line and not line.startswith("--")]
    # The key of psql's restricted mode is random.
    return re.sub(r"\\(un)?restrict \S+", r"\\\1restrict", " ".join(" ".join(lines).split()))


def main():
    for statement in Path(__file__).with_name("schema.sql").read_text().split(";\n"):
        if statement.strip():
            code, _, errors = run("psql", "-X", "-q", "-c", statement)
            if code:
                print(f"?schema | {statement!r}: {errors}")
    for what, options in [("schema", ["--schema-only"]), ("rows", ["--data-only"]), ("inserts", ["--data-only", "--inserts"])]:
        code, dump, errors = run("pg_dump", *options, "--schema=dumped")
        print(f"{what}: end | {code} {errors}")
        for name, body in entries(dump):
            print(f"{what}: {name} | {plain(body)}")
        if what == "schema":
            run("psql", "-X", "-q", "-c", "DROP SCHEMA IF EXISTS again CASCADE")
            again = dump.replace("dumped", "again")
            code, out, errors = run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", text=again)
            print(f"restored | {code} {errors}")
    code, dump, errors = run("pg_dump", "--schema-only")
    print(f"whole database: end | {code} {errors}")


main()
