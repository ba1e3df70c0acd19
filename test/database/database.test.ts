/** What every store and service relies on, whichever engine is below. */
import { describe, expect, test } from 'bun:test'
import { asc, eq, sql } from 'drizzle-orm'
import { Cached } from '../../src/database/cached.ts'
import { onBehalfOf } from '../../src/database/caller.ts'
import type { Database, Reader, Tx } from '../../src/database/database.ts'
import { isUniqueViolation } from '../../src/database/errors.ts'
import { databaseTime } from '../../src/database/ready.ts'
import { newId } from '../../src/lib/id.ts'
import { canOverlap, forEachEngine, locationOf } from '../support/databases.ts'
import { inOtherProcess } from '../support/other-process.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

async function addName(tx: Tx, text: string): Promise<number> {
  const { names } = tx.tables
  const [added] = await tx.insert(names).values({ text }).returning({ id: names.id })
  return added!.id
}

async function namesOf(reader: Reader): Promise<string[]> {
  const { names } = reader.tables
  return (await reader.select({ text: names.text }).from(names).orderBy(asc(names.id))).map(({ text }) => text)
}

async function addUser(tx: Tx, email = 'ada@example.com'): Promise<number> {
  const { users } = tx.tables
  const values = { uid: newId('usr'), email, name: 'Ada', role: 'admin', createdAt: NOW } as const
  const [added] = await tx.insert(users).values(values).returning({ id: users.id })
  return added!.id
}

async function addToken(tx: Tx, createdBy: number): Promise<number> {
  const { tokens } = tx.tables
  const hash = crypto.getRandomValues(new Uint8Array(32))
  const values = { uid: newId('tok'), kind: 'svc', name: 'ci', hash, hint: 'abcd', createdBy, createdAt: NOW } as const
  const [added] = await tx.insert(tokens).values(values).returning({ id: tokens.id })
  return added!.id
}

async function addPrice(tx: Tx, input: bigint | null): Promise<number> {
  const { prices } = tx.tables
  const values = { uid: newId('prc'), provider: 'maker', model: 'model', input, source: 'test', loadedAt: NOW }
  const [added] = await tx.insert(prices).values(values).returning({ id: prices.id })
  return added!.id
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error) => error,
  )

/** Turns the microtasks over, as a body of several queries does. */
async function namesInTurn(tx: Tx, ...texts: string[]): Promise<string[]> {
  for (const text of texts) await addName(tx, text)
  return texts
}

