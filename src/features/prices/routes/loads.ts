import { Elysia, t } from 'elysia'
import { access, actorOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage } from '../../../operations/parameters.ts'
import { EXAMPLE_COMPARISON, EXAMPLE_LOAD, EXAMPLE_LOADED, EXAMPLE_UPDATE_STATE } from '../examples.ts'
import { ComparisonBody, PriceLoadBody, PriceLoadDetail, PriceLoadList, UpdateStateBody } from '../load-schema.ts'
import { MAY_CHANGE, TABLE_PARAMETERS } from '../parameters.ts'
import { readFormat, readPage, readUpdateQuery } from '../query.ts'
import { PriceTableBody } from '../schema.ts'
import {
  comparisonBody,
  loadBody,
  type PricesService,
  type PriceUpdates,
  REVALUATION_BUDGET_MS,
  tableBody,
  updateStateBody,
} from '../service.ts'

const tag = 'Prices'

/** A download within one call: together with the valuation below the time that a connection may be idle. */
const DOWNLOAD_MS = 8_000

const { format: _format, ...PAGE } = listPage('Loads')
const LoadListQuery = t.Object(PAGE, { additionalProperties: false })

const UpdateQuery = t.Object(
  {
    dry_run: TABLE_PARAMETERS.dry_run,
    allow_older: TABLE_PARAMETERS.allow_older,
  },
  { additionalProperties: false },
)

const CompareQuery = t.Object(
  {
    format: TABLE_PARAMETERS.format,
  },
  { additionalProperties: false },
)

const LOAD_ID = { id: 'Id of the load (pld_…).' }

interface LoadsDependencies {
  prices: PricesService
  priceUpdates: PriceUpdates
}

export const loadsRoutes = ({ prices, priceUpdates }: LoadsDependencies) =>
  new Elysia({ name: 'price-loads', normalize: false })
    .use(access())
    .get(
      '/loads',
      async ({ query }) => {
        const page = await prices.loads.list(readPage(query))
        return { ...page, data: page.data.map(loadBody) }
      },
      {
        allow: MAY_CHANGE,
        scope: 'prices:read',
        query: LoadListQuery,
        detail: documented({
          id: 'listPriceLoads',
          tag,
          summary: 'List loads of price tables',
          description: 'Who loaded which file when, the newest first, with the number of rows by outcome.',
          responses: {
            200: {
              description: 'A page of loads.',
              schema: PriceLoadList,
              example: { data: [EXAMPLE_LOAD], has_more: false, next_page: null },
            },
          },
        }),
      },
    )
    .get(
      '/loads/:id',
      async ({ params }) => {
        const load = await prices.loads.get(params.id)
        return { ...loadBody(load), entries: load.entries }
      },
      {
        allow: MAY_CHANGE,
        scope: 'prices:read',
        object: 'pld',
        detail: documented({
          id: 'getPriceLoad',
          tag,
          summary: 'Get a load',
          description: 'With the number of entries that have a list value from it.',
          path: LOAD_ID,
          responses: {
            200: { description: 'The load.', schema: PriceLoadDetail, example: { ...EXAMPLE_LOAD, entries: 0 } },
          },
          problems: ['not_found', 'database_deadline'],
        }),
      },
    )
    .post(
      '/loads/:id/undo',
      async ({ params, caller, address }) => loadBody(await prices.loads.undo(params.id, actorOf({ caller, address }))),
      {
        allow: MAY_CHANGE,
        scope: 'prices:write',
        object: 'pld',
        detail: documented({
          id: 'undoPriceLoad',
          tag,
          summary: 'Undo a load',
          description:
            'Withdraws the prices of the load, so that the previous ones apply again, and puts back the aliases that it changed. Possible until an entry has a list value from it; later loads of the same format must be undone first.',
          path: LOAD_ID,
          responses: {
            200: {
              description: 'The load is undone.',
              schema: PriceLoadBody,
              example: { ...EXAMPLE_LOAD, undone_at: '2026-11-20T18:25:42.117Z' },
            },
          },
          problems: ['not_found', 'price_load_in_use', 'database_deadline'],
        }),
      },
    )
    .get('/update', async () => updateStateBody(await priceUpdates.state()), {
      allow: MAY_CHANGE,
      scope: 'prices:read',
      detail: documented({
        id: 'getPriceUpdate',
        tag,
        summary: 'Get the state of price updates',
        description: 'The schedule, and the last update by any server of the database.',
        responses: {
          200: { description: 'The state.', schema: UpdateStateBody, example: EXAMPLE_UPDATE_STATE },
        },
      }),
    })
    .post(
      '/update',
      async ({ query, caller, address }) => {
        const { dryRun, allowOlder } = readUpdateQuery(query)
        const by = actorOf({ caller, address })
        const limits = { timeoutMs: DOWNLOAD_MS, budgetMs: REVALUATION_BUDGET_MS }
        const update = await priceUpdates.update({ by, dryRun, allowOlder, ...limits })
        return tableBody(update, { dryRun, load: update.load, valued: update.valued })
      },
      {
        allow: MAY_CHANGE,
        scope: 'prices:write',
        query: UpdateQuery,
        detail: documented({
          id: 'updatePrices',
          tag,
          summary: 'Update prices from the configured source',
          description:
            'Loads the table in `TALLY_PRICES_FROM`. Rows that change a price more than ten times are rejected, and nothing is loaded if the table as a whole is implausible. Admins and billing get an e-mail if the price of a model in use changes by more than 5%.',
          responses: {
            200: {
              description: 'What was added, or would be added with `dry_run`.',
              schema: PriceTableBody,
              example: EXAMPLE_LOADED,
            },
          },
          problems: [
            'price_source_not_set',
            'price_source_failed',
            'unreadable_price_table',
            'implausible_price_update',
            'database_deadline',
          ],
        }),
      },
    )
    .get('/check', async () => comparisonBody(await prices.compare()), {
      allow: MAY_CHANGE,
      scope: 'prices:read',
      detail: documented({
        id: 'checkPrices',
        tag,
        summary: 'Compare prices in use with the embedded table',
        description: 'Lists models of recent entries whose price differs from that of the table included with Tally.',
        responses: { 200: { description: 'The differences.', schema: ComparisonBody, example: EXAMPLE_COMPARISON } },
        problems: ['database_deadline'],
      }),
    })
    .post(
      '/check',
      async ({ body, query }) =>
        comparisonBody(await prices.compare({ text: body as string, format: readFormat(query) })),
      {
        allow: MAY_CHANGE,
        scope: 'prices:read',
        parse: 'table',
        query: CompareQuery,
        detail: documented({
          id: 'checkPricesAgainst',
          tag,
          summary: 'Compare prices in use with a file',
          description: 'The body is a price table, as for `POST /prices/load`. Nothing is loaded.',
          body: {
            schema: t.Union([t.Object({}, { additionalProperties: true }), t.Array(t.Unknown())]),
            example: { prices: [{ provider: 'openai', model: 'gpt-5', input: 1.25, output: 10, cache_read: 0.125 }] },
            also: {
              'text/csv': {
                schema: t.String(),
                example: 'provider,model,input,output,cache_read\r\nopenai,gpt-5,1.25,10,0.125\r\n',
              },
            },
          },
          responses: { 200: { description: 'The differences.', schema: ComparisonBody, example: EXAMPLE_COMPARISON } },
          problems: ['unreadable_price_table', 'database_deadline'],
        }),
      },
    )
