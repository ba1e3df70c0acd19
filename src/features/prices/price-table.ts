/**
 * Finds the price row for a model name (docs/design/pricing.md, "Finding the row for a model name"). The steps are
 * tried in order and the first hit wins; every lookup is of a whole name.
 */
import type { Id } from '../../lib/id.ts'
import { REQUEST_THRESHOLDS } from '../../lib/request-thresholds.ts'
import { normalizeModelName, undatedNames, unvendoredNames } from '../../shared/model-name.ts'
import { isMaker, makersProviders } from './makers.ts'
import { type PriceRow, type Rates, ratesOf } from './rates.ts'
import { sellerInName, sellerNames } from './sellers.ts'
import type { PriceSource } from './sources.ts'
import { ALWAYS } from './update-offer.ts'

/** Custom prices apply to exactly their name; published tables list names of many resellers. */
const OWN_SOURCES: readonly PriceSource[] = ['admin', 'tally']

/** Whether prices of the source apply to exactly their name, before those of all other sources. */
export function isCustom(source: PriceSource): boolean {
  return OWN_SOURCES.includes(source)
}

/** A stored price row. */
export interface StoredPrice extends PriceRow {
  id: number
  uid: Id<'prc'>
  source: PriceSource
  /** The date of the table that it is from, or when it was set by hand; null if unknown. */
  asOf?: number | null | undefined
}

/** A row prepared for lookup and valuation. */
export class Price {
  readonly id: number
  readonly uid: Id<'prc'>
  readonly provider: string
  readonly model: string
  readonly source: PriceSource
  readonly effectiveFrom: number | null
  /** Exclusive; null if it has no end. */
  readonly effectiveUntil: number | null
  readonly #stored: StoredPrice
  #rates: Rates | undefined

  constructor(stored: StoredPrice) {
    this.id = stored.id
    this.uid = stored.uid
    this.provider = stored.provider
    this.model = stored.model
    this.source = stored.source
    this.effectiveFrom = stored.effectiveFrom
    this.effectiveUntil = stored.effectiveUntil ?? null
    this.#stored = stored
  }

  /** Calculated when it is used: a table has thousands of prices, of which an installation uses dozens. */
  get rates(): Rates {
    this.#rates ??= ratesOf(this.#stored)
    return this.#rates
  }
}

/** Another name of a model. An admin's may omit the provider: then the model is looked up by that name. */
export interface PriceAlias {
  alias: string
  provider: string | null
  model: string
  source: PriceSource
  /** The load that it came with; null if it was set by hand. */
  loadId?: number | null | undefined
}

/** A price and the number of the step that found it. */
export interface Hit {
  price: Price
  step: number
}

/** A lookup in the table: of exactly this name, at these providers. */
export interface Lookup {
  /** The step that performs it, 1 to 7. */
  step: number
  name: string
  /** Empty if the name has no maker, so that it is not looked up. */
  providers: string[]
  /** The prices found, in order of precedence; the entry's start decides which of them applies. */
  prices: Price[]
}

/** How a provider's model is spelled in the table. */
interface Spelling {
  /** In lower case. */
  seller: string
  provider: string
  model: string
}

const NO_NAMES: string[] = []

/**
 * The number of cached names before the cache is cleared. An installation has dozens; a caller may invent any number.
 */
const REMEMBERED_NAMES = 4_096

/** The prices as of one moment of the database. Immutable: a change results in a new table. */
export class PriceTable {
  readonly #prices: ReadonlyMap<number, Price>
  /**
   * By model, in the order of loading: most have one or two, so that maps of their providers would take several times the
   * memory.
   */
  readonly #models: ReadonlyMap<string, Price[]>
  /** By alias, of all providers. */
  readonly #aliases: ReadonlyMap<string, PriceAlias[]>
  readonly #adminAliases: ReadonlyMap<string, PriceAlias>
  /** By the canonical form of a model or alias: one per provider. */
  readonly #spelled = new Map<string, Spelling[]>()
  /** The lengths of requests at which some price changes, and the usual ones: ascending. */
  readonly thresholds: readonly number[]
  /** By provider, then model. */
  #found = new Map<string, Map<string, Hit[]>>()
  #remembered = 0

  /**
   * Prices and aliases in the order in which they were loaded. Withdrawn prices are not looked up by name; the entries
   * that have one keep it.
   */
  constructor(prices: StoredPrice[], aliases: PriceAlias[], withdrawn: StoredPrice[] = []) {
    const found = prices.map((stored) => new Price(stored))
    const kept = withdrawn.map((stored) => new Price(stored))
    this.#prices = new Map([...kept, ...found].map((price) => [price.id, price]))
    this.#models = Map.groupBy(found, ({ model }) => model)
    const [ofAdmins, published] = [aliases.filter(isOfAdmin), aliases.filter((alias) => !isOfAdmin(alias))]
    this.#adminAliases = new Map(ofAdmins.map((alias) => [alias.alias, alias]))
    this.#aliases = Map.groupBy(published, ({ alias }) => alias)
    this.#indexSpellings()
    this.thresholds = thresholdsOf(prices)
  }