forEachEngine('db.write', (open, engine) => {
  test('answers what the body answers, and others see what it wrote', async () => {
    const db = await open()
    const other = await open({ sharing: db })
    expect(await db.write((tx) => namesInTurn(tx, 'one', 'two'))).toEqual(['one', 'two'])
    expect(await namesOf(other.read)).toEqual(['one', 'two'])
  })

  test('rolls a body that fails back alone, while its neighbours commit', async () => {
    const db = await open()
    const failure = new Error('the body failed')
    const bodies = [1, 2, 3, 4, 5].map((number) =>
      db.write(async (tx) => {
        await addName(tx, `first of ${number}`)
        if (number % 2 === 0) throw failure
        return addName(tx, `second of ${number}`)
      }),
    )
    const outcomes = await Promise.allSettled(bodies)
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(outcomes[1]).toEqual({ status: 'rejected', reason: failure })
    expect((await namesOf(db.read)).sort()).toEqual([
      'first of 1',
      'first of 3',
      'first of 5',
      'second of 1',
      'second of 3',
      'second of 5',
    ])
  })

  test.skipIf(!canOverlap(engine))('shows a body what it wrote itself, and nobody else before the commit', async () => {
    const db = await open()
    const other = await open({ sharing: db })
    const seen = await db.write(async (tx) => {
      await addName(tx, 'mine')
      return { by: await namesOf(tx), byOthers: await namesOf(other.read) }
    })
    expect(seen).toEqual({ by: ['mine'], byOthers: [] })
  })

  test('throws if a body calls write, and keeps working', async () => {
    const db = await open()
    const failure = await failureOf(db.write(() => db.write(async () => 'inner')))
    expect(String(failure)).toContain('write() was called inside write()')
    expect(await db.write(async () => 'next')).toBe('next')
  })

  test('can be called again by what waited for an answer', async () => {
    const db = await open()
    await db.write((tx) => addName(tx, 'first')).then(() => db.write((tx) => addName(tx, 'second')))
    expect(await namesOf(db.read)).toEqual(['first', 'second'])
  })

  test('runs effects after the commit, in order, and before the answer', async () => {
    const db = await open()
    const events: unknown[] = []
    await db
      .write(async (tx) => {
        tx.afterCommit(() => events.push('first effect'))
        tx.afterCommit(() => events.push('second effect'))
        await addName(tx, 'name')
        events.push('body')
      })
      .then(() => events.push('answer'))
    expect(events).toEqual(['body', 'first effect', 'second effect', 'answer'])
  })

  test('runs no effect of a body that was rolled back', async () => {
    const db = await open()
    const effects: string[] = []
    const failing = db.write(async (tx) => {
      tx.afterCommit(() => effects.push('of the failed one'))
      await addName(tx, 'name')
      throw new Error('too late')
    })
    const neighbour = db.write(async (tx) => tx.afterCommit(() => effects.push('of its neighbour')))
    await Promise.allSettled([failing, neighbour])
    expect(effects).toEqual(['of its neighbour'])
  })

  test('rolls back a part that fails, with its effects, and continues', async () => {
    const db = await open()
    const effects: string[] = []
    const told = await db.write(async (tx) => {
      await addName(tx, 'before')
      const failed = await tx
        .attempt(async () => {
          await addName(tx, 'inside')
          tx.afterCommit(() => effects.push('inside'))
          throw new Error('the part failed')
        })
        .catch((error: Error) => error.message)
      const done = await tx.attempt(async () => {
        await addName(tx, 'second part')
        tx.afterCommit(() => effects.push('second part'))
        return 'done'
      })
      await addName(tx, 'after')
      return [failed, done]
    })
    expect(told).toEqual(['the part failed', 'done'])
    expect((await namesOf(db.read)).sort()).toEqual(['after', 'before', 'second part'])
    expect(effects).toEqual(['second part'])
  })

  test('reports a failed effect only to its own caller, and keeps the writes', async () => {
    const db = await open()
    const failing = db.write(async (tx) => {
      tx.afterCommit(() => {
        throw new Error('the effect failed')
      })
      return addName(tx, 'written')
    })
    const neighbour = db.write((tx) => addName(tx, 'beside'))
    expect(String(await failureOf(failing))).toContain('the effect failed')
    await neighbour
    await db.write((tx) => addName(tx, 'after'))
    expect((await namesOf(db.read)).sort()).toEqual(['after', 'beside', 'written'])
  })

  test('lets a unique violation reach the caller as one, and no other failure', async () => {
    const db = await open()
    await db.write((tx) => addUser(tx))
    const twice = await failureOf(db.write((tx) => addUser(tx)))
    expect(isUniqueViolation(twice)).toBe(true)
    const unknownRole = db.write((tx) =>
      tx
        .insert(tx.tables.users)
        .values({ uid: newId('usr'), email: 'eve@example.com', name: 'Eve', role: 'owner' as never, createdAt: NOW }),
    )
    expect(isUniqueViolation(await failureOf(unknownRole))).toBe(false)
    expect(isUniqueViolation(await failureOf(db.write((tx) => addToken(tx, 999))))).toBe(false)
  })

  test('knows a unique violation inside the body, too', async () => {
    const db = await open()
    await db.write((tx) => addName(tx, 'taken'))
    const known: boolean[] = []
    await failureOf(
      db.write(async (tx) => {
        await addName(tx, 'taken').catch((error) => {
          known.push(isUniqueViolation(error))
          throw error
        })
      }),
    )
    expect(known).toContain(true)
    expect(known).not.toContain(false)
  })

  test('fails without repeating the values that were to be written', async () => {
    const db = await open()
    await db.write((tx) => addUser(tx))
    const failure = await failureOf(db.write((tx) => addUser(tx)))
    const told = { ...(failure as object), text: String(failure), stack: (failure as Error).stack }
    expect(JSON.stringify(told)).not.toContain('ada@example.com')
  })

  test('creates one row from fifty bodies that insert the same name if it is missing', async () => {
    const db = await open()
    const bodies = Array.from({ length: 50 }, () =>
      db.write(async (tx) => {
        const { names } = tx.tables
        await tx.insert(names).values({ text: 'same' }).onConflictDoNothing()
        const [row] = await tx.select({ id: names.id }).from(names).where(eq(names.text, 'same'))
        return row!.id
      }),
    )
    expect(new Set(await Promise.all(bodies)).size).toBe(1)
    expect(await namesOf(db.read)).toEqual(['same'])
  })

  test('makes one row of fifty bodies that look for the name first and insert it then', async () => {
    const db = await open()
    const bodies = Array.from({ length: 50 }, () =>
      db.write(async (tx) => {
        const { names } = tx.tables
        const [row] = await tx.select({ id: names.id }).from(names).where(eq(names.text, 'same'))
        return row?.id ?? addName(tx, 'same')
      }),
    )
    expect(new Set(await Promise.all(bodies)).size).toBe(1)
  })

  test('loses none of fifty changes that read a row and write what they make of it', async () => {
    const db = await open()
    await db.write((tx) => tx.update(tx.tables.organization).set({ name: '0' }))
    const bodies = Array.from({ length: 50 }, () =>
      db.write(async (tx) => {
        const { organization } = tx.tables
        const [row] = await tx.select({ name: organization.name }).from(organization)
        await tx.update(organization).set({ name: `${Number(row!.name) + 1}` })
      }),
    )
    await Promise.all(bodies)
    const { organization } = db.read.tables
    expect(await db.read.select({ name: organization.name }).from(organization)).toEqual([{ name: '50' }])
  })

  test('keeps what it acknowledged when the process is killed', async () => {
    const db = await open()
    const child = inOtherProcess('acknowledge', locationOf(db))
    let acknowledged = ''
    for await (const chunk of child.stdout) {
      acknowledged += new TextDecoder().decode(chunk)
      if (acknowledged.split('\n').length > 20) break
    }
    child.kill('SIGKILL')
    await child.exited
    const last = acknowledged.trim().split('\n').at(-1)
    expect(await namesOf(db.read)).toContain(`name ${last}`)
    expect((await namesOf(db.read)).length).toBeGreaterThanOrEqual(Number(last))
    expect(await db.write((tx) => addName(tx, 'goes on'))).toBeGreaterThan(0)
  })

  test('finishes what waits when the database is closed, and refuses what comes later', async () => {
    const db = await open()
    const other = await open({ sharing: db })
    const waiting = Array.from({ length: 20 }, (_, number) => db.write((tx) => addName(tx, `waiting ${number}`)))
    const closed = db.close()
    const late = failureOf(db.write((tx) => addName(tx, 'late')))
    await closed
    expect((await Promise.all(waiting)).length).toBe(20)
    expect(await late).toMatchObject({ code: 'database_unreachable', status: 503 })
    expect(await namesOf(other.read)).toHaveLength(20)
  })

  test.skipIf(!canOverlap(engine))(
    'refuses with database_busy what waits too long for another transaction, and works afterwards',
    async () => {
      const db = await open({ busyDeadlineMs: 100 })
      const other = await open({ sharing: db })
      const rename = (name: string) => (tx: Tx) => tx.update(tx.tables.organization).set({ name })
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      let isHeld = () => {}
      const isHolding = new Promise<void>((resolve) => {
        isHeld = resolve
      })
      const holder = other.write(async (tx) => {
        await rename('held')(tx)
        isHeld()
        await held
      })
      await isHolding
      expect(await failureOf(db.write(rename('refused')))).toMatchObject({ code: 'database_busy', status: 503 })
      release()
      await holder
      await db.write(rename('afterwards'))
      const { organization } = db.read.tables
      expect(await db.read.select({ name: organization.name }).from(organization)).toEqual([{ name: 'afterwards' }])
    },
  )
})

