import type { Command } from 'commander'
import type { UsageReport, UsageResult } from '../features/reports/schema.ts'
import { BASIS_TITLES } from '../shared/cost-basis.ts'
import { addCostBasis, type BasisFlags, basisTexts, costTitle, UNKNOWN_COST } from './flags/cost-basis.ts'
import { addReportFilters, type EntryFilterFlags, entryFilterTexts } from './flags/entry-filters.ts'
import { collect, examples } from './flags/options.ts'
import { addPeriodFlags, type PeriodFlags, periodTexts } from './flags/period.ts'
import { bar, barCells } from './terminal/bar.ts'
import { counted, countText, dollars, inDollars } from './terminal/numbers.ts'
import { type Column, localMinute, note, print, printCsv, printJson, printTable } from './terminal/print.ts'
import { type CommandFlags, withServices } from './with-services.ts'

interface UsageFlags extends CommandFlags, EntryFilterFlags, PeriodFlags, BasisFlags {
  by?: string[]
  bucket?: string
  weekStart?: string
  fillGaps?: boolean
  limit?: string
  page?: string
  csv?: boolean
}

export function addUsageCommand(program: Command): void {
  const usage = program
    .command('usage')
    .description('Report usage and cost over time, grouped by project, person, model and other fields')
    .option(
      '--by <what>',
      'group by up to three of project, ticket, client, agent_manager, agent_name, agent_harness, provider, model, status, source, plan, funding, label:<name>',
      collect,
    )
    .option('--bucket <width>', 'bucket width: 1h, 1d, 1w, 1mo, 1q, 1y, or all for one bucket (default all)')
    .option('--week-start <day>', 'first day of weeks, such as sunday (default: that of the organization)')
    .option('--fill-gaps', 'include buckets without entries')
  addReportFilters(addPeriodFlags(addCostBasis(usage)))
    .option('--limit <number>', 'buckets per page, 1 to 1000 (default 1000)')
    .option('--page <page>', 'next_page of the previous page')
    .option('--csv', 'print CSV, all pages at once')
    .option('--json', 'print JSON, as returned by GET /api/v1/reports/usage')
    .addHelpText(
      'after',
      examples(
        'tally usage --by project,model --last 30d',
        'tally usage --bucket 1d --month 2026-11 --project acme-web',
        'tally usage --bucket 1q --year 2026',
        'tally usage --by label:repository --from 2026-10-01 --to 2026-10-31 --csv > october.csv',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<UsageFlags>()
      await withServices(flags, async (services, self) => {
        const { viewer } = self
        const { reports } = services
        const query = await reports.readUsage(
          {
            ...entryFilterTexts(flags),
            ...(await periodTexts(services, flags)),
            ...(await basisTexts(services, self, flags)),
            bucket_width: flags.bucket ?? 'all',
            week_start: flags.weekStart,
            group_by: flags.by,
            fill_gaps: flags.fillGaps ? 'true' : undefined,
            limit: flags.limit,
            page: flags.page,
          },
          self,
        )
        if (flags.csv) {
          const { usageColumns, usageLines } = await import('../features/reports/service.ts')
          return printCsv(
            usageLines(reports.exportUsage(viewer, query)),
            usageColumns(query.dimensions, [], query.basis),
          )
        }
        const report = await reports.usage(viewer, query)
        if (flags.json) printJson(report)
        else printUsage(report)
      })
    })
}

interface Line {
  period: string
  result: UsageResult | undefined
}

const PERIOD_TITLES: Record<UsageReport['bucket_width'], string> = {
  '1h': 'HOUR',
  '1d': 'DAY',
  '1w': 'WEEK OF',
  '1mo': 'MONTH',
  '1q': 'QUARTER',
  '1y': 'YEAR',
  all: '',
}

/** `2026-11-16 (W47)`, `2026-11`, `2026-Q4`: only weeks that start on Monday have a number, that of ISO 8601. */
function periodName(startingAt: string, { bucket_width: width, week_start, time_zone }: UsageReport): string {
  const minute = localMinute(startingAt, time_zone)
  const [date, year, month] = [minute.slice(0, 10), minute.slice(0, 4), minute.slice(5, 7)]
  switch (width) {
    case '1h':
      return minute
    case '1w':
      return week_start === 'monday' ? `${date} (W${Temporal.PlainDate.from(date).weekOfYear})` : date
    case '1mo':
      return `${year}-${month}`
    case '1q':
      return `${year}-Q${Math.ceil(Number(month) / 3)}`
    case '1y':
      return year
    default:
      return date
  }
}

