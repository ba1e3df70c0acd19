/** The form values of a price that is set manually, and the API request made from them. */
import { KINDS, type Kind, type Price } from './price.ts'

/** Empty strings for prices that are not set. */
type Prices = Record<Kind, number | string>

export interface PriceValues extends Prices {
  model: string
  provider: string
  holds: 'usual' | 'always' | 'day'
  day: string | null
  tiers: (Prices & { from_tokens: number | string })[]
}

export type PriceStart = Partial<Pick<Price, 'model' | 'provider' | 'tiers' | Kind>>

export const NO_PRICES: Prices = { input: '', output: '', cache_read: '', cache_write: '', cache_write_1h: '' }

const pricesOf = (row: Partial<Record<Kind, number | null>>): Prices => ({
  ...NO_PRICES,
  ...Object.fromEntries(KINDS.flatMap(({ kind }) => (typeof row[kind] === 'number' ? [[kind, row[kind]]] : []))),
})

const given = (prices: Prices) =>
  Object.fromEntries(KINDS.flatMap(({ kind }) => (prices[kind] === '' ? [] : [[kind, Number(prices[kind])]])))

/** The initial values of the form. */
export const valuesOf = (start: PriceStart): PriceValues => ({
  model: start.model ?? '',
  provider: start.provider ?? '',
  ...pricesOf(start),
  holds: 'usual',
  day: null,
  tiers: (start.tiers ?? []).map((tier) => ({ from_tokens: tier.from_tokens, ...pricesOf(tier) })),
})

export function bodyOf(values: PriceValues) {
  const { model, provider, holds, day, tiers } = values
  return {
    model: model.trim(),
    ...(provider.trim() === '' ? {} : { provider: provider.trim() }),
    input: Number(values.input),
    output: Number(values.output),
    ...given(values),
    ...(tiers.length === 0
      ? {}
      : { tiers: tiers.map((tier) => ({ from_tokens: Number(tier.from_tokens), ...given(tier) })) }),
    ...(holds === 'usual' ? {} : { effective_from: holds === 'always' ? 'always' : day! }),
  }
}
