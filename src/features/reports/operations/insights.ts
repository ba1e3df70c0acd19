/** Reports of what is behind the cost of a period: caching, prices, long requests. */
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { endpoint } from '../../../operations/operation.ts'
import { choiceParameter, requiredParameter, textParameter } from '../../../operations/parameters.ts'
import { BUCKET_WIDTHS } from '../buckets.ts'
import { cacheColumns, cacheLines, PRICE_CHANGES_COLUMNS, SURCHARGE_COLUMNS, WHAT_IF_COLUMNS } from '../csv.ts'
import { EXAMPLE_CACHE, EXAMPLE_PRICE_CHANGES, EXAMPLE_SURCHARGES, EXAMPLE_WHAT_IF } from '../examples.ts'
import { undividedReport } from '../parameters.ts'
import { CACHE_DIMENSIONS, PAGE_BUCKETS } from '../query.ts'
import { CacheReport, PriceEffectsReport, SurchargesReport, WhatIfReport } from '../schema.ts'
import { type Needs, REPORTING, reported } from './shared.ts'

const reportCache = endpoint({
  ...REPORTING,
  id: 'reportCache',
  path: '/reports/cache',
  summary: 'Report cache use and savings',
  description:
    'Covers the same entries as usage reports. The amounts are calculated from the standard prices that are in effect when a session starts: `saved` is what the tokens read from and written to caches would have cost as uncached input, minus what they cost as cached tokens. Prices of long requests, service tiers and hours of the day are not considered. It is independent of reported costs.',
  query: {
    ...undividedReport(),
    bucket_width: choiceParameter(
      BUCKET_WIDTHS,
      `Default: \`all\`. At most ${PAGE_BUCKETS.toLocaleString('en')} buckets.`,
    ),
    group_by: choiceParameter(CACHE_DIMENSIONS, 'What to group by.'),
    trend: choiceParameter(
      BUCKET_WIDTHS,
      `Adds the hit rates over time to each group, in buckets of this width; with \`bucket_width=all\` only.`,
    ),
  },
  answer: reported('The report.', CacheReport, EXAMPLE_CACHE),
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readCache(query, asker)
    const report = await reports.cache(viewer, requested)
    if (!wantsCsv(served.request, requested.format)) return report
    return csvResponse(cacheLines(report), cacheColumns(requested.groupBy), 'cache.csv')
  },
})

const reportWhatIf = endpoint({
  ...REPORTING,
  id: 'reportWhatIf',
  path: '/reports/what-if',
  summary: 'Compare the cost with the prices of another model',
  description:
    'Values the tokens of the models in use again, at the prices that another model has when each session starts. This is hypothetical: another model would use other numbers of tokens. Both sides are at standard prices, without those of long requests, service tiers and hours of the day.',
  query: {
    ...undividedReport(),
    as_model: requiredParameter({
      type: 'string',
      description: 'The model whose prices are used instead. Use the filter `model` to replace some models only.',
    }),
    as_provider: textParameter('Its provider. Where absent, the price of the maker.'),
  },
  answer: reported('The report.', WhatIfReport, EXAMPLE_WHAT_IF),
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readWhatIf(query, asker)
    const report = await reports.whatIf(viewer, requested)
    if (!wantsCsv(served.request, requested.format)) return report
    return csvResponse(report.data, WHAT_IF_COLUMNS, 'what-if.csv')
  },
})

const reportPriceChanges = endpoint({
  ...REPORTING,
  id: 'reportPriceChanges',
  path: '/reports/price-changes',
  summary: 'Report price changes and their effect',
  description:
    'Changes of the standard prices of models in use within the period. For each, the usage from the change to the next one is valued at the new and at the earlier prices. Prices of long requests, service tiers and hours of the day are not considered.',
  query: undividedReport(),
  answer: reported('The report.', PriceEffectsReport, EXAMPLE_PRICE_CHANGES),
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readPeriod(query, asker)
    const report = await reports.priceChanges(viewer, requested)
    if (!wantsCsv(served.request, requested.format)) return report
    return csvResponse(report.data, PRICE_CHANGES_COLUMNS, 'price-changes.csv')
  },
})

const reportSurcharges = endpoint({
  ...REPORTING,
  id: 'reportSurcharges',
  path: '/reports/surcharges',
  summary: 'Report surcharges of long requests',
  description:
    'By model: entries whose list value contains prices of long requests, which some models have from 200,000 tokens of input on, and how much less the same tokens would have cost at the base prices. `list` is the same entries, and `unvalued_list` those of them that have no base price to compare. Covers those that usage reports count; list values are at the prices that each entry was valued at. Session totals without sums of long requests are valued at base prices and not covered.',
  query: undividedReport(),
  answer: reported('The report.', SurchargesReport, EXAMPLE_SURCHARGES),
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readPeriod(query, asker)
    const report = await reports.surcharges(viewer, requested)
    if (!wantsCsv(served.request, requested.format)) return report
    return csvResponse(report.data, SURCHARGE_COLUMNS, 'surcharges.csv')
  },
})

export const insightOperations = [reportCache, reportWhatIf, reportPriceChanges, reportSurcharges] as const