forEachEngine('values', (open, engine) => {
  test('of the clock are those of a server that has one of its own', async () => {
    const [before, at] = [Date.now(), await databaseTime(await open())]
    if (engine === 'sqlite') expect(at).toBeNull()
    // PostgreSQL runs on this machine.
    else expect(at).toBeWithin(before - 1_000, Date.now() + 1_000)
  })

  const LARGE = [2n ** 53n + 1n, 2n ** 63n - 1n, 0n, null]

  async function withPrices(open: () => Promise<Database>): Promise<Database> {
    const db = await open()
    await db.write(async (tx) => {
      for (const input of LARGE) await addPrice(tx, input)
    })
    return db
  }

  const inputs = (reader: Reader) =>
    reader
      .select({ input: reader.tables.prices.input })
      .from(reader.tables.prices)
      .orderBy(asc(reader.tables.prices.id))

  test('above 2^53 come back as they were written, by every reader', async () => {
    const db = await withPrices(() => open({ serving: true }))
    const expected = LARGE.map((input) => ({ input }))
    expect(await inputs(db.read)).toEqual(expected)
    expect(await inputs(db.slow)).toEqual(expected)
    expect(await db.write((tx) => inputs(tx))).toEqual(expected)
    const prepared = db.read.prepared('test.inputs', (reader) => inputs(reader))
    expect(await prepared.execute()).toEqual(expected)
  })

  test('above 2^53 are found and summed without loss', async () => {
    const db = await withPrices(open)
    const { prices } = db.read.tables
    const found = await db.read.select({ id: prices.id }).from(prices).where(eq(prices.input, LARGE[0]!))
    expect(found).toHaveLength(1)
    const [sum] = await db.read
      .select({ input: sql<bigint>`sum(${prices.input} - 1)`.mapWith(BigInt) })
      .from(prices)
      .where(eq(prices.input, LARGE[0]!))
    expect(sum).toEqual({ input: 2n ** 53n })
  })

  test('beyond 64 bits are refused, not cut', async () => {
    const db = await open()
    expect(await failureOf(db.write((tx) => addPrice(tx, 2n ** 64n + 1n)))).toBeInstanceOf(Error)
    expect(await inputs(db.read)).toEqual([])
  })

  test('of every kind survive: ids, bytes, flags, times, JSON, text with any character', async () => {
    const db = await open()
    const text = 'naïve 東京 🦊 \'quoted\' "twice" \\ % _ ; --'
    const hash = new Uint8Array(32).map((_, index) => index * 8)
    const uid = newId('tok')
    const row = await db.write(async (tx) => {
      const createdBy = await addUser(tx)
      const { tokens, labelSets } = tx.tables
      await tx.insert(labelSets).values({ labels: { branch: text } })
      const values = {
        uid,
        kind: 'svc',
        name: text,
        hash,
        hint: '',
        createdBy,
        allowBills: true,
        createdAt: NOW,
      } as const
      await tx.insert(tokens).values(values)
      const [token] = await tx.select().from(tokens).where(eq(tokens.uid, uid))
      const [labels] = await tx.select().from(labelSets)
      return { ...token!, hash: [...token!.hash], labels: labels!.labels }
    })
    expect(row).toMatchObject({
      uid,
      name: text,
      hash: [...hash],
      allowBills: true,
      createdAt: NOW,
      expiresAt: null,
      labels: { branch: text },
    })
  })

  test('of text are in the order of their bytes', async () => {
    const db = await open()
    await db.write((tx) => namesInTurn(tx, 'b', 'A', 'ä', 'a', 'Z', '_', '1'))
    const { names } = db.read.tables
    const sorted = await db.read.select({ text: names.text }).from(names).orderBy(asc(names.text))
    expect(sorted.map(({ text }) => text)).toEqual(['1', 'A', 'Z', '_', 'a', 'b', 'ä'])
  })

  test('of a set of sixteen long labels are kept once', async () => {
    const db = await open()
    const long = () => crypto.getRandomValues(Buffer.alloc(128)).toString('hex')
    const labels = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`label-${index}`, long()]))
    const add = () =>
      db.write((tx) => tx.insert(tx.tables.labelSets).values({ labels }).onConflictDoNothing().returning())
    expect((await add()).length + (await add()).length).toBe(1)
    const { labelSets } = db.read.tables
    const found = await db.read.select({ id: labelSets.id }).from(labelSets).where(eq(labelSets.labels, labels))
    expect(found).toHaveLength(1)
    const twice = await failureOf(db.write((tx) => tx.insert(tx.tables.labelSets).values({ labels })))
    expect(isUniqueViolation(twice)).toBe(true)
  })
})

