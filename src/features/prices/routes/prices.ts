import { Elysia, t } from 'elysia'
import { access, actorOf } from '../../../http/access.ts'
import { wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { bytesResponse } from '../../../http/exports.ts'
import type { Clock } from '../../../lib/clock.ts'
import { listPage, listParameter, parameter, requiredParameter } from '../../../operations/parameters.ts'
import type { OrganizationService } from '../../organization/service.ts'
import {
  EXAMPLE_ADDED_PRICE,
  EXAMPLE_LOADED,
  EXAMPLE_NEW_PRICE,
  EXAMPLE_PRICE,
  EXAMPLE_RESOLUTION,
  EXAMPLE_SET_PRICE,
  EXAMPLE_VALUED,
  EXAMPLE_WITHDRAWN_PRICES,
} from '../examples.ts'
import { MAY_CHANGE, TABLE_PARAMETERS } from '../parameters.ts'
import { PRICE_SOURCES } from '../price-table.ts'
import { readLoad, readPriceList, readResolve } from '../query.ts'
import {
  AddedPrice,
  NewPrice,
  PriceBody,
  PriceList,
  PriceTableBody,
  PriceWithdrawal,
  ResolutionBody,
  WithdrawnPrices,
} from '../schema.ts'
import {
  type PricesService,
  priceBody,
  REVALUATION_BUDGET_MS,
  type Revaluation,
  readWithdrawal,
  repricedBody,
  resolutionBody,
  setPriceBody,
  tableBody,
  withdrawalBody,
} from '../service.ts'

const tag = 'Prices'

const PriceQuery = t.Object(
  {
    search: parameter({ type: 'string', description: 'Text to search for in the model name and the provider.' }),
    provider: listParameter('Provider of the model.'),
    model: listParameter('Exact name of a model.'),
    source: listParameter('Source of the price.', { type: 'string', enum: [...PRICE_SOURCES] }),
    ...listPage('Prices'),
  },
  { additionalProperties: false },
)

const countOf = (tokens: string) =>
  parameter({ type: 'integer', minimum: 0, description: `${tokens} of one request, to calculate its cost.` })

const COUNTS = {
  input: countOf('Input tokens that are not cached'),
  output: countOf('Output tokens'),
  cache_read: countOf('Tokens read from the cache'),
  cache_write: countOf('Tokens written to the cache'),
  cache_write_1h: countOf('Tokens written to the cache for one hour'),
}

const ResolveQuery = t.Object(
  {
    model: requiredParameter({ type: 'string', description: 'Name of the model, as entries report it.' }),
    provider: parameter({ type: 'string', description: 'Provider, if entries report one.' }),
    at: parameter({
      type: 'string',
      description: 'A date in the organization’s time zone, or a timestamp with a UTC offset; now by default.',
    }),
    service_tier: parameter({ type: 'string', description: 'Service tier of the request, such as `batch`.' }),
    speed: parameter({ type: 'string', description: 'Speed of the request, such as `fast`.' }),
    region: parameter({ type: 'string', description: 'Region of the request, such as `us`.' }),
    tool: listParameter('`name:uses` of a tool in the request, such as `web_search:3`, to calculate its cost.'),
    ...COUNTS,
  },
  { additionalProperties: false },
)

const LoadQuery = t.Object(
  {
    format: TABLE_PARAMETERS.format,
    effective_from: parameter({
      type: 'string',
      description:
        'Effective date of rows without one: a date in the organization’s time zone, a timestamp with a UTC offset, or `always`. Dates in a table are in UTC. By default, a changed price takes effect today, and the first price of a model is always in effect.',
    }),
    as_of: parameter({
      type: 'string',
      description:
        'Date of the table: a date in UTC or a timestamp with a UTC offset. By default the date in the file, else the newest date of its models, else `modified_at`, else today.',
    }),
    modified_at: parameter({ type: 'string', description: 'When the file was last modified, if it contains no date.' }),
    allow_older: TABLE_PARAMETERS.allow_older,
    name: parameter({ type: 'string', description: 'Name of the file, for the list of loads.' }),
    dry_run: TABLE_PARAMETERS.dry_run,
    force: parameter({
      type: 'boolean',
      description:
        'Accepts implausible prices: above $1,000 per million tokens, or cache writes above 4 times the input price.',
    }),
    allow_free: parameter({ type: 'boolean', description: 'Accepts free models.' }),
  },
  { additionalProperties: false },
)

interface PricesDependencies {
  prices: PricesService
  organization: Pick<OrganizationService, 'settings'>
  /** `valuation` of the entries' service: entries value themselves when there is a new price. */
  revaluation: Revaluation
  clock: Clock
}

export const pricesRoutes = ({ prices, organization, revaluation, clock }: PricesDependencies) =>
  new Elysia({ name: 'prices', normalize: false })
    .use(access())
    .get(
      '',
      async ({ query, request }) => {
        const asked = readPriceList(query)
        if (wantsCsv(request, asked.format)) {
          return bytesResponse(new TextEncoder().encode(await prices.exportPrices('csv', asked.filter)), {
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': 'attachment; filename="prices.csv"',
          })
        }
        const page = await prices.listPrices(asked)
        return { ...page, data: page.data.map(priceBody) }
      },
      {
        allow: ['read', 'session'],
        scope: 'prices:read',
        query: PriceQuery,
        detail: documented({
          id: 'listPrices',
          tag,
          summary: 'List prices',
          description:
            'Most recently loaded first. Different filters must all match. CSV contains all prices, in a format that `POST /prices/load` accepts.',
          responses: {
            200: {
              description: 'A page of prices.',
              schema: PriceList,
              example: { data: [EXAMPLE_PRICE], has_more: false, next_page: null },
              also: CSV_CONTENT,
            },
          },
        }),
      },
    )
    .get(
      '/resolve',
      async ({ query }) => {
        const { model, provider, at, details, counts } = readResolve(query, (await organization.settings()).timeZone)
        return resolutionBody(await prices.resolve(model, provider, at, counts && { counts, details }))
      },
      {
        allow: ['read', 'session'],
        scope: 'prices:read',
        query: ResolveQuery,
        detail: documented({
          id: 'resolvePrice',
          tag,
          summary: 'Explain which price applies to a model',
          description:
            'Returns the lookup step that finds the price, and why earlier steps do not. Step 8 means unpriced. With token counts or tools, also returns the cost of one request with these counts, and the calculation.',
          responses: {
            200: { description: 'How the price is found.', schema: ResolutionBody, example: EXAMPLE_RESOLUTION },
          },
        }),
      },
    )
    .get('/:id', async ({ params }) => priceBody(await prices.getPrice(params.id)), {
      allow: ['read', 'session'],
      scope: 'prices:read',
      detail: documented({
        id: 'getPrice',
        tag,
        summary: 'Get a price',
        path: { id: 'Id of the price (prc_…), as shown on entries.' },
        responses: { 200: { description: 'The price.', schema: PriceBody, example: EXAMPLE_PRICE } },
      }),
    })
    .post(
      '',
      async ({ body, caller, address, set }) => {
        const by = actorOf({ caller, address })
        const valuation = { by, budgetMs: REVALUATION_BUDGET_MS }
        if (body.dry_run) {
          const { table, ...effect } = await prices.planPrice(body)
          const valued = await revaluation.valueUnpriced({ ...valuation, dryRun: true, table })
          return setPriceBody(effect, { price: null, valued: repricedBody(valued, { dryRun: true }) })
        }
        const { price, ...effect } = await prices.setPrice(body, by)
        if (effect.isAdded) {
          set.status = 201
          set.headers.location = `/api/v1/prices/${price.uid}`
        }
        const valued = await revaluation.valueUnpriced(valuation)
        return setPriceBody(effect, { price, valued: repricedBody(valued, { dryRun: false }) })
      },
      {
        allow: MAY_CHANGE,
        scope: 'prices:write',
        parse: 'report',
        body: NewPrice,
        detail: documented({
          id: 'addPrice',
          tag,
          summary: 'Set a price by hand',
          description:
            'Takes precedence over the prices of all tables. Prices, tiers and other charges that are not given are kept from the price that the model has at that time, unless `only`. Entries that already have a list value do not change; unpriced entries are valued. `dry_run` returns the price before and after without saving it.',
          body: { example: EXAMPLE_NEW_PRICE },
          responses: {
            201: {
              description: 'The price was added.',
              schema: AddedPrice,
              headers: ['Location'],
              example: { ...EXAMPLE_ADDED_PRICE, added: true, price: EXAMPLE_SET_PRICE, valued: EXAMPLE_VALUED },
            },
            200: {
              description: 'The same price is already set by hand, or with `dry_run` what would change.',
              schema: AddedPrice,
              example: { ...EXAMPLE_ADDED_PRICE, dry_run: true, valued: { ...EXAMPLE_VALUED, dry_run: true } },
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .post(
      '/withdraw',
      async ({ body, caller, address }) => {
        const { dry_run: dryRun = false } = body
        const { timeZone } = await organization.settings()
        const model = readWithdrawal(body, timeZone)
        const withdrawal = dryRun
          ? await prices.planWithdrawal(model)
          : await prices.withdraw(model, actorOf({ caller, address }))
        return withdrawalBody(withdrawal, { dryRun })
      },
      {
        allow: MAY_CHANGE,
        scope: 'prices:write',
        parse: 'report',
        body: PriceWithdrawal,
        detail: documented({
          id: 'withdrawPrices',
          tag,
          summary: 'Withdraw the prices of a model that were set by hand',
          description:
            'They end at the given time, and the prices of the tables apply again. Entries that already have a list value keep it. Setting a price again ends the withdrawal.',
          body: { example: { model: 'gpt-5', provider: 'openai', effective_until: '2027-01-01' } },
          responses: {
            200: {
              description: 'The prices that end, or would end with `dry_run`.',
              schema: WithdrawnPrices,
              example: EXAMPLE_WITHDRAWN_PRICES,
            },
          },
          problems: ['not_found'],
        }),
      },
    )
    .post(
      '/load',
      async ({ body, query, caller, address }) => {
        const by = actorOf({ caller, address })
        const { timeZone } = await organization.settings()
        const { dryRun, ...options } = readLoad(query, { now: clock.now(), timeZone })
        const planned = await prices.planTable(body as string, options)
        if (dryRun) return tableBody(planned, { dryRun, load: null, valued: null })
        const loaded = await prices.load(planned, by)
        return tableBody(loaded, {
          dryRun,
          load: loaded.load,
          valued: await revaluation.valueUnpriced({ by, budgetMs: REVALUATION_BUDGET_MS }),
        })
      },
      {
        allow: MAY_CHANGE,
        scope: 'prices:write',
        parse: 'table',
        query: LoadQuery,
        detail: documented({
          id: 'loadPrices',
          tag,
          summary: 'Load a price table',
          description:
            'The body is the file, up to 8 MiB and 20,000 models. Loading only adds rows, either all of them or, if something fails, none; implausible rows are rejected by name, and rows that are older than the prices they would replace are skipped. The load is recorded, and `POST /prices/loads/{id}/undo` undoes it. Entries that already have a list value do not change; unpriced entries are valued.',
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
          responses: {
            200: {
              description: 'What was added, or would be added with `dry_run`.',
              schema: PriceTableBody,
              example: EXAMPLE_LOADED,
            },
          },
          problems: ['unreadable_price_table', 'database_deadline'],
        }),
      },
    )
