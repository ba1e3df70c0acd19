/** Statements over sets of rows, and items that are written in sets. */
import { expect, test } from 'bun:test'
import { and, asc, eq, gte, sql } from 'drizzle-orm'
import fc from 'fast-check'
import type { Database, Outcome, Reader, Tx } from '../../src/database/database.ts'
import { jsonRows } from '../../src/database/engines/postgres/json-sets.ts'
import { isUniqueViolation } from '../../src/database/errors.ts'
import { newId } from '../../src/lib/id.ts'
import { canOverlap, forEachEngine } from '../support/databases.ts'
import { runs } from '../support/tier.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

async function namesOf(reader: Reader): Promise<string[]> {
  const { names } = reader.tables
  return (await reader.select({ text: names.text }).from(names).orderBy(asc(names.id))).map(({ text }) => text)
}

const byText = (reader: Reader, texts: readonly string[]) =>
  reader.findEach(
    'test.by-text',
    (prepare) => {
      const { names } = prepare.tables
      return prepare
        .select({ id: names.id, text: names.text })
        .from(names)
        .where(eq(names.text, sql.placeholder('text')))
    },
    texts.map((text) => ({ text })),
  )

async function addUser(tx: Tx): Promise<number> {
  const { users } = tx.tables
  const uid = newId('usr')
  const values = { uid, email: `${uid}@example.com`, name: 'Ada', role: 'admin', createdAt: NOW } as const
  const [added] = await tx.insert(users).values(values).returning({ id: users.id })
  return added!.id
}

async function addNames(tx: Tx, texts: readonly string[]): Promise<number[]> {
  const { names } = tx.tables
  const ids = await tx.reserveIds(names, texts.length)
  await tx.insertAll(
    names,
    texts.map((text, position) => ({ id: ids[position]!, text })),
  )
  return ids
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error) => error,
  )

/** The values, and `error` for each item that failed. */
const shown = (outcomes: Outcome<unknown>[]) =>
  outcomes.map((outcome) => ('error' in outcome ? 'error' : outcome.value))
const errorOf = (outcome: Outcome<unknown> | undefined) => (outcome as { error: unknown }).error

const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'))
const time = fc.nat({ max: 8_640_000_000_000_000 })
const orNull = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: null })
const money = fc.oneof(fc.constantFrom(2n ** 63n - 1n, 2n ** 53n + 1n, 0n), fc.bigInt(0n, 2n ** 63n - 1n))

const PRICE = fc.record({
  provider: text,
  model: text,
  input: orNull(money),
  output: orNull(money),
  tiers: orNull(fc.array(fc.record({ above: text, output: text }))) as fc.Arbitrary<never>,
  effectiveFrom: orNull(time),
})
const TOKEN = fc.record({
  name: text,
  hint: text,
  hash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  allowBills: fc.boolean(),
  expiresAt: orNull(time),
})

