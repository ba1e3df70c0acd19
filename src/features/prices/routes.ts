import { Elysia, t } from 'elysia'
import { access, actorOf } from '../../http/access.ts'
import { wantsCsv } from '../../http/csv.ts'
import { documented } from '../../http/documented.ts'
import { bytesResponse } from '../../http/exports.ts'
import { listPage, listParameter, parameter } from '../../http/query.ts'
import type { Actor } from '../audit/service.ts'
import {
  EXAMPLE_ALIAS,
  EXAMPLE_LOADED,
  EXAMPLE_NEW_PRICE,
  EXAMPLE_PRICE,
  EXAMPLE_RESOLUTION,
  EXAMPLE_SET_PRICE,
  EXAMPLE_VALUED,
} from './examples.ts'
import { readAliasName, readLoad, readPriceList, readResolve } from './query.ts'
import { PRICE_SOURCES } from './resolve.ts'
import {
  AddedAlias,
  AddedPrice,
  AliasList,
  NewAlias,
  NewPrice,
  PriceBody,
  PriceList,
  PriceTableBody,
  ResolutionBody,
} from './schema.ts'
import {
  aliasBody,
  type PricesService,
  priceBody,
  type Revaluing,
  readNewPrice,
  repricedBody,
  resolutionBody,
  TABLE_FORMATS,
  tableBody,
} from './service.ts'

const tag = 'Prices'

/** Who may change prices; everybody may read them. */
const MAY_CHANGE = { session: ['billing', 'admin'] } as const

/**
 * How long entries without a price are valued within one call: half of what a connection may be silent. What is left
 * over then is valued by `POST /prices/reprice`.
 */
const REVALUING_BUDGET_MS = 10_000

const PriceQuery = t.Object(
  {
    search: parameter({ type: 'string', description: 'A text that the name of the model or the provider contains.' }),
    provider: listParameter('Who sells the model.'),
    model: listParameter('Name of a model, exactly.'),
    source: listParameter('Where the price came from.', { type: 'string', enum: [...PRICE_SOURCES] }),
    ...listPage('Prices'),
  },
  { additionalProperties: false },
)

const countOf = (tokens: string) =>
  parameter({ type: 'integer', minimum: 0, description: `${tokens} of one request, to be valued at the price.` })

const COUNTS = {
  input: countOf('Input tokens that are not cached'),
  output: countOf('Output tokens'),
  cache_read: countOf('Tokens read from the cache'),
  cache_write: countOf('Tokens written to the cache'),
  cache_write_1h: countOf('Tokens written to the cache for one hour'),
}

const ResolveQuery = t.Object(
  {
    model: parameter({ type: 'string', description: 'Name of the model as entries report it. Required.' }),
    provider: parameter({ type: 'string', description: 'Who sold it, as entries may report.' }),
    at: parameter({ type: 'string', description: 'A date or a timestamp with its offset; now where absent.' }),
    ...COUNTS,
  },
  { additionalProperties: false },
)

const LoadQuery = t.Object(
  {
    format: parameter({
      type: 'string',
      enum: [...TABLE_FORMATS],
      description: 'Told by the shape of the file where absent.',
    }),
    effective_from: parameter({
      type: 'string',
      description:
        'Dates the rows that the file does not date: a date, a timestamp with its offset, or `always`. Without it a changed price holds from today, and that of a name without a price so far from always.',
    }),
    dry_run: parameter({ type: 'boolean', description: 'Answers what would be added and writes nothing.' }),
    force: parameter({
      type: 'boolean',
      description:
        'Takes what looks like a mistake: above $1,000 per million tokens, or cache writes above 4 times the input.',
    }),
    allow_free: parameter({ type: 'boolean', description: 'Takes models that cost nothing.' }),
  },
  { additionalProperties: false },
)

const AliasQuery = t.Object(
  { alias: parameter({ type: 'string', description: 'The name. Required.' }) },
  { additionalProperties: false },
)

const AliasListQuery = t.Object(
  { all: parameter({ type: 'boolean', description: 'Also those that came with tables.' }) },
  { additionalProperties: false },
)

interface PricesDependencies {
  prices: PricesService
  /** Entries value themselves when there is a new price. */
  entries: Revaluing
}

