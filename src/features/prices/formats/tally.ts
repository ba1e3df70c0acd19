/**
 * Tally's own format, as CSV or JSON: prices in dollars per million tokens. An empty or absent price is unknown, 0 is
 * free. An export of `tally prices export` results in the same rows when it is read.
 */
import { counted } from '../../../lib/counted.ts'
import { csvLines } from '../../../lib/csv-lines.ts'
import { parseMoment } from '../../../lib/duration.ts'
import { parseExactJson } from '../../../lib/exact-json.ts'
import type { Steps } from '../../../lib/portions.ts'
import { COUNT_KINDS, type CountKind, PRICE_FIELDS } from '../rates.ts'
import { PRICE_SOURCES, type PriceSource } from '../sources.ts'
import { MODELS_LIMIT, type Position, type TableDocument } from './document.ts'
import { EXTRA_FIELDS, readExtras, readTiers } from './extras.ts'
import {
  type Holder,
  isHolder,
  type ListedDates,
  type ModelNotes,
  PER_MILLION_DIGITS,
  pricesWithOurNames,
  TableNotes,
} from './reader.ts'

/** The columns of the CSV and the fields of a price in the JSON, in the order of an export. */
export const TALLY_FIELDS = [
  'provider',
  'model',
  ...Object.values(PRICE_FIELDS),
  'tiers',
  ...EXTRA_FIELDS,
  'effective_from',
  'source',
  'as_of',
  'effective_until',
] as const
type TallyField = (typeof TALLY_FIELDS)[number]

/** A table in this format is useless without these columns. */
const REQUIRED_COLUMNS: TallyField[] = ['model', 'input', 'output']

/** The zone of the days in a table, whose vendors publish them without one. */
export const TABLE_ZONE = 'UTC'

/** Marks a price that has always been in effect, since an empty date is replaced with the default of the load. */
export const ALWAYS = 'always'

/** Whether the first line of a text contains column names. */
export function isTallyCsv(text: string): boolean {
  const names = columnNames(
    csvLines(text.slice(0, text.indexOf('\n') + 1 || undefined), { lines: 1, cells: 1_000 })[0]?.cells,
  )
  return REQUIRED_COLUMNS.every((column) => names.includes(column))
}

/** Throws RangeError for an unknown column, since its prices would be lost silently. */
export function readTallyCsv(text: string): TableNotes {
  const [first, ...lines] = csvLines(text, { lines: 2 * MODELS_LIMIT, cells: 20 * MODELS_LIMIT })
  const names = columnNames(first?.cells)
  const unknown = names.filter((name) => !TALLY_FIELDS.includes(name as TallyField))
  if (unknown.length > 0) {
    throw new RangeError(`unknown column '${unknown[0]}'; the columns are ${TALLY_FIELDS.join(', ')}`)
  }
  const table = new TableNotes()
  for (const { cells } of lines) {
    const cellOf = (name: TallyField) => cells[names.indexOf(name)]?.trim() ?? ''
    const notes = table.model(cellOf('provider'), cellOf('model'))
    if (cells.length > names.length)
      notes.refuse('unknown_field', `has ${counted(cells.length, 'cell')} for ${counted(names.length, 'column')}`)
    const prices = {} as Record<CountKind, bigint | null>
    for (const kind of COUNT_KINDS) {
      const cell = cellOf(PRICE_FIELDS[kind])
      prices[kind] = cell === '' ? null : notes.price(cell, PRICE_FIELDS[kind], PER_MILLION_DIGITS)
    }
    const tiers = readTiers(notes, jsonInCell(notes, 'tiers', cellOf('tiers')))
    const extras = readExtras(notes, extrasInCells(notes, cellOf))
    notes.take({ ...prices, tiers, extras }, sourceOf(notes, cellOf('source')), datesOf(notes, cellOf, TABLE_ZONE))
  }
  return table
}

function columnNames(cells: string[] | undefined): string[] {
  return cells?.map((name) => name.trim().toLowerCase()) ?? []
}

/** Lists and objects are in one cell, as JSON. */
function jsonInCell(notes: ModelNotes, field: string, cell: string): unknown {
  if (cell === '') return undefined
  try {
    return parseExactJson(cell)
  } catch {
    notes.refuse('bad_tier', `${field} is not valid JSON`)
    return undefined
  }
}

function extrasInCells(notes: ModelNotes, cellOf: (name: TallyField) => string): Holder {
  return Object.fromEntries(EXTRA_FIELDS.map((field) => [field, jsonInCell(notes, field, cellOf(field))]))
}

