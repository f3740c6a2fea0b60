// What a program does with node-postgres, each step as one line: `step | result`.
//
//     node main.js HOST PORT
'use strict'

const { Client, Pool, types } = require('pg')
const Cursor = require('pg-cursor')
const { from: copyFrom, to: copyTo } = require('pg-copy-streams')
const { pipeline } = require('node:stream/promises')
const { Readable } = require('node:stream')

const [host, port] = process.argv.slice(2)
const where = { host, port: Number(port), user: 'clients', database: 'bennu' }
// Dates as they came: their JavaScript form depends on the machine's time zone.
for (const oid of [1082, 1114, 1184]) types.setTypeParser(oid, (text) => text)

const VALUES = [
  ['boolean', true],
  ['smallint', -5],
  ['integer', 42],
  ['bigint', '9007199254740993'],
  ['real', 1.25],
  ['double precision', -1e-300],
  ['numeric(12,3)', '1.500'],
  ['numeric', '3.14159265358979323846'],
  ['text', "text ' \\ ü"],
  ['varchar(5)', 'abc'],
  ['char(4)', 'ab'],
  ['bytea', Buffer.from([0, 1, 255])],
  ['date', '2020-02-29'],
  ['time', '12:34:56.789'],
  ['timestamp', '2020-02-29 12:34:56.789012'],
  ['timestamptz', '2020-02-29 12:34:56+02'],
  ['uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ['interval', '1 year 2 mons 3 days 04:05:06.5'],
]
const ARRAYS = [
  ['int[]', [1, null, -3]],
  ['bigint[]', ['9007199254740993']],
  ['text[]', ['a', 'with " and \\', '', null]],
  ['boolean[]', [true, false]],
  ['float8[]', [0.5, -1e300]],
  ['numeric[]', ['1.25', '-3']],
  ['date[]', ['2020-02-29', null]],
  ['uuid[]', ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']],
  ['int[][]', [[1, 2], [3, 4]]],
]

async function step(name, work) {
  let result
  try {
    result = await work()
  } catch (error) {
    result = error.code ? `${error.name} ${error.code}` : `!${error.message}`
  }
  console.log(`${name} | ${JSON.stringify(result)}`)
}

async function typesThereAndBack(client) {
  for (const [name, value] of VALUES) {
    const text = `SELECT $1::${name} AS v, NULL::${name} AS n, pg_typeof($1::${name})::text AS t`
    await step(name, async () => (await client.query(text, [value])).rows[0])
    await step(`binary ${name}`, async () => {
      const config = { text: `SELECT $1::${name} AS v`, values: [value], binary: true }
      return (await client.query(config)).rows[0].v
    })
  }
  for (const [name, value] of ARRAYS) {
    await step(name, async () => (await client.query(`SELECT ($1::${name})::text AS v`, [value])).rows[0].v)
  }
  await step('read arrays', async () => (await client.query("SELECT ARRAY[1, NULL] AS i, ARRAY['a', 'b c'] AS t, '{{1,2},{3,4}}'::int[] AS d")).rows[0])
  await step('fields', async () => {
    const { fields } = await client.query('SELECT n, s, 1 AS one FROM numbers LIMIT 0')
    return fields.map((f) => [f.name, f.dataTypeID, f.dataTypeSize, f.dataTypeModifier, f.columnID])
  })
  await step('array', async () => (await client.query('SELECT $1::int[] AS a', [[1, 2, null]])).rows[0].a)
  await step('any', async () => (await client.query('SELECT n FROM numbers WHERE n = ANY($1) ORDER BY n', [[3, 1]])).rows)
  await step('untyped', async () => (await client.query('SELECT $1 AS v', ['text'])).rows[0])
}

async function reading(client) {
  await step('rows as arrays', async () =>
    (await client.query({ text: 'SELECT n, s FROM numbers ORDER BY n LIMIT 2', rowMode: 'array' })).rows)
  await step('named', async () => {
    const found = []
    for (const n of [1, 2, 3]) {
      const query = { name: 'by-n', text: 'SELECT s FROM numbers WHERE n = $1', values: [n] }
      found.push((await client.query(query)).rows[0].s)
    }
    return found
  })
  await step('several', async () => (await client.query('SELECT 1 AS a; SELECT 2 AS b')).map((r) => r.rows))
  await step('cursor', async () => {
    const cursor = client.query(new Cursor('SELECT n FROM numbers ORDER BY n'))
    const first = await cursor.read(100)
    const second = await cursor.read(100)
    await cursor.close()
    return [first.length, second[0], (await client.query('SELECT 1 AS on_goes_it')).rows]
  })
  await step('command', async () => {
    const { command, rowCount } = await client.query("UPDATE numbers SET s = 'u' WHERE n < 3")
    return [command, rowCount]
  })
  await step('returning', async () => (await client.query("INSERT INTO numbers VALUES (5000, 'r') RETURNING *")).rows)
  await step('upserted', async () => {
    const text = "INSERT INTO numbers VALUES (5000, 'x') ON CONFLICT (n) DO UPDATE SET s = numbers.s || excluded.s RETURNING s"
    return (await client.query(text)).rows
  })
}

async function transactions(client) {
  await step('rolled back', async () => {
    await client.query('BEGIN')
    await client.query('DELETE FROM numbers')
    const inside = (await client.query('SELECT count(*) FROM numbers')).rows[0].count
    await client.query('ROLLBACK')
    return [inside, (await client.query('SELECT count(*) FROM numbers')).rows[0].count]
  })
  await step('failed', async () => {
    await client.query('BEGIN')
    await client.query('SELECT 1 / 0').catch(() => {})
    try {
      await client.query('SELECT 1')
    } finally {
      await client.query('ROLLBACK')
    }
  })
  await step('read only', async () => {
    await client.query('BEGIN READ ONLY')
    try {
      await client.query('DELETE FROM numbers')
    } finally {
      await client.query('ROLLBACK')
    }
  })
}

async function copies(client) {
  await client.query('DROP TABLE IF EXISTS copied')
  await client.query('CREATE TABLE copied (a int PRIMARY KEY, b text)')
  await step('copy in', async () => {
    const target = client.query(copyFrom('COPY copied FROM STDIN'))
    await pipeline(Readable.from([Buffer.from('1\tone\n2\t'), Buffer.from('two\n3\t\\N\n')]), target)
    return target.rowCount
  })
  await step('copy csv in', async () => {
    const target = client.query(copyFrom('COPY copied FROM STDIN WITH (FORMAT csv)'))
    await pipeline(Readable.from([Buffer.from('4,"four, 4"\n5,\n')]), target)
    return target.rowCount
  })
  const out = async (text) => {
    const source = client.query(copyTo(text))
    const parts = []
    for await (const part of source) parts.push(part)
    return Buffer.concat(parts).toString('latin1')
  }
  await step('copy out', () => out('COPY copied TO STDOUT'))
  await step('copy csv out', () => out('COPY (SELECT * FROM copied WHERE a > 2) TO STDOUT WITH (FORMAT csv, HEADER)'))
  await step('copy binary', async () => {
    await client.query('DROP TABLE IF EXISTS copied_again')
    await client.query('CREATE TABLE copied_again (a int PRIMARY KEY, b text)')
    const source = client.query(copyTo('COPY copied TO STDOUT (FORMAT binary)'))
    const parts = []
    for await (const part of source) parts.push(part)
    const target = client.query(copyFrom('COPY copied_again FROM STDIN (FORMAT binary)'))
    await pipeline(Readable.from(parts), target)
    return [target.rowCount, (await client.query('SELECT * FROM copied_again ORDER BY a')).rows]
  })
  await step('copy of a bad row', async () => {
    const target = client.query(copyFrom('COPY copied FROM STDIN'))
    await pipeline(Readable.from([Buffer.from('x\ty\n')]), target)
  })
  await step('after it', async () => (await client.query('SELECT count(*) FROM copied')).rows[0].count)
}

async function failures(client) {
  const statements = {
    syntax: 'SELEC 1',
    'no table': 'SELECT * FROM nowhere',
    'duplicate key': "INSERT INTO numbers VALUES (1, 'x')",
    'bad parameter': { text: 'SELECT $1::int', values: ['x'] },
    'too few parameters': { text: 'SELECT $1::int + $2::int', values: [1] },
    division: 'SELECT 1 / 0',
  }
  for (const [name, statement] of Object.entries(statements)) {
    await step(`error: ${name}`, () => client.query(statement))
  }
  await step('fields of an error', async () => {
    try {
      await client.query("INSERT INTO numbers VALUES (1, 'x')")
    } catch (e) {
      return [e.severity, e.code, e.message, e.detail, e.schema, e.table, e.constraint]
    }
  })
  await step('notice', async () => {
    const notices = []
    const listen = (notice) => notices.push([notice.severity, notice.code, notice.message])
    client.on('notice', listen)
    await client.query('DROP TABLE IF EXISTS never_there')
    client.off('notice', listen)
    return notices
  })
}

async function session(client) {
  await step('time zone', async () => {
    await client.query("SET timezone = 'America/New_York'")
    return (await client.query("SELECT '2020-07-01 12:00+00'::timestamptz AS t")).rows[0].t
  })
  await step('time zone of a parameter', async () =>
    (await client.query("SELECT $1::timestamptz = '2020-07-01 12:00+00' AS same", ['2020-07-01 08:00'])).rows[0].same)
  await step('empty', async () => (await client.query('')).command)
  await step('pool', async () => {
    const pool = new Pool({ ...where, max: 3 })
    const found = await Promise.all([1, 2, 3, 4, 5].map((n) => pool.query('SELECT $1::int * 2 AS d', [n])))
    await pool.end()
    return found.map((r) => r.rows[0].d)
  })
  await step('no such database', async () => {
    const other = new Client({ ...where, database: 'nowhere' })
    await other.connect()
  })
  await step('cancelled', async () => {
    const long = client.query('SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d')
    await new Promise((resolve) => setTimeout(resolve, 300))
    const other = new Client(where)
    other.cancel(client, client.activeQuery || client._activeQuery)
    try {
      await long
    } catch (error) {
      return [error.code, (await client.query('SELECT 1 AS on_goes_it')).rows]
    }
  })
  await step('timed out', async () => {
    await client.query("SET statement_timeout = '200ms'")
    try {
      await client.query('SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d')
    } finally {
      await client.query('RESET statement_timeout')
    }
  })
  await step('sent at once', async () => {
    const asked = [1, 2, 3].map((n) => client.query('SELECT $1::int AS n', [n]))
    const failed = client.query('SELECT 1 / 0').catch((error) => error.code)
    const last = client.query('SELECT 4 AS n')
    return [(await Promise.all(asked)).map((r) => r.rows[0].n), await failed, (await last).rows[0].n]
  })
  await step('terminated', async () => {
    const other = new Client(where)
    await other.connect()
    other.on('error', () => {})
    await other.query('BEGIN')
    await other.query('DELETE FROM numbers WHERE n = 1')
    other.connection.stream.destroy()
    for (let tries = 0; tries < 50; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      try {
        return (await client.query('DELETE FROM numbers WHERE n = 1')).rowCount
      } catch (error) {
        if (error.code !== '40001') throw error
      }
    }
  })
}

async function main() {
  const client = new Client(where)
  await client.connect()
  await client.query('DROP TABLE IF EXISTS numbers')
  await client.query('CREATE TABLE numbers (n int PRIMARY KEY, s text)')
  await client.query("INSERT INTO numbers SELECT n, 'n' || n FROM generate_series(0, 999) AS n")
  await typesThereAndBack(client)
  await reading(client)
  await transactions(client)
  await copies(client)
  await failures(client)
  await session(client)
  await client.end()
}

main()
