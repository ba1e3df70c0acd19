import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../../src/access/actor.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { Status } from '../../../../src/database/schema/values.ts'
import { type Report, readReport } from '../../../../src/features/entries/reporting/report.ts'
import type { Repriced } from '../../../../src/features/prices/service.ts'
import { createServices } from '../../../../src/services.ts'
import { billRow } from '../../../support/bills.ts'
import { forEachEngine } from '../../../support/databases.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

interface Said {
  model: string
  input?: number
  cost?: number
  provider?: string
  startedAt?: string
  session?: string
}

function said({ model, input = 1_000_000, cost, provider, startedAt = '2026-11-20T10:00:00Z', session }: Said): Report {
  return readReport(
    {
      agent_harness: 'codex',
      agent_name: 'builder',
      model,
      started_at: startedAt,
      ended_at: '2026-11-20T11:00:00Z',
      tokens: { input, output: 0 },
      session_id: session ?? crypto.randomUUID(),
      ...(cost === undefined ? {} : { reported_cost: cost }),
      ...(provider === undefined ? {} : { provider }),
    },
    NOW,
  )
}

async function stage(db: Database) {
  const services = createServices({ db, clock })
  const { prices, entries, people } = services
  await prices.loadDefaultPrices()
  await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
  const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, TALLY)
  const ada = await people.authenticate(`Bearer ${secret}`)
  if (ada.kind !== 'service') throw new Error('It is a service token')
  return {
    ...services,
    ada,
    /** Reports an entry and answers its id. */
    async report(what: Said): Promise<string> {
      const { entry } = await entries.reporting.recordFrom('report', said(what), ada)
      return entry.entry.uid
    },
    /** Sets prices of input by hand, in dollars per million tokens. */
    set: (model: string, input: number, effectiveFrom: number | null = null, provider = '') =>
      prices.setPrice(
        {
          model,
          ...(provider && { provider }),
          input,
          output: 0,
          effective_from: effectiveFrom === null ? 'always' : new Date(effectiveFrom).toISOString(),
          only: true,
        },
        TALLY,
      ),
    async setStatus(id: string, status: Status) {
      await db.write(async (tx) => {
        const { bills, entries: rows } = tx.tables
        const [made] = status === 'billed' ? await tx.insert(bills).values(billRow()).returning() : []
        await tx
          .update(rows)
          .set({ status, billId: made?.id ?? null })
          .where(eq(rows.uid, id as never))
      })
    },
    /** Cost, list value and note. */
    async money(id: string): Promise<string> {
      const { cost, list_value: value } = await entries.listing.getEntry(id, EVERYTHING)
      return `${JSON.stringify(cost)} ${JSON.stringify(value)}`
    },
  }
}

/** Entries, list value and cost before and after, in nano-dollars. */
function sums({ entries, listValueNanos: value, costNanos: cost }: Repriced): unknown[] {
  return [entries, value.before, value.after, cost.before, cost.after]
}

