"""What a program does with asyncpg, each step as one line: `step | result`.

    main.py HOST PORT
"""

import asyncio
import datetime as dt
import decimal
import io
import sys
import uuid

import asyncpg

HOST, PORT = sys.argv[1], int(sys.argv[2])
WHERE = {"host": HOST, "port": PORT, "user": "clients", "database": "bennu", "ssl": False}
UTC = dt.timezone.utc
VALUES = {
    "boolean": False,
    "smallint": 32767,
    "integer": -2147483648,
    "bigint": 9223372036854775807,
    "real": -0.5,
    "double precision": 1e300,
    "numeric(12,3)": decimal.Decimal("0.125"),
    "numeric": decimal.Decimal("-98765432109876543210.5"),
    "text": "text with ' and \\ and ü",
    "varchar(5)": "",
    "char(4)": "abc",
    "bytea": b"\x00\xff",
    "date": dt.date(1999, 12, 31),
    "time": dt.time(0, 0, 0, 1),
    "timestamp": dt.datetime(1999, 12, 31, 23, 59, 59, 999999),
    "timestamptz": dt.datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC),
    "uuid": uuid.UUID("00000000-0000-0000-0000-0000000000ff"),
    "interval": dt.timedelta(days=400, seconds=-1, microseconds=1),
    "int[]": [1, None, -3],
    "bigint[]": [2**40],
    "text[]": ["a", 'with " and \\', "", None],
    "varchar[]": ["a", None],
    "bool[]": [True, False],
    "float8[]": [0.5, -1e300],
    "numeric[]": [decimal.Decimal("1.25"), decimal.Decimal("-3")],
    "date[]": [dt.date(2020, 2, 29), None],
    "timestamp[]": [dt.datetime(2020, 2, 29, 12)],
    "uuid[]": [uuid.UUID("00000000-0000-0000-0000-0000000000ff")],
    "bytea[]": [b"\x00\xff", b""],
    "interval[]": [dt.timedelta(days=1), dt.timedelta(seconds=-1)],
}


async def step(name, work):
    """Prints what `work` returns, or the class and SQLSTATE of what it raises."""
    try:
        result = await work()
    except asyncpg.PostgresError as error:
        result = f"{type(error).__name__} {error.sqlstate}"
    except Exception as error:  # a bug of the driver's or the server's
        result = f"!{type(error).__name__}: {error}"
    print(f"{name} | {result!r}", flush=True)


def rows(records):
    return [tuple(record) for record in records]


async def types(conn):
    for name, value in VALUES.items():
        async def one():
            return tuple(await conn.fetchrow(f"SELECT $1::{name}, NULL::{name}, pg_typeof($1::{name})::text", value))

        await step(name, one)

    async def described():
        prepared = await conn.prepare("SELECT n, s FROM numbers WHERE n = $1 AND s = $2")
        return [p.name for p in prepared.get_parameters()], [(a.name, a.type.name) for a in prepared.get_attributes()]

    await step("described", described)

    async def infers():
        return await conn.fetchval("SELECT $1 + 1", 41)

    await step("infers", infers)

    async def wrong():
        return await conn.fetchval("SELECT $1::int", "text")

    await step("wrong argument", wrong)

    async def lists():
        return await conn.fetchval("SELECT array_length($1::int[], 1)", [1, 2, 3])

    await step("list", lists)

    async def any_of():
        return rows(await conn.fetch("SELECT n FROM numbers WHERE n = ANY($1::int[]) ORDER BY n", [1, 5, 9999]))

    await step("any of a list", any_of)


async def reading(conn):
    async def cursor():
        async with conn.transaction():
            return [record["n"] async for record in conn.cursor("SELECT n FROM numbers ORDER BY n", prefetch=7)][-3:]

    await step("cursor", cursor)

    async def portal():
        async with conn.transaction():
            cursor = await conn.cursor("SELECT n FROM numbers ORDER BY n")
            first = await cursor.fetch(10)
            await cursor.forward(5)
            return len(first), await cursor.fetchrow()

    await step("portal", portal)
    await step("fetchval", lambda: conn.fetchval("SELECT s FROM numbers WHERE n = $1", 3))
    await step("limited", lambda: conn.fetchrow("SELECT n FROM numbers ORDER BY n DESC"))
    await step("script", lambda: conn.execute("SELECT 1; SELECT 2"))
    await step("status", lambda: conn.execute("UPDATE numbers SET s = 'u' WHERE n < 4"))
    await step("many", lambda: conn.executemany("INSERT INTO numbers VALUES ($1, $2)", [(n, str(n)) for n in range(2000, 2100)]))
    await step("many that fail", lambda: conn.executemany("INSERT INTO numbers VALUES ($1, $2)", [(3000, "a"), (2000, "b")]))
    await step("all or nothing", lambda: conn.fetchval("SELECT count(*) FROM numbers WHERE n = 3000"))