forEachEngine('prepared queries', (open) => {
  const byText = (reader: Reader) =>
    reader.prepared('test.by-text', (prepare) => {
      const { names } = prepare.tables
      return prepare
        .select({ id: names.id, text: names.text })
        .from(names)
        .where(eq(names.text, sql.placeholder('text')))
    })

  const insert = (tx: Tx) =>
    tx.prepared('test.insert', (prepare) => {
      const { names } = prepare.tables
      return prepare
        .insert(names)
        .values({ text: sql.placeholder('text'), canonicalId: sql.placeholder('canonicalId') } as never)
        .returning({ id: names.id, canonicalId: names.canonicalId })
    })

  test('take their values at each run, null among them, in bodies and by every reader', async () => {
    const db = await open({ serving: true })
    const ids: number[] = []
    for (const text of ['one', 'two', 'three']) {
      const canonicalId = ids[0] ?? null
      const [added] = await db.write((tx) => insert(tx).execute({ text, canonicalId }))
      expect(added!.canonicalId).toBe(canonicalId)
      ids.push(added!.id)
    }
    for (const reader of [db.read, db.slow]) {
      expect(await byText(reader).execute({ text: 'two' })).toEqual([{ id: ids[1]!, text: 'two' }])
      expect(await byText(reader).execute({ text: 'none' })).toEqual([])
    }
  })

  test('see what their own transaction wrote, and after a rollback no more', async () => {
    const db = await open()
    const seen: number[] = []
    await failureOf(
      db.write(async (tx) => {
        await insert(tx).execute({ text: 'gone', canonicalId: null })
        seen.push((await byText(tx).execute({ text: 'gone' })).length)
        throw new Error('roll back')
      }),
    )
    seen.push((await db.write((tx) => byText(tx).execute({ text: 'gone' }))).length)
    expect(seen).toEqual([1, 0])
  })

  test('are built once', async () => {
    const db = await open()
    let built = 0
    for (let run = 0; run < 3; run += 1) {
      await db.write((tx) =>
        tx
          .prepared('test.built', (prepare) => {
            built += 1
            return prepare.select().from(prepare.tables.names)
          })
          .execute(),
      )
    }
    expect(built).toBe(1)
  })
})

