/**
 * LiteLLM's table, `model_prices_and_context_window.json`: an object of models, prices per token.
 * https://docs.litellm.ai/docs/provider_registration/add_model_pricing
 */
import { PICO_DIGITS } from '../../../lib/money.ts'
import type { Steps } from '../../../lib/portions.ts'
import type { MediaKind } from '../../../shared/usage.ts'
import {
  type Adjustment,
  type CountKind,
  type ExtraPrices,
  extraPrices,
  MULTIPLIER_DIGITS,
  type PriceVariant,
  type TokenKind,
} from '../rates.ts'
import type { TableDocument } from './document.ts'
import { type Holder, isHolder, type ModelNotes, PER_TOKEN_DIGITS, TableNotes, TierNotes, tokensIn } from './reader.ts'

const KEYS: Record<CountKind, string> = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cacheRead: 'cache_read_input_token_cost',
  cacheWrite: 'cache_creation_input_token_cost',
  cacheWrite1h: 'cache_creation_input_token_cost_above_1hr',
}
const KINDS = Object.keys(KEYS) as CountKind[]

const ALL_KEYS: Record<TokenKind, string> = {
  ...KEYS,
  inputAudio: 'input_cost_per_audio_token',
  inputImage: 'input_cost_per_image_token',
  outputAudio: 'output_cost_per_audio_token',
  outputImage: 'output_cost_per_image_token',
}
const KIND_OF = new Map(Object.entries(ALL_KEYS).map(([kind, key]) => [key, kind as TokenKind]))

/** The service tiers whose prices have a suffix. */
const SERVICE_TIERS = { batches: 'batch', flex: 'flex', priority: 'priority' } as const
type Suffix = keyof typeof SERVICE_TIERS

/** DeepSeek's rows use this instead of the price of reading from the cache. */
const CACHE_HIT = 'input_cost_per_token_cache_hit'

/** Modes that generate text. Embeddings, images, speech and searches are not part of agents' sessions. */
const TEXT_MODES = ['chat', 'completion', 'responses']

/** A price, the length above which it applies (`_above_200k_tokens`, `_above_64000_tokens`), and the service tier. */
const PRICE_KEY = /^(.+?)(?:_above_(\d+(?:\.\d+)?[km]?)_tokens)?(?:_(batches|flex|priority))?$/i

/** Prices that hold for requests of no entry, whatever their length: of unknown service tiers, and of caching for hours. */
const OF_OTHERS = /_above_\d[\d.]*(?:[km]?_tokens_\w+|hr(?:_\w+)?)$/i

/** Whether a document has the shape of LiteLLM's table. */
export function isLitellm(document: TableDocument): boolean {
  return document.members(document.root).some(([, model]) => document.has(model, 'litellm_provider'))
}

export function* readLitellm(document: TableDocument): Steps<TableNotes> {
  const table = new TableNotes()
  const models = document.members(document.root)
  const positions = new Map(models)
  const modelOf = (name: string) => valueIn(document.model(positions.get(name)))
  for (const [name, position] of models) {
    yield
    const read = document.isObject(position) ? document.model(position) : { value: undefined }
    const model = valueIn(read)
    if ('problem' in read)
      table.model(document.firstText(position, 'litellm_provider') ?? '', name).reject(read.problem)
    else if (!isHolder(model) || typeof model.litellm_provider !== 'string' || name === 'sample_spec') {
      table.skip('not a model')
    } else if (!isTextModel(model)) table.skip(modeOf(model))
    else readModel(table, modelOf, name, model)
  }
  return table
}

const valueIn = (read: ReturnType<TableDocument['model']>) => ('value' in read ? read.value : undefined)

/**
 * Models without a mode count as text models if they have prices of text; LiteLLM lists whole classes of models that
 * way.
 */
function isTextModel(model: Holder): boolean {
  if (typeof model.mode === 'string') return TEXT_MODES.includes(model.mode)
  return Boolean(model[KEYS.input] && model[KEYS.output])
}

