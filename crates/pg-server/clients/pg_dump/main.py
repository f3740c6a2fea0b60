"""What pg_dump 15 writes of a schema, each entry of it as one line: `entry | its statements`.

    main.py HOST PORT BIN POSTGRES_PORT

What was written of the schema is played back into PostgreSQL, and into the server that it is of.
"""

import re
import subprocess
import sys
from pathlib import Path

HOST, PORT, BIN, POSTGRES = sys.argv[1:]


def run(name, *arguments, text=None, port=PORT):
    where = ["-h", HOST, "-p", port, "-U", "clients", "-d", "bennu"]
    done = subprocess.run([f"{BIN}/{name}", *where, *arguments], input=text, capture_output=True, text=True)
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
            for name, port in [("in PostgreSQL", POSTGRES), ("where it is from", PORT)]:
                run("psql", "-X", "-q", "-c", "DROP SCHEMA IF EXISTS again CASCADE", port=port)
                again = dump.replace("dumped", "again")
                code, out, errors = run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", text=again, port=port)
                print(f"restored {name} | {code} {errors}")
    code, dump, errors = run("pg_dump", "--schema-only")
    print(f"whole database: end | {code} {errors}")


main()
