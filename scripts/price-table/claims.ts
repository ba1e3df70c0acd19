/**
 * What each source says about the price of a name at a provider. All sources are read by the readers of `tally prices
 * load`, except the history of models.dev, which only its own package has.
 */
import type { ListedPrice } from '../../src/features/prices/formats/reader.ts'
import { readTable } from '../../src/features/prices/formats/table-file.ts'
import { type Clause, matchesName, textsOf } from './clauses.ts'
import { readHistory } from './models-dev-history.ts'
import { type SourceName, sourceText } from './packages.ts'
import { isVertex, litellmSeller, modelsDevSeller } from './sellers.ts'

/** A price and from when it holds: null for always. */
export type DatedPrice = Omit<ListedPrice, 'provider' | 'model' | 'source' | 'effectiveFrom'> & {
  effectiveFrom: number | null
}

export interface Claim {
  source: SourceName
  /** In the order of their dates; never empty. */
  prices: DatedPrice[]
  /** False if the source only has a pattern that matches the name. */
  isListed: boolean
  /** Whether the source cites the seller's own page for the current price. */
  isDocumented: boolean
}

export interface Sources {
  /** The claims of all sources, by provider and name. */
  claims: Map<string, Map<string, Claim[]>>
  /** The model of genai-prices that a name at a provider means. */
  modelOf: (provider: string, name: string) => string | undefined
  /** What the readers left out, counted by source and reason. */
  leftOut: Record<string, number>
}

export async function readSources(): Promise<Sources> {
  const sources = new ClaimReader()
  sources.addGenai(await sourceText('genai-prices'))
  readHistory(await sourceText('models.dev'), (provider, name, prices, isDocumented) => {
    const seller = modelsDevSeller(provider, name)
    if (seller) sources.add(seller, name, { source: 'models.dev', prices, isListed: true, isDocumented })
  })
  for (const source of ['litellm', 'litellm-earlier'] as const) sources.addLitellm(source, await sourceText(source))
  sources.addPatterns()
  return sources
}

/** A model of genai-prices with the clause for its names. */
interface GenaiModel {
  id: string
  match: Clause
  claim: Claim
}

class ClaimReader implements Sources {
  readonly claims: Sources['claims'] = new Map()
  readonly leftOut: Sources['leftOut'] = {}
  readonly #genai = new Map<string, GenaiModel[]>()

  /** Adds a claim, unless the source already has one about the name. */
  add(provider: string, name: string, claim: Claim): void {
    const names = this.claims.get(provider) ?? new Map<string, Claim[]>()
    this.claims.set(provider, names)
    const held = names.get(name) ?? []
    names.set(name, held)
    if (!held.some(({ source }) => source === claim.source)) held.push(claim)
  }

  addGenai(text: string): void {
    const { reading } = readTable(text, 'genai-prices')
    this.#note('genai-prices', reading)
    const byModel = Map.groupBy(reading.rows, ({ provider, model }) => JSON.stringify([provider, model]))
    for (const { id: provider, models } of JSON.parse(text) as { id: string; models: Omit<GenaiModel, 'claim'>[] }[]) {
      for (const { id, match } of models) {
        const rows = byModel.get(JSON.stringify([provider, id]))
        if (!rows) continue
        const prices = rows.map(datedOf).sort((one, other) => (one.effectiveFrom ?? 0) - (other.effectiveFrom ?? 0))
        const claim: Claim = { source: 'genai-prices', prices, isListed: true, isDocumented: false }
        this.add(provider, id, claim)
        const listed = this.#genai.get(provider) ?? []
        this.#genai.set(provider, [...listed, { id, match, claim }])
      }
    }
    for (const { alias, provider, model } of reading.aliases) {
      const claim = this.#genai.get(provider!)?.find(({ id }) => id === model)?.claim
      if (claim) this.add(provider!, alias, claim)
    }
  }

  addLitellm(source: SourceName, text: string): void {
    const { reading } = readTable(text, 'litellm')
    this.#note(source, reading)
    // Vertex AI sells the models of the Gemini API under the same names, and comes second.
    const rows = reading.rows.toSorted(
      (one, other) => Number(isVertex(one.provider)) - Number(isVertex(other.provider)),
    )
    for (const row of rows) {
      const seller = litellmSeller(row.provider, row.model)
      // The table has 0 for unknown prices as well.
      if (!seller || (row.input === 0n && row.output === 0n)) continue
      this.add(seller.provider, seller.name, {
        source,
        prices: [datedOf(row)],
        isListed: true,
        isDocumented: false,
      })
    }
  }

  /** Lets genai-prices answer for names that only others list, and for Bedrock's names of a price of several regions. */
  addPatterns(): void {
    for (const model of this.#genai.get('aws') ?? []) {
      for (const name of regionalNames(model)) {
        if (this.claims.get('aws')!.has(name)) continue
        model.match = { or: [model.match, { equals: name }] }
        this.add('aws', name, model.claim)
      }
    }
    for (const [provider, names] of this.claims) {
      for (const name of names.keys()) {
        const model = this.#matching(provider, name)
        if (model) this.add(provider, name, { ...model.claim, isListed: false })
      }
    }
  }

  modelOf(provider: string, name: string): string | undefined {
    const models = this.#genai.get(provider) ?? []
    return (models.find(({ id }) => id === name) ?? this.#matching(provider, name))?.id
  }

  #matching(provider: string, name: string): GenaiModel | undefined {
    return this.#genai.get(provider)?.find(({ match }) => matchesName(match, name))
  }

  #note(source: SourceName, { skipped, refused }: ReturnType<typeof readTable>['reading']): void {
    const reasons = refused.flatMap((row) => [...new Set(row.reasons.map(({ code }) => code))])
    for (const reason of [
      ...Object.entries(skipped).flatMap(([why, times]) => Array<string>(times).fill(why)),
      ...reasons,
    ]) {
      const key = `${source}: ${reason}`
      this.leftOut[key] = (this.leftOut[key] ?? 0) + 1
    }
  }
}

function datedOf({
  provider: _provider,
  model: _model,
  source: _source,
  effectiveFrom,
  ...price
}: ListedPrice): DatedPrice {
  return { ...price, effectiveFrom: effectiveFrom ?? null }
}

/**
 * The names of a row of genai-prices for several regions, `regional.X`: those with a region that its clauses spell out,
 * and `X` itself, which Bedrock runs in the region of the request.
 */
function regionalNames({ id, match }: GenaiModel): string[] {
  const [, model] = /^regional\.(.+)$/.exec(id) ?? []
  if (model === undefined) return []
  return [model, ...textsOf(match).filter((text) => /^[a-z-]+\./.test(text) && text.endsWith(`.${model}`))]
}
