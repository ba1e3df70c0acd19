/**
 * The lengths of a request at which vendors change their prices, in input-side tokens. Who sees single requests sums
 * them at these, so that every price table values the sums exactly.
 */
export const REQUEST_THRESHOLDS: readonly number[] = [32_000, 100_000, 128_000, 200_000, 256_000, 272_000, 512_000]