  /** The row for a model at a moment; undefined if there is none, which is step 8: unpriced. */
  find(model: string, provider: string | null, at: number): Hit | undefined {
    return this.#hits(model, provider ?? '').find(({ price }) => holdsAt(price, at))
  }

  /** The row with this key; undefined if it does not exist. */
  findPrice(id: number): Price | undefined {
    return this.#prices.get(id)
  }

  /** All lookups for a name until one finds a row in effect at that moment. */
  explain(model: string, provider: string | null, at: number): { hit: Hit | undefined; lookups: Lookup[] } {
    const lookups: Lookup[] = []
    for (const lookup of this.#search(model, provider ?? '')) {
      lookups.push(lookup)
      const price = lookup.prices.find((one) => holdsAt(one, at))
      if (price) return { hit: { price, step: lookup.step }, lookups }
    }
    return { hit: undefined, lookups }
  }

  /** All rows that may apply to the name, in the order of the steps. An entry's start decides between them. */
  #hits(model: string, provider: string): Hit[] {
    const known = this.#found.get(provider)?.get(model)
    if (known) return known
    const hits: Hit[] = []
    for (const { step, prices } of this.#search(model, provider)) {
      hits.push(...prices.map((price) => ({ price, step })))
      // Rows after one that has always been in effect can't be reached.
      if (prices.some((price) => price.effectiveFrom === null && price.effectiveUntil === null)) break
    }
    if (this.#remembered >= REMEMBERED_NAMES) {
      this.#found = new Map()
      this.#remembered = 0
    }
    this.#found.getOrInsertComputed(provider, () => new Map()).set(model, hits)
    this.#remembered += 1
    return hits
  }

  *#search(model: string, provider: string): Generator<Lookup> {
    yield this.#lookUpOwn(model, provider)
    const alias = this.#adminAliases.get(model)
    if (alias) {
      if (alias.provider !== null) yield { ...this.#lookUpAt(alias.provider, alias.model), step: 2 }
      else for (const lookup of this.#searchName(alias.model, provider)) yield { ...lookup, step: 2 }
    }
    yield* this.#searchName(model, provider)
  }

  /** Steps 3 to 7, which also find the model of an admin's alias. */
  *#searchName(model: string, provider: string): Generator<Lookup> {
    if (provider !== '') yield { ...this.#lookUpAt(provider, model), step: 3 }
    for (const named of this.#providersNamedIn(model)) yield { ...this.#lookUpAt(named, model), step: 3 }
    yield { ...this.#lookUpAtMaker(model), step: 4 }
    yield* this.#searchSpellings(model, provider, 5, 6)
    const seller = sellerInName(model)
    if (seller) for (const name of spellingsOf(seller.rest)) yield this.#lookUpAtSeller(seller.providers, name)
    for (const name of unvendoredNames(model, isMaker)) {
      if (provider !== '') yield { ...this.#lookUpAt(provider, name), step: 7 }
      yield { ...this.#lookUpAtMaker(name), step: 7 }
      yield* this.#searchSpellings(name, provider, 7, 7)
    }
  }

  /** Looks up the canonical name, then without its date: each at the entry's provider, then at the model's maker. */
  *#searchSpellings(model: string, provider: string, step: number, undatedStep: number): Generator<Lookup> {
    const normalized = normalizeModelName(model)
    yield { ...this.#lookUpSpelled(normalized, provider), step }
    for (const name of undatedNames(normalized)) yield { ...this.#lookUpSpelled(name, provider), step: undatedStep }
  }

  /**
   * Looks up custom prices for exactly this name: at the entry's provider, without a provider, at the model's maker, or
   * at the only provider of a name without a known maker. A reseller's row does not apply to other providers.
   */
  #lookUpOwn(model: string, provider: string): Lookup {
    const rows = this.#models.get(model)?.filter(({ source }) => isCustom(source))
    const makers = makersProviders(model)
    const named = providersOf(rows)
    const only = makers.length === 0 && named.length === 1 ? named : NO_NAMES
    const providers = [...new Set([provider, '', ...makers, ...only])]
    return { step: 1, name: model, providers, prices: providers.flatMap((name) => rowsOf(rows, name)) }
  }

  /**
   * The providers in a name that includes its provider (`azure/gpt-4o`, `vertex_ai/claude-…`), if they list exactly
   * this name. LiteLLM uses such names for resold models, and some of its providers have a suffix
   * (`vertex_ai-anthropic_models`).
   */
  #providersNamedIn(model: string): string[] {
    const named = model.slice(0, Math.max(0, model.indexOf('/')))
    if (named === '') return NO_NAMES
    return providersOf(this.#models.get(model)).filter(
      (provider) => provider === named || (/^[-_]/.test(provider.slice(named.length)) && provider.startsWith(named)),
    )
  }

  /** At the provider, by each of the names that tables have for it. */
  #lookUpAt(provider: string, name: string): Omit<Lookup, 'step'> {
    const prices = sellerNames(provider).flatMap((seller) => this.#rowsAt(seller, name))
    return { name, providers: [provider], prices: defaultLast(prices) }
  }

  /** At the seller alone: the maker's price would not be the one of `azure/gpt-9`. */
  #lookUpAtSeller(providers: string[], name: string): Lookup {
    const normalized = normalizeModelName(name)
    const prices = providers.flatMap((provider) => [
      ...this.#rowsAt(provider, name),
      ...this.#rowsSpelled(provider, normalized),
    ])
    return { step: 7, name, providers, prices: defaultLast(prices) }
  }

  #lookUpAtMaker(name: string): Omit<Lookup, 'step'> {
    const providers = makersProviders(name)
    return { name, providers, prices: defaultLast(providers.flatMap((provider) => this.#rowsAt(provider, name))) }
  }

  #lookUpSpelled(normalized: string, provider: string): Omit<Lookup, 'step'> {
    const makers = makersProviders(normalized)
    const spelledAt = (seller: string) => this.#rowsSpelled(seller, normalized)
    const sellers = sellerNames(provider.toLowerCase())
    const prices = [...sellers.flatMap(spelledAt), ...defaultLast(makers.flatMap(spelledAt))]
    return { name: normalized, providers: provider === '' ? makers : [provider, ...makers], prices }
  }

  /** The rows of a provider, in lower case, for the name that has this canonical form. */
  #rowsSpelled(seller: string, normalized: string): Price[] {
    const written = this.#spelled.get(normalized)?.find((one) => one.seller === seller)
    return written ? this.#rowsAt(written.provider, written.model) : []
  }

  /** The provider's rows for exactly this name, and for the model that the name is an alias of. */
  #rowsAt(provider: string, name: string): Price[] {
    const rows = rowsOf(this.#models.get(name), provider)
    const alias = this.#aliases.get(name)?.find((one) => one.provider === provider)
    return alias ? defaultLast([...rows, ...rowsOf(this.#models.get(alias.model), provider)]) : rows
  }

  /**
   * If two names of a provider have the same canonical form, a name that equals it takes precedence, otherwise the
   * first one.
   */
  #indexSpellings(): void {
    const write = (provider: string, name: string) => {
      const normalized = normalizeModelName(name)
      const spellings = this.#spelled.getOrInsertComputed(normalized, () => [])
      const seller = provider.toLowerCase()
      const known = spellings.find((one) => one.seller === seller)
      if (!known) spellings.push({ seller, provider, model: name })
      else if (name === normalized) known.model = name
    }
    for (const [name, rows] of this.#models) for (const { provider } of rows) write(provider, name)
    for (const [name, aliases] of this.#aliases) {
      for (const { provider } of aliases) if (provider !== null) write(provider, name)
    }
  }
}

/** Bounds what a report stores: published tables have about ten. */
const THRESHOLDS_LIMIT = 32

/** A price from N tokens on is that of requests above N - 1. */
function thresholdsOf(prices: readonly StoredPrice[]): number[] {
  const thresholds = new Set(REQUEST_THRESHOLDS)
  for (const { tiers, extras } of prices) {
    const adjustments = extras ? [...extras.variants, ...extras.hours] : []
    for (const { fromTokens } of [...tiers, ...adjustments.flatMap((one) => one.tiers)]) {
      if (thresholds.size < THRESHOLDS_LIMIT && fromTokens > 1) thresholds.add(fromTokens - 1)
    }
  }
  return [...thresholds].sort((one, other) => one - other)
}

/** A name as written, and without its date or version. */
function spellingsOf(name: string): string[] {
  return [name, ...undatedNames(normalizeModelName(name))]
}

const isOfAdmin = ({ source }: PriceAlias) => source === 'admin'

/** A provider's rows of a model, in order of precedence. */
function rowsOf(rows: readonly Price[] = [], provider: string): Price[] {
  return rows.filter((row) => row.provider === provider).sort(byPrecedence)
}

/** In the order in which they were loaded. */
function providersOf(rows: readonly Price[] = []): string[] {
  return [...new Set(rows.map(({ provider }) => provider))]
}

/** Custom and loaded prices before the embedded table, then the newest date, then the last loaded. */
function byPrecedence(one: Price, other: Price): number {
  return (
    Number(one.source === 'default') - Number(other.source === 'default') ||
    (other.effectiveFrom ?? ALWAYS) - (one.effectiveFrom ?? ALWAYS) ||
    other.id - one.id
  )
}

/** The same across several providers of a maker, which otherwise keep their order. */
function defaultLast(prices: Price[]): Price[] {
  return prices.sort((one, other) => Number(one.source === 'default') - Number(other.source === 'default'))
}

function holdsAt({ effectiveFrom, effectiveUntil }: Price, at: number): boolean {
  return (effectiveFrom === null || effectiveFrom <= at) && (effectiveUntil === null || at < effectiveUntil)
}
