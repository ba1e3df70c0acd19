/** The rows and other names of the embedded table, from the verdicts about single names. Pure. */

import { COUNT_KINDS } from '../../src/features/prices/rates.ts'
import { extrasRecord } from '../../src/features/prices/records.ts'
import { normalizeModelName, undatedNames } from '../../src/shared/model-name.ts'
import type { DatedPrice } from './claims.ts'
import { togetherOf } from './extras.ts'
import { currentOf } from './merge.ts'
import type { SourceName } from './packages.ts'

/** The prices that were decided for a name, and the sources that claim the current one. */
export interface NamedPrice {
  name: string
  prices: DatedPrice[]
  from: SourceName[]
}

export interface PricedModel extends NamedPrice {
  /** Other names at the same provider and the same prices. */
  aliases: string[]
}

/**
 * The models of a provider. A name becomes an alias of the model that it means, if both have the same prices.
 */
export function modelsOf(named: NamedPrice[], modelOf: (name: string) => string | undefined): PricedModel[] {
  const completed = shared(named, modelOf)
  const byName = new Map(completed.map((one) => [one.name, one]))
  const models = new Map<string, PricedModel>()
  const aliases: [alias: string, model: string][] = []
  for (const one of completed) {
    const target = targetOf(one, byName, modelOf)
    if (target === undefined) models.set(one.name, { ...one, aliases: [] })
    else aliases.push([one.name, target])
  }
  for (const [alias, name] of aliases) models.get(name)!.aliases.push(alias)
  return [...models.values()]
}

/**
 * Names of one model that cost the same now have the tiers and cache prices of the one that is known best: a source may
 * list them only under one of the names. Each keeps its own history: `gemini-flash-latest` was other models before.
 */
function shared(named: NamedPrice[], modelOf: (name: string) => string | undefined): NamedPrice[] {
  const kindOf = ({ name, prices }: NamedPrice) => {
    const { input, output } = currentOf({ prices })
    return `${modelOf(name) ?? name} ${input}/${output}`
  }
  const kinds = Map.groupBy(named, kindOf)
  return named.map((one) => {
    const current = currentOf(one)
    const siblings = kinds.get(kindOf(one))!.map(currentOf).toSorted(byKnowledge)
    const { effectiveFrom: _own, ...best } = siblings[0]!
    const known = { ...best, extras: togetherOf(siblings, siblings[0]!) }
    return { ...one, prices: one.prices.map((price) => (price === current ? { ...price, ...known } : price)) }
  })
}

function byKnowledge(one: DatedPrice, other: DatedPrice): number {
  return knowledgeOf(other) - knowledgeOf(one)
}

/** Tiers count more than prices of the cache. */
function knowledgeOf(price: DatedPrice): number {
  return price.tiers.length * 10 + COUNT_KINDS.filter((kind) => price[kind] !== null).length
}

/** The name whose row has the price of this one too, or undefined if it needs a row of its own. */
function targetOf(
  one: NamedPrice,
  byName: Map<string, NamedPrice>,
  modelOf: (name: string) => string | undefined,
): string | undefined {
  const seen = new Set([one.name])
  let target = one
  for (;;) {
    const model = modelOf(target.name)
    // Models keep the names of genai-prices, under which existing databases already have their prices.
    if (model === target.name) break
    const other = [model, ...undatedNames(target.name), normalizeModelName(target.name)]
      .flatMap((name) => (name === undefined || seen.has(name) ? [] : (byName.get(name) ?? [])))
      .find((candidate) => pricesText(candidate.prices) === pricesText(one.prices))
    if (!other) break
    seen.add(other.name)
    target = other
  }
  return target === one ? undefined : target.name
}

function pricesText(prices: DatedPrice[]): string {
  return JSON.stringify(
    prices.map(({ tiers, extras, effectiveFrom, ...price }) => [
      COUNT_KINDS.map((kind) => String(price[kind])),
      tiers.map((tier) => [tier.fromTokens, COUNT_KINDS.map((kind) => String(tier.prices[kind]))]),
      extras ? extrasRecord(extras) : null,
      effectiveFrom,
    ]),
  )
}
