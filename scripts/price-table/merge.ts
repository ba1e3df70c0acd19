/**
 * Decides which price a name has at a provider, from what the sources claim (docs/design/pricing.md, "The embedded
 * table"). Pure.
 */
import type { CountKind, PriceTier } from '../../src/features/prices/rates.ts'
import type { Claim, DatedPrice } from './claims.ts'
import { togetherOf } from './extras.ts'
import { newestRelease, type SourceName } from './packages.ts'

/** Why a claim won over another. */
export type Rule = 'agreed' | 'only' | 'majority' | 'documented' | 'order' | 'decision'

export interface Verdict {
  prices: DatedPrice[]
  /** The sources that claim the price of input and output that was decided. */
  from: SourceName[]
  rule: Rule
  /** What they or others claim differently, for review. */
  disagreements: Disagreement[]
}

export interface Disagreement {
  field: string
  /** What was decided, then what the others claim. */
  decided: string
  others: [source: SourceName, claimed: string][]
}

/**
 * Who is followed where two differ and nothing else decides: about a maker's own prices the newest release; about
 * resellers the source that cites a page for each price, since LiteLLM has prices of whole classes of models there.
 */
const OF_MAKERS: SourceName[] = ['litellm', 'genai-prices', 'models.dev', 'litellm-earlier']
const OF_RESELLERS: SourceName[] = ['genai-prices', 'models.dev', 'litellm', 'litellm-earlier']

export interface Subject {
  isMaker: boolean
  /** The source that a decision prefers. */
  preferred?: SourceName | undefined
}

/** The verdict about one name, from at least one claim. */
export function verdictOf(claims: Claim[], { isMaker, preferred }: Subject): Verdict {
  const order = isMaker ? OF_MAKERS : OF_RESELLERS
  const ordered = order.flatMap((source) => claims.filter((claim) => claim.source === source))
  const voters = votersOf(ordered)
  const decided = voters.find(({ source }) => source === preferred)
  const { winner, rule } = decided ? { winner: decided, rule: 'decision' as const } : winnerOf(voters)
  const agreeing = ordered.filter((claim) => isSameBase(claim, winner))
  const disagreements: Disagreement[] = []
  // An earlier release differs by what changed since, and a pattern where it fails.
  const opposing = voters.filter((claim) => !agreeing.includes(claim))
  if (opposing.length > 0) {
    disagreements.push({
      field: 'input/output',
      decided: baseText(winner),
      others: opposing.map((claim) => [claim.source, baseText(claim)]),
    })
  }
  const earlier = longest(agreeing.map(({ prices }) => prices.filter((price) => !isFuture(price))))
  const { effectiveFrom } = earlier.at(-1)!
  const current = { ...completed(agreeing, disagreements), effectiveFrom }
  const announced = longest(agreeing.map(({ prices }) => prices.filter(isFuture)))
  return {
    prices: [...earlier.slice(0, -1), current, ...announced],
    from: agreeing.map(({ source }) => source),
    rule,
    disagreements,
  }
}

/**
 * The claims that count: those that list the name, and patterns that agree with one of them. A pattern alone does not
 * oppose: it also matches names of models that its author did not know. An earlier release counts only where no newer
 * one lists the name.
 */
function votersOf(claims: Claim[]): Claim[] {
  const listed = claims.filter(({ isListed, source }) => isListed && source !== 'litellm-earlier')
  if (listed.length === 0) return claims.filter(({ isListed }) => isListed)
  return claims.filter(
    (claim) => listed.includes(claim) || (!claim.isListed && listed.some((other) => isSameBase(claim, other))),
  )
}

function winnerOf(voters: Claim[]): { winner: Claim; rule: Rule } {
  if (voters.length === 1) return { winner: voters[0]!, rule: 'only' }
  const camps = Map.groupBy(voters, baseText)
  if (camps.size === 1) return { winner: voters[0]!, rule: 'agreed' }
  const largest = [...camps.values()].toSorted((one, other) => other.length - one.length)[0]!
  if (largest.length > 1) return { winner: largest[0]!, rule: 'majority' }
  const documented = voters.find(({ isDocumented }) => isDocumented)
  return documented ? { winner: documented, rule: 'documented' } : { winner: voters[0]!, rule: 'order' }
}

/** The price on the day of the newest source; makers announce later ones. */
export function currentOf({ prices }: Pick<Claim, 'prices'>): DatedPrice {
  return prices.findLast((price) => !isFuture(price)) ?? prices[0]!
}

