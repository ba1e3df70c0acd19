import { wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT } from '../../../http/documentation.ts'
import { bytesResponse } from '../../../http/exports.ts'
import type { Clock } from '../../../lib/clock.ts'
import { endpoint, operation, result, several } from '../../../operations/operation.ts'
import {
  flagParameter,
  listPage,
  listParameter,
  listSort,
  parameter,
  requiredParameter,
  textParameter,
} from '../../../operations/parameters.ts'
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
import { PRICE_SORTS, readLoad, readPriceList, readResolve } from '../query.ts'
import {
  AddedPrice,
  ListedPriceBody,
  NewPrice,
  PriceList,
  PriceTableBody,
  PriceWithdrawal,
  ResolutionBody,
  WithdrawnPrices,
} from '../schema.ts'
import {
  listedPriceBody,
  type PricesService,
  REVALUATION_BUDGET_MS,
  type Revaluation,
  readWithdrawal,
  repricedBody,
  resolutionBody,
  setPriceBody,
  tableBody,
  withdrawalBody,
} from '../service.ts'
import { PRICE_SOURCES } from '../sources.ts'
import { CHANGING, PRICE_TABLE, READING, TABLE_PARAMETERS } from './shared.ts'

interface Needs {
  prices: PricesService
  organization: Pick<OrganizationService, 'settings'>
  /** Entries value themselves when there is a new price. */
  entries: { valuation: Revaluation }
  clock: Clock
}

const listPrices = endpoint({
  ...READING,
  id: 'listPrices',
  method: 'GET',
  path: '/prices',
  summary: 'List prices',
  description:
    'Most recently loaded first; with `sort=model`, models in use first and then the others, both by name. Different filters must all match. CSV contains all prices, in a format that `POST /prices/load` accepts.',
  query: {
    search: textParameter('Text to search for in the model name and the provider.'),
    provider: listParameter('Provider of the model.'),
    model: listParameter('Exact name of a model.'),
    source: listParameter('Source of the price.', { type: 'string', enum: [...PRICE_SOURCES] }),
    ...listSort(PRICE_SORTS, 'last loaded first'),
    ...listPage('Prices'),
  },
  answer: { ...several('A page of prices.', PriceList, { ...EXAMPLE_PRICE, in_use: true }), also: CSV_CONTENT },
  run: async ({ prices }: Needs, { query, served }) => {
    const requested = readPriceList(query)
    if (wantsCsv(served.request, requested.format)) {
      return bytesResponse(new TextEncoder().encode(await prices.exportPrices('csv', requested.filter)), {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="prices.csv"',
      })
    }
    const page = await prices.listPrices(requested)
    return { ...page, data: page.data.map(listedPriceBody) }
  },
})

const countOf = (tokens: string) =>
  parameter({ type: 'integer', minimum: 0, description: `${tokens} of one request, to calculate its cost.` })

const resolvePrice = operation({
  ...READING,
  id: 'resolvePrice',
  method: 'GET',
  path: '/prices/resolve',
  summary: 'Explain which price applies to a model',
  description:
    'Returns the lookup step that finds the price, and why earlier steps do not. Step 8 means unpriced. With token counts or tools, also returns the cost of one request with these counts, and the calculation.',
  query: {
    model: requiredParameter({ type: 'string', description: 'Name of the model, as entries report it.' }),
    provider: textParameter('Provider, if entries report one.'),
    at: textParameter('A date in the organization’s time zone, or a timestamp with a UTC offset; now by default.'),
    service_tier: textParameter('Service tier of the request, such as `batch`.'),
    speed: textParameter('Speed of the request, such as `fast`.'),
    region: textParameter('Region of the request, such as `us`.'),
    tool: listParameter('`name:uses` of a tool in the request, such as `web_search:3`, to calculate its cost.'),
    input: countOf('Input tokens that are not cached'),
    output: countOf('Output tokens'),
    cache_read: countOf('Tokens read from the cache'),
    cache_write: countOf('Tokens written to the cache'),
    cache_write_1h: countOf('Tokens written to the cache for one hour'),
  },
  answer: result('How the price is found.', ResolutionBody, EXAMPLE_RESOLUTION),
  run: async ({ prices, organization }: Needs, { query }) => {
    const { model, provider, at, details, counts } = readResolve(query, (await organization.settings()).timeZone)
    return resolutionBody(await prices.resolve(model, provider, at, counts && { counts, details }))
  },
})

const getPrice = operation({
  ...READING,
  id: 'getPrice',
  method: 'GET',
  path: '/prices/:id',
  params: { id: 'Id of the price (prc_…), as shown on entries.' },
  summary: 'Get a price',
  answer: result('The price.', ListedPriceBody, { ...EXAMPLE_PRICE, in_use: true }),
  run: async ({ prices }: Needs, { params }) => listedPriceBody(await prices.getPrice(params.id)),
})

