import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { forEachEngine } from '../../support/databases.ts'
import { pricesServiceOf } from '../../support/prices-service.ts'
import { runs } from '../../support/tier.ts'

const DAY_MS = 86_400_000
const START = Date.UTC(2026, 0, 1)
const dayText = (day: number) => new Date(START + day * DAY_MS).toISOString().slice(0, 10)

/** Days on which prices are set, end and are looked up. */
const DAYS = 12
const day = fc.integer({ min: 0, max: DAYS - 1 })

type Act =
  | { what: 'set'; from: number; until: number | null; input: number; output: number | null }
  | { what: 'withdraw'; from: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('set' as const),
      from: day,
      until: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null, freq: 3 }),
      input: fc.integer({ min: 1, max: 9 }),
      output: fc.option(fc.integer({ min: 1, max: 9 }), { nil: null }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('withdraw' as const), from: day }) },
)

interface ModelRow {
  from: number
  until: number
  input: number
  output: number
}

/** The rule, day by day: of the rows that hold, the one with the latest start, and of these the last set. */
class Model {
  rows: ModelRow[] = []
  at(day: number): ModelRow {
    const holding = this.rows.filter(({ from, until }) => from <= day && day < until)
    return holding.reduce((best, row) => (row.from >= best.from ? row : best), TABLE)
  }
  set({ from, until, input, output }: Extract<Act, { what: 'set' }>): void {
    const end = until === null ? Number.POSITIVE_INFINITY : from + until
    this.rows.push({ from, until: end, input, output: output ?? this.at(from).output })
  }
  withdraw(from: number): boolean {
    const ending = this.rows.filter((row) => row.until > Math.max(row.from, from))
    for (const row of ending) row.until = Math.max(row.from, from)
    return ending.length > 0
  }
}

const TABLE: ModelRow = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY, input: 20, output: 30 }

forEachEngine('prices set by hand and withdrawn', (open) => {
  test('apply on the days that they state, keep the other price of the day, and leave the table afterwards', async () => {
    const db = await open()
    const clock = { now: () => START }
    const prices = pricesServiceOf({ db, clock })
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 6 }), async (acts) => {
        run += 1
        const name = { model: `coder-${run}`, provider: 'acme' }
        await prices.load(
          await prices.planTable(JSON.stringify([{ ...name, input: 20, output: 30, effective_from: 'always' }]), {
            format: 'tally',
          }),
          TALLY,
        )
        const model = new Model()
        for (const act of acts) {
          if (act.what === 'set') {
            const { from, until, input, output } = act
            const end = until === null ? {} : { effective_until: dayText(from + until) }
            const body = { ...name, input, ...(output && { output }), effective_from: dayText(from), ...end }
            const planned = await prices.planPrice(body)
            expect(planned.before?.input).toBe(BigInt(model.at(from).input) * 1_000_000n)
            const { price } = await prices.setPrice(body, TALLY)
            expect(planned.table.find(name.model, 'acme', START + from * DAY_MS)?.price.rates).toEqual(
              (await prices.table(db.read)).find(name.model, 'acme', START + from * DAY_MS)!.price.rates,
            )
            model.set(act)
            expect(price.input).toBe(BigInt(input) * 1_000_000n)
          } else {
            const withdrawal = prices.withdraw({ ...name, from: START + act.from * DAY_MS }, TALLY)
            if (model.withdraw(act.from)) {
              expect((await withdrawal).after?.input).toBe(BigInt(model.at(act.from).input) * 1_000_000n)
            } else await expect(withdrawal).rejects.toThrow('set by hand')
          }
        }
        for (let day = 0; day < DAYS + 6; day += 1) {
          const { price } = await prices.resolve(name.model, 'acme', START + day * DAY_MS)
          const { input, output } = model.at(day)
          expect([day, price?.input, price?.output]).toEqual([
            day,
            BigInt(input) * 1_000_000n,
            BigInt(output) * 1_000_000n,
          ])
        }
      }),
      { numRuns: runs(15, 5) },
    )
  })
})
