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
  /** Charges that the form only shows. */
  charges: Charges
  /** Whether prices that are left empty stay as they are; otherwise the form has all of them. */
  keepsOthers: boolean
}

const MEDIA = ['input_audio', 'input_image', 'output_audio', 'output_image'] as const
type Charges = Pick<Price, 'tools' | 'variants' | 'hours' | (typeof MEDIA)[number]>
export const NO_CHARGES: Charges = {
  input_audio: null,
  input_image: null,
  output_audio: null,
  output_image: null,
  tools: {},
  variants: [],
  hours: [],
}

export type PriceStart = Partial<Pick<Price, 'model' | 'provider' | 'tiers' | Kind> & Charges>

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
  charges: chargesOf(start),
  keepsOthers: start.input === undefined,
})

const chargesOf = ({ input_audio, input_image, output_audio, output_image, tools, variants, hours }: PriceStart) => {
  const known = { input_audio, input_image, output_audio, output_image, tools, variants, hours }
  return { ...NO_CHARGES, ...Object.fromEntries(Object.entries(known).filter(([, charge]) => charge !== undefined)) }
}

const givenCharges = (charges: Charges) =>
  Object.fromEntries(
    Object.entries(charges).filter(
      ([, charge]) => charge !== null && (typeof charge === 'number' || Object.keys(charge).length > 0),
    ),
  ) as Partial<Omit<Charges, (typeof MEDIA)[number]> & Record<(typeof MEDIA)[number], number>>

export function bodyOf(values: PriceValues) {
  const { model, provider, holds, day, tiers, charges, keepsOthers } = values
  return {
    model: model.trim(),
    ...(provider.trim() === '' ? {} : { provider: provider.trim() }),
    ...given(values),
    ...(tiers.length === 0
      ? {}
      : { tiers: tiers.map((tier) => ({ from_tokens: Number(tier.from_tokens), ...given(tier) })) }),
    ...givenCharges(charges),
    ...(keepsOthers ? {} : { only: true }),
    ...(holds === 'usual' ? {} : { effective_from: holds === 'always' ? 'always' : day! }),
  }
}
