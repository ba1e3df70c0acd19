/** A command that prints one of the reports behind the page Insights. */
import type { Command } from 'commander'
import type { CsvColumn } from '../../lib/csv-column.ts'
import type { QueryTexts } from '../../schema/query.ts'
import type { Services } from '../../services.ts'
import { addReportFilters, entryFilterTexts } from '../flags/entry-filters.ts'
import { addPeriodFlags, periodTexts } from '../flags/period.ts'
import { printCsv, printJson } from '../terminal/print.ts'
import { type Self, withServices } from '../with-services.ts'
import { addOutputFlags, type ReportFlags } from './output.ts'

interface Insight<Flags extends ReportFlags, Report, Row> {
  /** The last part of its path in the API. */
  path: string
  /** Parameters besides the filters and the period. */
  texts?: (flags: Flags) => QueryTexts
  read: (services: Services, self: Self, texts: QueryTexts) => Promise<Report>
  csv: (report: Report) => Promise<{ rows: Row[]; columns: CsvColumn<Row>[] }>
  show: (report: Report) => void
}

export function addInsightAction<Flags extends ReportFlags, Report, Row>(
  command: Command,
  { path, texts, read, csv, show }: Insight<Flags, Report, Row>,
): Command {
  return addOutputFlags(addReportFilters(addPeriodFlags(command)), path, { paged: false }).action(
    async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      await withServices(flags, async (services, self) => {
        const report = await read(services, self, {
          ...entryFilterTexts(flags),
          ...(await periodTexts(services, flags)),
          ...texts?.(flags),
        })
        if (flags.json) return printJson(report)
        if (!flags.csv) return show(report)
        const { rows, columns } = await csv(report)
        return printCsv(rows, columns)
      })
    },
  )
}

export const modelText = ({ model, provider }: { model: string; provider: string | null }): string =>
  provider === null ? model : `${model} at ${provider}`

/** A ratio of two amounts as their change: +50%. */
export const changeText = (ratio: number | null): string =>
  ratio === null ? '–' : `${ratio > 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)}%`
