/**
 * The data of Pydantic's genai-prices, `data.json`: a list of providers with their models, prices in dollars per
 * million tokens, some dated. The embedded table is made from the same data by the same rules.
 * https://github.com/pydantic/genai-prices
 */
import { parseMoment } from '../../../lib/duration.ts'
import { PICO_DIGITS } from '../../../lib/money.ts'
import type { Steps } from '../../../lib/portions.ts'
import type { ServiceKind } from '../../../shared/usage.ts'
import {
  type Adjustment,
  type ExtraPrices,
  extraPrices,
  minutesOf,
  type PriceHours,
  type PriceTier,
  type PriceVariant,
  type TokenKind,
} from '../rates.ts'
import { TOKEN_KINDS } from '../records.ts'
import type { TableDocument } from './document.ts'
import { type Holder, isHolder, type ModelNotes, PER_MILLION_DIGITS, TableNotes, TierNotes } from './reader.ts'

const KEYS: Record<TokenKind, string> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
  inputAudio: 'input_audio_mtok',
  inputImage: 'input_image_mtok',
  outputAudio: 'output_audio_mtok',
  outputImage: 'output_image_mtok',
}

/** Prices of a thousand uses. */
const TOOLS: Record<string, string> = { web_search: 'web_searches_kcount', code_execution: 'code_executions_kcount' }

/** Kinds that agents report as part of the output, for which a single output price would be wrong. */
const PARTS_OF_OUTPUT = ['output_reasoning_mtok', 'output_citation_mtok']

/** Whether a document has the shape of this data. */
export function isGenaiPrices(document: TableDocument): boolean {
  return document.items(document.root).some((provider) => document.isList(document.find(provider, 'models')))
}

export function* readGenaiPrices(document: TableDocument): Steps<TableNotes> {
  const table = new TableNotes()
  for (const provider of document.items(document.root)) {
    const listed = document.find(provider, 'models')
    if (!document.isList(listed)) {
      table.skip('not a provider')
      continue
    }
    const id = document.value(document.find(provider, 'id'))
    const models = document.items(listed).filter((model) => document.isObject(model))
    const used = new Set<unknown>(models.map((model) => document.firstText(model, 'id')))
    for (const model of models) {
      yield
      const read = document.model(model)
      if ('value' in read) readModel(table, id, read.value as Holder, used)
      else table.model(id, document.firstText(model, 'id')).reject(read.problem)
    }
  }
  return table
}

function readModel(table: TableNotes, provider: unknown, model: Holder, used: Set<unknown>): void {
  const conditional = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }]
  let isListed = false
  const dated = withHours(conditional.filter(isHolder))
  for (const [index, { listed, hours }] of dated.entries()) {
    const next = dated[index + 1]
    const variants = variantsUntil(model.price_variants, next && startOf(next.listed))
    if (readPrices(table.model(provider, model.id), listed, { hours, variants })) isListed = true
  }
  if (!isListed) return
  for (const alias of wholeNames(model.match)) {
    // If several of a provider's models have the same alias, the first one keeps it.
    if (used.has(alias)) continue
    used.add(alias)
    table.aliases.push({ alias, provider: String(provider), model: String(model.id), source: 'genai-prices' })
  }
}

interface Dated {
  listed: Holder
  /** Prices of some hours of the day. */
  hours: Holder[]
}

/** Prices of some hours follow the price of the date from which they apply. */
function withHours(conditional: Holder[]): Dated[] {
  const dated: Dated[] = []
  for (const listed of conditional) {
    const last = dated.at(-1)
    const isDaily = isHolder(listed.constraint) && 'start_time' in listed.constraint
    if (isDaily && last) last.hours.push(listed)
    else if (!isDaily) dated.push({ listed, hours: [] })
  }
  return dated
}

function startOf({ constraint }: Holder): unknown {
  return isHolder(constraint) ? constraint.start_date : undefined
}

/** A variant with what it is the price of, such as the speed `fast`. */
interface ListedVariant {
  kind: ServiceKind
  name: string
  prices: Holder
}

/** The variants that apply before a date: of each, the one with the latest start. */
function variantsUntil(listed: unknown, until: unknown): ListedVariant[] {
  const variants = new Map<string, ListedVariant & { start: string }>()
  for (const variant of (Array.isArray(listed) ? listed : []).filter(isHolder)) {
    const service = isHolder(variant.when) ? serviceOf(variant.when) : undefined
    const start = String(startOf(variant) ?? '')
    if (!service || !isHolder(variant.prices) || (typeof until === 'string' && start >= until)) continue
    const key = `${service.kind} ${service.name}`
    if (start >= (variants.get(key)?.start ?? '')) variants.set(key, { ...service, prices: variant.prices, start })
  }
  return [...variants.values()]
}

