import type { Command } from 'commander'
import { addEntryFilters, type EntryFilterFlags, entryFilterTexts } from './flags/entry-filters.ts'
import { examples } from './flags/options.ts'
import { counted, countText, dollars, inDollars } from './terminal/numbers.ts'
import { note, print, printCsv, printJson, printTable } from './terminal/print.ts'
import { type CommandFlags, withServices } from './with-services.ts'

interface Flags extends CommandFlags, EntryFilterFlags {
  limit?: string
  page?: string
  csv?: boolean
}

/** `tally unattributed`. */
export function addUnattributedCommand(program: Command): void {
  const command = program
    .command('unattributed')
    .description(
      'List unattributed entries (not assigned to a project), grouped by what they have in common, highest cost first',
    )
    .summary('List unattributed entries by what they have in common')
  addEntryFilters(command)
    .option('--limit <number>', 'groups per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .option('--csv', 'print all groups as CSV')
    .option('--json', 'print JSON, as returned by GET /api/v1/reports/unattributed')
    .addHelpText('after', examples('tally unattributed', 'tally unattributed --from 2026-11-01 --csv'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { UNATTRIBUTED_COLUMNS } = await import('../features/reports/service.ts')
      const texts = { ...entryFilterTexts(flags), limit: flags.limit, page: flags.page }
      await withServices(flags, async ({ reports }, self) => {
        const { viewer } = self
        const query = await reports.readUnattributed(texts, self)
        if (flags.csv) return printCsv(reports.exportUnattributed(viewer, query), UNATTRIBUTED_COLUMNS)
        const report = await reports.unattributed(viewer, query)
        if (flags.json) return printJson(report)
        if (report.totals.entries === 0) return print('No unattributed entries.')
        printTable(
          [
            { title: 'GROUP', of: ({ name }) => name },
            { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
            { title: 'TOKENS', of: ({ tokens }) => countText(tokens.total), align: 'right' },
            { title: 'COST (USD)', of: ({ cost }) => (cost === null ? 'unpriced' : dollars(cost)), align: 'right' },
            { title: 'LAST USED', of: ({ last_at }) => last_at.slice(0, 10) },
            {
              title: 'ALSO IN COMMON',
              flows: true,
              of: ({ common, rule }) =>
                common
                  .filter(({ field }) => !rule.conditions.some((condition) => condition.field === field))
                  .map(({ field, matches }) => `${field.replace('labels.', '')} ${matches}`)
                  .join(', '),
            },
          ],
          report.data,
        )
        print('')
        const { entries, groups, cost } = report.totals
        print(`${counted(entries, 'entry', 'entries')} in ${counted(groups, 'group')}: ${inDollars(cost)}.`)
        if (report.has_more) note(`More groups: add --page ${report.next_page}`)
      })
    })
}