function modeOf({ mode }: Holder): string {
  return typeof mode === 'string' ? mode : 'no mode'
}

function readModel(table: TableNotes, modelOf: (name: string) => unknown, name: string, model: Holder): void {
  const provider = model.litellm_provider as string
  const notes = table.model(provider, name)
  const base = pricesOf(notes, model)
  const { tiers, media, variants } = listedPrices(notes, provider, model, base)
  for (const { from, prices } of rangesOf(notes, model)) {
    if (from > 0) tiers.addAll(from + 1, prices)
    else for (const kind of KINDS) base[kind] ??= prices[kind]
  }
  const extras = extraPrices({
    media,
    tools: toolsOf(notes, model),
    variants: [...variants, ...multipliersOf(notes, model.provider_specific_entry)],
  })
  if (!notes.take({ ...base, tiers: tiers.ascending(), extras }, 'litellm')) return
  countUnused(table, model)
  const bare = name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : ''
  const other = modelOf(bare)
  // `xai/grok-4` is xAI's own grok-4, unless the table lists that as well.
  if (bare !== '' && !(isHolder(other) && other.litellm_provider === provider)) {
    table.aliases.push({ alias: bare, provider, model: name, source: 'litellm' })
  }
}

interface Listed {
  tiers: TierNotes
  media: ExtraPrices['media']
  variants: PriceVariant[]
}

/** Prices above some length, of audio and images, and of service tiers. */
function listedPrices(notes: ModelNotes, provider: string, model: Holder, base: KindPrices): Listed {
  const tiers = new TierNotes()
  const media: ExtraPrices['media'] = {}
  const services = new Map<Suffix, { prices: Adjustment['prices']; tiers: TierNotes }>()
  for (const key of Object.keys(model)) {
    const [, start, above, suffix] = PRICE_KEY.exec(key) ?? []
    const kind = KIND_OF.get(start!)
    const length = above === undefined ? null : tokensIn(above)
    if (kind ? length === undefined : isAboveUnknown(key)) {
      notes.refuse('bad_tier', `${key} does not tell the number of tokens above which it applies`)
      continue
    }
    // The five base prices have been read.
    if (!kind || length === undefined || (kind in KEYS && length === null && !suffix)) continue
    const price = notes.priceAt(model, key, PER_TOKEN_DIGITS)
    // The table uses 0 for unknown prices of a service tier as well.
    if (price === null || (suffix && price === 0n && base[kind as CountKind] !== 0n)) continue
    const service = suffix && entryOf(services, suffix.toLowerCase() as Suffix)
    if (length !== null) (service ? service.tiers : tiers).add(beginning(provider, length), kind, price)
    else if (service) service.prices[kind] = price
    else media[kind as MediaKind] = price
  }
  const variants = [...services].map(([suffix, { prices, tiers }]) => ({
    kind: 'serviceTier' as const,
    name: SERVICE_TIERS[suffix],
    multiplier: null,
    prices,
    tiers: tiers.ascending(),
  }))
  return { tiers, media, variants }
}

function isAboveUnknown(key: string): boolean {
  return KIND_OF.has(key.slice(0, Math.max(0, key.indexOf('_above_')))) && !KIND_OF.has(key) && !OF_OTHERS.test(key)
}

function entryOf(services: Map<Suffix, { prices: Adjustment['prices']; tiers: TierNotes }>, suffix: Suffix) {
  const service = services.get(suffix) ?? { prices: {}, tiers: new TierNotes() }
  services.set(suffix, service)
  return service
}