async def transactions(conn):
    async def undone():
        try:
            async with conn.transaction():
                await conn.execute("INSERT INTO numbers VALUES (4000, 'x')")
                await conn.execute("INSERT INTO numbers VALUES (4000, 'x')")
        except asyncpg.UniqueViolationError as error:
            return error.constraint_name, error.detail, error.table_name

    await step("undone", undone)
    await step("not there", lambda: conn.fetchval("SELECT count(*) FROM numbers WHERE n = 4000"))


async def copies(conn):
    await conn.execute("DROP TABLE IF EXISTS copied")
    await conn.execute("CREATE TABLE copied (a int PRIMARY KEY, b text, c timestamptz)")
    records = [(n, f"row {n}", dt.datetime(2020, 1, 1, tzinfo=UTC)) for n in range(5)]
    await step("copy records", lambda: conn.copy_records_to_table("copied", records=records))
    await step("copy csv", lambda: conn.copy_to_table("copied", source=io.BytesIO(b"7,seven,\n"), format="csv"))

    async def out(**options):
        target = io.BytesIO()
        status = await conn.copy_from_query("SELECT a, b FROM copied WHERE a > $1 ORDER BY a", 2, output=target, **options)
        return status, target.getvalue()

    await step("copy out", out)
    await step("copy out csv", lambda: out(format="csv", header=True))
    await step("copy out binary", lambda: out(format="binary"))
    records = io.BytesIO()
    await conn.copy_from_query("SELECT a + 100, b, c FROM copied", output=records, format="binary")
    records.seek(0)
    await step("copy binary in", lambda: conn.copy_to_table("copied", source=records, format="binary"))
    await step("copied", lambda: conn.fetchval("SELECT count(*) || ' ' || sum(a) FROM copied"))
    await step("copy of a key twice", lambda: conn.copy_records_to_table("copied", records=[(1, "again", None)]))


async def failures(conn):
    for name, statement in {
        "syntax": "SELEC 1",
        "no table": "SELECT * FROM nowhere",
        "division": "SELECT 1 / 0",
        "cast": "SELECT 'x'::int",
        "not null": "INSERT INTO numbers VALUES (NULL, 'x')",
        "two statements with arguments": "SELECT $1::int; SELECT 2",
    }.items():
        arguments = (1,) if "$1" in statement else ()
        await step(f"error: {name}", lambda: conn.fetch(statement, *arguments))

    async def timeout():
        try:
            await conn.fetch("SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d", timeout=0.3)
        except asyncio.TimeoutError:
            return "cancelled", await conn.fetchval("SELECT 1")

    await step("timeout", timeout)


async def notices(conn):
    heard = []
    conn.add_log_listener(lambda _, message: heard.append((message.severity, message.sqlstate, message.message)))
    await conn.execute("DROP TABLE IF EXISTS never_there")
    await asyncio.sleep(0.1)

    async def all_heard():
        return heard

    await step("notices", all_heard)


async def session(conn):
    await step("setting", lambda: conn.execute("SET TIME ZONE 'Asia/Tokyo'"))
    await step("shown", lambda: conn.fetchval("SHOW timezone"))

    async def known():
        return conn.get_settings().TimeZone, conn.get_server_version().major

    await step("known to the driver", known)
    await step("reset", lambda: conn.reset())

    async def pool():
        async with asyncpg.create_pool(**WHERE, min_size=2, max_size=4) as pool:
            return sorted(await asyncio.gather(*[pool.fetchval("SELECT $1::int * 2", n) for n in range(10)]))

    await step("pool", pool)

    async def two_schemas():
        await conn.execute("DROP TABLE IF EXISTS changing")
        await conn.execute("CREATE TABLE changing (a int PRIMARY KEY)")
        await conn.execute("INSERT INTO changing VALUES (1)")
        before = tuple(await conn.fetchrow("SELECT * FROM changing"))
        await conn.execute("ALTER TABLE changing ADD COLUMN b text DEFAULT 'new'")
        return before, tuple(await conn.fetchrow("SELECT * FROM changing"))

    await step("a table that changes", two_schemas)


async def main():
    conn = await asyncpg.connect(**WHERE)
    await conn.execute("DROP TABLE IF EXISTS numbers")
    await conn.execute("CREATE TABLE numbers (n int PRIMARY KEY, s text)")
    await conn.execute("INSERT INTO numbers SELECT n, 'n' || n FROM generate_series(0, 999) AS n")
    await types(conn)
    await reading(conn)
    await transactions(conn)
    await copies(conn)
    await failures(conn)
    await notices(conn)
    await session(conn)
    await conn.close()


asyncio.run(main())
