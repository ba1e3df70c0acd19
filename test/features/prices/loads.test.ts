import { describe, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { defaultTable } from '../../../src/features/prices/default-table.ts'
import { priceSet, withIdentity } from '../../../src/features/prices/in-use.ts'
import { asOfTable } from '../../../src/features/prices/load-plan.ts'
import type { TableOptions } from '../../../src/features/prices/loading.ts'
import { startOfDay } from '../../../src/lib/calendar.ts'
import { createServices, type Services } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const day = (text: string) => Date.parse(`${text}T00:00:00Z`)

/** A table of one row per `provider model input`. */
function tableOf(...rows: string[]): string {
  const prices = rows.map((row) => {
    const [provider, model, input] = row.split(' ')
    return { provider, model, input: Number(input), output: 10, cache_read: Number(input) / 10 }
  })
  return JSON.stringify({ prices })
}

describe('the date of a table', () => {
  const AT = { now: NOW, timeZone: 'UTC' }

  test('is the given one, else that in the file, else when it was modified, else today', () => {
    const [given, contained, modified] = [day('2026-01-01'), day('2026-02-02'), day('2026-03-03') + 3_600_000]
    expect(asOfTable({ given, contained, modified }, AT)).toEqual({ date: given, from: 'given' })
    expect(asOfTable({ contained, modified }, AT)).toEqual({ date: contained, from: 'contents' })
    const newestModel = day('2026-02-20')
    expect(asOfTable({ contained, newestModel }, AT).from).toBe('contents')
    expect(asOfTable({ newestModel, modified }, AT)).toEqual({ date: newestModel, from: 'models' })
    expect(asOfTable({ newestModel: NOW, modified }, AT)).toEqual({ date: day('2026-03-03'), from: 'models' })
    expect(asOfTable({ newestModel: NOW + 1e10 }, AT)).toEqual({ date: day('2026-11-20'), from: 'models' })
    expect(asOfTable({ modified }, AT)).toEqual({ date: day('2026-03-03'), from: 'modified' })
    expect(asOfTable({}, AT)).toEqual({ date: day('2026-11-20'), from: 'today' })
  })

  test('is never in the future, whatever a clock or a file says', () => {
    expect(asOfTable({ contained: NOW + 1e10 }, AT)).toEqual({ date: day('2026-11-20'), from: 'contents' })
    expect(asOfTable({ modified: NOW + 1e10 }, AT)).toEqual({ date: day('2026-11-20'), from: 'modified' })
  })

  test.each([
    ['Pacific/Auckland', '2026-11-21', '2026-11-20T19:30:00Z'],
    ['America/Los_Angeles', '2026-11-20', '2026-11-21T06:00:00Z'],
  ])('given or of today is a day of the organization: %s', (timeZone, today, moment) => {
    const now = Date.parse(moment)
    const at = { now, timeZone }
    expect(asOfTable({}, at)).toEqual({ date: day(today), from: 'today' })
    expect(asOfTable({ modified: now - 3_600_000 }, at)).toEqual({ date: day(today), from: 'modified' })
    expect(asOfTable({ given: startOfDay(today, timeZone) }, at)).toEqual({ date: day(today), from: 'given' })
    // What a vendor dates is a day in UTC, which may be tomorrow here.
    expect(asOfTable({ contained: day('2026-11-01') }, at)).toEqual({ date: day('2026-11-01'), from: 'contents' })
    expect(asOfTable({ contained: day('2026-11-22') }, at)).toEqual({ date: day(today), from: 'contents' })
  })
})

forEachEngine('loads of price tables', (open) => {
  test('a copied file of models.dev is as old as its newest model, a download as the download', async () => {
    const { plan } = await stage()
    const modelAt = (last_updated: string) => ({ last_updated, cost: { input: 1, output: 2 } })
    const models = { 'gpt-98': modelAt('2026-10-05'), 'gpt-99': modelAt('2026-10-06'), 'gpt-97': modelAt('2026-11') }
    const text = JSON.stringify({ openai: { models } })
    const modifiedAt = day('2026-11-10')
    const dateOf = async (options: TableOptions) => (await plan(text, options)).origin.asOf
    expect(await dateOf({ modifiedAt })).toEqual({ date: day('2026-10-06'), from: 'models' })
    expect(await dateOf({ modifiedAt, isDownload: true })).toEqual({ date: modifiedAt, from: 'modified' })
    expect(await dateOf({ isDownload: true })).toEqual({ date: day('2026-11-20'), from: 'today' })
  })

  async function stage() {
    const db = await open()
    const clock = { at: NOW, now: () => clock.at }
    const services = createServices({ db, clock })
    const { prices } = services
    await prices.loadDefaultPrices()
    const plan = (text: string, options: TableOptions = {}) => prices.planTable(text, options)
    const load = async (text: string, options: TableOptions = {}) => prices.load(await plan(text, options), TALLY)
    const priceOf = async (model: string, provider: string | null = null) =>
      (await prices.resolve(model, provider)).price?.input
    return { db, clock, services, prices, plan, load, priceOf }
  }

  async function report(services: Services, model: string) {
    const caller = await addReporter(services.people)
    const times = { started_at: '2026-11-20T19:00:00Z', ended_at: '2026-11-20T19:10:00Z' }
    const { entry } = await services.entries.reporting.reportEntry(reportBody({ model, ...times }), caller)
    return entry
  }

  test('say that a price of another source changes, from what and of which date', async () => {
    const { plan } = await stage()
    const { plan: planned } = await plan(tableOf('openai gpt-5 2', 'openai gpt-99 1'))
    expect(planned.additions).toMatchObject([
      {
        row: { model: 'gpt-5', input: 2_000_000n },
        replaced: { input: 1_250_000n, source: 'default', asOf: defaultTable().asOf },
        isSame: false,
      },
      { row: { model: 'gpt-99' }, replaced: undefined },
    ])
  })

  test('skip rows that are older than the different prices they would replace, unless asked', async () => {
    const { plan, load, priceOf } = await stage()
    const text = tableOf('openai gpt-5 2', 'openai gpt-99 1')
    const asOf = defaultTable().asOf - 1
    const { plan: planned } = await plan(text, { asOf })
    expect(planned.older).toMatchObject([{ row: { model: 'gpt-5' }, replaced: { source: 'default' } }])
    expect(planned.additions).toMatchObject([{ row: { model: 'gpt-99' } }])

    await load(text, { asOf })
    expect([await priceOf('gpt-5'), await priceOf('gpt-99')]).toEqual([1_250_000n, 1_000_000n])
    await load(text, { asOf, allowOlder: true })
    expect(await priceOf('gpt-5')).toBe(2_000_000n)
  })

  test('of the same day are no older, and those set by hand are of the day when they were set', async () => {
    const { prices, clock, plan, load, priceOf } = await stage()
    await load(tableOf('openai gpt-5 2'), { asOf: NOW })
    await load(tableOf('openai gpt-5 3'), { asOf: day('2026-11-20') })
    expect(await priceOf('gpt-5')).toBe(3_000_000n)
    clock.at = NOW + 2 * 86_400_000
    await prices.setPrice({ provider: 'openai', model: 'gpt-5', input: 0.000009, output: 0.000009 }, TALLY)
    const { plan: planned } = await plan(tableOf('openai gpt-5 4'), { asOf: NOW })
    expect([planned.additions, planned.older]).toMatchObject([[], [{ replaced: { source: 'admin', input: 9n } }]])
  })

  test('confirm equal prices, which are of the newer date from then on', async () => {
    const { plan, load, prices } = await stage()
    await load(tableOf('openai gpt-99 1'), { asOf: day('2026-10-01') })
    const again = await load(tableOf('openai gpt-99 1'), { asOf: day('2026-11-01') })
    expect([again.load, again.plan.unchanged]).toEqual([null, 1])
    expect((await prices.resolve('gpt-99', 'openai')).price).toMatchObject({ asOf: day('2026-11-01') })
    expect((await plan(tableOf('openai gpt-99 2'), { asOf: day('2026-10-15') })).plan.older).toHaveLength(1)
  })

  test('keep the date of each row in an export', async () => {
    const { load, prices } = await stage()
    await load(tableOf('openai gpt-99 1'), { asOf: day('2026-10-01') })
    for (const format of ['csv', 'json'] as const) {
      const other = await stage()
      await other.load(await prices.exportPrices(format, { models: ['gpt-99'] }))
      expect((await other.prices.resolve('gpt-99', 'openai')).price).toMatchObject({ asOf: day('2026-10-01') })
    }
  })

  test('are recorded with who, when, file, digest, date and counts', async () => {
    const { load, prices, services } = await stage()
    const text = tableOf('openai gpt-5 2', 'openai gpt-99 1')
    const { load: id } = await load(text, { name: 'prices.json', asOf: day('2026-11-19') })
    const { data } = await prices.loads.list({ limit: 10, after: undefined })
    expect(data).toMatchObject([
      {
        load: {
          uid: id,
          format: 'tally',
          name: 'prices.json',
          digest: new Bun.CryptoHasher('sha256').update(text).digest('hex'),
          asOf: day('2026-11-19'),
          loadedAt: NOW,
          counts: { new: 1, changed: 1, same_price: 0, unchanged: 0, older: 0, refused: 0, aliases: 0 },
        },
        loadedBy: null,
      },
      { load: { format: 'default', counts: { new: expect.any(Number) } } },
    ])
    const [change] = (await services.audit.listChanges({ filter: {}, limit: 1, after: undefined })).data
    expect(change).toMatchObject({ action: 'prices.loaded', objectId: id, objectName: 'prices.json' })
  })

  test('can be undone: the previous prices and aliases apply again', async () => {
    const { load, prices, priceOf, services } = await stage()
    const withAlias = (input: number, model: string) =>
      JSON.stringify({
        prices: [
          { provider: 'x', model: 'one', input: 1, output: 1 },
          { provider: 'x', model: 'two', input, output: 2 },
        ],
        aliases: [{ alias: 'latest', provider: 'x', model }],
      })
    const first = await load(withAlias(2, 'one'))
    const second = await load(withAlias(3, 'two'))
    expect([await priceOf('two', 'x'), await priceOf('latest', 'x')]).toEqual([3_000_000n, 3_000_000n])

    const refusal = prices.loads.undo(first.load!, TALLY)
    await expect(refusal).rejects.toMatchObject({
      code: 'price_load_in_use',
      detail: expect.stringContaining(second.load!),
    })
    expect((await prices.loads.undo(second.load!, TALLY)).load.undoneAt).toBe(NOW)
    expect([await priceOf('two', 'x'), await priceOf('latest', 'x')]).toEqual([2_000_000n, 1_000_000n])
    await prices.loads.undo(first.load!, TALLY)
    expect([await priceOf('two', 'x'), await priceOf('latest', 'x')]).toEqual([undefined, undefined])
    expect(await prices.everyPrice({ providers: ['x'] })).toEqual([])

    await expect(prices.loads.undo(first.load!, TALLY)).rejects.toMatchObject({ code: 'price_load_in_use' })
    await expect(prices.loads.undo('pld_1', TALLY)).rejects.toMatchObject({ code: 'not_found' })
    const [change] = (await services.audit.listChanges({ filter: {}, limit: 1, after: undefined })).data
    expect(change).toMatchObject({ action: 'prices.load_undone', objectId: first.load! })
    // What was withdrawn can be loaded again.
    expect((await load(withAlias(2, 'one'))).plan.additions).toHaveLength(2)
  })

  test('are undone by one of several at once', async () => {
    const { load, prices } = await stage()
    const { load: id } = await load(tableOf('openai gpt-99 1'))
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => prices.loads.undo(id!, TALLY)))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
  })

  test('cannot be undone once an entry has a list value from them, and lead to these entries', async () => {
    const { load, prices, services } = await stage()
    const { load: id } = await load(tableOf('openai gpt-99 1', 'openai gpt-98 1'))
    const entry = await report(services, 'gpt-99')
    expect((await prices.loads.get(id!)).entries).toBe(1)
    await expect(prices.loads.undo(id!, TALLY)).rejects.toMatchObject({
      code: 'price_load_in_use',
      detail: expect.stringMatching(/^1 entry has .*--price-load pld_/),
    })
    const { data } = await services.entries.listing.listEntries(
      OPERATOR.viewer,
      readListQuery({ price_load: id!, limit: '10' }, 'UTC'),
    )
    expect(data.map((listed) => listed.id)).toEqual([entry.id])
  })

  test('that are undone while an entry gets a value leave it explained', async () => {
    const { load, prices, services, db } = await stage()
    const { load: id } = await load(tableOf('openai gpt-99 1'))
    const { price } = await prices.resolve('gpt-99', null)
    await prices.loads.undo(id!, TALLY)
    expect((await prices.table(db.read)).find('gpt-99', null, NOW)).toBeUndefined()
    expect((await prices.table(db.read)).findPrice(price!.id)).toMatchObject({ model: 'gpt-99' })
    expect(await services.prices.getPrice(price!.uid)).toMatchObject({ withdrawnAt: NOW })
  })

  test('show which models in use change, now or from a later date on', async () => {
    const { plan, services } = await stage()
    await report(services, 'gpt-5-codex')
    expect((await plan(tableOf('openai gpt-4o 9'))).inUse).toEqual([])
    expect((await plan(tableOf('openai gpt-5 2.5'))).inUse).toMatchObject([
      {
        model: 'gpt-5-codex',
        provider: null,
        entries: 1,
        at: NOW,
        before: { source: 'default' },
        after: { input: 2_500_000n },
        change: 1,
      },
    ])
    const later = await plan(tableOf('openai gpt-5 2.5'), { effectiveFrom: day('2027-01-01') })
    expect(later.inUse).toMatchObject([{ at: day('2027-01-01'), change: 1 }])
  })

  test('are compared with another table without loading anything', async () => {
    const { prices, services, load } = await stage()
    await report(services, 'gpt-5-codex')
    expect(await prices.compare()).toEqual({ format: null, models: 1, differences: [] })
    const compared = await prices.compare({ text: tableOf('openai gpt-5-codex 5') })
    expect(compared).toMatchObject({
      format: 'tally',
      differences: [{ model: 'gpt-5-codex', before: { source: 'default' }, after: { input: 5_000_000n }, change: 3 }],
    })
    expect((await prices.compare({ text: tableOf('openai gpt-9 1') })).differences).toMatchObject([
      { after: undefined, change: null },
    ])
    await load(tableOf('openai gpt-5-codex 2.5'))
    expect((await prices.compare()).differences).toMatchObject([
      { before: { source: 'tally' }, after: { source: 'default' }, change: 0.5 },
    ])
  })
})

test('a set of prices is looked up like the loaded ones', () => {
  const unknown = { cacheRead: null, cacheWrite: null, cacheWrite1h: null, tiers: [], effectiveFrom: undefined }
  const row = withIdentity({ provider: 'x', model: 'y', input: 1n, output: 1n, ...unknown, source: 'litellm' }, 7)
  expect(priceSet([row], []).table.find('y', 'x', NOW)?.price.id).toBe(7)
})
