/** Prepared queries run without drizzle. They return the rows that drizzle returns for the same query. */
import { expect, test } from 'bun:test'
import { aliasedTable, asc, count, desc, eq, max, sql } from 'drizzle-orm'
import fc from 'fast-check'
import type { Database, Reader } from '../../src/database/database.ts'
import { exactSum, exactTotal } from '../../src/database/exact-sum.ts'
import { idFromBytes, newId } from '../../src/lib/id.ts'
import { forEachEngine } from '../support/databases.ts'
import { runs } from '../support/tier.ts'

const { placeholder } = sql

interface Query {
  prepare(name: string): { execute(values: Record<string, unknown>): Promise<unknown[]> }
}

/** Queries of every shape in use. Their placeholders are `name`, `uid`, `hash` and `limit`. */
const QUERIES: Record<string, (reader: Reader) => unknown> = {
  'all columns of a table': (reader) => {
    const { tokens } = reader.tables
    return reader.select().from(tokens).orderBy(asc(tokens.id))
  },
  'some columns of the rows with a value': (reader) => {
    const { users } = reader.tables
    return reader
      .select({ id: users.id, uid: users.uid, disabledAt: users.disabledAt })
      .from(users)
      .where(eq(users.name, placeholder('name')))
      .orderBy(asc(users.id))
  },
  'the row with a public id': (reader) => {
    const { users } = reader.tables
    return reader
      .select({ email: users.email })
      .from(users)
      .where(eq(users.uid, sql.param(placeholder('uid'), users.uid)))
  },
  'a fixed value and a placeholder': (reader) => {
    const { tokens } = reader.tables
    const conditions = sql`${eq(tokens.allowBills, true)} AND ${eq(tokens.hash, sql.param(placeholder('hash'), tokens.hash))}`
    return reader.select({ hash: tokens.hash, allowBills: tokens.allowBills }).from(tokens).where(conditions)
  },
  'tables of which one may have no row': (reader) => {
    const { users, tokens } = reader.tables
    return reader
      .select()
      .from(users)
      .leftJoin(tokens, eq(tokens.createdBy, users.id))
      .orderBy(asc(users.id), asc(tokens.id))
  },
  'a table under two names': (reader) => {
    const { users, tokens } = reader.tables
    const disabled = aliasedTable(users, 'disabled')
    return reader
      .select({ token: tokens, disabled, name: users.name })
      .from(tokens)
      .innerJoin(users, eq(users.id, tokens.createdBy))
      .leftJoin(disabled, sql`${disabled.id} = ${users.id} AND ${disabled.disabledAt} IS NOT NULL`)
      .orderBy(asc(tokens.id))
  },
  'objects of columns and expressions': (reader) => {
    const { users, tokens } = reader.tables
    return reader
      .select({
        id: tokens.id,
        mixed: { name: users.name, hint: tokens.hint },
        firstIsNull: { lastSignedInAt: users.lastSignedInAt, name: users.name },
        neverNull: { lastUsedAt: tokens.lastUsedAt, name: tokens.name },
        expressions: { email: sql<string>`upper(${users.email})`, length: sql`length(${users.name})`.mapWith(Number) },
        deep: { deeper: sql`${tokens.createdAt}`.mapWith(tokens.createdAt) },
      })
      .from(tokens)
      .leftJoin(users, sql`${users.id} = ${tokens.createdBy} AND ${users.disabledAt} IS NULL`)
      .orderBy(asc(tokens.id))
  },
  'sums and counts': (reader) => {
    const { prices } = reader.tables
    return reader
      .select({
        prices: count(),
        highest: max(prices.input),
        sum: exactSum(prices.input),
        total: exactTotal(prices.output),
      })
      .from(prices)
  },
  'a subquery': (reader) => {
    const { users, tokens } = reader.tables
    const latest = sql`max(${tokens.createdAt})`.mapWith(tokens.createdAt).as('latest')
    const perUser = reader
      .select({ by: tokens.createdBy, latest })
      .from(tokens)
      .groupBy(tokens.createdBy)
      .as('per_user')
    return reader
      .select({ name: users.name, latest: perUser.latest, perUser: { by: perUser.by } })
      .from(users)
      .leftJoin(perUser, eq(perUser.by, users.id))
      .orderBy(asc(users.id))
  },
  'the first rows, with money and documents': (reader) => {
    const { prices } = reader.tables
    return reader.select().from(prices).orderBy(desc(prices.id)).limit(placeholder('limit'))
  },
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0'))
const time = fc.nat({ max: 8_640_000_000_000_000 })
const orNull = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: null })
const money = orNull(fc.oneof(fc.constantFrom(2n ** 63n - 1n, 2n ** 53n + 1n), fc.bigInt(0n, 2n ** 63n - 1n)))

