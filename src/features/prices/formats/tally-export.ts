/** Writes Tally's own format, such that loading the file results in the same rows. */
import { stringify } from 'csv-stringify/sync'
import { dateText } from '../load-plan.ts'
import type { PriceAlias, StoredPrice } from '../price-table.ts'
import { rowBody } from '../wire.ts'
import { ALWAYS, TALLY_FIELDS } from './tally.ts'

export type ExportFormat = 'csv' | 'json'

type Fields = Record<(typeof TALLY_FIELDS)[number], unknown>

/** The text of a file, from prices in the order of loading. CSV does not support aliases. */
export function exportText(format: ExportFormat, prices: StoredPrice[], aliases: PriceAlias[]): string {
  const rows = withoutReplaced(prices).map(fieldsOf)
  return format === 'json' ? jsonText(rows, aliases) : csvText(rows)
}

/**
 * Of rows with the same dates, the last loaded one is in effect, and a row that ends when it begins never is: the others
 * are never used again.
 */
function withoutReplaced(prices: StoredPrice[]): StoredPrice[] {
  const keyOf = ({ source, provider, model, effectiveFrom, effectiveUntil }: StoredPrice) =>
    JSON.stringify([source, provider, model, effectiveFrom, effectiveUntil ?? null])
  const last = new Map(prices.map((price) => [keyOf(price), price]))
  const applies = ({ effectiveFrom, effectiveUntil }: StoredPrice) =>
    effectiveFrom === null || (effectiveUntil ?? Number.POSITIVE_INFINITY) > effectiveFrom
  return prices.filter((price) => applies(price) && last.get(keyOf(price)) === price)
}

function fieldsOf(price: StoredPrice): Fields {
  const { tiers, tools, variants, hours, effective_from: start, effective_until: end, ...body } = rowBody(price)
  const listed = <Listed extends object>(value: Listed) => (Object.keys(value).length > 0 ? value : null)
  return {
    ...body,
    tiers: listed(tiers),
    tools: listed(tools),
    variants: listed(variants),
    hours: listed(hours),
    effective_from: dayOrTime(start) ?? ALWAYS,
    effective_until: dayOrTime(end),
    source: price.source,
    as_of: typeof price.asOf === 'number' ? dateText(price.asOf) : null,
  }
}

/** Of a midnight only the date. */
function dayOrTime(moment: string | null): string | null {
  return moment?.replace('T00:00:00.000Z', '') ?? null
}

function csvText(rows: Fields[]): string {
  // Prices are raw JSON numbers: only their text is exact.
  const cellOf = (value: unknown) =>
    typeof value === 'string' || value === null ? (value ?? '') : JSON.stringify(value)
  const cells = rows.map((row) => TALLY_FIELDS.map((field) => cellOf(row[field])))
  return stringify([[...TALLY_FIELDS], ...cells], { escape_formulas: true, record_delimiter: 'windows' })
}

/** One row per line, so that two exports can be compared. Unknown prices are omitted. */
function jsonText(rows: Fields[], aliases: PriceAlias[]): string {
  const lines = (items: object[]) => items.map((item) => `    ${JSON.stringify(known(item))}`).join(',\n')
  // Every database has the aliases of the embedded table.
  const loaded = aliases
    .filter(({ source }) => source !== 'default')
    .map(({ alias, provider, model, source }) => ({ alias, provider, model, source }))
  return `{
  "unit": "US dollars per million tokens",
  "prices": [\n${lines(rows)}\n  ],
  "aliases": [\n${lines(loaded)}\n  ]
}
`
}

function known(item: object): object {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
}
