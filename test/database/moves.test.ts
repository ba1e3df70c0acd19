/** Moves between the engines: everything arrives, nothing is written meanwhile, and an interrupted one continues. */
import { Database as Connection } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { contentOf } from '../../src/database/backup/contents.ts'
import { copyWhole } from '../../src/database/backup/copy.ts'
import { cancelMove, type Moved, move, movedTables, openSide } from '../../src/database/move/move.ts'
import type { Source, Target } from '../../src/database/move/side.ts'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { readinessOf } from '../../src/database/ready.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { canOverlap, type Engine, forEachEngine, type Location, newLocation, rowsAt } from '../support/databases.ts'

const FIXTURE = join(import.meta.dir, '../fixtures/upgrades/0.3.0.db.zst')
const NOW = Date.UTC(2026, 10, 26)
const tables = movedTables()

/** What the format of lines escapes, what looks like it, and what is long. */
const TEXTS = [
  'tab\tline\nreturn\r',
  'back\\slash \\N \\t',
  '\b\f\v',
  '',
  'é🙂\u202e',
  '%_?$1 :name',
  'x'.repeat(70_000),
]

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

async function side({ dataDir, databaseUrl }: Location, { creates = false } = {}): Promise<Source & Target> {
  const opened = await openSide({ dataDir, databaseUrl }, { tables, now: NOW, creates })
  cleanUps.push(() => opened.close())
  return opened
}

async function used(): Promise<Location> {
  const location = await newLocation('sqlite', cleanUps)
  const file = join(location.dataDir, 'tally.db')
  await Bun.write(file, zstdDecompressSync(await Bun.file(FIXTURE).bytes()))
  const db = await openDatabase({ clock: systemClock, ...location })
  await db.write(async (tx) => {
    for (const text of TEXTS) await tx.insert(tx.tables.names).values({ text })
  })
  await db.close()
  return location
}

/** @param disturb makes something happen at a moment of the move */
async function moveBetween(
  from: Location,
  to: Location,
  disturb: (source: Source, target: Target) => void = () => {},
): Promise<Moved> {
  const source = await side(from)
  const target = await side(to, { creates: true })
  disturb(source, target)
  try {
    return await move({ source, target, tables, now: () => NOW, onProgress: () => {} })
  } finally {
    await source.close()
    await target.close()
  }
}

/** The same data in this engine. */
async function usedIn(engine: Engine): Promise<Location> {
  const sqlite = await used()
  if (engine === 'sqlite') return sqlite
  const location = await newLocation(engine, cleanUps)
  await moveBetween(sqlite, location)
  return location
}

const other = (engine: Engine): Engine => (engine === 'sqlite' ? 'postgres' : 'sqlite')