forEachEngine('statements over sets', (open) => {
  test('keep every value, of every kind of column', async () => {
    const db = await open()
    const createdBy = await db.write(addUser)
    const findPrices = (reader: Reader, uids: readonly string[]) =>
      reader.findEach(
        'test.prices',
        (prepare) => {
          const { prices } = prepare.tables
          return prepare
            .select()
            .from(prices)
            .where(eq(prices.uid, sql.param(sql.placeholder('uid'), prices.uid)))
        },
        uids.map((uid) => ({ uid })),
      )
    const findTokens = (reader: Reader, hashes: readonly Uint8Array[]) =>
      reader.findEach(
        'test.tokens',
        (prepare) => {
          const { tokens } = prepare.tables
          return prepare
            .select()
            .from(tokens)
            .where(
              sql`${eq(tokens.hash, sql.param(sql.placeholder('hash'), tokens.hash))} AND ${eq(tokens.allowBills, sql.param(sql.placeholder('allowBills'), tokens.allowBills))} AND ${eq(tokens.createdBy, sql.placeholder('createdBy'))}`,
            )
        },
        hashes.flatMap((hash) => [true, false].map((allowBills) => ({ hash, allowBills, createdBy }))),
      )
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(PRICE, { selector: ({ provider, model }) => `${provider}\0${model}` }),
        fc.uniqueArray(TOKEN, { selector: ({ hash }) => hash.join() }),
        async (prices, tokens) => {
          await db
            .write(async (tx) => {
              const priceIds = await tx.reserveIds(tx.tables.prices, prices.length)
              const source = newId('prc')
              const priceRows = prices.map((price, position) => ({
                id: priceIds[position]!,
                uid: newId('prc'),
                source,
                loadedAt: NOW,
                ...price,
              }))
              await tx.insertAll(tx.tables.prices, priceRows)
              const found = await findPrices(
                tx,
                priceRows.map(({ uid }) => uid),
              )
              expect(found.map(([row]) => row)).toMatchObject(priceRows)

              const tokenIds = await tx.reserveIds(tx.tables.tokens, tokens.length)
              const tokenRows = tokens.map((token, position) => ({
                id: tokenIds[position]!,
                uid: newId('tok'),
                kind: 'svc' as const,
                createdBy,
                createdAt: NOW,
                ...token,
              }))
              await tx.insertAll(tx.tables.tokens, tokenRows)
              const updates = tokenRows.map(({ id, name, allowBills, expiresAt }) => ({
                id,
                name: `${name}!`,
                allowBills: !allowBills,
                expiresAt: expiresAt === null ? NOW : null,
              }))
              await tx.updateAll(tx.tables.tokens, updates)
              const changed = await findTokens(
                tx,
                tokens.map(({ hash }) => hash),
              )
              const expected = tokenRows.flatMap((row, position) => {
                const { hash, ...rest } = { ...row, ...updates[position]! }
                const one = { ...rest, hash: [...hash] }
                return row.allowBills ? [[], [one]] : [[one], []]
              })
              const plain = changed.map((rows) => rows.map((row) => ({ ...row, hash: [...row.hash] })))
              expect(plain).toMatchObject(expected)
              throw new Error('rolled back')
            })
            .catch((error: Error) => {
              if (error.message !== 'rolled back') throw error
            })
        },
      ),
      { numRuns: runs(30, 10) },
    )
  })

  test('find rows for each key in its order, none and several among them, by every reader', async () => {
    const db = await open({ serving: true })
    await db.write((tx) => addNames(tx, ['one', 'two']))
    for (const reader of [db.read, db.slow]) {
      const found = await byText(reader, ['two', 'none', 'one', 'two'])
      expect(found.map((rows) => rows.map(({ text }) => text))).toEqual([['two'], [], ['one'], ['two']])
      expect(await byText(reader, [])).toEqual([])
    }
    const byKind = await db.write(async (tx) => {
      const createdBy = await addUser(tx)
      const { tokens } = tx.tables
      const ids = await tx.reserveIds(tokens, 3)
      await tx.insertAll(
        tokens,
        ids.map((id) => {
          const hash = crypto.getRandomValues(new Uint8Array(32))
          return { id, uid: newId('tok'), kind: 'svc', name: `${-id}`, hash, hint: '', createdBy, createdAt: NOW }
        }),
      )
      const found = await tx.findEach(
        'test.tokens-by-kind',
        (prepare) =>
          prepare
            .select({ id: tokens.id })
            .from(tokens)
            .where(eq(tokens.kind, sql.placeholder('kind')))
            .orderBy(asc(tokens.name)),
        [{ kind: 'svc' }, { kind: 'org' }, { kind: 'svc' }],
      )
      return { ids, found: found.map((rows) => rows.map(({ id }) => id)) }
    })
    const sorted = byKind.ids.toSorted((a, b) => (`${-a}` < `${-b}` ? -1 : 1))
    expect(byKind.found).toEqual([sorted, [], sorted])
  })

  test('find rows with fixed values too, and lock them', async () => {
    const db = await open()
    const found = await db.write(async (tx) => {
      const [one, two] = await addNames(tx, ['one', 'two', 'three'])
      const { names } = tx.tables
      await tx.updateAll(names, [{ id: two!, canonicalId: one! }])
      return tx.findEach(
        'test.canonical',
        (prepare) => {
          const query = prepare
            .select({ text: names.text, canonical: { id: names.canonicalId } })
            .from(names)
            .where(
              and(gte(names.id, one!), eq(names.text, sql.placeholder('text')), eq(names.id, sql.placeholder('id'))),
            )
          return db.engine === 'postgres' ? query.for('no key update') : query
        },
        [
          { text: 'two', id: two! },
          { text: 'two', id: one! },
        ],
      )
    })
    expect(found).toEqual([[{ text: 'two', canonical: { id: expect.any(Number) } }], []])
  })

  test('store text that is not well formed as other inserts do', async () => {
    const db = await open()
    const half = 'half \ud83e'
    const { names } = db.read.tables
    const alone = await db.write((tx) => tx.insert(names).values({ text: half }).returning())
    await db.write((tx) => tx.update(names).set({ text: 'before' }))
    await db.write((tx) => addNames(tx, [half]))
    expect(await namesOf(db.read)).toEqual(['before', alone[0]!.text])
    const found = await byText(db.read, [half])
    expect(found[0]).toHaveLength(1)
  })

  test('refuse a number that JSON does not have, instead of storing none', () => {
    const id = { property: 'id', name: '"id"', encode: null }
    expect(jsonRows([{ id: 7 }, { id: null }], [id])).toBe('[{"id":7},{}]')
    expect(() => jsonRows([{ id: Number.NaN }], [id])).toThrow('NaN cannot be written')
  })

  test('do nothing without rows', async () => {
    const db = await open()
    await db.write(async (tx) => {
      await tx.insertAll(tx.tables.names, [])
      await tx.updateAll(tx.tables.names, [])
      await tx.lockAll(() => [])
      expect(await tx.reserveIds(tx.tables.names, 0)).toEqual([])
    })
    expect(await namesOf(db.read)).toEqual([])
  })

  test('reserve ids that ascend and that nothing else has, now or later', async () => {
    const db = await open()
    const ids = await db.write(async (tx) => {
      const [before] = await tx.insert(tx.tables.names).values({ text: 'before' }).returning()
      const reserved = await addNames(tx, ['one', 'two', 'three'])
      const [after] = await tx.insert(tx.tables.names).values({ text: 'after' }).returning()
      return [before!.id, ...reserved, after!.id]
    })
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(ids).size).toBe(5)
  })

  test('change only the rows and columns that they name', async () => {
    const db = await open()
    const { names } = db.read.tables
    const rows = await db.write(async (tx) => {
      const [one, two, three] = (await addNames(tx, ['one', 'two', 'three'])) as [number, number, number]
      await tx.updateAll(names, [
        { id: two, canonicalId: one },
        { id: three, canonicalId: one },
      ])
      await tx.updateAll(names, [{ id: three, canonicalId: null }])
      const all = await tx.select().from(names).orderBy(asc(names.id))
      return all.map(({ text, canonicalId }) => [text, canonicalId === one])
    })
    expect(rows).toEqual([
      ['one', false],
      ['two', true],
      ['three', false],
    ])
  })

  test('insert what is new, and update the named columns of what exists', async () => {
    const db = await open()
    const { priceAliases } = db.read.tables
    const add = (models: Record<string, string>, createdAt: number, existing?: 'model') =>
      db.write(async (tx) => {
        const rows = Object.entries(models).map(([alias, model]) => ({
          ...{ alias, model, provider: 'openai', source: 'default', createdAt },
        }))
        const key = ['alias', 'source', 'provider'] as const
        await tx.insertAll(priceAliases, rows, existing && { key, set: [existing] })
      })
    await add({ one: 'first', two: 'first' }, 1)
    await add({ two: 'second', three: 'second' }, 2, 'model')
    const rows = await db.read.select().from(priceAliases).orderBy(asc(priceAliases.alias))
    expect(rows.map(({ alias, model, createdAt }) => [alias, model, createdAt])).toEqual([
      ['one', 'first', 1],
      ['three', 'second', 2],
      ['two', 'second', 1],
    ])
    // The same rows without it are inserted, or refused.
    expect(isUniqueViolation(await failureOf(add({ two: 'third' }, 3)))).toBe(true)
  })

  test('write defaults for properties that no row has, and null for undefined', async () => {
    const db = await open()
    const row = await db.write(async (tx) => {
      const createdBy = await addUser(tx)
      const { tokens } = tx.tables
      const [id] = await tx.reserveIds(tokens, 1)
      const hash = crypto.getRandomValues(new Uint8Array(32))
      const values = {
        id: id!,
        uid: newId('tok'),
        kind: 'svc',
        name: 'ci',
        hash,
        hint: '',
        createdBy,
        createdAt: NOW,
      } as const
      await tx.insertAll(tokens, [{ ...values, expiresAt: undefined as never }])
      return (await tx.select().from(tokens))[0]!
    })
    expect(row).toMatchObject({ allowBills: false, expiresAt: null })
  })

  test('lets a violation reach the caller as one, without the values', async () => {
    const db = await open()
    await db.write((tx) => addNames(tx, ['taken']))
    const failure = await failureOf(db.write((tx) => addNames(tx, ['new', 'taken'])))
    expect(isUniqueViolation(failure)).toBe(true)
    expect(JSON.stringify({ ...(failure as object), text: String(failure) })).not.toContain('taken')
    expect(await namesOf(db.read)).toEqual(['taken'])
  })
})

