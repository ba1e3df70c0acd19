import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { Problem } from '../../../src/errors.ts'
import { isOverdue } from '../../../src/features/bills/balance.ts'
import type { Bill, BillHead } from '../../../src/features/bills/schema.ts'
import { everyRow } from '../../../src/schema/lists.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const DAY_MS = 86_400_000
const by = TALLY

test('a bill is overdue from the day after it was due, until it is paid or voided', () => {
  const bill = { state: 'sent', kind: 'bill', dueOn: '2026-11-21', total: 100n, paidAmount: 40n } as const
  expect(['2026-11-21', '2026-11-22'].map((today) => isOverdue(bill, today))).toEqual([false, true])
  const others = [{ state: 'paid' }, { state: 'void' }, { kind: 'credit_note' }, { paidAmount: 100n }] as const
  for (const other of others) expect(isOverdue({ ...bill, ...other }, '2026-12-31')).toBe(false)
})

forEachEngine('payments', (open) => {
  async function stage() {
    const db = await open()
    const time = { now: NOW }
    const services = createServices({ db, clock: { now: () => time.now } })
    const { bills } = services
    const caller = await addReporter(services.people)
    await services.projects.addClient(OPERATOR, { name: 'Acme' })
    await services.projects.addProject(OPERATOR, { key: 'WEB', name: 'Acme web', client: 'Acme' })
    /** Sends a bill of this many dollars. */
    async function send(amount: number, tax?: number) {
      await services.entries.reporting.reportEntry(reportBody({ project: 'WEB', reported_cost: amount }), caller)
      const body = { month: '2026-11', client: 'Acme', ...(tax !== undefined && { tax: { percent: tax } }) }
      return (await bills.send(body, { by })).bill.bill.number
    }
    const pay = (number: string, payment: Parameters<typeof bills.payBill>[1] = {}) =>
      bills.payBill(number, payment, { by })
    const unpay = (number: string, payment?: number) =>
      bills.unpayBill(number, { reason: 'Returned', ...(payment !== undefined && { payment }) }, by)
    const credit = async (number: string, ...amounts: number[]) => {
      const lines = amounts.map((amount) => ({ text: 'Part', amount }))
      return (await bills.creditBill(number, lines.length === 0 ? {} : { lines }, by)).bill.number
    }
    const release = async (number: string) => (await bills.creditBill(number, { release: true }, by)).bill.number
    const makeVoid = (number: string) => bills.voidBill(number, { reason: 'Wrong' }, by)
    const show = async (number: string) => JSON.parse(await bills.billText(await bills.getBill(number))) as Bill
    const balances = async (...numbers: string[]) =>
      (await Promise.all(numbers.map(show))).map(({ state, amount_paid, balance }) => [state, amount_paid, balance])
    return { ...services, time, send, pay, unpay, credit, release, makeVoid, show, balances }
  }

  test('in parts add up to a paid bill, none may exceed the balance, and one that is reversed reopens it', async () => {
    const { send, pay, unpay, show, balances, makeVoid, bills, audit } = await stage()
    const number = await send(100, 19)
    await pay(number, { amount: 19, reference: 'first' })
    expect(await balances(number)).toEqual([['sent', 19, 100]])
    for (const amount of [100.01, 0, -1, 0.001]) {
      await expect(pay(number, { amount })).rejects.toMatchObject({ code: 'validation_failed' })
    }
    await expect(makeVoid(number)).rejects.toMatchObject({ code: 'wrong_status' })
    await pay(number, { amount: 60.5 })
    await pay(number, { reference: 'last' })
    expect(await show(number)).toMatchObject({ state: 'paid', balance: 0, paid: { reference: 'last' } })
    await expect(pay(number)).rejects.toMatchObject({ code: 'wrong_status' })
    await unpay(number, 2)
    await expect(unpay(number, 2)).rejects.toMatchObject({ code: 'wrong_status' })
    await expect(unpay(number, 9)).rejects.toMatchObject({ code: 'not_found' })
    expect(await show(number)).toMatchObject({
      state: 'sent',
      paid: null,
      balance: 60.5,
      payments: [{ reversed: null }, { amount: 60.5, reversed: { reason: 'Returned' } }, { reversed: null }],
    })
    await unpay(number)
    expect(await balances(number)).toEqual([['sent', 0, 119]])
    await expect(unpay(number)).rejects.toMatchObject({ code: 'wrong_status' })
    await makeVoid(number)
    expect(await balances(number)).toEqual([['void', 0, 0]])
    const objects = [(await bills.getBill(number)).bill.uid]
    const changes = await audit.listChanges({ filter: { objects }, after: undefined, limit: 20 })
    expect(changes.data.map(({ action }) => action)).toEqual([
      'bill.voided',
      'bill.payment_reversed',
      'bill.payment_reversed',
      'bill.payment_reversed',
      'bill.paid',
      'bill.payment_recorded',
      'bill.payment_recorded',
      'bill.sent',
    ])
  })

  test('of a bill of nothing mark it as paid', async () => {
    const { send, pay, unpay, balances } = await stage()
    const number = await send(0.001)
    await pay(number)
    expect(await balances(number)).toEqual([['paid', 0, 0]])
    await unpay(number)
    expect(await balances(number)).toEqual([['sent', 0, 0]])
  })

  test('with the same Idempotency-Key are recorded once', async () => {
    const { send, show, bills, people } = await stage()
    const number = await send(100)
    const { person } = await addReporter(people, { name: 'Eve' })
    const key = { userId: person.id, key: 'k', bodyHash: new Uint8Array(32) }
    const once = await Promise.all([1, 2, 3].map(() => bills.payBill(number, { amount: 10 }, { by, key })))
    expect(once.map(({ replayed }) => replayed).sort()).toEqual([false, true, true])
    expect(await show(number)).toMatchObject({ amount_paid: 10, payments: [{ number: 1 }] })
    const other = { ...key, bodyHash: new Uint8Array(32).fill(1) }
    await expect(bills.payBill(number, { amount: 10 }, { by, key: other })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    })
  })

  test('of a bill that is credited are offset, and voiding the credit note undoes that', async () => {
    const { send, pay, unpay, credit, makeVoid, balances, show } = await stage()
    const number = await send(100)
    await expect(credit(number, 10)).rejects.toMatchObject({ code: 'wrong_status' })
    await pay(number, { amount: 60 })
    const note = await credit(number, 50)
    expect(await balances(number, note)).toEqual([
      ['paid', 100, 0],
      ['sent', -40, -10],
    ])
    expect((await show(number)).payments[1]).toMatchObject({ amount: 40, offset_against: { number: note } })
    await expect(unpay(note)).rejects.toMatchObject({ code: 'wrong_status' })
    await expect(unpay(number, 2)).rejects.toMatchObject({ code: 'wrong_status' })
    await pay(note, { amount: -4 })
    await expect(makeVoid(note)).rejects.toMatchObject({ code: 'wrong_status' })
    await unpay(note)
    // The client's payment was returned: the rest of the credit note is offset, too.
    await unpay(number, 1)
    expect(await balances(number, note)).toEqual([
      ['sent', 50, 50],
      ['paid', -50, 0],
    ])
    await expect(makeVoid(number)).rejects.toMatchObject({ code: 'wrong_status' })
    await makeVoid(note)
    expect(await balances(number, note)).toEqual([
      ['sent', 0, 100],
      ['void', 0, 0],
    ])
    await makeVoid(number)
  })

  test('decide what is overdue, in lists and sums', async () => {
    const { send, pay, time, bills } = await stage()
    const [first, second] = [await send(100), await send(10)]
    await pay(first, { amount: 30 })
    const overdue = async () => {
      const listed = await bills.billRows.list({ overdue: true }, { after: undefined, limit: 9 })
      return listed.map(({ head }) => [head.number, head.overdue])
    }
    time.now += 30 * DAY_MS
    expect(await overdue()).toEqual([])
    time.now += DAY_MS
    expect(await overdue()).toEqual([
      [second, true],
      [first, true],
    ])
    expect(JSON.stringify(await bills.sumBills({ overdue: true }))).toBe(
      '{"data":[{"currency":"USD","bills":2,"total":110,"amount_paid":30,"balance":80,"credit":0,"overdue":80}]}',
    )
    await pay(first)
    expect(await overdue()).toEqual([[second, true]])
    expect(JSON.parse(JSON.stringify(await bills.sumBills({}))).data).toMatchObject([
      { total: 110, amount_paid: 100, balance: 10, overdue: 10 },
    ])
  })

  test('leave what is open of credit notes out of what is open of bills', async () => {
    const { send, pay, credit, bills, balances } = await stage()
    const [paid, open] = [await send(100), await send(10)]
    await pay(paid)
    const note = await credit(paid, 60)
    expect(await balances(paid, note, open)).toEqual([
      ['paid', 100, 0],
      ['sent', 0, -60],
      ['sent', 0, 10],
    ])
    const sums = async () => JSON.parse(JSON.stringify(await bills.sumBills({}))).data
    expect(await sums()).toMatchObject([{ total: 50, amount_paid: 100, balance: 10, credit: 60, overdue: 0 }])
    await pay(note, { amount: -60 })
    expect(await sums()).toMatchObject([{ total: 50, amount_paid: 40, balance: 10, credit: 0 }])
  })

  test('of a bill whose entries are released let these be on one other bill', async () => {
    const { send, pay, unpay, credit, release, makeVoid, show, bills, entries, balances } = await stage()
    const number = await send(100)
    await pay(number, { amount: 60 })
    await expect(release(await send(5))).rejects.toMatchObject({ code: 'wrong_status' })
    const lines = [{ text: 'Part', amount: 99 }]
    await expect(bills.creditBill(number, { lines, release: true }, by)).rejects.toMatchObject({
      code: 'validation_failed',
      more: { issues: [{ pointer: '/release' }] },
    })
    await credit(number, 30)
    const { document } = await show(number)
    const listed = await bills.renderBill(number, 'entries-csv')
    const note = await release(number)
    const shown = await show(number)
    expect(shown).toMatchObject({ state: 'paid', released_by: { number: note }, remaining: { total: 0 } })
    await expect(makeVoid(note)).rejects.toMatchObject({ code: 'wrong_status' })
    const again = await bills.send({ month: '2026-11' }, { by })
    expect(again.bill.bill.entries).toBe(1)
    await unpay(number)
    expect(await balances(number, note)).toEqual([
      ['paid', 100, 0],
      ['paid', -70, 0],
    ])
    expect((await show(number)).document).toEqual(document)
    expect(await bills.renderBill(number, 'entries-csv')).toEqual(listed)
    await makeVoid(again.bill.bill.number)
    expect((await bills.send({ month: '2026-11' }, { by })).bill.bill.entries).toBe(1)
    expect([await bills.verify(), await entries.verify()]).toEqual([[], []])
  })

  test('no credit note of a bill whose entries are released is voided, or the client would owe for them twice', async () => {
    const { send, pay, credit, release, makeVoid, balances } = await stage()
    const number = await send(100)
    await pay(number)
    const part = await credit(number, 17)
    const rest = await release(number)
    for (const note of [part, rest]) await expect(makeVoid(note)).rejects.toMatchObject({ code: 'wrong_status' })
    await expect(release(number)).rejects.toMatchObject({ code: 'validation_failed' })
    expect(await balances(number, part, rest)).toEqual([
      ['paid', 100, 0],
      ['sent', 0, -17],
      ['sent', 0, -83],
    ])
  })

  test('recorded, reversed, credited and voided at once never contradict each other', async () => {
    const { send, pay, unpay, credit, release, makeVoid, bills, entries } = await stage()
    const act = fc.record({
      kind: fc.constantFrom('pay', 'pay', 'pay part', 'unpay', 'credit', 'credit all', 'release', 'send', 'void'),
      on: fc.nat(3),
      amount: fc.integer({ min: 1, max: 60 }),
    })
    const all = async () => {
      const listed = (await Array.fromAsync(everyRow(bills.billRows, {}))).flat()
      return listed.map(({ head }): BillHead => JSON.parse(JSON.stringify(head)))
    }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(act, { minLength: 2, maxLength: 4 }), { maxLength: 5 }), async (batches) => {
        const number = await send(100, 19)
        const numbers = [number]
        const run = async ({ kind, on, amount }: { kind: string; on: number; amount: number }) => {
          const which = numbers[on % numbers.length]!
          const part = which === number ? amount : -amount
          if (kind === 'pay') await pay(which)
          if (kind === 'pay part') await pay(which, { amount: part })
          if (kind === 'unpay') await unpay(which)
          if (kind === 'credit') numbers.push(await credit(number, amount))
          if (kind === 'credit all') numbers.push(await credit(number))
          if (kind === 'release') numbers.push(await release(number))
          if (kind === 'send') await bills.send({ month: '2026-11' }, { by })
          if (kind === 'void') await makeVoid(which)
        }
        for (const batch of batches) {
          const outcomes = await Promise.allSettled(batch.map(run))
          for (const outcome of outcomes) {
            if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Problem)
          }
          const heads = (await all()).filter((head) => numbers.includes(head.number))
          const bill = heads.find((head) => head.number === number)!
          const notes = heads.filter(({ kind, state }) => kind === 'credit_note' && state !== 'void')
          const credited = notes.reduce((sum, { total }) => sum + total, 0)
          expect(bill.total + credited).toBeGreaterThanOrEqual(-1e-9)
          expect(bill.balance).toBeGreaterThanOrEqual(0)
          expect(Math.max(0, ...notes.map(({ balance }) => balance))).toBe(0)
          if (bill.state === 'void') expect(notes).toEqual([])
          // Nobody owes the client money while the client owes some.
          if (bill.balance > 0) expect(notes.map(({ balance }) => balance)).toEqual(notes.map(() => 0))
          expect([await bills.verify(), await entries.verify()]).toEqual([[], []])
        }
      }),
      // Shrinking takes longer than the time limit of a test, which would hide the failure.
      { numRuns: runs(12, 6), endOnFailure: true },
    )
  }, 300_000)
})
