import type { Command } from 'commander'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { hintText, TOKEN } from './token.ts'

export function addTokensRevokeCommand(tokens: Command): void {
  asksFirst(tokens.command('revoke'))
    .description('Revoke a token permanently; a running server refuses it from the next request')
    .argument('<id>', TOKEN)
    .option('--json', 'print the token as JSON')
    .addHelpText('after', examples('tally tokens revoke tok_01a1fa172a0277f3983322718874f2ef --yes'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
      const { EVERYBODYS_TOKENS } = await import('../../features/people/service.ts')
      const { listedTokenBody, tokenBody } = await import('../../features/people/schema.ts')
      const token = await withServices(flags, async ({ people }, { by }) => {
        const { name, user, kind, hint } = listedTokenBody(await people.getToken(EVERYBODYS_TOKENS, id))
        await confirm(`Permanently revoke the token '${name}' (${hintText({ kind, hint })}) of ${user.name}?`, flags)
        return people.revokeToken(EVERYBODYS_TOKENS, id, by)
      })
      const body = tokenBody(token, 'revoked')
      if (flags.json) return printJson(body)
      print(`The token '${body.name}' (${hintText(body)}) of ${body.user.name} is revoked.`)
    })
}