/** Anthropic's factors for its fast mode and for regions, `{"us": 1.1, "fast": 6.0}`. */
function multipliersOf(notes: ModelNotes, entry: unknown): PriceVariant[] {
  if (!isHolder(entry)) return []
  return Object.entries(entry).flatMap(([name, factor]) => {
    const kind = factorOf(name)
    if (typeof factor !== 'number' || !kind) return []
    const multiplier = notes.priceAt(entry, name, MULTIPLIER_DIGITS)
    return multiplier ? [{ kind, name, multiplier, prices: {}, tiers: [] }] : []
  })
}

const REGION = /^[a-z]{2,4}$/

function factorOf(name: string): 'speed' | 'region' | undefined {
  if (name === 'fast') return 'speed'
  return REGION.test(name) ? 'region' : undefined
}

/** The price of a search, if it does not depend on how much it reads, which entries do not say. */
function toolsOf(notes: ModelNotes, { search_context_cost_per_query: listed }: Holder): ExtraPrices['tools'] {
  if (!isHolder(listed)) return {}
  const [low, medium, high] = ['low', 'medium', 'high'].map((size) =>
    notes.priceAt(listed, `search_context_size_${size}`, PICO_DIGITS),
  )
  return low && low === medium && low === high ? { web_search: low } : {}
}

type KindPrices = Record<CountKind, bigint | null>

function pricesOf(notes: ModelNotes, holder: Holder): KindPrices {
  const prices = {} as KindPrices
  for (const kind of KINDS) prices[kind] = notes.priceAt(holder, KEYS[kind], PER_TOKEN_DIGITS)
  prices.cacheRead ??= notes.priceAt(holder, CACHE_HIT, PER_TOKEN_DIGITS)
  refuseSeparateReasoning(notes, holder, prices)
  return prices
}

/** Reported output includes reasoning, so a single price would be wrong if they cost differently. */
function refuseSeparateReasoning(notes: ModelNotes, holder: Holder, { output }: KindPrices): void {
  const reasoning = notes.priceAt(holder, 'output_cost_per_reasoning_token', PER_TOKEN_DIGITS)
  if (reasoning !== null && reasoning !== output) {
    notes.refuse('output_in_parts', 'has a separate price for reasoning, but entries do not count reasoning separately')
  }
}

/** xAI charges more from the given length on, others above it. */
function beginning(provider: string, tokens: number): number {
  return provider === 'xai' ? tokens : tokens + 1
}

/** The prices of `tiered_pricing`, whose ranges exclude their start: `[256000, 1000000]` means above 256,000. */
function rangesOf(notes: ModelNotes, model: Holder): { from: number; prices: KindPrices }[] {
  const listed = model.tiered_pricing
  if (!Array.isArray(listed)) return []
  return listed.flatMap((range) => {
    const from = isHolder(range) && Array.isArray(range.range) ? range.range[0] : undefined
    if (!Number.isSafeInteger(from) || from < 0) {
      notes.refuse('bad_tier', 'tiered_pricing has a range without a start')
      return []
    }
    return [{ from, prices: pricesOf(notes, range) }]
  })
}

const USED = [CACHE_HIT, 'output_cost_per_reasoning_token', 'tiered_pricing']
const USED_OF_RANGE = [...Object.values(KEYS), ...USED, 'range']

function countUnused(table: TableNotes, model: Holder): void {
  const isUsed = (key: string) => USED.includes(key) || KIND_OF.has(PRICE_KEY.exec(key)?.[1] ?? '')
  const { search_context_cost_per_query: searches, provider_specific_entry: factors, ...columns } = model
  table.leaveUnused(columns, isUsed)
  if (isHolder(searches) && new Set(Object.values(searches)).size > 1) {
    table.leaveUnused({ search_context_cost_per_query: searches })
  }
  if (isHolder(factors)) {
    table.leaveUnused(factors, (name) => factorOf(name) !== undefined, 'provider_specific_entry')
  }
  for (const range of Array.isArray(model.tiered_pricing) ? model.tiered_pricing : []) {
    table.leaveUnused(range, (key) => USED_OF_RANGE.includes(key), 'tiered_pricing')
  }
}