/** Undefined for the standard service, and for combinations, which a report names one by one. */
function serviceOf(when: Holder): Pick<ListedVariant, 'kind' | 'name'> | undefined {
  const [[key, name] = ['', ''], ...others] = Object.entries(when)
  if (others.length > 0 || typeof name !== 'string' || name === 'default' || name === 'standard') return undefined
  if (key === 'speed') return { kind: 'speed', name }
  return key === 'service_tier' || key === 'processing' ? { kind: 'serviceTier', name } : undefined
}

interface Extras {
  hours: Holder[]
  variants: ListedVariant[]
}

function readPrices(notes: ModelNotes, listed: Holder, { hours, variants }: Extras): boolean {
  const { prices } = listed
  const holder = isHolder(prices) ? prices : {}
  const { own, tiers } = pricesOf(notes, holder)
  const { input = null, output = null, cacheRead = null, cacheWrite = null, cacheWrite1h = null, ...media } = own
  if (PARTS_OF_OUTPUT.some((key) => holder[key] !== undefined)) {
    notes.refuse(
      'output_in_parts',
      'has separate prices for reasoning or citations, but entries do not count these separately',
    )
  }
  const extras = extraPrices({
    media,
    tools: toolsOf(notes, holder),
    variants: variants.flatMap((each) => variantOf(notes, each)),
    hours: hours.map((each) => hoursOf(notes, each)),
  })
  const row = { input, output, cacheRead, cacheWrite, cacheWrite1h, tiers, extras }
  const isTaken = notes.take(row, 'genai-prices', { effectiveFrom: dayOf(notes, startOf(listed)) })
  if (isTaken) notes.table.leaveUnused(holder, (key) => USED.includes(key) && !isUnreadTool(key, holder[key]), 'prices')
  return isTaken
}

const USED: string[] = [...Object.values(KEYS), ...Object.values(TOOLS)]

/** The price of a tool is read if it does not depend on how much is used. */
function isUnreadTool(key: string, price: unknown): boolean {
  return Object.values(TOOLS).includes(key) && typeof price !== 'number'
}

function pricesOf(notes: ModelNotes, prices: Holder): { own: Adjustment['prices']; tiers: PriceTier[] } {
  const tiers = new TierNotes()
  const own: Adjustment['prices'] = {}
  for (const kind of TOKEN_KINDS) {
    const listed = prices[KEYS[kind]]
    const holder = isHolder(listed) ? listed : prices
    const price = notes.priceAt(holder, isHolder(listed) ? 'base' : KEYS[kind], PER_MILLION_DIGITS)
    if (price !== null) own[kind] = price
    if (isHolder(listed) && Array.isArray(listed.tiers)) readTiers(notes, tiers, kind, listed.tiers)
  }
  return { own, tiers: tiers.ascending() }
}

function toolsOf(notes: ModelNotes, prices: Holder): ExtraPrices['tools'] {
  const tools: ExtraPrices['tools'] = {}
  for (const [name, key] of Object.entries(TOOLS)) {
    const price = typeof prices[key] === 'number' ? notes.priceAt(prices, key, PICO_DIGITS - THOUSAND_DIGITS) : null
    if (price !== null) tools[name] = price
  }
  return tools
}

const THOUSAND_DIGITS = 3

function variantOf(notes: ModelNotes, { kind, name, prices }: ListedVariant): PriceVariant[] {
  const { own, tiers } = pricesOf(notes, prices)
  return Object.keys(own).length > 0 ? [{ kind, name, multiplier: null, prices: own, tiers }] : []
}

function hoursOf(notes: ModelNotes, { prices, constraint }: Holder): PriceHours {
  const { start_time, end_time } = constraint as Holder
  const [from, to] = [start_time, end_time].map((time) =>
    typeof time === 'string' && /:00Z$/.test(time) ? minutesOf(time.slice(0, 5)) : undefined,
  )
  if (from === undefined || to === undefined) {
    notes.refuse('bad_variant', 'start_time and end_time must be whole minutes in UTC, such as 16:30:00Z')
  }
  const { own, tiers } = pricesOf(notes, isHolder(prices) ? prices : {})
  return { from: from ?? 0, to: to ?? 0, days: null, multiplier: null, prices: own, tiers }
}

/** Tiers are listed for each kind of price; the higher price applies above `start` tokens. */
function readTiers(notes: ModelNotes, tiers: TierNotes, kind: TokenKind, listed: unknown[]): void {
  for (const tier of listed) {
    const start = isHolder(tier) ? tier.start : undefined
    if (!isHolder(tier) || typeof start !== 'number' || !Number.isSafeInteger(start) || start < 0) {
      notes.refuse('bad_tier', 'has a tier without the number of tokens above which it applies')
    } else tiers.add(start + 1, kind, notes.priceAt(tier, 'price', PER_MILLION_DIGITS))
  }
}

function dayOf(notes: ModelNotes, startDate: unknown): number | undefined {
  if (startDate === undefined) return undefined
  const day = typeof startDate === 'string' ? parseMoment(startDate, 'UTC') : undefined
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