forEachEngine('valuing entries without a price', (open) => {
  test('happens to those alone, as far as a price holds at their start', async () => {
    const { entries, report, set, money } = await stage(await open({ priced: true }))
    const unknown = await report({ model: 'gpt-99' })
    const early = await report({ model: 'gpt-99', startedAt: '2026-11-19T10:00:00Z' })
    const told = await report({ model: 'gpt-99', cost: 0.5 })
    const hopeless = await report({ model: 'auto' })
    const valued = await report({ model: 'gpt-5' })
    await set('gpt-99', 2, Date.UTC(2026, 10, 20))
    await set('gpt-5', 7)
    expect(sums(await entries.valuation.valueUnpriced())).toEqual([1, 0n, 2_000_000_000n, 0n, 2_000_000_000n])
    expect(await money(unknown)).toBe('2 2')
    expect(await money(early)).toBe('null null')
    // Its cost is known: what a caller reported is not unpriced.
    expect(await money(told)).toBe('0.5 null')
    expect(await money(hopeless)).toBe('null null')
    expect(await money(valued)).toBe('1.25 1.25')
    expect(sums(await entries.valuation.valueUnpriced())).toEqual([0, 0n, 0n, 0n, 0n])
  })

  test('goes by who sold the model', async () => {
    const { entries, report, set, money } = await stage(await open({ priced: true }))
    const ours = await report({ model: 'house-blend', provider: 'basement' })
    const theirs = await report({ model: 'house-blend', provider: 'attic' })
    await set('house-blend', 1, null, 'basement')
    await set('house-blend', 3, null, 'cellar')
    await entries.valuation.valueUnpriced()
    expect([await money(ours), await money(theirs)]).toEqual(['1 1', 'null null'])
  })

  test('happens to approved ones, whose cost was unknown, but never to what is on a bill', async () => {
    const { entries, report, set, setStatus, money } = await stage(await open({ priced: true }))
    const ids = {} as Record<Status, string>
    for (const status of ['approved', 'rejected', 'submitted', 'billed'] as const) {
      ids[status] = await report({ model: 'gpt-99' })
      await setStatus(ids[status], status)
    }
    await set('gpt-99', 2)
    expect((await entries.valuation.valueUnpriced()).entries).toBe(3)
    expect(await money(ids.billed)).toBe('null null')
    expect(await money(ids.approved)).toBe('2 2')
  })

  test('leaves its trace, and the arithmetic of the value', async () => {
    const { entries, prices, report, set } = await stage(await open({ priced: true }))
    const id = await report({ model: 'gpt-99' })
    await set('gpt-99', 2)
    await entries.valuation.valueUnpriced()
    const [price] = await prices.everyPrice({ models: ['gpt-99'] })
    const { data } = await entries.listing.getHistory(id, EVERYTHING)
    expect(data.slice(1)).toMatchObject([
      {
        action: 'repriced',
        actor: null,
        details: { price: { from: null, to: price!.uid }, list_value: { from: null, to: 2 } },
      },
    ])
    const entry = await entries.listing.getEntry(id, EVERYTHING)
    expect(JSON.parse(JSON.stringify(entry))).toMatchObject({
      price: { id: price!.uid, step: 1, note: null },
      updated_at: new Date(NOW).toISOString(),
      valuation: {
        price: { id: price!.uid, provider: '', model: 'gpt-99', source: 'admin', effective_from: null },
        parts: [{ kind: 'input', tokens: 1_000_000, price: 2, from_tokens: null, amount: 2 }],
        list_value: 2,
      },
    })
  })

  test('goes on where it was interrupted, and says how far it is', async () => {
    const db = await open({ priced: true })
    const { entries, report, set } = await stage(db)
    const first = await report({ model: 'gpt-99' })
    // Twelve hundred more of the same, for which reporting would take its time.
    await db.write(async (tx) => {
      const { entries: rows } = tx.tables
      const [one] = await tx
        .select()
        .from(rows)
        .where(eq(rows.uid, first as never))
      const { id: _, ...columns } = one!
      for (let batch = 0; batch < 4; batch += 1) {
        await tx.insert(rows).values(
          Array.from({ length: 300 }, () => ({
            ...columns,
            uid: `ent_${crypto.randomUUID().replaceAll('-', '')}` as const,
            sessionId: null,
            chainModelId: null,
            part: null,
          })),
        )
      }
    })
    await set('gpt-99', 2)
    const seen: [number, number | undefined][] = []
    const options = { budgetMs: 0, onProgress: (done: number, total: number | undefined) => seen.push([done, total]) }
    const calls: Repriced[] = []
    do calls.push(await entries.valuation.valueUnpriced(options))
    while (!calls.at(-1)!.isComplete && calls.length < 9)
    expect(calls.map(({ entries: count }) => count)).toEqual([500, 500, 201, 0])
    expect(seen).toEqual([
      [500, 1201],
      [500, 701],
      [201, 201],
    ])
  })
})

