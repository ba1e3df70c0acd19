/**
 * The data of Pydantic's genai-prices, `data.json`: a list of providers with their models, prices in dollars per
 * million tokens, some dated. The embedded table is made from the same data by the same rules.
 * https://github.com/pydantic/genai-prices
 */
import { parseMoment } from '../../../lib/duration.ts'
import { PRICED_KINDS, type PricedKind } from '../rates.ts'
import type { TableDocument } from './document.ts'
import { type Holder, isHolder, type ModelNotes, PER_MILLION_DIGITS, TableNotes, TierNotes } from './reader.ts'

const KEYS: Record<PricedKind, string> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
}

/** Kinds that agents report as part of the output, for which a single output price would be wrong. */
const PARTS_OF_OUTPUT = ['output_reasoning_mtok', 'output_citation_mtok']

/** Whether a document has the shape of this data. */
export function isGenaiPrices(document: TableDocument): boolean {
  return document.items(document.root).some((provider) => document.isList(document.find(provider, 'models')))
}

export function readGenaiPrices(document: TableDocument): TableNotes {
  const table = new TableNotes()
  for (const provider of document.items(document.root)) {
    const listed = document.find(provider, 'models')
    if (!document.isList(listed)) {
      table.skip('not a provider')
      continue
    }
    const id = document.value(document.find(provider, 'id'))
    const models = document.items(listed).filter((model) => document.isObject(model))
    const used = new Set(models.map((model) => document.value(document.find(model, 'id'))))
    for (const model of models) readModel(table, id, document.value(model) as Holder, used)
  }
  return table
}

function readModel(table: TableNotes, provider: unknown, model: Holder, used: Set<unknown>): void {
  const conditional = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }]
  let isListed = false
  for (const condition of conditional.filter(isHolder)) {
    const prices = isHolder(condition.prices) ? condition.prices : {}
    const constraint = isHolder(condition.constraint) ? condition.constraint : {}
    // A session has only one start but may span several periods of the day, so the price without hours gives the lower
    // bound.
    if ('start_time' in constraint) table.skip('price for some hours of the day')
    else if (readPrices(table.model(provider, model.id), prices, constraint.start_date)) isListed = true
  }
  if (!isListed) return
  for (const alias of wholeNames(model.match)) {
    // If several of a provider's models have the same alias, the first one keeps it.
    if (used.has(alias)) continue
    used.add(alias)
    table.aliases.push({ alias, provider: String(provider), model: String(model.id), source: 'genai-prices' })
  }
}

function readPrices(notes: ModelNotes, prices: Holder, startDate: unknown): boolean {
  const tiers = new TierNotes()
  const base = {} as Record<PricedKind, bigint | null>
  for (const kind of PRICED_KINDS) {
    const price = prices[KEYS[kind]]
    const holder = isHolder(price) ? price : prices
    base[kind] = notes.priceAt(holder, isHolder(price) ? 'base' : KEYS[kind], PER_MILLION_DIGITS)
    if (isHolder(price) && Array.isArray(price.tiers)) readTiers(notes, tiers, kind, price.tiers)
  }
  if (PARTS_OF_OUTPUT.some((key) => prices[key] !== undefined)) {
    notes.refuse(
      'output_in_parts',
      'has separate prices for reasoning or citations, but entries do not count these separately',
    )
  }
  return notes.take({ ...base, tiers: tiers.ascending() }, 'genai-prices', dayOf(notes, startDate))
}

/** Tiers are listed for each kind of price; the higher price applies above `start` tokens. */
function readTiers(notes: ModelNotes, tiers: TierNotes, kind: PricedKind, listed: unknown[]): void {
  for (const tier of listed) {
    const start = isHolder(tier) ? tier.start : undefined
    if (!isHolder(tier) || typeof start !== 'number' || !Number.isSafeInteger(start) || start < 0) {
      notes.refuse('bad_tier', 'has a tier without the number of tokens above which it applies')
    } else tiers.add(start + 1, kind, notes.priceAt(tier, 'price', PER_MILLION_DIGITS))
  }
}

function dayOf(notes: ModelNotes, startDate: unknown): number | undefined {
  if (startDate === undefined) return undefined
  const day = typeof startDate === 'string' ? parseMoment(startDate) : undefined
  if (day === undefined) notes.refuse('bad_date', 'start_date must be a date, such as 2026-11-20')
  return day
}

/**
 * Names that a model's clauses match with certainty, without evaluating patterns: those of its `equals` clauses, and
 * the prefix of a `starts_with` clause if it is a complete name (`claude-3-5-haiku`).
 */
function wholeNames(clause: unknown): string[] {
  if (!isHolder(clause)) return []
  if (Array.isArray(clause.or)) return clause.or.flatMap(wholeNames)
  if (typeof clause.equals === 'string') return [clause.equals]
  const { starts_with: start } = clause
  return typeof start === 'string' && /[a-z0-9]$/i.test(start) ? [start] : []
}