forEachEngine('the revision', (open) => {
  /** Whether a change moves it, as the next call of any reader sees. */
  async function moves(db: Database, change: (tx: Tx) => Promise<unknown>): Promise<boolean> {
    const before = await db.read.revision()
    await db.write(change)
    const after = await db.read.revision()
    expect(await db.slow.revision()).toBe(after)
    expect(await db.write(async (tx) => tx.revision())).toBe(after)
    return after > before
  }

  test('moves when people, tokens, prices, aliases or the settings change', async () => {
    const db = await open({ serving: true })
    let user = 0
    let token = 0
    let alias = 0
    const changes: Record<string, (tx: Tx) => Promise<unknown>> = {
      'a person': async (tx) => {
        user = await addUser(tx)
      },
      'a role': (tx) => tx.update(tx.tables.users).set({ role: 'member' }).where(eq(tx.tables.users.id, user)),
      'a token': async (tx) => {
        token = await addToken(tx, user)
      },
      'a revocation': (tx) => tx.update(tx.tables.tokens).set({ revokedAt: NOW }).where(eq(tx.tables.tokens.id, token)),
      'a price': (tx) => addPrice(tx, 1n),
      'an alias': async (tx) => {
        const values = { alias: 'a', model: 'm', source: 'admin', createdAt: NOW }
        const [added] = await tx.insert(tx.tables.priceAliases).values(values).returning()
        alias = added!.id
      },
      'another model of an alias': (tx) => tx.update(tx.tables.priceAliases).set({ model: 'n' }),
      'an alias that goes': (tx) => tx.delete(tx.tables.priceAliases).where(eq(tx.tables.priceAliases.id, alias)),
      'a setting': (tx) => tx.update(tx.tables.organization).set({ name: 'Agency' }),
    }
    for (const [name, change] of Object.entries(changes)) {
      expect({ [name]: await moves(db, change) }).toEqual({ [name]: true })
    }
  })

  test('stays when a token is used, a name or an entry is kept, or nothing is written', async () => {
    const db = await open({ serving: true })
    await db.write(async (tx) => addToken(tx, await addUser(tx)))
    expect(await moves(db, (tx) => tx.update(tx.tables.tokens).set({ lastUsedAt: NOW }))).toBe(false)
    expect(await moves(db, (tx) => addName(tx, 'name'))).toBe(false)
    expect(await moves(db, async () => {})).toBe(false)
  })

  test('is seen to move inside the transaction, and to stay after a rollback', async () => {
    const db = await open()
    const before = await db.read.revision()
    let inside = 0
    await failureOf(
      db.write(async (tx) => {
        await addUser(tx)
        inside = await tx.revision()
        throw new Error('roll back')
      }),
    )
    expect(inside).toBeGreaterThan(before)
    expect(await db.read.revision()).toBe(before)
  })

  test('moves for a change that another process makes', async () => {
    const db = await open({ serving: true })
    const before = [await db.read.revision(), await db.slow.revision(), await db.write(async (tx) => tx.revision())]
    const child = inOtherProcess('rename', locationOf(db))
    expect(await child.stderr.text()).toBe('')
    expect(await db.read.revision()).toBeGreaterThan(before[0]!)
    expect(await db.slow.revision()).toBeGreaterThan(before[1]!)
    expect(await db.write(async (tx) => tx.revision())).toBeGreaterThan(before[2]!)
  })
})

