import type { Command } from 'commander'
import { listShareLinks, revokeShareLink } from '../../features/share-links/operations/share-links.ts'
import type { ShareLinkBody } from '../../features/share-links/schema.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { minute } from '../terminal/print.ts'
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

  addListing(links, listShareLinks, {
    description: 'List share links, newest first',
    examples: ['tally share-links list', 'tally share-links list --json'],
    columns: [
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
    howToAdd: 'Create one with `tally share-links create`.',
  })
  addAction(links, revokeShareLink, {
    name: 'revoke',
    description: 'Revoke a share link permanently; a running server refuses it at once',
    subject: 'id',
    examples: ['tally share-links revoke shr_01a1fa172a0277f3983322718874f2ea --yes'],
    confirm: (id) => `Permanently revoke the share link ${id}?`,
    show: (link) => `The link to ${subjectText(link)} is revoked.`,
  })
}

function subjectText({ bill, report, title }: ShareLinkBody): string {
  if (bill) return `bill ${bill.number}`
  const { period, starting_at, ending_at } = report ?? {}
  return `${title ?? 'usage'}, ${period ?? `from ${starting_at} to before ${ending_at}`}`
}
