/** Prices of service tiers, speeds, regions, tools and media: what sources say of them together. Pure. */
import { reasonsAgainst } from '../../src/features/prices/plausibility.ts'
import {
  type Adjustment,
  type ExtraPrices,
  extraPrices,
  MULTIPLIER_DIGITS,
  type PriceTier,
  type TokenKind,
} from '../../src/features/prices/rates.ts'
import { TOKEN_KINDS } from '../../src/features/prices/records.ts'
import type { DatedPrice } from './claims.ts'

const ONE = 10n ** BigInt(MULTIPLIER_DIGITS)

/** Together what each of several prices has, the first one where they differ, without what is implausible. */
export function togetherOf(prices: DatedPrice[], base: DatedPrice): ExtraPrices | null {
  const extras = prices.flatMap((price) => (price.extras ? [price.extras] : []))
  const reversed = extras.toReversed()
  const variants = new Map(
    reversed.flatMap((each) => each.variants.map((variant) => [`${variant.kind} ${variant.name}`, variant] as const)),
  )
  const all: ExtraPrices = {
    media: Object.assign({}, ...reversed.map(({ media }) => media)),
    tools: Object.assign({}, ...reversed.map(({ tools }) => tools)),
    variants: [...variants.values()].map((variant) => ({ ...variant, ...asMultiplier(variant, base) })),
    hours: (extras.find(({ hours }) => hours.length > 0)?.hours ?? []).map((each) => ({
      ...each,
      ...asMultiplier(each, base),
    })),
  }
  const isPlausible = (part: Partial<ExtraPrices>) =>
    reasonsAgainst({ provider: '', model: '', ...base, extras: extraPrices(part) }, { allowFree: true }).length === 0
  return extraPrices({
    media: isPlausible({ media: all.media }) ? all.media : {},
    tools: isPlausible({ tools: all.tools }) ? all.tools : {},
    variants: all.variants.filter((variant) => isPlausible({ variants: [variant] })),
    hours: all.hours.filter((hours) => isPlausible({ hours: [hours] })),
  })
}

/** A multiplier instead of prices that are all the same multiple of the row's: it also covers prices not listed. */
function asMultiplier(adjustment: Adjustment, base: DatedPrice): Partial<Adjustment> {
  const { input } = adjustment.prices
  if (adjustment.multiplier !== null || !input || !base.input || (input * ONE) % base.input !== 0n) return {}
  const multiplier = (input * ONE) / base.input
  const isMultiple = (prices: PriceTier['prices'], of: Partial<Record<TokenKind, bigint | null>>) =>
    TOKEN_KINDS.every((kind) => prices[kind] === undefined || (of[kind] ?? 0n) * multiplier === prices[kind] * ONE)
  const hasTiers = adjustment.tiers.length === base.tiers.length
  const isWhole =
    hasTiers &&
    isMultiple(adjustment.prices, { ...base.extras?.media, ...base }) &&
    adjustment.tiers.every(
      (tier, index) =>
        tier.fromTokens === base.tiers[index]!.fromTokens && isMultiple(tier.prices, base.tiers[index]!.prices),
    )
  return isWhole ? { multiplier, prices: {}, tiers: [] } : {}
}
