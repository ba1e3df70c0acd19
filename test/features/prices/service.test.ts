import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { asc } from 'drizzle-orm'
import type { Database } from '../../../src/database/database.ts'
import { type DefaultTable, defaultTable, defaultTableVersion } from '../../../src/features/prices/default-table.ts'
import type { PriceRow } from '../../../src/features/prices/rates.ts'
import {
  type PricesService,
  type PriceTable,
  readPriceTable,
  type UsageOfModel,
  value,
  valueAtPrice,
} from '../../../src/features/prices/service.ts'
import { insertLoad, listEmbeddedVersions } from '../../../src/features/prices/store/loads.ts'
import { addAliases, addPrices, listAliases, listPrices } from '../../../src/features/prices/store.ts'
import { forEachEngine } from '../../support/databases.ts'
import { pricesServiceOf } from '../../support/prices-service.ts'

const FILE = join(import.meta.dir, '../../../src/features/prices/default-prices.json')
const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

const ROW: PriceRow = {
  provider: 'openai',
  model: 'gpt-9',
  input: 1_000_000n,
  output: 2_000_000n,
  cacheRead: null,
  cacheWrite: 0n,
  cacheWrite1h: null,
  tiers: [{ fromTokens: 200_001, prices: { input: 3_000_000n, cacheWrite1h: 999_999_999n } }],
  effectiveFrom: null,
}
const EMBEDDED = {
  format: 'default',
  digest: null,
  asOf: Date.UTC(2026, 8, 1),
  counts: {},
  loadedAt: NOW - 1,
  loadedBy: null,
}
const BY_HAND = { source: 'admin', loadedAt: NOW, loadedBy: null } as const

function usage(model: string, counts: number[], more: Partial<UsageOfModel> = {}): UsageOfModel {
  const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0] = counts
  return {
    model,
    provider: null,
    startedAt: NOW,
    endedAt: NOW,
    counts: { input, output, cacheRead, cacheWrite, cacheWrite1h },
    details: null,
    requests: null,
    ...more,
  }
}

