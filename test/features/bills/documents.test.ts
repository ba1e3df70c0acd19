import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BillNames, type BillTerms, composeBill, type Heading } from '../../../src/features/bills/document.ts'
import { amountText, contentOf, readDocument } from '../../../src/features/bills/documents/content.ts'
import { linesCsv } from '../../../src/features/bills/documents/csv.ts'
import { htmlOf } from '../../../src/features/bills/documents/html.ts'
import { journalOf } from '../../../src/features/bills/documents/journal.ts'
import { isRightToLeft, linesOf, runsOf } from '../../../src/features/bills/documents/text.ts'
import { EXAMPLE_BILL, EXAMPLE_CREDIT_NOTE } from '../../../src/features/bills/examples.ts'
import type { BillDocument } from '../../../src/features/bills/schema.ts'
import { csvLines } from '../../../src/lib/csv-lines.ts'

const EXAMPLE = EXAMPLE_BILL.document
const read = (document: BillDocument) => readDocument(JSON.stringify(document))
const texts = fc.string({ unit: 'binary', maxLength: 20 })

/** Bills of any amounts, currencies, markups and names, made as a sending makes them. */
const bills = fc
  .record({
    entries: fc.array(
      fc.record({
        cost: fc.bigInt(0n, 10n ** 14n),
        projectId: fc.option(fc.nat(3)),
        isEarlier: fc.boolean(),
        activeMs: fc.option(fc.nat(2 ** 40)),
      }),
      { maxLength: 30 },
    ),
    projects: fc.array(fc.record({ name: texts, markupPpm: fc.integer({ min: -1e6, max: 3e6 }) }), {
      minLength: 4,
      maxLength: 4,
    }),
    recipient: fc.option(texts),
    currency: fc.constantFrom<[string, number][]>(['JPY', 0], ['EUR', 2], ['KWD', 3]),
    rate: fc.bigInt(1n, 10n ** 13n),
    extraLines: fc.array(fc.record({ text: texts, amountMinor: fc.bigInt(-(10n ** 9n), 10n ** 9n) }), { maxLength: 4 }),
    tax: fc.option(fc.record({ name: texts, ppm: fc.nat(1e6) })),
    showCost: fc.boolean(),
    showActiveTime: fc.boolean(),
    groupBy: fc.constantFrom(['project', 'ticket'] as const, ['project'] as const, ['model'] as const, []),
  })
  .map(({ entries, projects, recipient, currency: [currency, minorDigits], groupBy, ...terms }) => {
    const heading = { ...EXAMPLE, recipient: recipient === null ? null : { ...EXAMPLE.issuer, name: recipient } }
    const names = {
      projects: new Map(projects.map((project, id) => [id, { uid: `prj_${id}`, key: `P${id}`, ...project }])),
      tickets: new Map(),
      names: new Map([[1, 'model']]),
      managers: new Map(),
      labelSets: new Map(),
      markupPpm: 0,
    } as BillNames
    const use = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, modelId: 1, agentId: 1 }
    const none = { ticketId: null, labelSetId: null, sessionId: null, status: 'submitted', managerId: 1 } as const
    const { document } = composeBill(
      entries.map(({ cost, ...entry }, id) => ({
        id,
        ...entry,
        ...use,
        ...none,
        costNanos: cost,
        listValueNanos: cost,
      })),
      names,
      { ...terms, currency, minorDigits, groupBy } as BillTerms,
      heading as Heading,
    )
    return document
  })

/** Decimal text in minor units. */
function minor(text: string, digits: number): bigint {
  expect(text).toMatch(digits === 0 ? /^-?\d+$/ : new RegExp(`^-?\\d+\\.\\d{${digits}}$`))
  return BigInt(text.replace('.', ''))
}

