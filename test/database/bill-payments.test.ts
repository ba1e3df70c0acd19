/** Migration 20 turns what is known of each paid bill into a payment of its total. */
import { afterEach, expect, test } from 'bun:test'
import { MIGRATIONS } from '../../migrations/index.ts'
import { openDatabase } from '../../src/database/open.ts'
import { findInconsistentBills } from '../../src/features/bills/integrity.ts'
import { forEachEngine, newLocation, rowsAt } from '../support/databases.ts'
import { migrateAt } from '../support/other-process.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

forEachEngine('migration 20', (_, engine) => {
  const uid = (id: number) =>
    engine === 'sqlite' ? `x'${`0${id}`.repeat(16)}'` : `decode(repeat('0${id}', 16), 'hex')`

  test('gives each paid bill one payment, by the person who marked it as paid', async () => {
    const location = await newLocation(engine, cleanUps)
    await migrateAt(
      location,
      MIGRATIONS.filter(({ version }) => version < 20),
      1,
    )
    await rowsAt(
      location,
      `INSERT INTO users (id, uid, email, name, role, created_at) VALUES (1, ${uid(1)}, 'a@b', 'A', 'admin', 1)`,
    )
    const bill = (id: number, { state, total, paid }: { state: string; total: number; paid: string }) => {
      const document = `{"minor_digits":2,"number":"B${id}","currency":"EUR","entries":0,"cost":0,"list_value":0,"subtotal":${total / 100},"tax":null,"total":${total / 100},"sections":[],"extra_lines":[{"text":"x","amount":${total / 100}}]}`
      return rowsAt(
        location,
        `INSERT INTO bills (id, uid, number, kind, state, period_from, period_to, issued_on, due_on, currency, subtotal, tax,
           total, cost, list_value, entries, document, corrects_id, created_at, paid_on, paid_reference, voided_at, void_reason)
         VALUES (${id}, ${uid(id)}, 'B${id}', '${total < 0 ? 'credit_note' : 'bill'}', '${state}', '2026-10-01', '2026-10-31',
           '2026-11-01', '2026-11-15', 'EUR', ${total}, 0, ${total}, 0, 0, 0, '${document}', ${total < 0 ? 1 : 'NULL'}, 7, ${paid},
           ${state === 'void' ? "9, 'x'" : 'NULL, NULL'})`,
      )
    }
    await bill(1, { state: 'paid', total: 1_999, paid: "'2026-11-10', 'T 1'" })
    await bill(2, { state: 'paid', total: -500, paid: "'2026-11-12', NULL" })
    await bill(3, { state: 'sent', total: 700, paid: 'NULL, NULL' })
    await bill(4, { state: 'void', total: 800, paid: 'NULL, NULL' })
    await rowsAt(
      location,
      `INSERT INTO audit (at, user_id, origin, action, object_id) VALUES (55, 1, 'x', 'bill.paid', 'bil_${'01'.repeat(16)}')`,
    )
    const db = await openDatabase({ ...location, clock: { now: () => 1 } })
    cleanUps.push(() => db.close())
    const payments = await rowsAt(location, 'SELECT * FROM bill_payments ORDER BY bill_id')
    const facts = ({
      bill_id,
      number,
      amount,
      paid_on,
      reference,
      created_at,
      created_by,
      reversed_at,
    }: (typeof payments)[number]) =>
      [bill_id, number, amount, paid_on, reference, created_at, created_by, reversed_at].map((value) =>
        value === null ? null : String(value),
      )
    expect(payments.map(facts)).toEqual([
      ['1', '1', '1999', '2026-11-10', 'T 1', '55', '1', null],
      ['2', '1', '-500', '2026-11-12', null, '7', null, null],
    ])
    const bills = await rowsAt(location, 'SELECT paid_amount FROM bills ORDER BY id')
    expect(bills.map(({ paid_amount }) => Number(paid_amount))).toEqual([1_999, -500, 0, 0])
    expect(await findInconsistentBills(db.read)).toEqual([])
  })
})
