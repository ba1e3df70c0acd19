/**
 * Whether bills are what they were made of: their figures are those of their document, and of their entries while they
 * stand; entries of a void one may have changed since. Entries are billed exactly while they are on a bill that stands.
 */
import type { Reader } from '../../database/database.ts'
import { firstNamed } from '../../first-named.ts'
import { numberText, parseExactJson } from '../../lib/exact-json.ts'
import { formatDecimal, NANO_DIGITS, parseExactDecimal } from '../../lib/money.ts'
import type { BillDocument } from './schema.ts'
import { type BillRecord, findBill, getDocument, listBills } from './store/bills.ts'
import {
  type LineSums,
  listBilledOnNothing,
  listUnbilledOnLines,
  listUnreturnable,
  sumLines,
} from './store/integrity.ts'

type Kept = Omit<BillRecord, 'document'>

/** What can be done about a bill that is not what was sent. */
const COMPARE =
  'Compare it with the document the client received, then void it and send a replacement, or restore an earlier backup.'

/** Bills that are looked at together. */
const PAGE = 500

/** One finding for each inconsistency. Reads every billed entry, so not for a server's main thread. */
export async function findInconsistentBills(reader: Reader): Promise<string[]> {
  return [
    ...(await firstNamed(
      (limit) => listBilledOnNothing(reader, limit),
      ({ uid, number, state }) =>
        number === null
          ? `Entry ${uid} is billed but is not on a bill. Restore an earlier backup.`
          : `Entry ${uid} is billed, but ${state === 'void' ? `its bill ${number} is void` : `not on any line of bill ${number}`}. Restore an earlier backup.`,
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
      (limit) => findWrongFigures(reader, limit),
      (sentence) => sentence,
    )),
  ]
}

/** No more than `limit` of them, by the newest bills first. */
async function findWrongFigures(reader: Reader, limit: number): Promise<string[]> {
  const wrong: string[] = []
  for (let after: number | undefined; wrong.length < limit; ) {
    const page = await listBills(reader, {}, { after, limit: PAGE })
    for (const { bill } of page) if (wrong.length < limit) wrong.push(...(await issuesOf(reader, bill)))
    if (page.length < PAGE) break
    after = page.at(-1)!.bill.id
  }
  return wrong.slice(0, limit)
}

async function issuesOf(reader: Reader, bill: Kept): Promise<string[]> {
  const document = parseExactJson(await getDocument(reader, bill.id)) as BillDocument
  const issues = [
    ...differences(`Bill ${bill.number}`, figuresOf(bill), figuresOfDocument(document)),
    ...issuesOfLines(bill, document, await sumLines(reader, bill.id)),
  ]
  if (issues.length === 0) return []
  // Its entries may go their ways from the moment in which somebody voids it.
  const now = await findBill(reader, { id: bill.id })
  return now?.bill.state === bill.state ? issues.map((issue) => `${issue} ${COMPARE}`) : []
}

/** Figures by their names in findings. */
type Figures = Record<string, string>

function figuresOf(bill: Kept): Figures {
  return {
    number: bill.number,
    currency: bill.currency,
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

function figuresOfDocument(document: BillDocument): Figures {
  const digits = document.minor_digits
  const minor = <Key extends string>(holder: Partial<Record<Key, number>>, key: Key) =>
    parseExactDecimal(numberText(holder, key), digits) ?? 0n
  const lines = document.sections.flatMap((section) => section.lines)
  const sum = (parts: bigint[]) => parts.reduce((total, part) => total + part, 0n)
  return {
    number: document.number ?? 'none',
    currency: document.currency,
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

/** A void bill keeps which entries were on its lines, but they may cost something else by now. */
function issuesOfLines(bill: Kept, document: BillDocument, sums: LineSums[]): string[] {
  const isFrozen = bill.state !== 'void'
  const byLine = new Map(sums.map((line) => [line.line, line]))
  const issues: string[] = []
  for (const line of document.sections.flatMap((section) => section.lines)) {
    const found = byLine.get(line.line)
    byLine.delete(line.line)
    const told: Figures = { entries: String(line.entries) }
    const made: Figures = { entries: String(found?.entries ?? 0) }
    if (isFrozen) {
      told.cost = dollars(nanosOf(line, 'cost'))
      told['list value'] = dollars(nanosOf(line, 'list_value'))
      told.tokens = numberText(line.tokens, 'total')
      made.cost = dollars(found?.costNanos ?? 0n)
      made['list value'] = dollars(found?.listValueNanos ?? 0n)
      made.tokens = String(found?.tokens ?? 0n)
    }
    issues.push(...differences(`Line ${line.line} of bill ${bill.number}`, told, made, 'its entries'))
  }
  for (const line of byLine.keys())
    issues.push(`Bill ${bill.number} has entries on line ${line}, which does not exist.`)
  return issues
}

function differences(what: string, told: Figures, made: Figures, maker = 'its document'): string[] {
  return Object.keys(told)
    .filter((figure) => told[figure] !== made[figure])
    .map((figure) => `${what}: ${figure} is ${told[figure]}, but ${made[figure]} in ${maker}.`)
}

function nanosOf<Key extends string>(holder: Partial<Record<Key, number>>, key: Key): bigint {
  return parseExactDecimal(numberText(holder, key), NANO_DIGITS) ?? 0n
}

function dollars(nanos: bigint): string {
  return formatDecimal(nanos, NANO_DIGITS)
}