/** Writes names, and remembers the sets that were written. */
function nameWriter(db: Database) {
  const sets: string[][] = []
  const write = db.setWriter<string, number>(async (tx, texts) => {
    sets.push([...texts])
    const ids = await addNames(tx, texts)
    return ids.map((value) => ({ value }))
  })
  return { write, sets }
}

const manyNames = (count: number, prefix = 'name') =>
  Array.from({ length: count }, (_, number) => `${prefix} ${number}`)

forEachEngine('a set writer', (open, engine) => {
  test('returns the outcome of each item, in order, and others see what was written', async () => {
    const db = await open()
    const other = await open({ sharing: db })
    const { write } = nameWriter(db)
    expect(await write([])).toEqual([])
    const calls = await Promise.all([write(['one', 'two']), write(['three'])])
    const stored = await byText(other.read, ['one', 'two', 'three'])
    expect(calls.flat()).toEqual(stored.map(([row]) => ({ value: row!.id })))
  })

  test('writes what waits together in one set', async () => {
    const db = await open()
    const { write, sets } = nameWriter(db)
    await Promise.all(manyNames(100).map((name) => write([name])))
    expect(sets.length).toBeLessThan(10)
    expect(sets.flat().sort()).toEqual(manyNames(100).sort())
  })

  const limit = engine === 'sqlite' ? 256 : 128

  test('keeps the order of a call, and no set is larger than its limit', async () => {
    const db = await open()
    const { write, sets } = nameWriter(db)
    await write(manyNames(1_000))
    expect(await namesOf(db.read)).toHaveLength(1_000)
    expect(sets.flat()).toEqual(manyNames(1_000))
    expect(Math.max(...sets.map(({ length }) => length))).toBe(limit)
  })

  test('does not make a single item wait for a call with a thousand', async () => {
    const db = await open()
    const sets: string[][] = []
    const begun = Promise.withResolvers<void>()
    const write = db.setWriter<string, true>(async (_, texts) => {
      sets.push([...texts])
      begun.resolve()
      return texts.map(() => ({ value: true }))
    })
    const thousand = write(manyNames(1_000))
    await begun.promise
    const next = sets.length
    await write(['single'])
    expect(sets[next]).toContain('single')
    await thousand
    expect(sets.flat()).toHaveLength(1_001)
  })

  test('gives waiting calls their turns', async () => {
    const db = await open()
    const { write, sets } = nameWriter(db)
    const prefixes = ['a', 'b', 'c', 'd']
    await Promise.all(prefixes.map((prefix) => write(manyNames(engine === 'sqlite' ? 300 : 30, prefix))))
    const first = sets.find(({ length }) => length >= 120)!
    for (const prefix of prefixes) {
      expect(first.filter((name) => name.startsWith(prefix)).length).toBeGreaterThanOrEqual(30)
    }
  })

  test('writes what a set leaves with the next ones, in the order of each call, and each item once', async () => {
    const db = await open()
    let most = 7
    const write = db.setWriter<string, string>(async (tx, texts) => {
      most = (most * 5 + 3) % 11
      const first = texts.slice(0, 1 + most)
      await addNames(tx, first)
      if (first.some((text) => text.endsWith('5'))) throw new Error('failed')
      return first.map((value) => ({ value }))
    })
    const calls = ['a', 'b', 'c'].map((prefix) => manyNames(60, prefix))
    const outcomes = await Promise.all([...calls.map((names) => write(names)), write(['single'])])
    const kept = calls.map((names) => names.filter((name) => !name.endsWith('5')))
    for (const [position, names] of calls.entries()) {
      expect(shown(outcomes[position]!)).toEqual(names.map((name) => (name.endsWith('5') ? 'error' : name)))
    }
    expect(shown(outcomes[3]!)).toEqual(['single'])
    const stored = await namesOf(db.read)
    for (const [position, prefix] of ['a', 'b', 'c'].entries()) {
      expect(stored.filter((name) => name.startsWith(prefix))).toEqual(kept[position]!)
    }
    expect(stored).toHaveLength(kept.flat().length + 1)
  })

  test.if(engine === 'postgres')('writes the items of one call in one set at a time', async () => {
    const db = await open()
    const writing = new Set<string>()
    const overlaps: string[] = []
    let most = 0
    const write = db.setWriter<string, true>(async (tx, texts) => {
      const calls = new Set(texts.map((text) => text[0]!))
      for (const call of calls) {
        if (writing.has(call)) overlaps.push(call)
        writing.add(call)
      }
      most = Math.max(most, writing.size)
      await addNames(tx, texts)
      for (const call of calls) writing.delete(call)
      return texts.map(() => ({ value: true }))
    })
    await Promise.all(['a', 'b', 'c'].map((prefix) => write(manyNames(500, prefix))))
    expect(overlaps).toEqual([])
    expect(most).toBeGreaterThan(1)
  })

  test('refuses the items that violate a constraint, and keeps the others', async () => {
    const db = await open()
    const { write } = nameWriter(db)
    await write(['taken'])
    const outcomes = await Promise.all([
      write([...manyNames(20, 'a'), 'taken', ...manyNames(20, 'b')]),
      write(['taken']),
      write(['other']),
    ])
    expect(shown(outcomes[0]).flatMap((value, position) => (value === 'error' ? [position] : []))).toEqual([20])
    expect(isUniqueViolation(errorOf(outcomes[0][20]))).toBe(true)
    expect(isUniqueViolation(errorOf(outcomes[1][0]))).toBe(true)
    expect(shown(outcomes[2])).not.toContain('error')
    expect((await namesOf(db.read)).sort()).toEqual(
      [...manyNames(20, 'a'), ...manyNames(20, 'b'), 'other', 'taken'].sort(),
    )
  })

  test('keeps what was written for an item with an error of its own, and for no set that failed', async () => {
    const db = await open()
    const effects: string[] = []
    const refusal = new Error('refused')
    const write = db.setWriter<string, string>(async (tx, texts) => {
      await addNames(tx, texts)
      tx.afterCommit(() => effects.push(...texts))
      if (texts.includes('throws')) throw new Error('failed')
      return texts.map((text) => (text === 'refused' ? { error: refusal } : { value: text }))
    })
    const outcomes = await write(['one', 'refused', 'throws', 'two', 'three'])
    expect(shown(outcomes)).toEqual(['one', 'error', 'error', 'two', 'three'])
    expect(errorOf(outcomes[1])).toBe(refusal)
    expect(String(errorOf(outcomes[2]))).toContain('failed')
    expect(effects.sort()).toEqual(['one', 'refused', 'three', 'two'])
    expect((await namesOf(db.read)).sort()).toEqual(['one', 'refused', 'three', 'two'])
  })

  test('reports a failed effect to the callers of its set, and keeps the writes', async () => {
    const db = await open()
    const write = db.setWriter<string, true>(async (tx, texts) => {
      await addNames(tx, texts)
      tx.afterCommit(() => {
        throw new Error('the effect failed')
      })
      return texts.map(() => ({ value: true }))
    })
    const outcomes = await write(['one', 'two'])
    expect(outcomes.map((outcome) => String(errorOf(outcome)))).toEqual(Array(2).fill('Error: the effect failed'))
    expect(await namesOf(db.read)).toEqual(['one', 'two'])
  })

  test('fails if an outcome is missing', async () => {
    const db = await open()
    const write = db.setWriter<string, true>(async (tx, texts) => {
      await addNames(tx, texts)
      return []
    })
    expect(shown(await write(['one']))).toEqual(['error'])
    expect(await namesOf(db.read)).toEqual([])
  })

  test('cannot be called inside a transaction', async () => {
    const db = await open()
    const { write } = nameWriter(db)
    expect(String(await failureOf(db.write(async () => write(['inner']))))).toContain('inside write()')
    const outer = db.setWriter<string, unknown>(async (_, texts) => [{ value: await write(texts) }])
    expect(String(errorOf((await outer(['inner']))[0]))).toContain('inside write()')
  })

  test('completes what waits when the database is closed, and refuses what comes later', async () => {
    const db = await open()
    const other = await open({ sharing: db })
    const { write } = nameWriter(db)
    const waiting = write(manyNames(600))
    const closed = db.close()
    expect(await failureOf(write(['late']))).toMatchObject({ code: 'database_unreachable', status: 503 })
    await closed
    expect(await waiting).toHaveLength(600)
    expect(await namesOf(other.read)).toHaveLength(600)
  })

  test('refuses calls when a hundred thousand items wait', async () => {
    const db = await open()
    const write = db.setWriter<number, number>(async (_, items) => items.map((value) => ({ value })))
    const numbers = Array.from({ length: 100_000 }, (_, number) => number)
    const large = write(numbers)
    expect(await failureOf(write([1]))).toMatchObject({ code: 'overloaded', status: 503 })
    expect(shown(await large)).toEqual(numbers)
    expect(shown(await write([1]))).toEqual([1])
  })

  test('counts items in the metrics of commits', async () => {
    let items = 0
    const db = await open({
      onCommit: (writes) => {
        items += writes
      },
    })
    const { write } = nameWriter(db)
    await Promise.all([write(manyNames(300)), db.write((tx) => addNames(tx, ['body'])), write(['single'])])
    expect(items).toBe(302)
  })

  test.skipIf(!canOverlap(engine))('sees what others wrote while it waited for their locks', async () => {
    const db = await open()
    const other = await open({ sharing: db })
    const counters = [db, other].map((each) =>
      each.setWriter<number, number>(async (tx, items) => {
        await tx.lockAll(() => ['counter', 'another', 'counter'])
        const { organization } = tx.tables
        const [row] = await tx.select({ name: organization.name }).from(organization)
        await tx.update(organization).set({ name: `${(Number(row!.name) || 0) + items.length}` })
        return items.map((value) => ({ value }))
      }),
    )
    await Promise.all(Array.from({ length: 200 }, (_, number) => counters[number % 2]!([number, -number])))
    const { organization } = db.read.tables
    expect(await db.read.select({ name: organization.name }).from(organization)).toEqual([{ name: '400' }])
  })
})

forEachEngine('the counts of statements', (open, engine) => {
  test('show that a set prepares nothing the second time, and builds no query', async () => {
    const counts = { prepared: 0, executed: 0, built: 0, roundTrips: 0 }
    const db = await open({ counts })
    const write = db.setWriter<string, number>(async (tx, texts) => {
      const found = await byText(tx, texts)
      const ids = await addNames(
        tx,
        texts.filter((_, position) => found[position]!.length === 0),
      )
      return ids.map((value) => ({ value }))
    })
    await write(['one', 'two'])
    expect(counts.prepared).toBeGreaterThan(0)
    expect(counts.built).toBe(1)
    const before = { ...counts }
    await write(['three', 'four'])
    const since = Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [name, count - before[name as never]]),
    )
    // Beginning and ending a transaction takes two statements, and on SQLite a third that checks the schema.
    const expected = {
      sqlite: { prepared: 0, executed: 3 + 2 + 2 + 1, built: 0, roundTrips: 0 },
      postgres: { prepared: 0, executed: 2 + 1 + 1 + 1, built: 0, roundTrips: 4 },
    }
    expect(since).toEqual(expected[engine])
  })
})
