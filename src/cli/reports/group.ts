import type { Command } from 'commander'
import type { OutlierSession, OutliersReport } from '../../features/anomalies/schema.ts'
import type {
  CompletenessReport,
  PriceEffect,
  PriceEffectsReport,
  SurchargeModel,
  SurchargesReport,
  UnpricedReport,
  VarianceReport,
} from '../../features/reports/schema.ts'
import { costTitle } from '../flags/cost-basis.ts'
import { addEntryFilters, addSubjectFilters } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import { counted, countText, dollars, inDollars, shareText } from '../terminal/numbers.ts'
import { type Column, localMinute, minute, note, print, printTable } from '../terminal/print.ts'
import { addReportsCacheCommand } from './cache.ts'
import { addReportsLimitsCommand } from './limits.ts'
import { addReportsPlansCommand } from './plans.ts'
import { addReport, changeText, modelText, periodText } from './report.ts'
import { addReportsWhatIfCommand } from './what-if.ts'

export function addReportsCommands(program: Command): void {
  const reports = program
    .command('reports')
    .description('Report what is incomplete in a period, and what is behind its cost: caching, prices, outliers')
    .addHelpText(
      'after',
      examples(
        'tally reports unpriced',
        'tally reports completeness --month 2026-11',
        'tally reports cache --by model --last 30d',
      ),
    )
  addReportsUnpricedCommand(reports)
  addReportsVarianceCommand(reports)
  addReportsCompletenessCommand(reports)
  addReportsCacheCommand(reports)
  addReportsWhatIfCommand(reports)
  addReportsPriceChangesCommand(reports)
  addReportsSurchargesCommand(reports)
  addReportsOutliersCommand(reports)
  addReportsLimitsCommand(reports)
  addReportsPlansCommand(reports)
}

function addReportsPriceChangesCommand(reports: Command): void {
  addReport<PriceEffectsReport, PriceEffect>(reports, {
    name: 'price-changes',
    description: 'List price changes of models in use, with the usage since at both prices, largest effect first',
    read: async ({ reports }, self, texts) => reports.priceChanges(self.viewer, await reports.readPeriod(texts, self)),
    async csv(report) {
      const { PRICE_CHANGES_COLUMNS } = await import('../../features/reports/service.ts')
      return { rows: (await report()).data, columns: PRICE_CHANGES_COLUMNS }
    },
    show: printPriceChanges,
    examples: ['tally reports price-changes --year 2026', 'tally reports price-changes --model gpt-5 --last 90d --csv'],
  })
}

function printPriceChanges(report: PriceEffectsReport): void {
  const { data, time_zone } = report
  if (data.length === 0) {
    print('No price of a model in use changed in this period.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: modelText },
      { title: 'CHANGED', of: ({ changed_at }) => localMinute(changed_at, time_zone) },
      { title: 'ENTRIES SINCE', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'EARLIER PRICE (USD)', of: ({ value_before }) => dollars(value_before), align: 'right' },
      { title: 'NEW PRICE', of: ({ value_after }) => dollars(value_after), align: 'right' },
      { title: 'EFFECT', of: ({ effect }) => dollars(effect), align: 'right' },
      { title: 'CHANGE', of: ({ ratio }) => changeText(ratio), align: 'right' },
    ],
    data,
  )
  print('')
  print(periodText(report))
}

function addReportsOutliersCommand(reports: Command): void {
  addReport<OutliersReport, OutlierSession>(reports, {
    name: 'outliers',
    description: 'List sessions that cost far more than is usual for their person',
    hasBasis: true,
    read: async ({ reports, anomalies }, self, texts) =>
      anomalies.outliers(self.viewer, await reports.readOutliers(texts, self)),
    async csv(report) {
      const { outlierColumns } = await import('../../features/anomalies/service.ts')
      const { data, basis } = await report()
      return { rows: data, columns: outlierColumns(basis) }
    },
    show: printOutliers,
    examples: ['tally reports outliers --last 7d', 'tally reports outliers --month 2026-11 --project acme-web --csv'],
  })
}

