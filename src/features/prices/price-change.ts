/** By how much a price changes. Pure. */
import { type Adjustment, COUNT_KINDS, type CountKind, type PriceRow, type PriceTier } from './rates.ts'

type Priced = Pick<PriceRow, CountKind | 'tiers' | 'extras'>

/**
 * The largest relative change of a single price: 0.05 for 5% more or less, and infinite for a price that was 0. An
 * absent cache price counts as the one that applies instead; other prices that only one of both has are not compared.
 */
export function largestChange(before: Priced, after: Priced): number {
  const changes = pairs(applied(before), applied(after)).map(([from, to]) =>
    from === 0n ? Number.POSITIVE_INFINITY : Math.abs(Number(to - from)) / Number(from),
  )
  return Math.max(0, ...changes)
}

/** The largest factor between two listed prices, in either direction: 10 for ten times as much as for a tenth. */
export function largestFactor(before: Priced, after: Priced): number {
  const factors = pairs(listed(before), listed(after)).map(([from, to]) => {
    const [low, high] = from < to ? [from, to] : [to, from]
    return low === 0n ? Number.POSITIVE_INFINITY : Number(high) / Number(low)
  })
  return Math.max(1, ...factors)
}

/** The values that both have and that differ. */
function pairs(before: Map<string, bigint>, after: Map<string, bigint>): [bigint, bigint][] {
  return [...before].flatMap(([name, from]): [bigint, bigint][] => {
    const to = after.get(name)
    return to === undefined || to === from ? [] : [[from, to]]
  })
}

/** Every listed price and multiplier of a row, by a name of its own. */
function listed(row: Priced): Map<string, bigint> {
  const values = new Map<string, bigint>()
  for (const kind of COUNT_KINDS) if (row[kind] !== null) values.set(kind, row[kind])
  addTiers(values, '', row.tiers)
  const { media = {}, tools = {}, variants = [], hours = [] } = row.extras ?? {}
  for (const [kind, price] of Object.entries(media)) values.set(kind, price)
  for (const [tool, price] of Object.entries(tools)) values.set(`tool ${tool}`, price)
  for (const { kind, name, ...variant } of variants) addAdjustment(values, `${kind} ${name} `, variant)
  for (const { from, to, ...adjustment } of hours) addAdjustment(values, `${from}-${to} `, adjustment)
  return values
}

/** With the prices that apply instead of absent ones. */
function applied(row: Priced): Map<string, bigint> {
  const { input, cacheRead, cacheWrite, cacheWrite1h } = row
  return listed({
    ...row,
    cacheRead: cacheRead ?? input,
    cacheWrite: cacheWrite ?? input,
    cacheWrite1h: cacheWrite1h ?? cacheWrite ?? input,
  })
}

function addAdjustment(values: Map<string, bigint>, name: string, { multiplier, prices, tiers }: Adjustment): void {
  if (multiplier !== null) values.set(`${name}multiplier`, multiplier)
  for (const [kind, price] of Object.entries(prices)) values.set(`${name}${kind}`, price)
  addTiers(values, name, tiers)
}

function addTiers(values: Map<string, bigint>, name: string, tiers: readonly PriceTier[]): void {
  for (const { fromTokens, prices } of tiers) {
    for (const [kind, price] of Object.entries(prices)) values.set(`${name}${fromTokens} ${kind}`, price)
  }
}