const NEWEST = Date.parse(newestRelease())

function isFuture({ effectiveFrom }: DatedPrice): boolean {
  return effectiveFrom !== null && effectiveFrom > NEWEST
}

function isSameBase(one: Claim, other: Claim): boolean {
  return baseText(one) === baseText(other)
}

function baseText(claim: Claim): string {
  const { input, output } = currentOf(claim)
  return `${input ?? '-'}/${output ?? '-'}`
}

const CACHE_KINDS = ['cacheRead', 'cacheWrite', 'cacheWrite1h'] as const satisfies CountKind[]

/**
 * The current price, where sources that agree on input and output complete each other. The absence of a price or a tier
 * claims nothing: sources omit what they don't know.
 */
function completed(agreeing: Claim[], disagreements: Disagreement[]): DatedPrice {
  const price = { ...currentOf(agreeing[0]!) }
  for (const kind of CACHE_KINDS) {
    const textOf = (claim: Claim) => String(currentOf(claim)[kind])
    const known = newestOf(agreeing.filter((claim) => currentOf(claim)[kind] !== null && !isUnlisted(claim, kind)))
    const held = mostCommon(known, textOf)
    price[kind] = held ? currentOf(held)[kind] : null
    note(disagreements, kind, known, held, textOf)
  }
  const textOf = (claim: Claim) => tiersText(currentOf(claim).tiers)
  const tiered = newestOf(agreeing.filter((claim) => currentOf(claim).tiers.length > 0 && !isOutdated(claim, agreeing)))
  const chosen = mostCommon(tiered, textOf)
  note(disagreements, 'tiers', newestOf(agreeing), chosen, textOf)
  price.tiers = chosen ? withCachePrices(currentOf(chosen).tiers, price) : []
  price.extras = togetherOf(agreeing.map(currentOf), price)
  return price
}

/** Without the earlier release, unless only that remains. */
function newestOf(claims: Claim[]): Claim[] {
  const newer = claims.filter(({ source }) => source !== 'litellm-earlier')
  return newer.length > 0 ? newer : claims
}

/** What an earlier release said of a model that the newer one still lists was changed since. */
function isOutdated({ source }: Claim, claims: Claim[]): boolean {
  return source === 'litellm-earlier' && claims.some((claim) => claim.source === 'litellm')
}

/** LiteLLM writes 0 where its provider does not charge for writing to the cache apart from the input. */
function isUnlisted(claim: Claim, kind: CountKind): boolean {
  return kind !== 'cacheRead' && currentOf(claim)[kind] === 0n
}

/**
 * A tier never lacks a cache price that the base has, which would silently be the lower base price: vendors multiply
 * all prices of the input side alike.
 */
function withCachePrices(tiers: PriceTier[], base: DatedPrice): PriceTier[] {
  return tiers.map(({ fromTokens, prices }) => {
    const all = { ...prices }
    for (const kind of CACHE_KINDS) {
      const price = base[kind]
      if (price === null) delete all[kind]
      else if (all[kind] === undefined && base.input && all.input) all[kind] = (price * all.input) / base.input
    }
    return { fromTokens, prices: all }
  })
}

/** Of the most common claims that one is documented for, or else the newest. */
function mostCommon(claims: Claim[], textOf: (claim: Claim) => string): Claim | undefined {
  const camps = [...Map.groupBy(claims, textOf).values()]
  const weight = (camp: Claim[]) => camp.length * 2 + Number(camp.some(({ isDocumented }) => isDocumented))
  return camps.toSorted((one, other) => weight(other) - weight(one))[0]?.[0]
}

function note(
  disagreements: Disagreement[],
  field: string,
  claims: Claim[],
  held: Claim | undefined,
  textOf: (claim: Claim) => string,
): void {
  if (!held) return
  const decided = textOf(held)
  const others = claims.filter((claim) => textOf(claim) !== decided)
  if (others.length > 0) {
    disagreements.push({ field, decided, others: others.map((claim) => [claim.source, textOf(claim)]) })
  }
}

function tiersText(tiers: PriceTier[]): string {
  const texts = tiers.map(({ fromTokens, prices }) => `${fromTokens}: ${prices.input ?? '-'}/${prices.output ?? '-'}`)
  return texts.join(', ') || 'none'
}

/** Of several histories the one with most prices; of the newest source on a tie. */
function longest(histories: DatedPrice[][]): DatedPrice[] {
  return histories.reduce((best, history) => (history.length > best.length ? history : best))
}