function printUsage(report: UsageReport): void {
  const { data, bucket_width: width, group_by: dimensions, basis } = report
  const lines: Line[] = data.flatMap(({ period, results }) => {
    const name = periodName(period.starting_at, report)
    return (results.length > 0 ? results : [undefined]).map((result) => ({ period: name, result }))
  })
  const columns: Column<Line>[] = [
    ...(width === 'all' ? [] : [{ title: PERIOD_TITLES[width], of: ({ period }: Line) => period }]),
    ...dimensions.map((dimension) => ({
      title: dimension.replace('_', ' ').toUpperCase(),
      of: ({ result }: Line) => keyText(result, dimension),
    })),
    { title: 'ENTRIES', of: ({ result }) => countText(result?.entries ?? 0), align: 'right' },
    { title: 'TOKENS', of: ({ result }) => countText(result?.tokens.total ?? 0), align: 'right' },
    {
      title: costTitle(basis),
      of: ({ result }) => (result ? (result.cost === null ? UNKNOWN_COST[basis] : dollars(result.cost)) : '–'),
      align: 'right',
    },
  ]
  if (lines.length > 0) {
    printTable([...columns, barColumn(columns, lines)], lines)
    print('')
  }
  printTotals(report)
  if (report.has_more) note(`More buckets: add --page ${report.next_page}, or use --csv`)
}

function keyText(result: UsageResult | undefined, dimension: string): string {
  if (!result) return ''
  const key = dimension.startsWith('label:')
    ? result.labels?.[dimension.slice('label:'.length)]
    : result[dimension as 'project']
  if (key === null || key === undefined) return '(none)'
  if (typeof key === 'string') return key
  return 'key' in key ? key.key : (key as { name: string }).name
}

/** By cost; where none is known, by tokens. */
function barColumn(columns: Column<Line>[], lines: Line[]): Column<Line> {
  // Bars are drawn to an eighth of a cell, for which a rounded number is good enough.
  const costOf = ({ result }: Line) => Number(JSON.stringify(result?.cost ?? 0))
  const tokensOf = ({ result }: Line) => Number(JSON.stringify(result?.tokens.total ?? 0))
  const sizeOf = lines.some((line) => costOf(line) > 0) ? costOf : tokensOf
  const most = Math.max(...lines.map(sizeOf))
  const width = columns.reduce(
    (sum, { title, of }) =>
      sum + 2 + lines.reduce((widest, line) => Math.max(widest, Bun.stringWidth(of(line))), title.length),
    0,
  )
  const cells = barCells(width)
  return { title: '', of: (line) => bar(sizeOf(line), most, cells) }
}

function printTotals({ totals, starting_at, ending_at, time_zone, basis, provisional }: UsageReport): void {
  const period = `from ${localMinute(starting_at, time_zone)} to ${localMinute(ending_at, time_zone)} (${time_zone})`
  if (totals.entries === 0) {
    print(`No entries ${period}.`)
    return
  }
  const named = basis === 'cost' ? '' : ` (${BASIS_TITLES[basis].toLowerCase()})`
  const cost = totals.cost === null ? `with no known cost${named}` : `for ${inDollars(totals.cost)}${named}`
  print(`${counted(totals.entries, 'entry', 'entries')}, ${counted(totals.tokens.total, 'token')} ${cost} ${period}.`)
  if (totals.unpriced_entries > 0) {
    const are = `${totals.unpriced_entries === 1 ? 'is' : 'are'}${basis === 'cost' ? ' unpriced and' : ''}`
    const list = basis === 'cost' ? ' To list their models: tally reports unpriced' : ''
    print(
      `Of these, ${counted(totals.unpriced_entries, 'entry', 'entries')} ${are} not included in the ${BASIS_TITLES[basis].toLowerCase()}.${list}`,
    )
  }
  if (provisional) print('A plan period is not closed yet, so amounts may change.')
  if (totals.rejected_entries > 0) {
    const costs = totals.rejected_cost === null ? '' : `, ${inDollars(totals.rejected_cost)},`
    print(
      `Of these, ${counted(totals.rejected_entries, 'entry', 'entries')}${costs} ${totals.rejected_entries === 1 ? 'is' : 'are'} rejected and will not be billed.`,
    )
  }
  if (totals.straddling_entries > 0) {
    print(
      `${counted(totals.straddling_entries, 'session')} ended after the period; ${totals.straddling_entries === 1 ? 'it counts' : 'they count'} fully in the period in which ${totals.straddling_entries === 1 ? 'it' : 'they'} started.`,
    )
  }
}