const WORLD = fc.record({
  users: fc.array(fc.record({ name: text, createdAt: time, lastSignedInAt: orNull(time), disabledAt: orNull(time) }), {
    minLength: 1,
    maxLength: 4,
  }),
  tokens: fc.array(
    fc.record({
      creator: fc.nat(),
      name: text,
      hint: text,
      allowBills: fc.boolean(),
      createdAt: time,
      lastUsedAt: orNull(time),
    }),
    { maxLength: 6 },
  ),
  prices: fc.array(
    fc.record({ model: text, input: money, output: money, tiers: orNull(fc.array(fc.record({ above: text }))) }),
    {
      maxLength: 4,
    },
  ),
})
type World = typeof WORLD extends fc.Arbitrary<infer Value> ? Value : never

async function add(db: Database, { users, tokens, prices }: World): Promise<Record<string, unknown>> {
  const values = { name: users[0]!.name, uid: newId('usr'), hash: randomHash(), limit: 3 }
  await db.write(async (tx) => {
    const ids: number[] = []
    for (const [number, user] of users.entries()) {
      const uid = number === 0 ? values.uid : newId('usr')
      const row = { ...user, uid, email: `${uid}@example.com`, role: 'admin' as const }
      ids.push((await tx.insert(tx.tables.users).values(row).returning())[0]!.id)
    }
    for (const [number, { creator, ...token }] of tokens.entries()) {
      const hash = number === 0 ? values.hash : randomHash()
      const createdBy = ids[creator % ids.length]!
      await tx.insert(tx.tables.tokens).values({ ...token, uid: newId('tok'), kind: 'svc', hash, createdBy })
    }
    for (const price of prices) {
      const row = {
        ...price,
        uid: newId('prc'),
        provider: newId('prc'),
        source: 'test',
        loadedAt: 0,
        tiers: price.tiers as never,
      }
      await tx.insert(tx.tables.prices).values(row)
    }
  })
  return values
}

const randomHash = () => crypto.getRandomValues(new Uint8Array(32))

forEachEngine('a prepared query', (open) => {
  test('returns the rows that drizzle returns, for all kinds of columns and joins', async () => {
    const db = await open({ serving: true })
    await fc.assert(
      fc.asyncProperty(WORLD, async (world) => {
        const values = await add(db, world)
        for (const [name, build] of Object.entries(QUERIES)) {
          for (const reader of [db.read, db.slow]) {
            const expected = await (build(reader) as Query).prepare(name).execute(values)
            const rows = await reader.prepared(name, build as never).execute(values)
            expect({ [name]: rows }).toEqual({ [name]: expected })
            expect(JSON.stringify(rows, asText)).toBe(JSON.stringify(expected, asText))
          }
        }
      }),
      { numRuns: runs(20, 5) },
    )
  })

  test('fails if a value is missing', async () => {
    const db = await open()
    const byName = db.read.prepared('some', QUERIES['some columns of the rows with a value'] as never)
    const failure = await byName.execute({}).then(
      () => 'no failure',
      (error) => String(error),
    )
    expect(failure).toContain('No value for placeholder "name"')
  })
})

forEachEngine('rows as the driver returns them', (open) => {
  test('have the selected names, integers as numbers and bytes as they are stored', async () => {
    const db = await open({ serving: true })
    const id = newId('cli')
    await db.write(async (tx) => {
      const { clients } = tx.tables
      await tx.insert(clients).values({ uid: id, name: 'Acme', nameFolded: 'acme', createdAt: 1_795_150_779_324 })
    })
    const clientsOf = (reader: Reader) => {
      const { clients: t } = reader.tables
      const fields = {
        when: sql`${t.createdAt}`.as('when'),
        uid: sql`${t.uid}`.as('uid'),
        archived: sql`${t.archivedAt}`.as('archived'),
      }
      const name = sql.placeholder('name')
      return reader
        .raw<{ uid: Uint8Array }>(reader.select(fields).from(t).where(eq(t.name, name)))
        .execute({ name: 'Acme' })
    }
    const found = [await clientsOf(db.read), await clientsOf(db.slow), await db.write(clientsOf)]
    for (const [row, ...others] of found) {
      expect(others).toEqual([])
      expect({ ...row, uid: idFromBytes('cli', row!.uid) }).toEqual({
        when: 1_795_150_779_324,
        uid: id,
        archived: null,
      } as never)
    }
  })
})

/** The order of properties is part of the comparison. */
const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