function printOutliers(report: OutliersReport): void {
  const { data, time_zone, basis } = report
  if (data.length === 0) {
    print('No session cost far more than usual in this period.')
    return
  }
  printTable(
    [
      { title: 'ENTRY', of: ({ id }) => id },
      { title: 'STARTED', of: ({ started_at }) => localMinute(started_at, time_zone) },
      { title: 'PERSON', of: ({ agent_manager }) => agent_manager.name },
      { title: 'MODEL', of: ({ model }) => model },
      { title: costTitle(basis), of: ({ cost }) => dollars(cost), align: 'right' },
      { title: 'USUAL', of: ({ usual }) => dollars(usual), align: 'right' },
      { title: 'TIMES', of: ({ times }) => (times === null ? '–' : JSON.stringify(times)), align: 'right' },
    ],
    data,
  )
  print('')
  print(periodText(report))
}

function addReportsVarianceCommand(reports: Command): void {
  addReport<VarianceReport, VarianceReport['data'][number]>(reports, {
    name: 'variance',
    description: 'Compare reported costs with list values by model and agent, largest difference first',
    isPaged: true,
    read: async ({ reports }, self, texts) => reports.variance(self.viewer, await reports.readVariance(texts, self)),
    async csv(_, { reports }, self, texts) {
      const { VARIANCE_COLUMNS } = await import('../../features/reports/service.ts')
      const query = await reports.readVariance(texts, self)
      return { rows: reports.exportVariance(self.viewer, query), columns: VARIANCE_COLUMNS }
    },
    show: printVariance,
    examples: ['tally reports variance --month 2026-11', 'tally reports variance --last 90d --csv'],
  })
}

function printVariance({ totals, data, has_more, next_page }: VarianceReport): void {
  if (data.length === 0) {
    print('No entries in this period have both a reported cost and a list value.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: ({ model }) => model },
      { title: 'AGENT', of: ({ agent_name }) => agent_name },
      { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'REPORTED (USD)', of: (row) => dollars(row.reported_cost), align: 'right' },
      { title: 'LIST VALUE', of: (row) => dollars(row.list_value), align: 'right' },
      { title: 'DIFFERENCE', of: (row) => dollars(row.difference), align: 'right' },
      { title: 'RATIO', of: ({ ratio }) => (ratio === null ? '–' : JSON.stringify(ratio)), align: 'right' },
    ],
    data,
  )
  print('')
  print(
    `${counted(totals.compared_entries, 'entry', 'entries')} of ${countText(totals.entries)} compared: reported ${inDollars(totals.reported_cost)}, list value ${inDollars(totals.list_value)}.`,
  )
  if (has_more) note(`More rows: add --page ${next_page}`)
}

function addReportsUnpricedCommand(reports: Command): void {
  addReport<UnpricedReport, UnpricedReport['data'][number]>(reports, {
    name: 'unpriced',
    description: 'List models without a price, with the usage that is not valued yet',
    filters: addEntryFilters,
    isOfAnyTime: true,
    isPaged: true,
    read: async ({ reports }, self, texts) => reports.unpriced(self.viewer, await reports.readUnpriced(texts, self)),
    async csv(_, { reports }, self, texts) {
      const { UNPRICED_COLUMNS } = await import('../../features/reports/service.ts')
      const query = await reports.readUnpriced(texts, self)
      return { rows: reports.exportUnpriced(self.viewer, query), columns: UNPRICED_COLUMNS }
    },
    show: printUnpriced,
    examples: ['tally reports unpriced', 'tally reports unpriced --project acme-web --json'],
  })
}

function printUnpriced({ data, has_more, next_page }: UnpricedReport): void {
  if (data.length === 0) {
    print('All entries have a cost.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: ({ model }) => model },
      { title: 'PROVIDER', of: ({ provider }) => provider ?? '(none)' },
      { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'INPUT', of: ({ tokens }) => countText(tokens.input), align: 'right' },
      { title: 'OUTPUT', of: ({ tokens }) => countText(tokens.output), align: 'right' },
      { title: 'CACHE READ', of: ({ tokens }) => countText(tokens.cache_read), align: 'right' },
      { title: 'WRITE', of: ({ tokens }) => countText(tokens.cache_write), align: 'right' },
      { title: 'WRITE 1H', of: ({ tokens }) => countText(tokens.cache_write_1h), align: 'right' },
      { title: 'SINCE (UTC)', of: ({ first_at }) => minute(first_at) },
    ],
    data,
  )
  print('')
  print(
    'To see why a model has no price: tally prices resolve. To add one: tally prices set, or tally prices alias add.',
  )
  if (has_more) note(`More rows: add --page ${next_page}`)
}