forEachEngine('valuing entries that have a value again', (open) => {
  test('happens only when it is asked for, to those that are not locked, and says before by how much', async () => {
    const { entries, report, set, setStatus, money } = await stage(await open({ priced: true }))
    const free = await report({ model: 'gpt-5' })
    const told = await report({ model: 'gpt-5', cost: 0.5 })
    const other = await report({ model: 'gpt-5-mini' })
    const locked = await Promise.all(
      (['approved', 'billed'] as const).map(async (status) => {
        const id = await report({ model: 'gpt-5' })
        await setStatus(id, status)
        return id
      }),
    )
    await set('gpt-5', 4)
    expect((await entries.valuation.valueUnpriced()).entries).toBe(0)
    const expected = [2, 2_500_000_000n, 8_000_000_000n, 1_750_000_000n, 4_500_000_000n]
    const planned = await entries.valuation.reprice({ filter: {} }, { dryRun: true })
    expect(sums(planned)).toEqual(expected)
    expect([...planned.models]).toEqual([
      ['gpt-5', { entries: 2, listValueNanos: { before: 2_500_000_000n, after: 8_000_000_000n } }],
    ])
    expect(await money(free)).toBe('1.25 1.25')

    expect(sums(await entries.valuation.reprice({ filter: {} }))).toEqual(expected)
    expect(await money(free)).toBe('4 4')
    expect(await money(told)).toBe('0.5 4')
    expect(await money(other)).toBe('0.25 0.25')
    for (const id of locked) {
      expect(await money(id)).toBe('1.25 1.25')
      expect((await entries.listing.getHistory(id, EVERYTHING)).data).toHaveLength(1)
    }
    expect(sums(await entries.valuation.reprice({ filter: {} }))).toEqual([0, 0n, 0n, 0n, 0n])
  })

  test('is narrowed by model and by start', async () => {
    const { entries, report, set, money } = await stage(await open({ priced: true }))
    const ids = [
      await report({ model: 'gpt-5', startedAt: '2026-11-01T00:00:00Z' }),
      await report({ model: 'gpt-5', startedAt: '2026-11-02T00:00:00Z' }),
      await report({ model: 'gpt-5-mini', startedAt: '2026-11-01T00:00:00Z' }),
    ]
    await set('gpt-5', 4)
    await set('gpt-5-mini', 4)
    const filter = { model: ['gpt-5'], starting_at: Date.UTC(2026, 10, 1), ending_at: Date.UTC(2026, 10, 2) }
    expect((await entries.valuation.reprice({ filter })).entries).toBe(1)
    expect(await Promise.all(ids.map(money))).toEqual(['4 4', '1.25 1.25', '0.25 0.25'])
  })

  test('names who asked for it, and both rows', async () => {
    const { entries, prices, ada, report, set } = await stage(await open({ priced: true }))
    const id = await report({ model: 'gpt-5' })
    await set('gpt-5', 4)
    await entries.valuation.reprice({ filter: {} }, { by: { ...TALLY, userId: ada.person.id } })
    const rows = await prices.everyPrice({ models: ['gpt-5'], providers: ['', 'openai'] })
    const uidOf = (source: string) => rows.find((row) => row.source === source)!.uid
    expect((await entries.listing.getHistory(id, EVERYTHING)).data.at(-1)).toMatchObject({
      action: 'repriced',
      actor: { user: { name: 'Ada' }, token: null },
      details: { price: { from: uidOf('default'), to: uidOf('admin') }, list_value: { from: 1.25, to: 4 } },
    })
  })

  test('keeps the row of an entry where another one has the same price', async () => {
    const { entries, report, set } = await stage(await open({ priced: true }))
    const id = await report({ model: 'gpt-5' })
    const before = await entries.listing.getEntry(id, EVERYTHING)
    await set('gpt-5', 1.25)
    expect((await entries.valuation.reprice({ filter: {} })).entries).toBe(0)
    expect(JSON.stringify(await entries.listing.getEntry(id, EVERYTHING))).toBe(JSON.stringify(before))
  })

  test('looks again before it writes: what was billed meanwhile does not move', async () => {
    const db = await open({ priced: true })
    let meanwhile = async () => {}
    const racing: Database = {
      ...db,
      write: async (body) => {
        await meanwhile()
        return db.write(body)
      },
    }
    const { entries, report, set, setStatus, money } = await stage(racing)
    const ids = [await report({ model: 'gpt-5' }), await report({ model: 'gpt-5' })]
    await set('gpt-5', 4)
    meanwhile = async () => {
      meanwhile = async () => {}
      await setStatus(ids[0]!, 'billed')
    }
    expect(sums(await entries.valuation.reprice({ filter: {} }))).toEqual([
      1,
      1_250_000_000n,
      4_000_000_000n,
      1_250_000_000n,
      4_000_000_000n,
    ])
    expect(await Promise.all(ids.map(money))).toEqual(['1.25 1.25', '4 4'])
  })

  test('goes on from the page where its time was over', async () => {
    const { entries, report, set } = await stage(await open({ priced: true }))
    for (let hour = 0; hour < 3; hour += 1) await report({ model: 'gpt-5' })
    await set('gpt-5', 4)
    const first = await entries.valuation.reprice({ filter: {} }, { budgetMs: 0, dryRun: true })
    expect([first.entries, first.isComplete]).toEqual([3, false])
    expect(first.nextPage).not.toBeNull()
  })

  test('leaves a session that goes on with the sum of its parts right', async () => {
    const { entries, ada, report, set, money } = await stage(await open({ priced: true }))
    const id = await report({ model: 'gpt-99', session: 's-1', input: 1_000_000 })
    await set('gpt-99', 2)
    await entries.valuation.valueUnpriced()
    await set('gpt-99', 5)
    // An update keeps to the row that valued the entry, whatever was loaded since.
    const longer = { ...said({ model: 'gpt-99', session: 's-1', input: 3_000_000 }), endedAt: NOW }
    await entries.reporting.recordFrom('report', longer, ada)
    expect(await money(id)).toBe('6 6')
    expect((await entries.valuation.reprice({ filter: {} })).entries).toBe(1)
    expect(await money(id)).toBe('15 15')
  })
})

forEachEngine('free, unknown and unpriced', (open) => {
  test('stay three different things', async () => {
    const { entries, prices, report, money } = await stage(await open({ priced: true }))
    await prices.load(
      await prices.planTable('model,provider,input,output\ngift,x,0,0\nhalf,x,,1\n', { allowFree: true }),
      TALLY,
    )
    const gift = await report({ model: 'gift' })
    const half = await report({ model: 'half' })
    const zero = await report({ model: 'no-such-model', cost: 0 })
    expect(await money(gift)).toBe('0 0')
    expect(await money(half)).toBe('null null')
    expect(await money(zero)).toBe('0 null')
    const priced = async (value: boolean) =>
      (
        await entries.listing.listEntries(EVERYTHING, { filter: { priced: value }, limit: 9, after: undefined })
      ).data.map(({ model }) => model)
    expect((await priced(true)).sort()).toEqual(['gift', 'no-such-model'])
    expect(await priced(false)).toEqual(['half'])
    expect((await entries.listing.getEntry(gift, EVERYTHING)).valuation?.parts).toHaveLength(1)
    expect((await entries.listing.getEntry(zero, EVERYTHING)).valuation).toBeNull()
  })
})