export const pricesRoutes = ({ prices, entries }: PricesDependencies) => {
  const revalue = (by: Actor) => entries.valueUnpriced({ by, budgetMs: REVALUING_BUDGET_MS })

  return new Elysia({ name: 'prices', prefix: '/api/v1', normalize: false })
    .use(access())
    .get(
      '/prices',
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
        query: PriceQuery,
        detail: documented({
          id: 'listPrices',
          tag,
          summary: 'List prices',
          description:
            'The last loaded first. Filters of different names must all hold. As CSV, every price, in the format that `POST /prices/load` reads.',
          responses: {
            200: {
              description: 'A page of prices.',
              schema: PriceList,
              example: { data: [EXAMPLE_PRICE], has_more: false, next_page: null },
              also: { 'text/csv': { schema: t.String() } },
            },
          },
        }),
      },
    )
    .get(
      '/prices/resolve',
      async ({ query }) => {
        const { model, provider, at, counts } = readResolve(query)
        return resolutionBody(await prices.resolve(model, provider, at, counts))
      },
      {
        allow: ['read', 'session'],
        query: ResolveQuery,
        detail: documented({
          id: 'resolvePrice',
          tag,
          summary: 'Explain which price values a model',
          description:
            'The step that finds it, and why the steps before do not. Step 8 is unpriced. With counts of tokens also what one request of so many is worth, with the arithmetic.',
          responses: {
            200: { description: 'How the price is found.', schema: ResolutionBody, example: EXAMPLE_RESOLUTION },
          },
        }),
      },
    )
    .get('/prices/:id', async ({ params }) => priceBody(await prices.getPrice(params.id)), {
      allow: ['read', 'session'],
      detail: documented({
        id: 'getPrice',
        tag,
        summary: 'Read one price',
        path: { id: 'Id of the price (prc_…), as entries name it.' },
        responses: { 200: { description: 'The price.', schema: PriceBody, example: EXAMPLE_PRICE } },
      }),
    })
    .post(
      '/prices',
      async ({ body, caller, address, set }) => {
        const by = actorOf({ caller, address })
        const { isAdded, price } = await prices.addPrice(readNewPrice(body), by)
        if (isAdded) {
          set.status = 201
          set.headers.location = `/api/v1/prices/${price.uid}`
        }
        const valued = await revalue(by)
        return { added: isAdded, price: priceBody(price), valued: repricedBody(valued, { dryRun: false }) }
      },
      {
        allow: MAY_CHANGE,
        parse: 'report',
        body: NewPrice,
        detail: documented({
          id: 'addPrice',
          tag,
          summary: 'Set a price by hand',
          description:
            'It comes before the prices of every table. Nothing that was valued changes; entries without a price are valued.',
          body: { example: EXAMPLE_NEW_PRICE },
          responses: {
            201: {
              description: 'The price was added.',
              schema: AddedPrice,
              headers: ['Location'],
              example: { added: true, price: EXAMPLE_SET_PRICE, valued: EXAMPLE_VALUED },
            },
            200: {
              description: 'A price set by hand says so already.',
              schema: AddedPrice,
              example: { added: false, price: EXAMPLE_SET_PRICE, valued: { ...EXAMPLE_VALUED, entries: 0 } },
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .post(
      '/prices/load',
      async ({ body, query, caller, address }) => {
        const by = actorOf({ caller, address })
        const { dryRun, ...options } = readLoad(query)
        const planned = await prices.planTable(body as string, options)
        if (dryRun) return tableBody(planned, { dryRun, valued: null })
        const loaded = await prices.load(planned, by)
        return tableBody(loaded, { dryRun, valued: await revalue(by) })
      },
      {
        allow: MAY_CHANGE,
        parse: 'table',
        query: LoadQuery,
        detail: documented({
          id: 'loadPrices',
          tag,
          summary: 'Load a table of prices',
          description:
            'The body is the file, up to 8 MiB and 20,000 models. Rows are only added, all of them or, where something fails, none; those that look like mistakes are refused by name. Nothing that was valued changes; entries without a price are valued.',
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
              description: 'What was added, or with `dry_run` would be.',
              schema: PriceTableBody,
              example: EXAMPLE_LOADED,
            },
          },
          problems: ['unreadable_price_table', 'database_deadline'],
        }),
      },
    )
    .get(
      '/price-aliases',
      async ({ query }) => {
        const { all } = query
        const listed = await prices.listAliases({ all: all === 'true' })
        return { data: listed.map(aliasBody), has_more: false, next_page: null }
      },
      {
        allow: ['read', 'session'],
        query: AliasListQuery,
        detail: documented({
          id: 'listPriceAliases',
          tag,
          summary: 'List other names of models',
          description: 'By name, all at once.',
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
      '/price-aliases',
      async ({ body: { alias, model, provider = null }, caller, address }) => {
        const by = actorOf({ caller, address })
        await prices.setAlias({ alias, model, provider }, by)
        const resolution = resolutionBody(await prices.resolve(alias, null))
        return { resolution, valued: repricedBody(await revalue(by), { dryRun: false }) }
      },
      {
        allow: MAY_CHANGE,
        parse: 'report',
        body: NewAlias,
        detail: documented({
          id: 'setPriceAlias',
          tag,
          summary: 'Give a name the price of another model',
          description:
            'Makes the alias, or moves it. Nothing that was valued changes; entries without a price are valued.',
          body: { example: { alias: 'our-coder', model: 'claude-sonnet-4-5' } },
          responses: {
            200: {
              description: 'What the name costs now.',
              schema: AddedAlias,
              example: { resolution: EXAMPLE_RESOLUTION, valued: EXAMPLE_VALUED },
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .delete(
      '/price-aliases',
      async ({ query, caller, address, set }) => {
        await prices.removeAlias(readAliasName(query), actorOf({ caller, address }))
        set.status = 204
      },
      {
        allow: MAY_CHANGE,
        query: AliasQuery,
        detail: documented({
          id: 'removePriceAlias',
          tag,
          summary: 'Remove an alias',
          description: 'Only those that were made by hand. Entries that it valued keep their value.',
          responses: { 204: { description: 'It is gone.' } },
          problems: ['not_found'],
        }),
      },
    )
}
