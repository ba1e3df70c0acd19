/** A command that prints one of the reports in `/api/v1/reports`. */
import type { Command, Option } from 'commander'
import type { CsvColumn } from '../../lib/csv-column.ts'
import type { QueryTexts } from '../../schema/query.ts'
import type { Services } from '../../services.ts'
import { addCostBasis, type BasisFlags, basisTexts } from '../flags/cost-basis.ts'
import { addReportFilters, type EntryFilterFlags, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import { addPeriodFlags, type PeriodFlags, periodTexts } from '../flags/period.ts'
import { localMinute, printCsv, printJson } from '../terminal/print.ts'
import { type CommandFlags, type Self, withServices } from '../with-services.ts'

interface ReportFlags extends CommandFlags, EntryFilterFlags, PeriodFlags, BasisFlags {
  limit?: string
  page?: string
  csv?: boolean
}

interface ReportCommand<Report, Row, Flags> {
  /** Also the last part of its path in the API. */
  name: string
  description: string
  /** Flags of this report alone. */
  options?: readonly Option[]
  /** Their parameters. */
  texts?: (flags: Flags) => QueryTexts
  /** Adds the flags that select entries. */
  filters?: (command: Command) => Command
  /** Whether it is of entries at any time, if no flag says otherwise. */
  isOfAnyTime?: boolean
  isPaged?: boolean
  /** Whether its cost is on the basis of a flag. */
  hasBasis?: boolean
  read: (services: Services, self: Self, texts: QueryTexts) => Promise<Report>
  /** The rows of the report, or of all its pages. */
  csv: (
    report: () => Promise<Report>,
    services: Services,
    self: Self,
    texts: QueryTexts,
  ) => Promise<{ rows: AsyncIterable<Row> | Row[]; columns: readonly CsvColumn<Row>[] }>
  show: (report: Report) => void
  examples: readonly string[]
}

export function addReport<Report, Row, Flags = unknown>(
  reports: Command,
  presented: ReportCommand<Report, Row, Flags>,
): void {
  const {
    name,
    options = [],
    texts,
    filters = addReportFilters,
    isOfAnyTime = false,
    isPaged = false,
    hasBasis,
  } = presented
  const command = reports.command(name).description(presented.description)
  for (const option of options) command.addOption(option)
  filters(isOfAnyTime ? command : addPeriodFlags(command))
  if (hasBasis) addCostBasis(command)
  if (isPaged) {
    command
      .option('--limit <number>', 'rows per page, 1 to 1000 (default 50)')
      .option('--page <page>', 'next_page of the previous page')
  }
  command
    .option('--csv', `print CSV${isPaged ? ', all pages at once' : ''}`)
    .option('--json', `print JSON, as returned by GET /api/v1/reports/${name}`)
    .addHelpText('after', examples(...presented.examples))
    .action(async () => {
      const flags = command.optsWithGlobals<ReportFlags & Flags>()
      const { limit, page } = flags
      await withServices(flags, async (services, self) => {
        const query = {
          ...entryFilterTexts(flags),
          ...(!isOfAnyTime && (await periodTexts(services, flags))),
          ...(isPaged && { limit, page }),
          ...(hasBasis && (await basisTexts(services, self, flags))),
          ...texts?.(flags),
        }
        const read = () => presented.read(services, self, query)
        if (flags.csv) {
          const { rows, columns } = await presented.csv(read, services, self, query)
          return printCsv(rows, columns)
        }
        const report = await read()
        if (flags.json) printJson(report)
        else presented.show(report)
      })
    })
}

/** The period that a table is of. */
export const periodText = (report: { starting_at: string; ending_at: string; time_zone: string }): string => {
  const { starting_at, ending_at, time_zone } = report
  return `From ${localMinute(starting_at, time_zone)} to ${localMinute(ending_at, time_zone)} (${time_zone}).`
}

export const modelText = ({ model, provider }: { model: string; provider: string | null }): string =>
  provider === null ? model : `${model} at ${provider}`

/** A ratio of two amounts as their change: +50%. */
export const changeText = (ratio: number | null): string =>
  ratio === null ? '–' : `${ratio > 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)}%`
