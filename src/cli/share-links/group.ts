import type { Command } from 'commander'
import type { ShareLinkBody } from '../../features/share-links/schema.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { confirm } from '../terminal/confirm.ts'
import { minute, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { addShareLinksCreateCommands } from './create.ts'

export function addShareLinksCommands(program: Command): void {
  const links = program
    .command('share-links')
    .description('Share reports and bills by links that work without an account, and revoke them')
    .addHelpText(
      'after',
      examples(
        'tally share-links create report --user ada@example.com --period last_month --by model',
        'tally share-links list',
      ),
    )
  addShareLinksCreateCommands(links)

  links
    .command('list')
    .description('List share links, newest first')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally share-links list', 'tally share-links list --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags>()
      const listed = await withServices(flags, ({ shareLinks }, self) => shareLinks.everyShareLink(self))
      if (flags.json) return printJsonList(listed)
      if (listed.length === 0) return print('No share links. Create one with `tally share-links create`.')
      printTable(
        [
          { title: 'SHOWS', of: subjectText },
          { title: 'MONEY', rank: 1, of: ({ money }) => money },
          { title: 'PERSON', of: ({ created_by }) => created_by.name },
          { title: 'STATE', of: ({ state }) => state },
          { title: 'USES', of: ({ uses }) => String(uses), align: 'right' },
          { title: 'LAST USED (UTC)', rank: 1, of: ({ last_used_at }) => minute(last_used_at) },
          { title: 'EXPIRES (UTC)', rank: 1, of: ({ expires_at }) => minute(expires_at) },
          { title: 'NOTE', rank: 2, of: ({ note }) => note ?? '' },
          { title: 'ID', of: ({ id }) => id },
        ],
        listed,
        flags,
      )
    })

  asksFirst(links.command('revoke'))
    .description('Revoke a share link permanently; a running server refuses it at once')
    .argument('<id>', 'id of the share link (shr_…), see `tally share-links list`')
    .option('--json', 'print the share link as JSON')
    .addHelpText('after', examples('tally share-links revoke shr_01a1fa172a0277f3983322718874f2ea --yes'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
      const body = await withServices(flags, async ({ shareLinks }, self) => {
        await confirm(`Permanently revoke the share link ${id}?`, flags)
        return shareLinks.revokeShareLink(id, self)
      })
      if (flags.json) return printJson(body)
      print(`The link to ${subjectText(body)} is revoked.`)
    })
}

function subjectText({ bill, report }: ShareLinkBody): string {
  if (bill) return `bill ${bill.number}`
  const { period, starting_at, ending_at } = report ?? {}
  return `usage ${period ?? `from ${starting_at} to before ${ending_at}`}`
}
