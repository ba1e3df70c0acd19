import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { minute, print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { hintText, KIND_NAMES, TOKEN } from './token.ts'

export function addTokensShowCommand(tokens: Command): void {
  tokens
    .command('show')
    .description('Show one token: its kind, owner and last use')
    .argument('<id>', TOKEN)
    .option('--json', 'print the token as JSON')
    .addHelpText('after', examples('tally tokens show tok_01a1fa172a0277f3983322718874f2ef'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { EVERYBODYS_TOKENS } = await import('../../features/people/service.ts')
      const listed = await withServices(flags, ({ people }) => people.getToken(EVERYBODYS_TOKENS, id))
      const { listedTokenBody } = await import('../../features/people/schema.ts')
      const body = listedTokenBody(listed)
      if (flags.json) return printJson(body)
      print(
        `'${body.name}' (${hintText(body)}), ${/^[aeiou]/i.test(KIND_NAMES[body.kind]) ? 'an' : 'a'} ${KIND_NAMES[body.kind]} token of ${body.user.name} (${body.user.email})`,
      )
      print(`state      ${body.state}${body.allow_bills ? ', may send bills' : ''}`)
      if (body.scopes) print(`scopes     ${body.scopes.join(', ')}`)
      if (body.networks) print(`networks   ${body.networks.join(', ')}`)
      print(`created    ${minute(body.created_at)} UTC`)
      print(`last used  ${body.last_used_at === null ? 'never' : `${minute(body.last_used_at)} UTC`}`)
      print(`expires    ${body.expires_at === null ? 'never' : `${minute(body.expires_at)} UTC`}`)
      if (body.revoked_at !== null) print(`revoked    ${minute(body.revoked_at)} UTC`)
    })
}
