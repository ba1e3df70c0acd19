/**
 * Checks that bills match what they were made of: their amounts match their document and, unless they are void, their
 * entries. Entries must be billed exactly while they are on a bill that is not void.
 */
import type { Reader } from '../../database/database.ts'
import { numberText, parseExactJson } from '../../lib/exact-json.ts'
import { firstNamed } from '../../lib/first-named.ts'
import { formatDecimal, NANO_DIGITS, parseExactDecimal } from '../../lib/money.ts'
import type { BillDocument } from './schema.ts'
import { findBill, getDocument, listBills, type SentBill } from './store/bills.ts'
import {
  type LineSums,
  listBilledOnNothing,
  listUnbilledOnLines,
  listUnreturnable,
  sumLines,
} from './store/integrity.ts'
import { listStanding, type PaymentRecord } from './store/payments.ts'

/** Advice for a bill that differs from what was sent. */
const COMPARE =
  'Compare it with the document the client received, then void it and send a replacement, or restore an earlier backup.'

/** Bills per query. */
const PAGE = 500

/** One finding per inconsistency. Reads every billed entry, so it must not run on a server's main thread. */
export async function findInconsistentBills(reader: Reader): Promise<string[]> {
  return [
    ...(await firstNamed(
      (limit) => listBilledOnNothing(reader, limit),
      ({ uid, number, state, releasedById }) =>
        number === null
          ? `Entry ${uid} is billed but is not on a bill. Restore an earlier backup.`
          : `Entry ${uid} is billed, but ${releasedById !== null ? `its bill ${number} was credited and has released it` : state === 'void' ? `its bill ${number} is void` : state === 'preparing' ? 'its bill was never sent' : `not on any line of bill ${number}`}. Restore an earlier backup.`,
    )),
    ...(await firstNamed(
      (limit) => listUnbilledOnLines(reader, limit),
      ({ uid, number, status, known }) =>
        `Entry ${uid} is on bill ${number}, but ${known === null ? `it is ${status} and could be billed again` : `refers to bill ${known}`}. Void ${number} before you bill anything else, or restore an earlier backup.`,
    )),
    ...(await firstNamed(
      (limit) => listUnreturnable(reader, limit),
      ({ uid, number }) =>
        `Entry ${uid} was added to bill ${number} from a sheet that was not approved. Restore a backup before you void that bill.`,
    )),
    ...(await firstNamed(
      (limit) => findWrongAmounts(reader, limit),
      (sentence) => sentence,
    )),
  ]
}

/** At most `limit` findings, newest bills first. */
async function findWrongAmounts(reader: Reader, limit: number): Promise<string[]> {
  const wrong: string[] = []
  for (let after: number | undefined; wrong.length < limit; ) {
    const page = await listBills(reader, {}, { after, limit: PAGE, today: '' })
    for (const { bill } of page) if (wrong.length < limit) wrong.push(...(await issuesOf(reader, bill)))
    if (page.length < PAGE) break
    after = page.at(-1)!.bill.id
  }
  return wrong.slice(0, limit)
}

async function issuesOf(reader: Reader, bill: SentBill): Promise<string[]> {
  const document = parseExactJson(await getDocument(reader, bill.id)) as BillDocument
  const issues = [
    ...differences(`Bill ${bill.number}`, amountsOf(bill), amountsOfDocument(document)),
    ...issuesOfLines(bill, document, await sumLines(reader, bill.id, bill.basis)),
    ...issuesOfPayments(bill, await listStanding(reader, bill.id)),
  ]
  if (issues.length === 0) return []
  // Its entries may change from the moment it releases them.
  const now = await findBill(reader, { id: bill.id })
  const isUnchanged = (['state', 'paidAmount', 'releasedById'] as const).every((key) => now?.bill[key] === bill[key])
  return isUnchanged ? issues.map((issue) => `${issue} ${COMPARE}`) : []
}

/** Amounts by their names in findings. */
type Amounts = Record<string, string>