forEachEngine('prices', (openDatabase) => {
  async function open(): Promise<{ db: Database; prices: PricesService }> {
    const db = await openDatabase()
    return { db, prices: pricesServiceOf({ db, clock }) }
  }

  test('a new database starts with the whole embedded table, loaded by nobody', async () => {
    const { db, prices } = await open()
    await prices.loadDefaultPrices()
    const stored = await listPrices(db.read)
    expect(stored.map(({ id: _id, uid: _uid, ...row }) => row)).toMatchObject(defaultTable().rows)
    expect(stored.every((price) => price.source === 'default')).toBe(true)
    const file: DefaultTable = await Bun.file(FILE).json()
    const { prices: table, priceAliases } = db.read.tables
    const columns = await db.read.select().from(table).orderBy(asc(table.id))
    expect(columns.map(({ provider, model, cacheRead, asOf }) => [provider, model, cacheRead, asOf])).toEqual(
      file.prices.map(({ provider, model, cache_read, from }) => [
        ...[provider, model, cache_read === undefined ? null : BigInt(cache_read)],
        Math.max(...from.map((position) => Date.parse(file.sources[position]!.as_of))),
      ]),
    )
    const aliases = await db.read.select().from(priceAliases).orderBy(asc(priceAliases.id))
    expect(aliases.map(({ provider, model, alias, source }) => [provider, model, alias, source])).toEqual(
      file.aliases.flatMap(({ provider, model, names }) => names.map((name) => [provider, model, name, 'default'])),
    )
    expect(await listEmbeddedVersions(db.read)).toEqual([defaultTableVersion()])
  })

  test('loading the embedded table again adds nothing, also when it is asked for twice at once', async () => {
    const { db, prices } = await open()
    const both = [prices.loadDefaultPrices(), pricesServiceOf({ db, clock }).loadDefaultPrices()]
    // One of them adds it, and says so.
    expect((await Promise.all(both)).sort()).toEqual([false, true])
    expect(await prices.loadDefaultPrices()).toBe(false)
    expect(await listPrices(db.read)).toHaveLength(defaultTable().rows.length)
  })

  test('an embedded table that is newer than the loaded one adds what changed, from today on', async () => {
    const { db, prices } = await open()
    const older = { source: 'default', loadedAt: NOW - 1, loadedBy: null } as const
    const rows = defaultTable().rows.map((row) =>
      row.provider === 'openai' && row.model === 'gpt-5' ? { ...row, input: 9_000_000n } : row,
    )
    await db.write(async (tx) => {
      await insertLoad(tx, { ...EMBEDDED, name: '0.1.0+00000000' })
      await addPrices(tx, rows, older)
      await addAliases(tx, [{ alias: 'gpt-5-codex', provider: 'openai', model: 'gpt-4' }], older)
    })
    await prices.loadDefaultPrices()

    const added = (await listPrices(db.read)).slice(rows.length)
    expect(added).toMatchObject([
      { provider: 'openai', model: 'gpt-5', input: 1_250_000n, effectiveFrom: Date.UTC(2026, 10, 20) },
    ])
    const table = await prices.table(db.read)
    expect(value(table, usage('gpt-5-codex', [1_000_000]))?.listValueNanos).toBe(1_250_000_000n)
    const before = usage('gpt-5-codex', [1_000_000], { startedAt: NOW - 86_400_000 })
    expect(value(table, before)?.listValueNanos).toBe(9_000_000_000n)
  })

  test('an embedded table that is older than the loaded one is left alone', async () => {
    const { db, prices } = await open()
    await db.write(async (tx) => {
      await insertLoad(tx, { ...EMBEDDED, name: '9999.0.0+00000000' })
    })
    await prices.loadDefaultPrices()
    expect(await listPrices(db.read)).toEqual([])
  })

  test('a price comes back as it was added, unknown and free kept apart', async () => {
    const { db } = await open()
    const dated = { ...ROW, tiers: [], effectiveFrom: Date.UTC(2027, 0, 1) }
    await db.write((tx) => addPrices(tx, [ROW, dated], BY_HAND))
    expect(await listPrices(db.read)).toMatchObject([ROW, dated])
  })

  test('a price beyond the limit is refused with its name, and none of its table is kept', async () => {
    const { db } = await open()
    const load = (row: PriceRow) => db.write((tx) => addPrices(tx, [ROW, row], BY_HAND))
    await expect(load({ ...ROW, output: 1_800_000_001n })).rejects.toThrow('openai gpt-9')
    await expect(load({ ...ROW, cacheRead: -1n })).rejects.toThrow('openai gpt-9')
    await expect(load({ ...ROW, tiers: [{ fromTokens: 1, prices: { input: 10n ** 18n } }] })).rejects.toThrow('gpt-9')
    expect(await listPrices(db.read)).toEqual([])
  })

  test('an alias that is added again leads to its new model', async () => {
    const { db } = await open()
    const alias = { alias: 'gpt-9-latest', provider: 'openai', model: 'gpt-9' }
    await db.write((tx) => addAliases(tx, [alias], BY_HAND))
    await db.write((tx) => addAliases(tx, [{ ...alias, model: 'gpt-9.1' }], BY_HAND))
    expect(await listAliases(db.read)).toEqual([{ ...alias, model: 'gpt-9.1', source: 'admin', loadId: null }])
  })

  test('a price is used from its commit on, and within its own transaction, but not after a rollback', async () => {
    const { db, prices } = await open()
    const valued = async (reader: Parameters<PricesService['table']>[0]) =>
      value(await prices.table(reader), usage('gpt-9', [1]))?.listValueNanos
    expect(await valued(db.read)).toBeUndefined()

    const rolledBack = db.write(async (tx) => {
      await addPrices(tx, [ROW], BY_HAND)
      expect(await valued(tx)).toBe(1_000n)
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    expect(await valued(db.read)).toBeUndefined()

    await db.write((tx) => addPrices(tx, [{ ...ROW, input: 5_000_000n }], BY_HAND))
    expect(await valued(db.read)).toBe(5_000n)
  })

  test('the table is held, not promised, while nothing changes', async () => {
    const { db, prices } = await open()
    const table = await prices.table(db.read)
    if (db.engine === 'sqlite') expect(prices.table(db.read)).toBe(table)
    expect(await prices.table(db.read)).toBe(table)
  })

  test('the table of tasks is read again after a change, and never for another database', async () => {
    const [{ db }, other] = [await open(), await open()]
    const idIn = async ({ read }: Database) =>
      (await readPriceTable(read)).table.find('gpt-9', 'openai', NOW)?.price.uid
    await other.db.write((tx) => addPrices(tx, [ROW], BY_HAND))
    expect(await idIn(db)).toBeUndefined()
    expect((await readPriceTable(db.read)).table).toBe((await readPriceTable(db.read)).table)
    await db.write((tx) => addPrices(tx, [{ ...ROW, effectiveFrom: NOW - 1 }], BY_HAND))
    const [first, ofOther] = [await idIn(db), await idIn(other.db)]
    expect(first).toBeString()
    expect(ofOther).toBeString()
    expect(ofOther).not.toBe(first!)
    expect((await readPriceTable(db.read)).moments).toEqual([NOW - 1])
  })

  test('a later price does not move a value that is asked for at the row it was found at', async () => {
    const { db, prices } = await open()
    await db.write((tx) => addPrices(tx, [ROW], BY_HAND))
    const first = value(await prices.table(db.read), usage('gpt-9', [1]))!
    await db.write((tx) => addPrices(tx, [{ ...ROW, input: 5_000_000n }], BY_HAND))
    const table = await prices.table(db.read)
    expect(valueAtPrice(table, first.price.id, usage('gpt-9', [2]))?.listValueNanos).toBe(2_000n)
    expect(value(table, usage('gpt-9', [2]))?.listValueNanos).toBe(10_000n)
    expect(valueAtPrice(table, 999, usage('gpt-9', [2]))).toBeUndefined()
  })

  test('a model whose row lacks a price that is needed is unpriced', async () => {
    const { db, prices } = await open()
    await db.write((tx) => addPrices(tx, [{ ...ROW, output: null }], BY_HAND))
    const table = await prices.table(db.read)
    expect(value(table, usage('gpt-9', [1, 1]))).toBeUndefined()
    expect(value(table, usage('gpt-9', [1]))).toMatchObject({ listValueNanos: 1_000n, step: 1 })
  })

  describe('with the embedded table, sessions of real agents', () => {
    let table: PriceTable
    beforeAll(async () => {
      const { db, prices } = await open()
      await prices.loadDefaultPrices()
      table = await prices.table(db.read)
    })

    // claude-code, codex and gemini-cli; the Claude figures are what Claude Code itself reported as cost.
    test.each([
      ['claude-opus-4-8', [1_188, 462, 38_928, 3_264, 600], 3, 63_354_000n],
      ['claude-sonnet-4-5', [522, 228, 20_982, 3_066, 600], 3, 26_378_100n],
      ['claude-haiku-4-5', [855, 345, 29_955, 3_165, 600], 3, 10_731_750n],
      ['gpt-5-codex', [6_153, 1_421, 12_150], 2, 23_420_000n],
      ['gpt-5-codex', [3_153, 721, 6_150], 1, 11_920_000n],
      ['gemini-2.5-flash', [5_028, 908, 3_034], 1, 3_869_420n],
      ['gemini-2.5-pro', [5_014, 904, 3_017], 1, 15_684_625n],
    ] as const)('of %s come out at the vendor’s figure', (model, counts, requests, listValueNanos) => {
      const valuation = value(table, usage(model, [...counts], { requests }))
      expect(valuation).toMatchObject({ listValueNanos, step: 4, note: null })
    })
  })
})
