/** Where prices and aliases are from. */

/** The formats of price tables; `tally` is CSV or JSON. */
export const TABLE_FORMATS = ['tally', 'litellm', 'models-dev', 'genai-prices'] as const
export type TableFormat = (typeof TABLE_FORMATS)[number]

/**
 * The origin of a price or an alias: `default` is the embedded table, `admin` was set by hand, `tally` is a custom
 * file; the others are published tables that an admin loaded.
 */
export const PRICE_SOURCES = ['default', 'admin', ...TABLE_FORMATS] as const
export type PriceSource = (typeof PRICE_SOURCES)[number]
