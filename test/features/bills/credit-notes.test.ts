import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { taxOn } from '../../../src/features/bills/amounts.ts'
import { creditedTax, type Remaining, remainingOf } from '../../../src/features/bills/credit-note.ts'
import type { Bill } from '../../../src/features/bills/schema.ts'
import { newId } from '../../../src/lib/id.ts'
import { decimalNumber } from '../../../src/lib/money.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)

test('however a bill is credited in parts, voided ones included, the rest completes its tax', () => {
  const step = fc.record({ share: fc.integer({ min: 1, max: 1_000_000 }), isVoided: fc.boolean() })
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 15n),
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.array(step, { maxLength: 12 }),
      (subtotal, taxPpm, steps) => {
        const bill: Remaining = { subtotal, tax: taxOn(subtotal, taxPpm) }
        let remaining = bill
        for (const { share, isVoided } of steps) {
          const amount = (remaining.subtotal * BigInt(share)) / 1_000_000n
          if (amount === 0n) continue
          const tax = creditedTax(amount, { bill, remaining, taxPpm })
          expect(tax).toBeGreaterThanOrEqual(0n)
          expect(tax).toBeLessThanOrEqual(remaining.tax)
          if (!isVoided) remaining = remainingOf(remaining, { subtotal: -amount, tax: -tax })
        }
        expect(creditedTax(remaining.subtotal, { bill, remaining, taxPpm })).toBe(remaining.tax)
      },
    ),
  )
})

test('without voided parts, each part is taxed within one minor unit of its own tax', () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt(1n, 10n ** 12n), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (parts, taxPpm) => {
        const subtotal = parts.reduce((sum, part) => sum + part, 0n)
        const bill: Remaining = { subtotal, tax: taxOn(subtotal, taxPpm) }
        let remaining = bill
        for (const part of parts) {
          const tax = creditedTax(part, { bill, remaining, taxPpm })
          const exact = part * BigInt(taxPpm)
          expect(tax * 1_000_000n - exact).toBeLessThanOrEqual(1_000_000n)
          expect(exact - tax * 1_000_000n).toBeLessThanOrEqual(1_000_000n)
          remaining = remainingOf(remaining, { subtotal: -part, tax: -tax })
        }
        expect(remaining).toEqual({ subtotal: 0n, tax: 0n })
      },
    ),
  )
})

test('credit notes for each line of a bill, one after the other, are exactly the bill', () => {
  const taxPpm = 200_000
  const bill: Remaining = { subtotal: 27_916n, tax: taxOn(27_916n, taxPpm) }
  let remaining = bill
  const credited = [6_833n, 5_750n, 8_500n, 6_833n].map((line) => {
    const tax = creditedTax(line, { bill, remaining, taxPpm })
    remaining = remainingOf(remaining, { subtotal: -line, tax: -tax })
    return line + tax
  })
  expect([bill.subtotal + bill.tax, credited]).toEqual([33_499n, [8_200n, 6_900n, 10_200n, 8_199n]])
})

test('of more tax credited than the bill has, the last part takes back what is too much', () => {
  const bill = { subtotal: 10n, tax: 6n }
  const remaining = { subtotal: 5n, tax: -1n }
  expect(creditedTax(3n, { bill, remaining, taxPpm: 600_000 })).toBe(0n)
  expect(creditedTax(5n, { bill, remaining, taxPpm: 600_000 })).toBe(-1n)
})

