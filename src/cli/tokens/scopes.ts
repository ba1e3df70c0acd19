import type { Command } from 'commander'
import { rolesOfScope, SCOPE_NAMES, SCOPES } from '../../token-scopes.ts'
import { examples } from '../flags/options.ts'
import { printJsonList, printTable } from '../terminal/print.ts'

export function addTokensScopesCommand(tokens: Command): void {
  tokens
    .command('scopes')
    .description('List the scopes of API tokens; any scope of an area includes its read')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally tokens scopes'))
    .action(({ json }: { json?: boolean }) => {
      const scopes = SCOPE_NAMES.map((scope) => ({
        scope,
        description: SCOPES[scope].description,
        roles: rolesOfScope(scope) ?? null,
      }))
      if (json) return printJsonList(scopes)
      printTable(
        [
          { title: 'SCOPE', of: ({ scope }) => scope },
          { title: 'ROLES', of: ({ roles }) => roles?.join(', ') ?? 'all' },
          { title: 'DESCRIPTION', of: ({ description }) => description },
        ],
        scopes,
      )
    })
}
