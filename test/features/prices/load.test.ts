import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { Problem } from '../../../src/errors.ts'
import { defaultTable } from '../../../src/features/prices/default-table.ts'
import type { LoadOptions } from '../../../src/features/prices/load-plan.ts'
import type { PricesService, PriceView } from '../../../src/features/prices/service.ts'
import { forEachEngine } from '../../support/databases.ts'
import { pricesServiceOf } from '../../support/prices-service.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const TODAY = Date.UTC(2026, 10, 20)
const DAY_MS = 86_400_000

const FIXTURES = join(import.meta.dir, '../../fixtures/prices')
const TABLES = join(import.meta.dir, '../../../../shared/data')
const fixture = (name: string) => Bun.file(join(FIXTURES, name)).text()

/** Everything that a row says but what the database adds to it. */
function saidBy({
  id: _id,
  uid: _uid,
  loadedAt: _at,
  loadedBy: _by,
  withdrawnAt: _withdrawn,
  inUse: _inUse,
  loadId: _load,
  ...row
}: PriceView & { loadId?: number; inUse?: boolean }) {
  return row
}

function pricesOf(db: Database, clock = { now: () => NOW }): PricesService {
  return pricesServiceOf({ db, clock })
}

forEachEngine('loading a table of prices', (open) => {
  async function stage({ now = NOW } = {}) {
    const clock = { now: () => now }
    const db = await open()
    return { db, ...serviceOn(db, clock) }
  }

  function serviceOn(db: Database, clock: { now(): number }) {
    const prices = pricesOf(db, clock)
    return {
      prices,
      load: async (text: string, options: LoadOptions = {}) =>
        prices.load(await prices.planTable(text, options), TALLY),
      held: async (model: string): Promise<string[]> =>
        (await prices.everyPrice({ models: [model] })).map(
          ({ source, provider, input, effectiveFrom }) =>
            `${source} ${provider} ${input} ${effectiveFrom === null ? 'always' : new Date(effectiveFrom).toISOString().slice(0, 10)}`,
        ),
    }
  }

  test.each(['litellm.json', 'models-dev.json', 'genai-prices.json', 'tally.csv', 'tally.json'])(
    'of %s keeps what the file says, and a second time adds nothing',
    async (name) => {
      const { prices, load, db } = await stage()
      const loaded = await load(await fixture(name))
      const rows = (await prices.everyPrice({})).map(saidBy)
      expect(rows).toHaveLength(loaded.plan.additions.length)
      for (const { row, source } of loaded.plan.additions) {
        expect(rows).toContainEqual({ extras: null, effectiveUntil: null, ...row, source, asOf: TODAY })
      }
      const revision = await db.read.revision()

      const again = await load(await fixture(name))
      expect([again.plan.additions, again.plan.aliases]).toEqual([[], []])
      expect(again.plan.unchanged).toBe(loaded.plan.additions.length)
      expect(await prices.everyPrice({})).toHaveLength(rows.length)
      expect(await db.read.revision()).toBe(revision)
    },
  )

  test('beside the embedded one prices names from today that had a price, others from always', async () => {
    const { prices, load, held } = await stage()
    await prices.loadDefaultPrices()
    const table = [
      { provider: 'openai', model: 'gpt-5', input: 9, output: 9 },
      { provider: 'openai', model: 'gpt-9', input: 9, output: 9 },
    ]
    await load(JSON.stringify({ prices: table }))
    expect(await held('gpt-5')).toContain('tally openai 9000000 2026-11-20')
    expect(await held('gpt-9')).toEqual(['tally openai 9000000 always'])
    const at = async (moment: number) => (await prices.resolve('gpt-5', null, moment)).price?.input
    expect([await at(TODAY - 1), await at(TODAY)]).toEqual([1_250_000n, 9_000_000n])
  })

  test('that is newer adds dated rows beside the older ones', async () => {
    const { db, load, held } = await stage()
    const text = (input: number) => JSON.stringify([{ provider: 'openai', model: 'gpt-9', input, output: 9 }])
    await load(text(1))
    const later = serviceOn(db, { now: () => NOW + 3 * DAY_MS })
    const loaded = await later.load(text(2))
    expect(loaded.plan.additions).toMatchObject([{ replaced: { input: 1_000_000n }, row: { input: 2_000_000n } }])
    expect(await held('gpt-9')).toEqual(['tally openai 2000000 2026-11-23', 'tally openai 1000000 always'])
  })

  test('is all or nothing', async () => {
    const { prices, load, db } = await stage()
    const text = JSON.stringify({
      prices: [{ provider: 'x', model: 'y', input: 1, output: 1 }],
      aliases: [{ alias: 'why', provider: 'x', model: 'y' }],
    })
    await db.write(async (tx) => {
      // The rows are written before their other names.
      await tx.insert(tx.tables.prices).values({
        uid: 'prc_00000000000000000000000000000001',
        provider: 'x',
        model: 'z',
        source: 'admin',
        loadedAt: 0,
      })
    })
    const failing: Database = {
      ...db,
      write: (body) =>
        db.write(async (tx) => {
          await body(tx)
          throw new Error('the disk is gone')
        }),
    }
    await expect(serviceOn(failing, { now: () => NOW }).load(text)).rejects.toThrow('the disk is gone')
    expect(await prices.everyPrice({ models: ['y'] })).toEqual([])
    expect(await prices.listAliases({ all: true })).toEqual([])
    await load(text)
    expect(await prices.listAliases({ all: true })).toHaveLength(1)
  })

  test('by two at once adds everything once', async () => {
    const { prices, db } = await stage()
    const other = pricesOf(db)
    const text = await fixture('litellm.json')
    const plans = [await prices.planTable(text, {}), await other.planTable(text, {})]
    const [first, second] = await Promise.all([prices.load(plans[0]!, TALLY), other.load(plans[1]!, TALLY)])
    const added = [first, second].map(({ plan }) => plan.additions.length).sort()
    expect(added).toEqual([0, plans[0]!.plan.additions.length])
    expect(await prices.everyPrice({})).toHaveLength(added[1]!)
  })

  test('that was planned before others changed prices is planned anew', async () => {
    const { prices, load, held } = await stage()
    const text = (input: number) => JSON.stringify([{ provider: 'openai', model: 'gpt-9', input, output: 9 }])
    const planned = await prices.planTable(text(2), {})
    await load(text(1))
    const loaded = await prices.load(planned, TALLY)
    expect(loaded.plan.additions).toMatchObject([{ replaced: { input: 1_000_000n } }])
    expect(await held('gpt-9')).toEqual(['tally openai 2000000 2026-11-20', 'tally openai 1000000 always'])
  })

  test('names whoever loaded it', async () => {
    const { db, prices } = await stage()
    const [user] = await db.write((tx) =>
      tx
        .insert(tx.tables.users)
        .values({
          uid: 'usr_00000000000000000000000000000001',
          email: 'ada@example.com',
          name: 'Ada',
          role: 'billing',
          createdAt: NOW,
        })
        .returning(),
    )
    await prices.load(await prices.planTable('provider,model,input,output\nx,y,1,2\n', {}), {
      ...TALLY,
      userId: user!.id,
    })
    const [price] = await prices.everyPrice({})
    expect(price).toMatchObject({ loadedBy: { name: 'Ada' }, loadedAt: NOW, source: 'tally' })
  })

  describe('of its own making', () => {
    let prices: PricesService
    let load: (text: string) => Promise<unknown>
    beforeAll(async () => {
      ;({ prices, load } = await stage())
      await prices.loadDefaultPrices()
      for (const name of ['litellm.json', 'models-dev.json', 'genai-prices.json', 'tally.csv', 'tally.json'])
        await load(await fixture(name))
      await prices.setPrice({ ...OWN, model: 'gpt-5' }, TALLY)
      await prices.setPrice({ ...OWN, model: 'gpt-5', input: 0.000002 }, TALLY)
      await prices.setPrice(
        {
          ...OWN,
          model: '=HYPERLINK("x")',
          provider: '@home',
          effective_from: new Date(TODAY + 1).toISOString(),
          effective_until: '2030-01-01',
        },
        TALLY,
      )
      await prices.setAlias({ alias: 'coder', provider: null, model: 'gpt-5' }, TALLY)
    }, 300_000)
    const OWN = {
      input: 0.000001,
      output: 1.234567,
      cache_read: 0,
      tiers: [{ from_tokens: 9, input: 0.000003 }],
      only: true,
    }

    test.each(['csv', 'json'] as const)(
      'as %s gives the same rows in another database, and none in its own',
      async (format) => {
        const text = await prices.exportPrices(format, {})
        const before = await prices.everyPrice({})
        expect(await load(text)).toMatchObject({ plan: { additions: [], aliases: [], refused: [] } })
        expect(await prices.everyPrice({})).toEqual(before)

        const other = await stage({ now: NOW + 400 * DAY_MS })
        await other.prices.loadDefaultPrices()
        await other.load(text)
        expect(await other.prices.exportPrices(format, {})).toBe(text)
        // Only a row that a later one of the same day replaced is left out.
        const replaced = before.filter(
          ({ model, source, input }) => model === 'gpt-5' && source === 'admin' && input === 1n,
        )
        expect(replaced).toHaveLength(1)
        const rowsOf = (views: PriceView[]) => views.map((view) => JSON.stringify(saidBy(view), jsonOf)).sort()
        expect(rowsOf(await other.prices.everyPrice({}))).toEqual(rowsOf(before.filter((view) => view !== replaced[0])))
      },
    )

    test('as JSON has aliases as well', async () => {
      const other = await stage()
      await other.prices.loadDefaultPrices()
      await other.load(await prices.exportPrices('json', {}))
      const names = async (service: PricesService) =>
        (await service.listAliases({ all: true })).map(({ alias, provider, model, source }) =>
          JSON.stringify([alias, provider, model, source]),
        )
      expect((await names(other.prices)).sort()).toEqual((await names(prices)).sort())
    })
  })
})

