import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { counted } from '../terminal/numbers.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { addSettingsSetCommand } from './set.ts'
import { settingsText } from './settings.ts'

export function addSettingsCommands(program: Command): void {
  const settings = program
    .command('settings')
    .description('Show and set the organization settings')
    .addHelpText('after', examples('tally settings show', 'tally settings set --unknown-projects hold'))
  addSettingsShowCommand(settings)
  addSettingsSetCommand(settings)
}

function addSettingsShowCommand(settings: Command): void {
  settings
    .command('show')
    .description('Show the settings')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally settings show --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { body, sums } = await withServices(flags, async ({ organization, reports }) => ({
        body: organization.bodyOf(await organization.settings()),
        sums: await reports.progress(),
      }))
      if (flags.json) printJson(body)
      else print(settingsText(body))
      const { public_url_option: option } = body
      if (option !== null && option !== body.public_url) {
        note(`TALLY_PUBLIC_URL is ${option} here, which takes precedence over the public URL of the settings.`)
      }
      // Without any days a server has yet to begin.
      if (!flags.json && !sums.complete && sums.days > 0) {
        print(
          `totals            being prepared for ${sums.time_zone}: ${sums.days_made} of ${counted(sums.days, 'day')} (${sums.percent}%); reports stay exact`,
        )
      }
    })
}
