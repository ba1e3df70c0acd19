import { operation, result, several } from '../../../operations/operation.ts'
import { paging } from '../../../operations/parameters.ts'
import { readListPage } from '../../../schema/query.ts'
import { EXAMPLE_COMPARISON, EXAMPLE_LOAD, EXAMPLE_LOADED, EXAMPLE_UPDATE_STATE } from '../examples.ts'
import { ComparisonBody, PriceLoadBody, PriceLoadDetail, PriceLoadList, UpdateStateBody } from '../load-schema.ts'
import { readFormat, readUpdateQuery } from '../query.ts'
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
import { CHANGING, PRICE_TABLE, READING_LOADS, TABLE_PARAMETERS } from './shared.ts'

interface Needs {
  prices: PricesService
  priceUpdates: PriceUpdates
}

/** A download within one call: together with the valuation below the time that a connection may be idle. */
const DOWNLOAD_MS = 8_000

const one = { object: 'pld', params: { id: 'Id of the load (pld_…).' } } as const

const COMPARISON = result('The differences.', ComparisonBody, EXAMPLE_COMPARISON)

const listPriceLoads = operation({
  ...READING_LOADS,
  id: 'listPriceLoads',
  method: 'GET',
  path: '/prices/loads',
  summary: 'List loads of price tables',
  description: 'Who loaded which file when, the newest first, with the number of rows by outcome.',
  query: paging('Loads'),
  answer: several('A page of loads.', PriceLoadList, EXAMPLE_LOAD),
  run: async ({ prices }: Needs, { query }) => {
    const page = await prices.loads.list(readListPage(query))
    return { ...page, data: page.data.map(loadBody) }
  },
})

const getPriceLoad = operation({
  ...READING_LOADS,
  ...one,
  id: 'getPriceLoad',
  method: 'GET',
  path: '/prices/loads/:id',
  summary: 'Get a load',
  description: 'With the number of entries that have a list value from it.',
  answer: result('The load.', PriceLoadDetail, { ...EXAMPLE_LOAD, entries: 0 }),
  problems: ['not_found', 'database_deadline'],
  run: async ({ prices }: Needs, { params }) => {
    const load = await prices.loads.get(params.id)
    return { ...loadBody(load), entries: load.entries }
  },
})

const undoPriceLoad = operation({
  ...CHANGING,
  ...one,
  id: 'undoPriceLoad',
  method: 'POST',
  path: '/prices/loads/:id/undo',
  summary: 'Undo a load',
  description:
    'Withdraws the prices of the load, so that the previous ones apply again, and puts back the aliases that it changed. Possible until an entry has a list value from it; later loads of the same format must be undone first.',
  answer: result('The load is undone.', PriceLoadBody, { ...EXAMPLE_LOAD, undone_at: '2026-11-20T18:25:42.117Z' }),
  problems: ['not_found', 'price_load_in_use', 'database_deadline'],
  run: async ({ prices }: Needs, { party, params }) => loadBody(await prices.loads.undo(params.id, party.by)),
})

const getPriceUpdate = operation({
  ...READING_LOADS,
  id: 'getPriceUpdate',
  method: 'GET',
  path: '/prices/update',
  summary: 'Get the state of price updates',
  description: 'The schedule, and the last update by any server of the database.',
  answer: result('The state.', UpdateStateBody, EXAMPLE_UPDATE_STATE),
  run: async ({ priceUpdates }: Needs) => updateStateBody(await priceUpdates.state()),
})

const updatePrices = operation({
  ...CHANGING,
  id: 'updatePrices',
  method: 'POST',
  path: '/prices/update',
  summary: 'Update prices from the configured source',
  description:
    'Loads the table in `TALLY_PRICES_FROM`. Rows that change a price more than ten times are rejected, and nothing is loaded if the table as a whole is implausible. Admins and billing get an e-mail if the price of a model in use changes by more than 5%.',
  query: { dry_run: TABLE_PARAMETERS.dry_run, allow_older: TABLE_PARAMETERS.allow_older },
  answer: result('What was added, or would be added with `dry_run`.', PriceTableBody, EXAMPLE_LOADED),
  problems: [
    'price_source_not_set',
    'price_source_failed',
    'unreadable_price_table',
    'implausible_price_update',
    'database_deadline',
  ],
  run: async ({ priceUpdates }: Needs, { party: { by }, query }) => {
    const { dryRun, allowOlder } = readUpdateQuery(query)
    const limits = { timeoutMs: DOWNLOAD_MS, budgetMs: REVALUATION_BUDGET_MS }
    const update = await priceUpdates.update({ by, dryRun, allowOlder, ...limits })
    return tableBody(update, { dryRun, load: update.load, valued: update.valued })
  },
})

const checkPrices = operation({
  ...READING_LOADS,
  id: 'checkPrices',
  method: 'GET',
  path: '/prices/check',
  summary: 'Compare prices in use with the embedded table',
  description: 'Lists models of recent entries whose price differs from that of the table included with Tally.',
  answer: COMPARISON,
  problems: ['database_deadline'],
  run: async ({ prices }: Needs) => comparisonBody(await prices.compare()),
})

const checkPricesAgainst = operation({
  ...READING_LOADS,
  ...PRICE_TABLE,
  id: 'checkPricesAgainst',
  method: 'POST',
  path: '/prices/check',
  summary: 'Compare prices in use with a file',
  description: 'The body is a price table, as for `POST /prices/load`. Nothing is loaded.',
  query: { format: TABLE_PARAMETERS.format },
  answer: COMPARISON,
  problems: ['unreadable_price_table', 'database_deadline'],
  run: async ({ prices }: Needs, { body, query }) =>
    comparisonBody(await prices.compare({ text: body, format: readFormat(query) })),
})

export const priceLoadOperations = [
  listPriceLoads,
  getPriceLoad,
  undoPriceLoad,
  getPriceUpdate,
  updatePrices,
  checkPrices,
  checkPricesAgainst,
] as const
