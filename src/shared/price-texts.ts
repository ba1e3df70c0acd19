/** What the pages and the command line say about prices. Imports nothing, because the web application loads it too. */

/** What an entry notes about its list value, in this order. */
export const PRICE_NOTES = {
  cache_price_assumed: 'The price has no rate for some cached tokens, so the input price was used.',
  tier_uncertain:
    'Some requests may have been charged at a long-context price, which cannot be determined from totals. This is the lower bound.',
  hours_uncertain:
    'The vendor charges other prices at some hours, and only part of the session was in them. The usual price was used.',
  service_tier_unpriced: 'There is no price for this service tier, so the standard price was used.',
  speed_unpriced: 'There is no price for this speed, so the standard price was used.',
  region_unpriced: 'There is no price for this region, so the standard price was used.',
  tool_unpriced: 'There is no price for some tool uses, so they are not included.',
  audio_unpriced: 'There is no price for audio tokens, so the price of text tokens was used.',
  image_unpriced: 'There is no price for image tokens, so the price of text tokens was used.',
} as const
export type PriceNote = keyof typeof PRICE_NOTES

/** A sentence for each of the notes, which are separated by commas. */
export function noteTexts(notes: string | null | undefined): string[] {
  const known: Record<string, string> = PRICE_NOTES
  return (notes ?? '').split(',').flatMap((note) => known[note] ?? [])
}

interface Service {
  service_tier?: string | null | undefined
  speed?: string | null | undefined
  region?: string | null | undefined
}

/** `batch, fast, us`; null for the standard service. */
export function serviceText({ service_tier, speed, region }: Service): string | null {
  return [service_tier, speed, region].filter(Boolean).join(', ') || null
}

/** `web_search 3, code_execution 1`; null if none was used. */
export function toolsText(tools: Record<string, number> | null): string | null {
  return (
    tools &&
    Object.entries(tools)
      .map(([name, uses]) => `${name} ${uses}`)
      .join(', ')
  )
}

const TITLES = {
  input: 'input',
  output: 'output',
  cache_read: 'cache read',
  cache_write: 'cache write',
  cache_write_1h: 'one-hour cache write',
  input_audio: 'audio input',
  input_image: 'image input',
  output_audio: 'audio output',
  output_image: 'image output',
} as const
type Prices = { [Kind in keyof typeof TITLES]?: number | null | undefined }

type Tier = Prices & { from_tokens: number }

interface Adjustment extends Service, Prices {
  multiplier?: number
  tiers?: Tier[]
}

interface Charges extends Pick<Prices, 'input_audio' | 'input_image' | 'output_audio' | 'output_image'> {
  tools: Record<string, number>
  variants: Adjustment[]
  hours: (Adjustment & { from: string; to: string; days?: number[] })[]
}

const DAYS = ['', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

type Money = (dollars: number) => string

function listedTexts(prices: Prices, money: Money): string[] {
  return (Object.keys(TITLES) as (keyof Prices)[]).flatMap((kind) =>
    prices[kind] === undefined || prices[kind] === null ? [] : [`${TITLES[kind]} ${money(prices[kind])}`],
  )
}

/** `from 272,001 tokens: input 5, output 22.5`, a line for each long-context price. */
export function tierTexts(tiers: readonly Tier[], money: Money): string[] {
  return tiers.map(
    (tier) => `from ${tier.from_tokens.toLocaleString('en')} tokens: ${listedTexts(tier, money).join(', ')}`,
  )
}

/** The same name may be a service tier and a speed, at different prices. */
const variantText = ({ service_tier, speed, region }: Service): string =>
  [service_tier && `service tier ${service_tier}`, speed && `speed ${speed}`, region && `region ${region}`]
    .filter(Boolean)
    .join(', ')

/** What a price charges besides the five prices and its tiers, a line each; `money` formats dollars. */
export function chargesTexts(charges: Charges, money: Money): string[] {
  const listed = (prices: Prices) => listedTexts(prices, money)
  const adjusted = ({ multiplier, tiers = [], ...prices }: Adjustment) =>
    multiplier === undefined ? [listed(prices).join(', '), ...tierTexts(tiers, money)].join('; ') : `× ${multiplier}`
  const { input_audio, input_image, output_audio, output_image } = charges
  return [
    ...listed({ input_audio, input_image, output_audio, output_image }),
    ...charges.variants.map((variant) => `${variantText(variant)}: ${adjusted(variant)}`),
    ...charges.hours.map((hours) => {
      const days = hours.days ? ` on ${hours.days.map((day) => DAYS[day]).join(', ')}` : ''
      return `${hours.from} to ${hours.to} UTC${days}: ${adjusted(hours)}`
    }),
    ...Object.entries(charges.tools).map(([name, price]) => `${name}: ${money(price)} per use`),
  ]
}