function amountsOf(bill: SentBill): Amounts {
  return {
    number: bill.number,
    currency: bill.currency,
    basis: bill.basis,
    provisional: String(bill.provisional),
    entries: String(bill.entries),
    subtotal: String(bill.subtotal),
    tax: String(bill.tax),
    total: String(bill.total),
    'sum of its lines': String(bill.subtotal),
    cost: dollars(bill.cost),
    'list value': dollars(bill.listValue),
    'cost of its lines': dollars(bill.cost),
    'list value of its lines': dollars(bill.listValue),
    'entries of its lines': String(bill.entries),
  }
}

function amountsOfDocument(document: BillDocument): Amounts {
  const digits = document.minor_digits
  const minor = <Key extends string>(holder: Partial<Record<Key, number>>, key: Key) =>
    parseExactDecimal(numberText(holder, key), digits) ?? 0n
  const lines = document.sections.flatMap((section) => section.lines)
  const sum = (parts: bigint[]) => parts.reduce((total, part) => total + part, 0n)
  return {
    number: document.number ?? 'none',
    currency: document.currency,
    basis: document.basis ?? 'cost',
    provisional: String(document.provisional ?? false),
    entries: String(document.entries),
    subtotal: String(minor(document, 'subtotal')),
    tax: String(document.tax ? minor(document.tax, 'amount') : 0n),
    total: String(minor(document, 'total')),
    'sum of its lines': String(
      sum([
        ...lines.map((line) => minor(line, 'amount')),
        ...document.extra_lines.map((line) => minor(line, 'amount')),
      ]),
    ),
    cost: dollars(nanosOf(document, 'cost')),
    'list value': dollars(nanosOf(document, 'list_value')),
    'cost of its lines': dollars(sum(lines.map((line) => nanosOf(line, 'cost')))),
    'list value of its lines': dollars(sum(lines.map((line) => nanosOf(line, 'list_value')))),
    'entries of its lines': String(lines.reduce((total, line) => total + line.entries, 0)),
  }
}

/** A bill that has released its entries keeps the list of them on its lines, but their costs may have changed. */
function issuesOfLines(bill: SentBill, document: BillDocument, sums: LineSums[]): string[] {
  const isFrozen = bill.state !== 'void' && bill.releasedById === null
  const byLine = new Map(sums.map((line) => [line.line, line]))
  const issues: string[] = []
  for (const line of document.sections.flatMap((section) => section.lines)) {
    const found = byLine.get(line.line)
    byLine.delete(line.line)
    const stated: Amounts = { entries: String(line.entries) }
    const actual: Amounts = { entries: String(found?.entries ?? 0) }
    if (isFrozen) {
      stated.cost = dollars(nanosOf(line, 'cost'))
      stated['list value'] = dollars(nanosOf(line, 'list_value'))
      stated.tokens = numberText(line.tokens, 'total')
      actual.cost = dollars(found?.costNanos ?? 0n)
      actual['list value'] = dollars(found?.listValueNanos ?? 0n)
      actual.tokens = String(found?.tokens ?? 0n)
    }
    issues.push(...differences(`Line ${line.line} of bill ${bill.number}`, stated, actual, 'its entries'))
  }
  for (const line of byLine.keys())
    issues.push(`Bill ${bill.number} has entries on line ${line}, which does not exist.`)
  return issues
}

/** A bill is paid exactly when payments cover it; a void one has none. */
function issuesOfPayments(bill: SentBill, standing: PaymentRecord[]): string[] {
  const paid = standing.reduce((sum, { amount }) => sum + amount, 0n)
  const covered = standing.length > 0 && paid === bill.total
  const stated = { 'amount paid': String(bill.paidAmount), state: bill.state }
  const actual = { 'amount paid': String(paid), state: covered ? 'paid' : bill.state === 'void' ? 'void' : 'sent' }
  return differences(`Bill ${bill.number}`, stated, actual, 'its payments')
}

function differences(what: string, stated: Amounts, actual: Amounts, source = 'its document'): string[] {
  return Object.keys(stated)
    .filter((amount) => stated[amount] !== actual[amount])
    .map((amount) => `${what}: ${amount} is ${stated[amount]}, but ${actual[amount]} in ${source}.`)
}

function nanosOf<Key extends string>(holder: Partial<Record<Key, number>>, key: Key): bigint {
  return parseExactDecimal(numberText(holder, key), NANO_DIGITS) ?? 0n
}

function dollars(nanos: bigint): string {
  return formatDecimal(nanos, NANO_DIGITS)
}