forEachEngine('a database that is moved', (_open, engine) => {
  test('has the same rows in the other engine and back, and new rows follow the last ones', async () => {
    const from = await usedIn(engine)
    const to = await newLocation(other(engine), cleanUps)
    const there = await moveBetween(from, to)
    const back = await newLocation(engine, cleanUps)
    const again = await moveBetween(to, back)
    expect(again.tables).toEqual(there.tables)
    expect(again.sums).toEqual(there.sums)
    expect(there.sums.entries).toBeGreaterThan(0n)
    expect(there.rows).toBe(there.tables.reduce((sum, { rows }) => sum + rows, 0))
    expect(there.copied).toBe(there.rows)

    const db = await openDatabase({ clock: systemClock, ...back })
    cleanUps.push(() => db.close())
    const { names } = db.read.tables
    const texts = (await db.read.select({ text: names.text }).from(names)).map(({ text }) => text)
    for (const text of TEXTS) expect(texts).toContain(text)
    const last = Math.max(...(await db.read.select({ id: names.id }).from(names)).map(({ id }) => id))
    const [added] = await db.write((tx) => tx.insert(tx.tables.names).values({ text: 'new' }).returning())
    expect(added!.id).toBe(last + 1)
  }, 180_000)

  test('keeps the key that identifies its backups, but not the timeline, and both can be backed up', async () => {
    const from = await usedIn(engine)
    const to = await newLocation(other(engine), cleanUps)
    await moveBetween(from, to)
    const of = async (at: Location) => {
      const [key] = await rowsAt(at, 'SELECT signing_key FROM database_identity')
      const [timeline] = await rowsAt(at, 'SELECT timeline, backed_up_at FROM backup_timeline')
      return { key: Buffer.from(key!.signing_key as Uint8Array).toString('hex'), ...timeline }
    }
    const [before, after] = [await of(from), await of(to)]
    expect(after).toEqual(expect.objectContaining({ key: before.key, backed_up_at: null }))
    expect(after).not.toEqual(before)
    // Also the old one, in which nothing can be written any more.
    const { dataDir } = engine === 'sqlite' ? from : to
    const reading = new Connection(join(dataDir, DATABASE_FILE), { readonly: true })
    copyWhole(reading, join(dataDir, 'backup.db'), NOW)
    reading.close()
    expect(contentOf(join(dataDir, 'backup.db'))).toMatchObject({ kind: 'backup', madeAt: NOW })
  }, 180_000)

  test('can be read but not written, by no process, until the move is cancelled', async () => {
    const location = await usedIn(engine)
    const db = await openDatabase({ clock: systemClock, ...location })
    cleanUps.push(() => db.close())
    const add = (text: string) => db.write((tx) => tx.insert(tx.tables.names).values({ text }).returning())
    const ready = readinessOf(db)
    const source = await side(location)
    await source.freeze({ move: 'one', direction: 'to', place: 'elsewhere', endedAt: null, isRestored: false }, NOW)

    await expect(add('meanwhile')).rejects.toMatchObject({ code: 'database_moved', status: 503 })
    await expect(ready()).rejects.toMatchObject({ code: 'database_moved' })
    const { names } = db.read.tables
    expect((await db.read.select({ id: names.id }).from(names)).length).toBeGreaterThan(0)
    await expect(openDatabase({ clock: systemClock, ...location })).rejects.toThrow('is being moved to elsewhere')
    await expect(rowsAt(location, `DELETE FROM names`)).rejects.toThrow('moved to another one')

    await cancelMove(source)
    expect(await add('afterwards')).toHaveLength(1)
    await expect(cancelMove(source)).rejects.toThrow('is not being moved')
  }, 180_000)

  test('continues where a move was interrupted, and says nothing is missing', async () => {
    const from = await usedIn(engine)
    const to = await newLocation(other(engine), cleanUps)
    const interrupted = moveBetween(from, to, (_source, target) => {
      const write = target.write.bind(target)
      target.write = async (table, pieces) => {
        if (table.name === 'audit') throw new Error('interrupted')
        await write(table, pieces)
      }
    })
    await expect(interrupted).rejects.toThrow('interrupted')
    await expect(openDatabase({ clock: systemClock, ...to })).rejects.toThrow('is an unfinished copy of')
    await expect(openDatabase({ clock: systemClock, ...from })).rejects.toThrow('is being moved to')

    // Once more during the comparison.
    const atTheEnd = moveBetween(from, to, (_source, target) => {
      target.sums = () => Promise.reject(new Error('interrupted again'))
    })
    await expect(atTheEnd).rejects.toThrow('interrupted again')

    const moved = await moveBetween(from, to)
    expect(moved.copied).toBe(0)
    await expect(openDatabase({ clock: systemClock, ...from })).rejects.toThrow('was moved to')
    await expect(moveBetween(from, to)).rejects.toThrow('is in use')
    await (await openDatabase({ clock: systemClock, ...to })).close()
  }, 180_000)

  test('is not marked as moved if a row differs at the end', async () => {
    const from = await usedIn(engine)
    const to = await newLocation(other(engine), cleanUps)
    const changed = moveBetween(from, to, (_source, target) => {
      const restore = target.restore.bind(target)
      target.restore = async () => {
        await restore()
        await rowsAt(to, `UPDATE names SET text = 'changed' WHERE text = ''`)
      }
    })
    await expect(changed).rejects.toThrow('The table names differs')
    const source = await side(from)
    expect(await source.mark()).toMatchObject({ direction: 'to', endedAt: null })
    await cancelMove(source)
    await (await openDatabase({ clock: systemClock, ...from })).close()
  }, 180_000)

  test('is refused if a row refers to one that is missing', async () => {
    const from = await usedIn(engine)
    if (engine === 'postgres') await rowsAt(from, 'ALTER TABLE entries DISABLE TRIGGER ALL')
    await rowsAt(from, 'UPDATE entries SET agent_id = 987654321')
    const to = await newLocation(other(engine), cleanUps)
    await expect(moveBetween(from, to)).rejects.toThrow(/refers? to (a )?missing/)
  }, 180_000)

  test('is not marked as moved if the move was cancelled before the end', async () => {
    const from = await usedIn(engine)
    const to = await newLocation(other(engine), cleanUps)
    const cancelled = moveBetween(from, to, (source, target) => {
      const sums = target.sums.bind(target)
      target.sums = async () => {
        await cancelMove(source)
        return sums()
      }
    })
    await expect(cancelled).rejects.toThrow('The move was cancelled meanwhile')
    await (await openDatabase({ clock: systemClock, ...from })).close()
    await expect(openDatabase({ clock: systemClock, ...to })).rejects.toThrow('is an unfinished copy of')
  }, 180_000)

  test('goes to an empty database only, and to one place', async () => {
    const from = await usedIn(engine)
    const [inUse, empty, elsewhere] = [
      await usedIn(other(engine)),
      await newLocation('sqlite', cleanUps),
      await newLocation('sqlite', cleanUps),
    ]
    await expect(moveBetween(from, inUse)).rejects.toThrow('is in use. Move to a new, empty database.')
    // Nothing has happened to either.
    for (const place of [from, inUse]) await (await openDatabase({ clock: systemClock, ...place })).close()
    await moveBetween(from, empty)
    await expect(moveBetween(from, elsewhere)).rejects.toThrow('tally move --cancel')
  }, 180_000)
})

