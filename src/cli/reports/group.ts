import type { Command } from 'commander'
import type { CompletenessReport, UnpricedReport, VarianceReport } from '../../features/reports/schema.ts'
import { addEntryFilters, addSubjectFilters, type EntryFilterFlags, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import { addPeriodFlags, type PeriodFlags, periodTexts } from '../flags/period.ts'
import { counted, countText, dollars, inDollars, localMinute, printCsv } from '../terminal/numbers.ts'
import { minute, note, print, printJson, printTable } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'

interface ReportFlags extends DatabaseFlags, EntryFilterFlags, PeriodFlags {
  startingAt?: string
  endingAt?: string
  limit?: string
  page?: string
  csv?: boolean
  json?: boolean
}

function addOutputFlags(command: Command, path: string, { paged }: { paged: boolean }): Command {
  if (paged) {
    command
      .option('--limit <number>', 'rows per page, 1 to 1000 (default 50)')
      .option('--page <page>', 'next_page of the previous page')
  }
  return command
    .option('--csv', `print CSV${paged ? ', all pages at once' : ''}`)
    .option('--json', `print JSON, as returned by GET /api/v1/reports/${path}`)
}

export function addReportsCommands(program: Command): void {
  const reports = program
    .command('reports')
    .description('Report missing prices, cost differences and what is incomplete in a period')
    .addHelpText('after', examples('tally reports unpriced', 'tally reports completeness --month 2026-11'))
  addUnpriced(reports)
  addVariance(reports)
  addCompleteness(reports)
}

function addUnpriced(reports: Command): void {
  const unpriced = reports
    .command('unpriced')
    .description('List models without a price, with the usage that is not valued yet')
    .option('--starting-at <when>', 'sessions that started at or after this timestamp, or date in UTC')
    .option('--ending-at <when>', 'sessions that started before this timestamp, or date in UTC')
  addOutputFlags(addEntryFilters(unpriced), 'unpriced', { paged: true })
    .addHelpText('after', examples('tally reports unpriced', 'tally reports unpriced --project acme-web --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ReportFlags>()
      await withServices(flags, async ({ reports: service }, { viewer }) => {
        const asked = await service.readUnpriced({
          ...entryFilterTexts(flags),
          starting_at: flags.startingAt,
          ending_at: flags.endingAt,
          limit: flags.limit,
          page: flags.page,
        })
        if (flags.csv) {
          const { UNPRICED_COLUMNS } = await import('../../features/reports/service.ts')
          return printCsv(service.exportUnpriced(viewer, asked), UNPRICED_COLUMNS)
        }
        const report = await service.unpriced(viewer, asked)
        if (flags.json) printJson(report)
        else printUnpriced(report)
      })
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

function addVariance(reports: Command): void {
  const variance = reports
    .command('variance')
    .description('Compare reported costs with list values by model and agent, largest difference first')
  addOutputFlags(addEntryFilters(addPeriodFlags(variance)), 'variance', { paged: true })
    .addHelpText('after', examples('tally reports variance --month 2026-11', 'tally reports variance --last 90d --csv'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ReportFlags>()
      await withServices(flags, async (services, { viewer }) => {
        const { reports: service } = services
        const asked = await service.readVariance({
          ...entryFilterTexts(flags),
          ...(await periodTexts(services, flags)),
          limit: flags.limit,
          page: flags.page,
        })
        if (flags.csv) {
          const { VARIANCE_COLUMNS } = await import('../../features/reports/service.ts')
          return printCsv(service.exportVariance(viewer, asked), VARIANCE_COLUMNS)
        }
        const report = await service.variance(viewer, asked)
        if (flags.json) printJson(report)
        else printVariance(report)
      })
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

/** What the checks are called in a table. */
const CHECK_TEXTS: Record<CompletenessReport['data'][number]['check'], string> = {
  all: 'all entries that reports count',
  unplaced: 'unattributed (no project or ticket)',
  without_client: 'on projects without a client',
  without_project: 'on tickets without a project',
  unpriced: 'unpriced (cost unknown)',
  possible_duplicates: "possible duplicates: identical, or with another person's session id",
  unapproved: 'not approved',
  unbilled: 'not billed',
  rejected: 'rejected',
  on_sheets: 'on open or submitted sheets, not counted yet',
  reaching_in: 'started before the period and ended in it',
  reaching_out: 'started in the period and ended after it',
}

function addCompleteness(reports: Command): void {
  const completeness = reports
    .command('completeness')
    .description('List what to complete before a period can be billed: placement, prices, approval, bills')
  addOutputFlags(addSubjectFilters(addPeriodFlags(completeness)), 'completeness', { paged: false })
    .addHelpText(
      'after',
      examples('tally reports completeness --month 2026-11', 'tally reports completeness --client "Acme Ltd" --json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ReportFlags>()
      await withServices(flags, async (services, { viewer }) => {
        const { reports: service } = services
        const asked = await service.readCompleteness({
          ...entryFilterTexts(flags),
          ...(await periodTexts(services, flags)),
        })
        const report = await service.completeness(viewer, asked)
        if (flags.json) return printJson(report)
        if (!flags.csv) return printCompleteness(report)
        const { COMPLETENESS_COLUMNS } = await import('../../features/reports/service.ts')
        return printCsv(report.data, COMPLETENESS_COLUMNS)
      })
    })
}

function printCompleteness({ data, starting_at, ending_at, time_zone }: CompletenessReport): void {
  printTable(
    [
      { title: 'ENTRIES', of: ({ check }) => CHECK_TEXTS[check] },
      { title: 'COUNT', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'COST (USD)', of: ({ entries, cost }) => (entries === 0 ? '–' : dollars(cost)), align: 'right' },
      {
        title: 'UNPRICED',
        of: ({ unpriced_entries }) => (unpriced_entries === 0 ? '' : countText(unpriced_entries)),
        align: 'right',
      },
    ],
    data,
  )
  print('')
  print(
    `From ${localMinute(starting_at, time_zone)} to ${localMinute(ending_at, time_zone)} (${time_zone}). With --json, each row includes the path that lists its entries.`,
  )
}