/** `{"as_of": "…", "prices": […], "aliases": […]}`, or only the list of prices. */
export function isTallyJson(document: TableDocument): boolean {
  const prices = pricesIn(document)
  return (
    document.isList(prices) &&
    document.items(prices).every((price) => document.has(price, 'model') && !document.has(price, 'models'))
  )
}

function pricesIn(document: TableDocument): Position | undefined {
  return document.isObject(document.root) ? document.find(document.root, 'prices') : document.root
}

export function* readTallyJson(document: TableDocument): Steps<TableNotes> {
  const table = new TableNotes()
  const asOf = document.find(document.root, 'as_of')
  if (asOf !== undefined) {
    table.asOf = readDate(document.value(asOf), TABLE_ZONE)
    if (table.asOf === undefined) throw new RangeError(`as_of must be ${DATE_CHOICES}`)
  }
  for (const price of document.items(pricesIn(document))) {
    yield
    const read = document.model(price)
    if ('value' in read) readPrice(table, read.value as Holder)
    else
      table.model(document.firstText(price, 'provider') ?? '', document.firstText(price, 'model')).reject(read.problem)
  }
  for (const alias of document.items(document.find(document.root, 'aliases'))) readAlias(table, document.value(alias))
  return table
}

/** A single price, as submitted by a caller, who means the days of a time zone. */
export function readTallyPrice(price: Holder, timeZone: string): TableNotes {
  const table = new TableNotes()
  readPrice(table, price, timeZone)
  return table
}

function readPrice(table: TableNotes, price: Holder, timeZone = TABLE_ZONE): void {
  const notes = table.model(price.provider ?? '', price.model)
  for (const name of Object.keys(price)) {
    if (!TALLY_FIELDS.includes(name as TallyField)) notes.refuse('unknown_field', `unknown field '${name}'`)
  }
  notes.take(
    {
      ...pricesWithOurNames(notes, price),
      tiers: readTiers(notes, price.tiers),
      extras: readExtras(notes, price),
    },
    sourceOf(notes, price.source ?? ''),
    datesOf(notes, (field) => price[field] ?? '', timeZone),
  )
}

function datesOf(notes: ModelNotes, written: (field: TallyField) => unknown, timeZone: string): ListedDates {
  const dateAt = (field: TallyField) => dateOf(notes, field, { written: written(field), timeZone })
  const effectiveFrom = written('effective_from') === ALWAYS ? null : dateAt('effective_from')
  const effectiveUntil = dateAt('effective_until')
  if (effectiveUntil !== undefined && effectiveUntil <= (effectiveFrom ?? effectiveUntil - 1)) {
    notes.refuse('bad_date', 'effective_until must be later than effective_from')
  }
  return { effectiveFrom, effectiveUntil, asOf: dateAt('as_of') }
}

function dateOf(
  notes: ModelNotes,
  field: TallyField,
  { written, timeZone }: { written: unknown; timeZone: string },
): number | undefined {
  if (written === '') return undefined
  const moment = readDate(written, timeZone)
  if (moment === undefined) {
    const choices = field === 'effective_from' ? `a date, a timestamp with a UTC offset, or '${ALWAYS}'` : DATE_CHOICES
    notes.refuse('bad_date', `${field} must be ${choices}`)
  }
  return moment
}

const DATE_CHOICES = 'a date or a timestamp with a UTC offset'

function readDate(written: unknown, timeZone: string): number | undefined {
  return typeof written === 'string' ? parseMoment(written, timeZone) : undefined
}

/** The source of an exported row decides how its name is looked up; custom rows leave it empty. */
function sourceOf(notes: ModelNotes, written: unknown): PriceSource {
  if (written === '') return 'tally'
  const source = PRICE_SOURCES.find((one) => one === written)
  if (!source) notes.refuse('unknown_field', `source must be one of ${PRICE_SOURCES.join(', ')}, or absent`)
  return source ?? 'tally'
}

function readAlias(table: TableNotes, listed: unknown): void {
  const { alias, provider = null, model, source = 'tally' } = isHolder(listed) ? listed : {}
  const known = source === 'default' ? 'tally' : PRICE_SOURCES.find((one) => one === source)
  // Only an admin's alias may omit the provider.
  const isWhole =
    typeof alias === 'string' && typeof model === 'string' && (typeof provider === 'string' || known === 'admin')
  if (isWhole && known) table.aliases.push({ alias, provider: provider as string | null, model, source: known })
  else table.skip('alias without alias, model and provider')
}