test.skipIf(!canOverlap('postgres'))(
  'a move waits for what a killed one has begun, and does not run beside another',
  async () => {
    const from = await used()
    const to = await newLocation('postgres', cleanUps)
    await expect(
      moveBetween(from, to, (_source, target) => {
        target.restore = () => Promise.reject(new Error('interrupted'))
      }),
    ).rejects.toThrow('interrupted')
    const other = await side(to)
    const closed = Bun.sleep(500).then(() => other.close())
    const { copied } = await moveBetween(from, to)
    expect(copied).toBe(0)
    await closed

    const running = await side(to)
    await expect(side(to)).rejects.toThrow('is being moved by another `tally move`')
    await running.close()
  },
  180_000,
)

test.skipIf(!canOverlap('postgres'))(
  'a transaction that is open when a move begins is moved or refused, never lost',
  async () => {
    const location = await newLocation('postgres', cleanUps)
    const db = await openDatabase({ clock: systemClock, ...location })
    cleanUps.push(() => db.close())
    let outcomes: PromiseSettledResult<unknown>[] = []
    const begun = Promise.withResolvers<void>()
    const writing = (async () => {
      for (let round = 0; outcomes.every(({ status }) => status === 'fulfilled'); round += 1) {
        const added = Array.from({ length: 4 }, (_, one) =>
          db.write((tx) => tx.insert(tx.tables.names).values({ text: `${round} ${one}` })),
        )
        outcomes = [...outcomes, ...(await Promise.allSettled(added))]
        begun.resolve()
      }
    })()
    await begun.promise
    const to = await newLocation('sqlite', cleanUps)
    await moveBetween(location, to)
    await writing
    const acknowledged = outcomes.filter(({ status }) => status === 'fulfilled').length
    const [row] = await rowsAt(to, 'SELECT count(*) AS rows FROM names')
    expect(row!.rows).toBe(acknowledged)
    expect(acknowledged).toBeLessThan(outcomes.length)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'database_moved' })
    }
  },
  180_000,
)
