/** Writing Tally's own format, so that loading what was written gives the same rows again. */
import { stringify } from 'csv-stringify/sync'
import type { PriceAlias, StoredPrice } from '../price-table.ts'
import { rowBody } from '../wire.ts'
import { ALWAYS, TALLY_FIELDS } from './tally.ts'

export const EXPORT_FORMATS = ['csv', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

type Fields = Record<(typeof TALLY_FIELDS)[number], unknown>

/** The text of a file, from prices in the order of loading. CSV has no place for aliases. */
export function exportText(format: ExportFormat, prices: StoredPrice[], aliases: PriceAlias[]): string {
  const rows = withoutReplaced(prices).map(fieldsOf)
  return format === 'json' ? jsonText(rows, aliases) : csvText(rows)
}

/** Of rows with the same date the last loaded holds; the others never value anything again. */
function withoutReplaced(prices: StoredPrice[]): StoredPrice[] {
  const keyOf = ({ source, provider, model, effectiveFrom }: StoredPrice) =>
    JSON.stringify([source, provider, model, effectiveFrom])
  const last = new Map(prices.map((price) => [keyOf(price), price]))
  return prices.filter((price) => last.get(keyOf(price)) === price)
}

function fieldsOf(price: StoredPrice): Fields {
  const { tiers, effective_from: start, ...body } = rowBody(price)
  return {
    ...body,
    tiers: tiers.length > 0 ? tiers : null,
    effective_from: start?.replace('T00:00:00.000Z', '') ?? ALWAYS,
    source: price.source,
  }
}

function csvText(rows: Fields[]): string {
  // Prices are raw JSON numbers, whose text alone is exact.
  const cellOf = (value: unknown) =>
    typeof value === 'string' || value === null ? (value ?? '') : JSON.stringify(value)
  const cells = rows.map((row) => TALLY_FIELDS.map((field) => cellOf(row[field])))
  return stringify([[...TALLY_FIELDS], ...cells], { escape_formulas: true, record_delimiter: 'windows' })
}

/** A row a line, so that two exports can be compared. What is unknown is left out. */
function jsonText(rows: Fields[], aliases: PriceAlias[]): string {
  const lines = (items: object[]) => items.map((item) => `    ${JSON.stringify(known(item))}`).join(',\n')
  // Every database has the aliases of the table that Tally carries.
  const loaded = aliases.filter(({ source }) => source !== 'default')
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
