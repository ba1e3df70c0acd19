/** The catalog of models.dev, `api.json`: providers with their models, `cost` in dollars per million tokens. */
import type { Steps } from '../../../lib/portions.ts'
import { extraPrices } from '../rates.ts'
import { TOKEN_FIELDS } from '../records.ts'
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
  tokensIn,
} from './reader.ts'

/** `context_over_200k` is the catalog's format from before it had tiers of any length. */
const CONTEXT_OVER = /^context_over_(.+)$/

/** Whether a document has the shape of the catalog. */
export function isModelsDev(document: TableDocument): boolean {
  return document.members(document.root).some(([, provider]) => document.isObject(document.find(provider, 'models')))
}

export function* readModelsDev(document: TableDocument): Steps<TableNotes> {
  const table = new TableNotes()
  for (const [provider, listing] of document.members(document.root)) {
    for (const [name, position] of document.members(document.find(listing, 'models'))) {
      yield
      const read = document.isObject(position) ? document.model(position) : { value: undefined }
      if ('problem' in read) {
        table.model(provider, name).reject(read.problem)
        continue
      }
      const model = read.value
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
  for (const [key, listed] of Object.entries(cost)) {
    const [, length] = CONTEXT_OVER.exec(key) ?? []
    if (length !== undefined && isHolder(listed)) addTier(notes, tiers, { tokens: tokensIn(length), listed })
  }
  for (const tier of Array.isArray(cost.tiers) ? cost.tiers : []) readTier(notes, tiers, tier)
  const extras = extraPrices({ media: mediaWithOurNames(notes, cost) })
  if (!notes.take({ ...base, tiers: tiers.ascending(), extras }, 'models-dev')) return
  table.leaveUnused(cost, (name) => USED.includes(name) || (CONTEXT_OVER.test(name) && isHolder(cost[name])), 'cost')
}

const USED: string[] = [...Object.values(TOKEN_FIELDS), 'reasoning', 'tiers']

function readTier(notes: ModelNotes, tiers: TierNotes, listed: unknown): void {
  const tier = isHolder(listed) && isHolder(listed.tier) ? listed.tier : {}
  const isOfContext = tier.type === undefined || tier.type === 'context'
  const isCount = typeof tier.size === 'number' && Number.isSafeInteger(tier.size) && tier.size >= 0
  addTier(notes, tiers, {
    tokens: isOfContext && isCount ? (tier.size as number) : undefined,
    listed: listed as Holder,
  })
}

function addTier(
  notes: ModelNotes,
  tiers: TierNotes,
  { tokens, listed }: { tokens: number | undefined; listed: Holder },
): void {
  if (tokens !== undefined) tiers.addAll(tokens + 1, pricesWithOurNames(notes, listed))
  else notes.refuse('bad_tier', 'has a tier without the number of tokens above which it applies')
}
