import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { asksFirst, DEPENDS_ON_DATA } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm, isInteractive } from '../terminal/confirm.ts'
import { note } from '../terminal/print.ts'
import { actOnSheet } from './sheet.ts'

export function addSheetsOpenCommand(sheets: Command): void {
  asksFirst(sheets.command('open'), DEPENDS_ON_DATA)
    .description('Open a sheet for a person and a period')
    .requiredOption('--person <person>', 'owner of the sheet: id or e-mail address')
    .option('--month <month>', 'a whole month, such as 2026-11')
    .option('--from <day>', 'first day, in the time zone of the organization')
    .option('--to <day>', 'last day, inclusive')
    .option('--note <text>', 'what the sheet is for')
    .option('--another', 'open it even if the person has a sheet with some of these days')
    .option('--json', 'print the sheet as JSON')
    .addHelpText(
      'after',
      examples(
        'tally sheets open --person ada@example.com --month 2026-11',
        'tally sheets open --person ada@example.com --from 2026-11-16 --to 2026-11-20',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<{
        person: string
        month?: string
        from?: string
        to?: string
        note?: string
        another?: boolean
        yes?: boolean
      }>()
      const { person, month, from, to, note: purpose } = flags
      if ((from === undefined) !== (to === undefined)) throw new CommandError('Use --from and --to together.', 2)
      if ((month === undefined) === (from === undefined)) {
        throw new CommandError('Use either --month, or --from and --to.', 2)
      }
      const days = month === undefined ? { period: { from: from!, to: to! } } : { month }
      const about = purpose === undefined ? {} : { note: purpose }
      await actOnSheet(command, 'Opened', async ({ sheets }, self) => {
        const others = flags.another || flags.yes ? [] : await sheets.listSheetsOfDays({ person, ...days }, self.viewer)
        if (others.length > 0) {
          note(`${person} already has a sheet for some of these days:`)
          for (const { id, period, status } of others) note(`  ${id}, ${period.from} to ${period.to}, ${status}`)
          if (!isInteractive()) {
            throw new CommandError('Nothing was changed. Add entries to that sheet, or add --another or --yes.')
          }
          await confirm('Open another one?', {})
        }
        return sheets.openSheet({ person, ...days, ...about }, self)
      })
    })
}