function jsonOf(_key: string, value: unknown) {
  return typeof value === 'bigint' ? `${value}` : value
}

forEachEngine('a price set by hand', (open) => {
  const ROW = { provider: 'openai', model: 'gpt-9', input: 1, output: 2 }
  const service = async () => pricesOf(await open())

  test('is added once, always in effect for a new name, and from today where it changes', async () => {
    const prices = await service()
    expect(await prices.setPrice(ROW, TALLY)).toMatchObject({ isAdded: true, price: { effectiveFrom: null } })
    expect(await prices.setPrice(ROW, TALLY)).toMatchObject({ isAdded: false, price: { input: 1_000_000n } })
    const changed = await prices.setPrice({ ...ROW, input: 0.000003 }, TALLY)
    expect(changed).toMatchObject({ isAdded: true, price: { input: 3n, effectiveFrom: TODAY, source: 'admin' } })
    expect(await prices.setPrice({ ...ROW, input: 0.000003 }, TALLY)).toMatchObject({
      isAdded: false,
      price: { input: 3n },
    })
    expect(await prices.everyPrice({})).toHaveLength(2)
  })

  test('may cost nothing, which a person means, but not be beyond the limit unless forced', async () => {
    const prices = await service()
    expect((await prices.setPrice({ ...ROW, input: 0, output: 0 }, TALLY)).isAdded).toBe(true)
    const dear = { ...ROW, model: 'dear', input: 1_500 }
    await expect(prices.setPrice(dear, TALLY)).rejects.toThrow('$1,500 per million')
    expect((await prices.setPrice({ ...dear, force: true }, TALLY)).isAdded).toBe(true)
    await expect(prices.setPrice({ ...dear, input: 1_800.000001, force: true }, TALLY)).rejects.toThrow(Problem)
  })
})

