/** What setting a price by hand, and withdrawing it, change. */
import { EXTRA_FIELDS } from './formats/extras.ts'
import type { StoredPrice } from './price-table.ts'
import { PRICE_FIELDS, type PriceRow } from './rates.ts'
import type { PriceView } from './store.ts'

/** The fields that are kept from the price that is replaced, unless they are given. */
export const KEPT_FIELDS = [...Object.values(PRICE_FIELDS), 'tiers', ...EXTRA_FIELDS] as const
export type KeptField = (typeof KEPT_FIELDS)[number]

/** The effect of setting a price. */
export interface SetPrice {
  /** False if the same price was already set by hand, so that nothing changes. */
  isAdded: boolean
  /** The price that the model has at that time without it, by whichever step it is found; undefined if it has none. */
  before: StoredPrice | undefined
  after: PriceRow
  /** The fields of `after` that are those of `before` because they were not given. */
  kept: KeptField[]
}

/** The effect of withdrawing a model's prices. */
export interface Withdrawal {
  /** The prices that end. */
  ended: PriceView[]
  /** The moment at which they end, or at which they begin if that is later: then they never apply. */
  until: number
  /** The price that the model has at that moment without the withdrawal, and with it. */
  before: StoredPrice | undefined
  after: StoredPrice | undefined
}
