import { operation, result, several } from '../../../operations/operation.ts'
import { flagParameter, requiredParameter } from '../../../operations/parameters.ts'
import { lastPage } from '../../../schema/lists.ts'
import { EXAMPLE_ALIAS, EXAMPLE_RESOLUTION, EXAMPLE_VALUED } from '../examples.ts'
import { readAliasList, readAliasName } from '../query.ts'
import { AddedAlias, AliasList, NewAlias } from '../schema.ts'
import {
  aliasBody,
  type PricesService,
  REVALUATION_BUDGET_MS,
  type Revaluation,
  repricedBody,
  resolutionBody,
} from '../service.ts'
import { CHANGING, READING } from './shared.ts'

interface Needs {
  prices: PricesService
  entries: { valuation: Revaluation }
}

const listPriceAliases = operation({
  ...READING,
  id: 'listPriceAliases',
  method: 'GET',
  path: '/price-aliases',
  summary: 'List model aliases',
  description: 'Returns all aliases, sorted by name, without pagination.',
  query: {
    all: flagParameter('Whether to include aliases that were loaded with price tables.'),
  },
  answer: several('The aliases.', AliasList, EXAMPLE_ALIAS),
  run: async ({ prices }: Needs, { query }) =>
    lastPage((await prices.listAliases(readAliasList(query))).map(aliasBody)),
})

const setPriceAlias = operation({
  ...CHANGING,
  id: 'setPriceAlias',
  method: 'POST',
  path: '/price-aliases',
  summary: 'Set a model alias',
  description:
    'Gives a name the price of another model. Creates the alias or changes it. Entries that already have a list value do not change; unpriced entries are valued.',
  body: NewAlias,
  example: { alias: 'our-coder', model: 'claude-sonnet-4-5' },
  answer: result('The alias, and the entries that were valued.', AddedAlias, {
    resolution: EXAMPLE_RESOLUTION,
    valued: EXAMPLE_VALUED,
  }),
  problems: ['database_deadline'],
  run: async ({ prices, entries }: Needs, { party: { by }, body: { alias, model, provider = null } }) => {
    await prices.setAlias({ alias, model, provider }, by)
    const resolution = resolutionBody(await prices.resolve(alias, null))
    const valued = await entries.valuation.valueUnpriced({ by, budgetMs: REVALUATION_BUDGET_MS })
    return { resolution, valued: repricedBody(valued, { dryRun: false }) }
  },
})

const removePriceAlias = operation({
  ...CHANGING,
  id: 'removePriceAlias',
  method: 'DELETE',
  path: '/price-aliases',
  summary: 'Remove an alias',
  description:
    'Only aliases that were set by hand can be removed. Entries that were valued with the alias keep their list value.',
  query: { alias: requiredParameter({ type: 'string', description: 'The alias.' }) },
  answer: { status: 204, description: 'The alias was removed.' },
  problems: ['not_found'],
  run: ({ prices }: Needs, { party, query }) => prices.removeAlias(readAliasName(query), party.by),
})

export const priceAliasOperations = [listPriceAliases, setPriceAlias, removePriceAlias] as const