forEachEngine('Cached', (open) => {
  function cachedName() {
    let loads = 0
    const cached = new Cached(async (reader) => {
      loads += 1
      const [row] = await reader.select({ name: reader.tables.organization.name }).from(reader.tables.organization)
      return row!.name
    })
    return { cached, loads: () => loads }
  }
  const rename = (tx: Tx, name: string) => tx.update(tx.tables.organization).set({ name })

  test('loads once while nothing changes, for every reader', async () => {
    const db = await open({ serving: true })
    const { cached, loads } = cachedName()
    for (const reader of [db.read, db.slow, db.read]) expect(await cached.get(reader)).toBe('Tally')
    expect(await db.write(async (tx) => cached.get(tx))).toBe('Tally')
    expect(loads()).toBe(1)
  })

  test('loads again after a change, by this process or another', async () => {
    const db = await open()
    const { cached, loads } = cachedName()
    await cached.get(db.read)
    await db.write((tx) => rename(tx, 'Agency'))
    expect(await cached.get(db.read)).toBe('Agency')
    await inOtherProcess('rename', locationOf(db)).exited
    expect(await cached.get(db.read)).toBe('Renamed')
    expect(loads()).toBe(3)
  })

  test('shows a body its own change, and keeps it once it is committed', async () => {
    const db = await open()
    const { cached, loads } = cachedName()
    const inside = await db.write(async (tx) => {
      await rename(tx, 'Agency')
      return cached.get(tx)
    })
    expect([inside, await cached.get(db.read), loads()]).toEqual(['Agency', 'Agency', 1])
  })

  test('forgets what it loaded in a body that was rolled back, though the same number comes again', async () => {
    const db = await open()
    const { cached } = cachedName()
    await cached.get(db.read)
    let rolledBack = 0
    await failureOf(
      db.write(async (tx) => {
        await rename(tx, 'Rolled back')
        await cached.get(tx)
        rolledBack = await tx.revision()
        throw new Error('roll back')
      }),
    )
    expect(await cached.get(db.read)).toBe('Tally')
    await db.write((tx) => rename(tx, 'Agency'))
    expect(await db.read.revision()).toBe(rolledBack)
    expect(await cached.get(db.read)).toBe('Agency')
  })
})

forEachEngine('db.slow', (open, engine) => {
  const endless = (reader: Reader) =>
    reader
      .select({
        count: sql<number>`(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 15000000) SELECT count(*) FROM c)`,
      })
      .from(reader.tables.revision)

  test('sees what is committed', async () => {
    const db = await open({ serving: true })
    await db.write((tx) => addName(tx, 'name'))
    expect(await namesOf(db.slow)).toEqual(['name'])
  })

  test('answers many questions asked at once, each with its own answer', async () => {
    const db = await open({ serving: true })
    await db.write((tx) => namesInTurn(tx, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'))
    const { names } = db.slow.tables
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7, 8].map((id) => db.slow.select({ id: names.id }).from(names).where(eq(names.id, id))),
    )
    expect(answers.flat().map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('fails with the reason if a query is wrong, and runs the next', async () => {
    const db = await open({ serving: true })
    const wrong = db.slow.select({ nothing: sql`no_such_column` }).from(db.slow.tables.names)
    expect(String(await failureOf(wrong))).toContain('no_such_column')
    expect(await namesOf(db.slow)).toEqual([])
  })

  describe.skipIf(!canOverlap(engine))('past its deadline', () => {
    test('fails with database_deadline, and then runs waiting queries and the next one', async () => {
      const db = await open({ serving: true, slowDeadlineMs: 1_000 })
      await db.write((tx) => addName(tx, 'name'))
      const late = failureOf(endless(db.slow))
      const behind = namesOf(db.slow)
      expect(await late).toMatchObject({ code: 'database_deadline', status: 503 })
      expect(await behind).toEqual(['name'])
      expect(await namesOf(db.slow)).toEqual(['name'])
    })

    test('does not block writes meanwhile', async () => {
      const db = await open({ serving: true })
      let isOver = false
      const caller = new AbortController()
      const late = onBehalfOf({ signal: caller.signal, key: 1 }, () => failureOf(endless(db.slow))).then(() => {
        isOver = true
      })
      // On an idle machine it has begun by then.
      await Bun.sleep(200)
      for (const text of ['one', 'two', 'three']) await db.write((tx) => addName(tx, text))
      expect(isOver).toBe(false)
      caller.abort()
      await late
    })
  })
})
