import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { hintText, TOKEN } from './token.ts'

export function addTokensRevokeCommand(tokens: Command): void {
  tokens
    .command('revoke')
    .description('Revoke a token permanently; a running server refuses it from the next request')
    .argument('<id>', TOKEN)
    .option('--json', 'print the token as JSON')
    .addHelpText('after', examples('tally tokens revoke tok_01a1fa172a0277f3983322718874f2ef'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { EVERYBODYS_TOKENS } = await import('../../features/people/service.ts')
      const token = await withServices(flags, ({ people }, { by }) => people.revokeToken(EVERYBODYS_TOKENS, id, by))
      const { tokenBody } = await import('../../features/people/schema.ts')
      const body = tokenBody(token, 'revoked')
      if (flags.json) return printJson(body)
      print(`The token '${body.name}' (${hintText(body)}) of ${body.user.name} is revoked.`)
    })
}