const addPrice = endpoint({
  ...CHANGING,
  id: 'addPrice',
  method: 'POST',
  path: '/prices',
  summary: 'Set a price by hand',
  description:
    'Takes precedence over the prices of all tables. Prices, tiers and other charges that are not given are kept from the price that the model has at that time, unless `only`. Entries that already have a list value do not change; unpriced entries are valued. `dry_run` returns the price before and after without saving it.',
  body: NewPrice,
  example: EXAMPLE_NEW_PRICE,
  answer: [
    result('The same price is already set by hand, or with `dry_run` what would change.', AddedPrice, {
      ...EXAMPLE_ADDED_PRICE,
      dry_run: true,
      valued: { ...EXAMPLE_VALUED, dry_run: true },
    }),
    result(
      'The price was added.',
      AddedPrice,
      { ...EXAMPLE_ADDED_PRICE, added: true, price: EXAMPLE_SET_PRICE, valued: EXAMPLE_VALUED },
      { status: 201 },
    ),
  ],
  problems: ['database_deadline'],
  run: async ({ prices, entries }: Needs, { party: { by }, body, served: { set } }) => {
    const valuation = { by, budgetMs: REVALUATION_BUDGET_MS }
    if (body.dry_run) {
      const { table, ...effect } = await prices.planPrice(body)
      const valued = await entries.valuation.valueUnpriced({ ...valuation, dryRun: true, table })
      return setPriceBody(effect, { price: null, valued: repricedBody(valued, { dryRun: true }) })
    }
    const { price, ...effect } = await prices.setPrice(body, by)
    if (effect.isAdded) {
      set.status = 201
      set.headers.location = `/api/v1/prices/${price.uid}`
    }
    const valued = await entries.valuation.valueUnpriced(valuation)
    return setPriceBody(effect, { price, valued: repricedBody(valued, { dryRun: false }) })
  },
})

const withdrawPrices = operation({
  ...CHANGING,
  id: 'withdrawPrices',
  method: 'POST',
  path: '/prices/withdraw',
  summary: 'Withdraw the prices of a model that were set by hand',
  description:
    'They end at the given time, and the prices of the tables apply again. Entries that already have a list value keep it. Setting a price again ends the withdrawal.',
  body: PriceWithdrawal,
  example: { model: 'gpt-5', provider: 'openai', effective_until: '2027-01-01' },
  answer: result('The prices that end, or would end with `dry_run`.', WithdrawnPrices, EXAMPLE_WITHDRAWN_PRICES),
  problems: ['not_found'],
  run: async ({ prices, organization }: Needs, { party, body }) => {
    const { dry_run: dryRun = false } = body
    const model = readWithdrawal(body, (await organization.settings()).timeZone)
    const withdrawal = await (dryRun ? prices.planWithdrawal(model) : prices.withdraw(model, party.by))
    return withdrawalBody(withdrawal, { dryRun })
  },
})

const loadPrices = operation({
  ...CHANGING,
  ...PRICE_TABLE,
  id: 'loadPrices',
  method: 'POST',
  path: '/prices/load',
  summary: 'Load a price table',
  description:
    'The body is the file, up to 8 MiB and 20,000 models. Loading only adds rows, either all of them or, if something fails, none; implausible rows are rejected by name, and rows that are older than the prices they would replace are skipped. The load is recorded, and `POST /prices/loads/{id}/undo` undoes it. Entries that already have a list value do not change; unpriced entries are valued.',
  query: {
    format: TABLE_PARAMETERS.format,
    effective_from: textParameter(
      'Effective date of rows without one: a date in the organization’s time zone, a timestamp with a UTC offset, or `always`. Dates in a table are in UTC. By default, a changed price takes effect today, and the first price of a model is always in effect.',
    ),
    as_of: textParameter(
      'Date of the table: a day of the organization’s time zone, or a timestamp with a UTC offset. By default the date in the file, else the newest date of its models, else `modified_at`, else today.',
    ),
    modified_at: textParameter('When the file was last modified, if it contains no date.'),
    allow_older: TABLE_PARAMETERS.allow_older,
    name: textParameter('Name of the file, for the list of loads.'),
    dry_run: TABLE_PARAMETERS.dry_run,
    force: flagParameter(
      'Accepts implausible prices: above $1,000 per million tokens, or cache writes above 4 times the input price.',
    ),
    allow_free: flagParameter('Accepts free models.'),
  },
  answer: result('What was added, or would be added with `dry_run`.', PriceTableBody, EXAMPLE_LOADED),
  problems: ['unreadable_price_table', 'database_deadline'],
  run: async ({ prices, organization, entries, clock }: Needs, { party: { by }, body, query }) => {
    const { timeZone } = await organization.settings()
    const { dryRun, ...options } = readLoad(query, { now: clock.now(), timeZone })
    const planned = await prices.planTable(body, options)
    if (dryRun) return tableBody(planned, { dryRun, load: null, valued: null })
    const loaded = await prices.load(planned, by)
    const valued = await entries.valuation.valueUnpriced({ by, budgetMs: REVALUATION_BUDGET_MS })
    return tableBody(loaded, { dryRun, load: loaded.load, valued })
  },
})

export const priceOperations = [listPrices, resolvePrice, getPrice, addPrice, withdrawPrices, loadPrices] as const
