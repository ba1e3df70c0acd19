import type { Command } from 'commander'
import { userBody } from '../../features/people/schema.ts'
import { examples } from '../flags/options.ts'
import { minute, print, printJson } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { withServices } from '../with-services.ts'
import { stateOf, USER } from './user.ts'

export function addUsersShowCommand(users: Command): void {
  users
    .command('show')
    .description('Show one person')
    .argument('<user>', USER)
    .option('--json', 'print the person as JSON')
    .addHelpText('after', examples('tally users show grace@example.com'))
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { user, slowdown } = await withServices(flags, async ({ people }) => {
        const user = await people.getUser(who)
        return { user, slowdown: await people.findSlowdown(user) }
      })
      const body = userBody(user)
      if (flags.json) return printJson(body)
      const at = (moment: string | null) => (moment === null ? 'never' : `${minute(moment)} UTC`)
      print(`${body.name} (${body.email}): ${body.id}`)
      print(`role       ${body.role}`)
      print(`state      ${stateOf(body)}`)
      print(`password   ${body.has_password ? 'set' : `not set; run tally users invite ${body.email}`}`)
      print(`added      ${at(body.created_at)}`)
      print(`signed in  ${at(body.last_signed_in_at)}`)
      if (slowdown) {
        const since = at(new Date(slowdown.since).toISOString())
        print(`locked     sign-in delayed after wrong passwords since ${since}; run tally users unlock ${body.email}`)
      }
    })
}