forEachEngine('aliases', (open) => {
  test('are made, moved and removed by hand, and those of tables are left to their tables', async () => {
    const prices = pricesOf(await open())
    await prices.loadDefaultPrices()
    const found = async (name: string) => (await prices.resolve(name, null)).price?.model
    await prices.setAlias({ alias: 'coder', provider: null, model: 'gpt-5' }, TALLY)
    await prices.setAlias({ alias: 'coder', provider: 'anthropic', model: 'claude-opus-4-8' }, TALLY)
    expect((await prices.listAliases({ all: false })).map(({ alias, model }) => [alias, model])).toEqual([
      ['coder', 'claude-opus-4-8'],
    ])
    expect(await found('coder')).toBe('claude-opus-4-8')
    await prices.removeAlias('coder', TALLY)
    expect(await found('coder')).toBeUndefined()
    await expect(prices.removeAlias('coder', TALLY)).rejects.toThrow("'coder'")
    await expect(prices.removeAlias('gpt-5-codex', TALLY)).rejects.toThrow("'gpt-5-codex'")
    expect(await found('gpt-5-codex')).toBe('gpt-5')
  })
})

forEachEngine('lists of prices', (open) => {
  test('are newest first, in pages that do not move while rows arrive, and searched without regard to case', async () => {
    const prices = pricesOf(await open())
    await prices.loadDefaultPrices()
    const seen: string[] = []
    let after: number | undefined
    do {
      const page = await prices.listPrices({ filter: {}, limit: 700, after, by: undefined })
      seen.push(...page.data.map(({ uid }) => uid))
      after = page.has_more ? page.data.at(-1)!.id : undefined
      await prices.setPrice({ model: `late-${seen.length}`, input: 1, output: 1 }, TALLY)
    } while (after !== undefined)
    expect(new Set(seen).size).toBe(defaultTable().rows.length)
    expect(seen).toHaveLength(defaultTable().rows.length)

    const search = async (text: string) => (await prices.everyPrice({ search: text })).map(({ model }) => model)
    expect(await search('OPUS-4-8')).toContain('claude-opus-4-8')
    expect(await search('%')).toEqual([])
    expect(await search('_')).not.toContain('claude-opus-4-8')
    expect(new Set((await prices.everyPrice({ providers: ['x-ai'] })).map(({ provider }) => provider))).toEqual(
      new Set(['x-ai']),
    )
  })
})

