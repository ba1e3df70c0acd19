import { Elysia, t } from 'elysia'
import { access, actorOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { parameter, requiredParameter } from '../../../operations/parameters.ts'
import { EXAMPLE_ALIAS, EXAMPLE_RESOLUTION, EXAMPLE_VALUED } from '../examples.ts'
import { MAY_CHANGE } from '../parameters.ts'
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

const tag = 'Prices'

const AliasQuery = t.Object(
  { alias: requiredParameter({ type: 'string', description: 'The alias.' }) },
  { additionalProperties: false },
)

const AliasListQuery = t.Object(
  {
    all: parameter({ type: 'boolean', description: 'Whether to include aliases that were loaded with price tables.' }),
  },
  { additionalProperties: false },
)

interface AliasesDependencies {
  prices: PricesService
  /** `valuation` of the entries' service: entries value themselves when a name gets a price. */
  revaluation: Revaluation
}

export const aliasesRoutes = ({ prices, revaluation }: AliasesDependencies) =>
  new Elysia({ name: 'aliases', normalize: false })
    .use(access())
    .get(
      '',
      async ({ query }) => {
        const listed = await prices.listAliases(readAliasList(query))
        return { data: listed.map(aliasBody), has_more: false, next_page: null }
      },
      {
        allow: ['read', 'session'],
        scope: 'prices:read',
        query: AliasListQuery,
        detail: documented({
          id: 'listPriceAliases',
          tag,
          summary: 'List model aliases',
          description: 'Returns all aliases, sorted by name, without pagination.',
          responses: {
            200: {
              description: 'The aliases.',
              schema: AliasList,
              example: { data: [EXAMPLE_ALIAS], has_more: false, next_page: null },
            },
          },
        }),
      },
    )
    .post(
      '',
      async ({ body: { alias, model, provider = null }, caller, address }) => {
        const by = actorOf({ caller, address })
        await prices.setAlias({ alias, model, provider }, by)
        const resolution = resolutionBody(await prices.resolve(alias, null))
        const valued = await revaluation.valueUnpriced({ by, budgetMs: REVALUATION_BUDGET_MS })
        return { resolution, valued: repricedBody(valued, { dryRun: false }) }
      },
      {
        allow: MAY_CHANGE,
        scope: 'prices:write',
        parse: 'report',
        body: NewAlias,
        detail: documented({
          id: 'setPriceAlias',
          tag,
          summary: 'Set a model alias',
          description:
            'Gives a name the price of another model. Creates the alias or changes it. Entries that already have a list value do not change; unpriced entries are valued.',
          body: { example: { alias: 'our-coder', model: 'claude-sonnet-4-5' } },
          responses: {
            200: {
              description: 'The alias, and the entries that were valued.',
              schema: AddedAlias,
              example: { resolution: EXAMPLE_RESOLUTION, valued: EXAMPLE_VALUED },
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .delete(
      '',
      async ({ query, caller, address, set }) => {
        await prices.removeAlias(readAliasName(query), actorOf({ caller, address }))
        set.status = 204
      },
      {
        allow: MAY_CHANGE,
        scope: 'prices:write',
        query: AliasQuery,
        detail: documented({
          id: 'removePriceAlias',
          tag,
          summary: 'Remove an alias',
          description:
            'Only aliases that were set by hand can be removed. Entries that were valued with the alias keep their list value.',
          responses: { 204: { description: 'The alias was removed.' } },
          problems: ['not_found'],
        }),
      },
    )
