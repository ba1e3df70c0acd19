import type { Command } from 'commander'
import type { CompletenessReport } from '../../features/reports/schema.ts'
import { addSubjectFilters } from '../flags/entry-filters.ts'
import { countText, dollars } from '../terminal/numbers.ts'
import { print, printTable } from '../terminal/print.ts'
import { addReport, periodText } from './report.ts'

/** What the checks are called in a table. */
const CHECK_TEXTS: Record<CompletenessReport['data'][number]['check'], string> = {
  all: 'all entries that reports count',
  unplaced: 'unattributed (no project or ticket)',
  without_client: 'on projects without a client',
  without_project: 'on tickets without a project',
  unpriced: 'unpriced (cost unknown)',
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

export function addReportsCompletenessCommand(reports: Command): void {
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