const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
describe('documents of any bill', () => {
  test('the amounts in the CSV add up to the total', () => {
    fc.assert(
      fc.property(bills, (document) => {
        const digits = document.minor_digits
        const [headings, ...rows] = csvLines(linesCsv(read(document)))
        expect(rows.every(({ cells }) => cells.length === headings!.cells.length)).toBe(true)
        const amounts = rows.map(({ cells }) => minor(cells.at(-1)!, digits))
        const [, total] = contentOf(read(document)).total
        expect(sum(amounts)).toBe(minor(total.replaceAll(',', ''), digits))
        expect(Number(total.replaceAll(',', ''))).toBeCloseTo(Number(JSON.stringify(document.total)), 3)
      }),
    )
  })

  test('its journal balances to the minor unit, each posting on a line and in an account of its own', () => {
    fc.assert(
      fc.property(bills, (document) => {
        const lines = journalOf(read(document)).split('\n')
        const accounts = lines
          .filter((line) => line.startsWith('account '))
          .map((line) => line.slice('account '.length))
        const postings = lines
          .map((line) => /^ {4}(\S.*?) {2,}(\S+) ([A-Z]{3})$/.exec(line))
          .filter((posting) => posting !== null)
        expect(postings.map(([, account]) => account)).toEqual(accounts)
        expect(new Set(accounts).size).toBe(accounts.length)
        expect(sum(postings.map(([, , amount]) => minor(amount!, document.minor_digits)))).toBe(0n)
        for (const account of accounts) expect(account).toMatch(/^(assets|income|liabilities)(:[^:;()[\]"*!\t]+)+$/)
      }),
    )
  })

  test('the page has no element that comes from a name', () => {
    fc.assert(
      fc.property(bills, (document) => {
        const tags = new Set(htmlOf(read(document), undefined).match(/<[^>\s]*/g))
        const known =
          /^<(!doctype|\/?(html|head|meta|title|style|body|header|div|h1|h2|p|dl|dt|dd|table|thead|tbody|tfoot|tr|th|td))$/
        expect([...tags].filter((tag) => !known.test(tag))).toEqual([])
      }),
      { numRuns: 50 },
    )
  })
})

describe('the content of documents', () => {
  test('lines are grouped by project, with a subtotal if there are several', () => {
    const [line] = EXAMPLE.sections[0]!.lines
    const lines = [line!, { ...line!, line: 2, keys: { ...line!.keys, ticket: null }, amount: 1234.5 }]
    const { sections } = contentOf(read({ ...EXAMPLE, sections: [{ title: null, lines }] }))
    expect(sections[0]!.groups).toEqual([
      {
        title: 'ACME Acme web',
        amount: '1,245.21',
        rows: [
          { label: 'ACME-42', cells: ['12', '2,645,000', '10.71'] },
          { label: 'No ticket', cells: ['12', '2,645,000', '1,234.50'] },
        ],
      },
    ])
  })

  test('cost and markup are on a document only where the client may see them', () => {
    const hidden = read(EXAMPLE)
    const shown = read({ ...EXAMPLE, show_cost: true })
    expect(contentOf(hidden).columns).toEqual(['Description', 'Sessions', 'Tokens', 'Amount EUR'])
    expect(contentOf(shown).columns).toEqual(['Description', 'Sessions', 'Tokens', 'Cost USD', 'Markup', 'Amount EUR'])
    expect(contentOf(shown).sections[0]!.groups[0]!.rows[0]!.cells).toEqual([
      '12',
      '2,645,000',
      '10.35',
      '12.5 %',
      '10.71',
    ])
    for (const make of [linesCsv, (document: BillDocument) => htmlOf(document, undefined), journalOf]) {
      expect(make(hidden)).not.toContain('10.35')
    }
  })

  test('active time is on a document only where it was chosen, with the entries that it is of', () => {
    const [section] = EXAMPLE.sections
    const [one] = section!.lines
    const timed = (active_seconds: number | null, untimed_entries: number) => ({ active_seconds, untimed_entries })
    const lines = [
      { ...one!, entries: 5, ...timed(23_040.5, 2) },
      { ...one!, line: 2, entries: 5, ...timed(null, 5) },
    ]
    const shown = read({ ...EXAMPLE, show_active_time: true, sections: [{ ...section!, lines }] })
    expect(contentOf(shown).columns).toEqual([
      'Description',
      'Sessions',
      'Tokens',
      'Agent work (entries)',
      'Amount EUR',
    ])
    const cells = contentOf(shown).sections[0]!.groups[0]!.rows.map(({ cells }) => cells[2])
    expect(cells).toEqual(['6.4 h (3 of 5)', 'unknown'])
    expect(htmlOf(shown, undefined)).toContain('6.4 h (3 of 5)')
    const [headings, ...rows] = csvLines(linesCsv(shown))
    const at = headings!.cells.indexOf('active_seconds')
    expect(rows.slice(0, 2).map(({ cells }) => cells.slice(at, at + 2))).toEqual([
      ['23040.5', '2'],
      ['', '5'],
    ])
    expect(rows.every(({ cells }) => cells.length === headings!.cells.length)).toBe(true)
    for (const make of [linesCsv, (document: BillDocument) => htmlOf(document, undefined), journalOf]) {
      expect(make(read(EXAMPLE))).not.toMatch(/active_seconds|Agent work/)
    }
  })

  test('the exchange rate is on every document of a bill in another currency, and on no page of one in dollars', () => {
    for (const show_cost of [false, true]) {
      const document = read({ ...EXAMPLE, show_cost })
      expect(contentOf(document).facts).toContainEqual(['Exchange rate', '1 USD = 0.92 EUR'])
      expect(htmlOf(document, undefined)).toContain('1 USD = 0.92 EUR')
      const [headings, ...rows] = csvLines(linesCsv(document))
      const at = headings!.cells.indexOf('exchange_rate')
      expect(rows.map(({ cells }) => cells[at])).toEqual(rows.map(() => '0.92'))
      const inDollars = read({ ...EXAMPLE, show_cost, currency: 'USD', exchange_rate: 1 })
      expect(contentOf(inDollars).facts.map(([label]) => label)).not.toContain('Exchange rate')
    }
  })

  test('entries that the bill leaves out are not mentioned', () => {
    const left = { ...EXAMPLE.left_out, unattributed: { entries: 987_123, cost: 987_123, at_least: false } }
    const document = read({ ...EXAMPLE, left_out: left })
    for (const text of [
      linesCsv(document),
      htmlOf(document, undefined),
      journalOf(document),
      JSON.stringify(contentOf(document)),
    ]) {
      expect(text.replaceAll(',', '')).not.toContain('987123')
    }
  })

  test('a credit note is named as one, with the bill that it corrects', () => {
    const { title, facts, sections, total } = contentOf(read(EXAMPLE_CREDIT_NOTE.document))
    expect([title, facts.at(-1), total]).toEqual([
      'Credit note',
      ['Corrects bill', '2026-0001'],
      ['Total EUR', '-14.88'],
    ])
    expect(sections[0]!.groups[0]!.rows).toEqual([
      { label: 'Sessions on 3 November were billed twice', cells: ['-12.50'] },
    ])
  })

  test('a name of several lines is one cell', () => {
    const extra = [{ text: 'first\nsecond, third', amount: 1 }]
    expect(linesCsv(read({ ...EXAMPLE, extra_lines: extra }))).toContain(',"first\nsecond, third",')
    expect(linesCsv(read({ ...EXAMPLE, extra_lines: [{ text: 'first\nsecond', amount: 1 }] }))).toContain(
      '"first\nsecond"',
    )
  })

  test('a negative amount in a CSV is a number, not a text', () => {
    expect(linesCsv(read(EXAMPLE_CREDIT_NOTE.document))).toContain(',EUR,0.92,-12.50\r\n')
  })

  test('are written in the locale of the document, and without one as before there were any', () => {
    const german = { ...EXAMPLE, locale: 'de-DE', exchange_rate: 0.92, currency: 'EUR' }
    const { facts, sums, total } = contentOf(read(german))
    const before = contentOf(read(EXAMPLE))
    expect(before.facts.slice(0, 2)).toEqual([
      ['Date', EXAMPLE.issued_on],
      ['Due', EXAMPLE.due_on],
    ])
    expect(facts.slice(0, 3)).toEqual([
      ['Date', '1. Dez. 2026'],
      ['Due', '31. Dez. 2026'],
      ['Period', '1. Nov. 2026 – 30. Nov. 2026'],
    ])
    expect(facts.at(-1)).toEqual(['Exchange rate', '1 USD = 0,92 EUR'])
    expect([...sums, total].map(([, amount]) => amount)).toEqual(
      [...before.sums, before.total].map(([, amount]) => amount.replace('.', ',')),
    )
    // Programs read these.
    expect([linesCsv(read(german)), journalOf(read(german))]).toEqual([
      linesCsv(read(EXAMPLE)),
      journalOf(read(EXAMPLE)),
    ])
  })

  test('amounts have the digits of their currency', () => {
    const amountIn = (minor: bigint, minor_digits: number) => amountText(minor, { minor_digits })
    expect([amountIn(123_456n, 0), amountIn(123_456n, 2), amountIn(-5n, 3)]).toEqual(['123,456', '1,234.56', '-0.005'])
  })
})

describe('text of any script', () => {
  const shown = (text: string) =>
    runsOf(text, false, isRightToLeft(text))
      .map(({ font, text: part }) => `${font}:${part}`)
      .join('|')

  test('parts are in reading order, each in a font that has its letters', () => {
    expect(shown('plain text')).toBe('regular:plain text')
    expect(shown('A-1 株式会社')).toBe('regular:A-1 |han:株式会社')
    // Fonts of Hebrew and Arabic turn their letters themselves, so these stay in the order in which they are written.
    expect(shown('A-1 שלום עולם 2.0')).toBe('regular:A-1 |regular:2.0|hebrew:שלום עולם ')
    expect(isRightToLeft('שלום (A-1)')).toBe(true)
    expect(shown('שלום (A-1)')).toBe('regular:(|regular:A-1|regular:)|hebrew:שלום ')
  })

  test('lines are no wider than allowed, and lose only spaces at their ends', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        const widthOf = (part: string) => [...new Intl.Segmenter('en').segment(part)].length
        const lines = linesOf(text, width, widthOf)
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
        expect(lines.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
      }),
    )
  })
})
