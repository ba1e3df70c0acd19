/** The catalog of models.dev, `api.json`: providers with their models, `cost` in dollars per million tokens. */
import type { Steps } from '../../../lib/portions.ts'
import { extraPrices } from '../rates.ts'
import type { TableDocument } from './document.ts'
import { mediaWithOurNames } from './extras.ts'
import {
  type Holder,
  isHolder,
  type ModelNotes,
  PER_MILLION_DIGITS,
  pricesWithOurNames,
  TableNotes,
  TierNotes,
} from './reader.ts'

/** `context_over_200k` is the catalog's format from before it had tiers of any length. */
const OVER_200K = 200_000

/** Whether a document has the shape of the catalog. */
export function isModelsDev(document: TableDocument): boolean {
  return [...document.members(document.root).values()].some((provider) =>
    document.isObject(document.find(provider, 'models')),
  )
}

export function* readModelsDev(document: TableDocument): Steps<TableNotes> {
  const table = new TableNotes()
  for (const [provider, listing] of document.members(document.root)) {
    for (const [name, position] of document.members(document.find(listing, 'models'))) {
      yield
      const model = document.isObject(position) ? document.value(position) : undefined
      table.noteDate(isHolder(model) ? model.last_updated : undefined)
      if (!isHolder(model)) table.skip('not a model')
      else if (!writesText(model)) table.skip('no text output')
      else readModel(table, provider, name, model)
    }
  }
  return table
}

/** Models without output modalities in the catalog count as text models. */
function writesText({ modalities }: Holder): boolean {
  const output = isHolder(modalities) ? modalities.output : undefined
  return !Array.isArray(output) || output.includes('text')
}

function readModel(table: TableNotes, provider: string, name: string, model: Holder): void {
  const notes = table.model(provider, name)
  const cost = isHolder(model.cost) ? model.cost : {}
  const tiers = new TierNotes()
  const base = pricesWithOurNames(notes, cost)
  const reasoning = notes.priceAt(cost, 'reasoning', PER_MILLION_DIGITS)
  if (reasoning !== null && reasoning !== base.output) {
    notes.refuse('output_in_parts', 'has a separate price for reasoning, but entries do not count reasoning separately')
  }
  if (isHolder(cost.context_over_200k)) tiers.addAll(OVER_200K + 1, pricesWithOurNames(notes, cost.context_over_200k))
  for (const tier of Array.isArray(cost.tiers) ? cost.tiers : []) readTier(notes, tiers, tier)
  notes.take(
    { ...base, tiers: tiers.ascending(), extras: extraPrices({ media: mediaWithOurNames(notes, cost) }) },
    'models-dev',
  )
}

function readTier(notes: ModelNotes, tiers: TierNotes, listed: unknown): void {
  const size = isHolder(listed) && isHolder(listed.tier) ? listed.tier.size : undefined
  if (!isHolder(listed) || typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    notes.refuse('bad_tier', 'has a tier without the number of tokens above which it applies')
    return
  }
  tiers.addAll(size + 1, pricesWithOurNames(notes, listed))
}