function addReportsSurchargesCommand(reports: Command): void {
  addReport<SurchargesReport, SurchargeModel>(reports, {
    name: 'surcharges',
    description: 'Report what prices of long requests add to list values, by model',
    read: async ({ reports }, self, texts) => reports.surcharges(self.viewer, await reports.readPeriod(texts, self)),
    async csv(report) {
      const { SURCHARGE_COLUMNS } = await import('../../features/reports/service.ts')
      return { rows: (await report()).data, columns: SURCHARGE_COLUMNS }
    },
    show: printSurcharges,
    examples: [
      'tally reports surcharges --month 2026-11',
      'tally reports surcharges --project acme-web --last 90d --json',
    ],
  })
}

/** Only if there are such entries. */
const LEFT_OUT: Column<SurchargeModel> = {
  title: 'WITHOUT BASE PRICE',
  of: ({ unvalued_entries }) => countText(unvalued_entries),
  align: 'right',
}

function printSurcharges(report: SurchargesReport): void {
  const { data, totals } = report
  if (data.length === 0) {
    print('No entry in this period is valued at prices of long requests.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: modelText },
      { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'LIST VALUE (USD)', of: ({ list_value }) => dollars(list_value), align: 'right' },
      { title: 'AT BASE PRICES', of: ({ base_value }) => dollars(base_value), align: 'right' },
      { title: 'SURCHARGE', of: ({ surcharge }) => dollars(surcharge), align: 'right' },
      { title: 'SHARE', of: ({ share }) => shareText(share), align: 'right' },
      ...(totals.unvalued_entries === 0 ? [] : [LEFT_OUT]),
    ],
    data,
  )
  print('')
  print(
    `${counted(totals.entries, 'entry', 'entries')}, ${inDollars(totals.surcharge)} more than at base prices. To list them: tally entries list --long-context yes`,
  )
  if (totals.unvalued_entries > 0) {
    print(
      `Excludes ${counted(totals.unvalued_entries, 'entry', 'entries')} without a base price. To list them: tally entries list --without-base-price yes`,
    )
  }
  print(periodText(report))
}

/** What the checks are called in a table. */
const CHECK_TEXTS: Record<CompletenessReport['data'][number]['check'], string> = {
  all: 'all entries that reports count',
  unplaced: 'unattributed (no project or ticket)',
  without_client: 'on projects without a client',
  without_project: 'on tickets without a project',
  unpriced: 'unpriced (cost unknown)',
  unfunded: 'unknown what pays (no plan or funding rule)',
  cost_mismatches: 'reported cost far from the list value',
  possible_duplicates: "possible duplicates: identical, or with another person's session id",
  held: "held: another person's session too, not counted (tally entries release or discard)",
  discarded: 'discarded as duplicates, never counted',
  voided: 'voided as reported by mistake, never counted',
  unapproved: 'not approved',
  unbilled: 'billable, not billed yet',
  not_billable: 'on projects that are not billable',
  rejected: 'rejected',
  on_sheets: 'on open or submitted sheets, not counted yet',
  reaching_in: 'started before the period and ended in it',
  reaching_out: 'started in the period and ended after it',
}

function addReportsCompletenessCommand(reports: Command): void {
  addReport<CompletenessReport, CompletenessReport['data'][number]>(reports, {
    name: 'completeness',
    description: 'List what to complete before a period can be billed: placement, prices, approval, bills',
    filters: addSubjectFilters,
    read: async ({ reports }, self, texts) =>
      reports.completeness(self.viewer, await reports.readCompleteness(texts, self)),
    async csv(report) {
      const { COMPLETENESS_COLUMNS } = await import('../../features/reports/service.ts')
      return { rows: (await report()).data, columns: COMPLETENESS_COLUMNS }
    },
    show: printCompleteness,
    examples: ['tally reports completeness --month 2026-11', 'tally reports completeness --client "Acme Ltd" --json'],
  })
}

function printCompleteness(report: CompletenessReport): void {
  printTable(
    [
      { title: 'ENTRIES', flows: true, of: ({ check }) => CHECK_TEXTS[check] },
      { title: 'COUNT', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'COST (USD)', of: ({ entries, cost }) => (entries === 0 ? '–' : dollars(cost)), align: 'right' },
      {
        title: 'UNPRICED',
        of: ({ unpriced_entries }) => (unpriced_entries === 0 ? '' : countText(unpriced_entries)),
        align: 'right',
      },
    ],
    report.data,
  )
  print('')
  print(`${periodText(report)} With --json, each row includes the path that lists its entries.`)
}
