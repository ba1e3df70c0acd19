/** Types of the prices API, and how prices are displayed. */
import { decimalsOf } from '../../format/counts.ts'
import type { api, Body } from '../../server/api.ts'

export type ListedPrice = Body<Awaited<ReturnType<typeof api.prices.get>>>['data'][number]
export type Price = Omit<ListedPrice, 'in_use'>
export type SetPrice = Body<Awaited<ReturnType<typeof api.prices.post>>>
export type WithdrawnPrices = Body<Awaited<ReturnType<typeof api.prices.withdraw.post>>>
export type Resolution = Body<Awaited<ReturnType<typeof api.prices.resolve.get>>>
export type Repricing = Body<Awaited<ReturnType<typeof api.prices.reprice.post>>>
export type PriceLoad = Body<Awaited<ReturnType<typeof api.prices.loads.get>>>['data'][number]
export type LoadedTable = Body<Awaited<ReturnType<typeof api.prices.load.post>>>

/** The five token kinds, in display order. */
export const KINDS = [
  { kind: 'input', title: 'Input' },
  { kind: 'output', title: 'Output' },
  { kind: 'cache_read', title: 'Cache read' },
  { kind: 'cache_write', title: 'Cache write' },
  { kind: 'cache_write_1h', title: 'Cache write, 1 h' },
] as const

export type Kind = (typeof KINDS)[number]['kind']

/** The titles of the kinds, and of the shares that have prices of their own. */
export const KIND_TITLES: Record<string, string> = {
  ...Object.fromEntries(KINDS.map(({ kind, title }) => [kind, title])),
  input_audio: 'Audio input',
  input_image: 'Image input',
  output_audio: 'Audio output',
  output_image: 'Image output',
}

/** Prices per million tokens have no more decimals. */
const DECIMALS = 6

/** A price as price lists write it: `3`, `0.075`, or `–` if unknown. */
export const priceText = (price: number | null | undefined): string =>
  price === null || price === undefined ? '–' : decimalsOf(price, 0, DECIMALS)

/** Few prices per million tokens have more decimals. */
const COLUMN_DECIMALS = 4

/** What the text of a price lacks to {@link COLUMN_DECIMALS}: `.0000` for `3`, `0` for `0.075`. */
export const missingDecimals = (price: number | null | undefined): string =>
  decimalsOf(price ?? 0, COLUMN_DECIMALS, DECIMALS).slice(decimalsOf(price ?? 0, 0, DECIMALS).length)

/** Display names of price sources. */
export const SOURCES: Record<string, string> = {
  default: 'Built-in table',
  admin: 'Set manually',
  tally: 'Loaded table',
  litellm: 'LiteLLM',
  'models-dev': 'models.dev',
  'genai-prices': 'genai-prices',
}

export const sourceText = (source: string): string => SOURCES[source] ?? source
export const providerText = (provider: string): string => provider || 'any provider'