forEachEngine('credit notes', (open) => {
  async function paidBill({ currency, tax, amount }: { currency: string; tax: number | undefined; amount: number }) {
    const db = await open()
    const services = createServices({ db, clock: { now: () => NOW } })
    const caller = await addReporter(services.people)
    await services.projects.addClient(OPERATOR, { name: 'Acme' })
    await services.projects.addProject(OPERATOR, { key: 'WEB', name: 'Acme web', client: 'Acme' })
    await services.entries.reporting.reportEntry(reportBody({ project: 'WEB', reported_cost: amount }), caller)
    await services.bills.send(
      {
        month: '2026-11',
        client: 'acme',
        currency,
        exchange_rate: 1,
        ...(tax !== undefined && { tax: { name: 'VAT', percent: tax } }),
      },
      { by: TALLY },
    )
    const {
      bill: { bill },
    } = await services.bills.payBill('2026-0001', {}, { by: TALLY })
    const credit = async (...amounts: number[]) =>
      (
        await services.bills.creditBill(
          '2026-0001',
          amounts.length === 0 ? {} : { lines: amounts.map((amount) => ({ text: 'Part', amount })) },
          TALLY,
        )
      ).bill
    const shown = async (number = '2026-0001') =>
      JSON.parse(await services.bills.billText(await services.bills.getBill(number))) as Bill
    return { ...services, bill, credit, shown }
  }

  test('in parts add up to the bill, in its lines, its tax and in total', async () => {
    const { bill, credit, bills, shown } = await paidBill({ currency: 'JPY', tax: 10, amount: 8_506_868 })
    expect(bill).toMatchObject({ subtotal: 8_506_868n, tax: 850_687n, total: 9_357_555n })
    const notes = [await credit(3_333_333), await credit(1_234_567, 4), await credit()]
    expect(notes.reduce((sum, { total }) => sum + total, 0n)).toBe(-9_357_555n)
    expect(notes.reduce((sum, { tax }) => sum + tax, 0n)).toBe(-850_687n)
    expect(await shown()).toMatchObject({ remaining: { subtotal: 0, tax: 0, total: 0 } })
    expect(await bills.creditBill('2026-0001', {}, TALLY).catch(({ code }) => code)).toBe('validation_failed')
    expect(await bills.verify()).toEqual([])
  })

  for (const [currency, digits] of [
    ['JPY', 0],
    ['EUR', 2],
    ['KWD', 3],
  ] as const) {
    for (const tax of [undefined, 19, 7.7777]) {
      test(`in any parts add up to a bill in ${currency} with ${tax === undefined ? 'no' : `${tax}%`} tax`, async () => {
        const { bill, credit, bills, shown } = await paidBill({ currency, tax, amount: 777.777 })
        const notes = []
        for (const part of [1n, 1n, bill.subtotal / 7n, 3n, bill.subtotal / 3n])
          notes.push(await credit(decimalNumber(part, digits)))
        const { total, corrected_by } = await shown()
        expect(corrected_by).toHaveLength(notes.length)
        const voided = notes.splice(3, 1)[0]!
        await bills.voidBill(voided.number, { reason: 'Wrong line' }, TALLY)
        notes.push(await credit(decimalNumber(5n, digits), decimalNumber(2n, digits)), await credit())
        for (const amount of ['subtotal', 'tax', 'total'] as const)
          expect(notes.reduce((sum, note) => sum + note[amount], bill[amount])).toBe(0n)
        for (const { number } of notes) {
          const { document } = await shown(number)
          const minor = (value: number) => BigInt(Math.round(value * 10 ** digits))
          expect(document.extra_lines.reduce((sum, line) => sum + minor(line.amount), 0n)).toBe(
            minor(document.subtotal),
          )
        }
        expect((await shown()).remaining).toEqual({ subtotal: 0, tax: 0, total: 0 })
        expect(total).toBe((await shown()).total)
      })
    }
  }

  test('leave tax that earlier versions did not credit, and a further one credits it', async () => {
    const { db, bill, credit, shown } = await paidBill({ currency: 'JPY', tax: 10, amount: 115 })
    await db.write(async (tx) => {
      const { bills } = tx.tables
      const [row] = await tx.select().from(bills).where(eq(bills.id, bill.id))
      const note = { kind: 'credit_note', state: 'sent', correctsId: bill.id, paidOn: null } as const
      const amounts = { subtotal: -115n, tax: -11n, total: -126n }
      await tx.insert(bills).values({ ...row!, ...note, ...amounts, id: bill.id + 1, uid: newId('bil'), number: 'old' })
    })
    expect((await shown()).remaining).toEqual({ subtotal: 0, tax: 1, total: 1 })
    expect(await credit()).toMatchObject({ subtotal: 0n, tax: -1n, total: -1n })
    expect((await shown()).remaining).toEqual({ subtotal: 0, tax: 0, total: 0 })
  })

  test('at once, from two processes, credit no more than the bill', async () => {
    const { db, bill, credit, bills, shown } = await paidBill({ currency: 'EUR', tax: 19, amount: 10.07 })
    const other = createServices({ db: await open({ sharing: db }), clock: { now: () => NOW } })
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 ? bills : other.bills).creditBill('2026-0001', { lines: [{ text: 'Part', amount: 1.11 }] }, TALLY),
      ),
    )
    const notes = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value.bill)
    expect(notes).toHaveLength(9)
    notes.push(await credit())
    for (const amount of ['subtotal', 'tax', 'total'] as const)
      expect(notes.reduce((sum, note) => sum + note[amount], bill[amount])).toBe(0n)
    expect((await shown()).remaining).toEqual({ subtotal: 0, tax: 0, total: 0 })
  })
})
