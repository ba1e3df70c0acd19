/**
 * Digits after the point in amounts of a currency (ISO 4217, list one, "minor unit"); two for currencies that are not
 * listed. Not from `Intl`, which returns what is usual for price tags: none for Hungarian forints or Iraqi dinars.
 */
const MINOR_DIGITS: Record<string, number> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3])),
  ...Object.fromEntries('CLF UYW'.split(' ').map((code) => [code, 4])),
}

export function minorDigitsOf(currency: string): number {
  return MINOR_DIGITS[currency] ?? 2
}