forEachEngine('the real tables', (open) => {
  test.skipIf(!existsSync(TABLES))('load whole beside the embedded one, in turn, and twice add nothing', async () => {
    const prices = pricesOf(await open())
    await prices.loadDefaultPrices()
    const added: number[] = []
    for (const name of ['litellm', 'models-dev', 'litellm', 'models-dev']) {
      const text = await Bun.file(join(TABLES, `${name}-prices.json`)).text()
      const { plan } = await prices.load(await prices.planTable(text, { asOf: NOW }), TALLY)
      added.push(plan.additions.length)
    }
    expect(added).toEqual([2_176, 688, 0, 0])
    expect(await prices.everyPrice({})).toHaveLength(defaultTable().rows.length + 2_176 + 688)
    const found = async (model: string, provider: string | null = null) => {
      const { step, price } = await prices.resolve(model, provider)
      return price ? `${step} ${price.source} ${price.provider} ${price.input}` : 'unpriced'
    }
    expect(await found('azure/gpt-4o')).toBe('3 litellm azure 2500000')
    expect(await found('gpt-4o', 'azure')).toBe('3 models-dev azure 2500000')
    expect(await found('wandb/openai/gpt-oss-20b')).toBe('unpriced')
    for (const name of [
      'claude-sonnet-9-9-20270101',
      'auto',
      'openrouter/auto',
      'eu.anthropic.claude-sonnet-9-9-20270101-v1:0',
      'azure/gpt-9',
    ])
      expect([name, await found(name)]).toEqual([name, 'unpriced'])
  })
})
