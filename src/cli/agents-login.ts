import type { Command } from 'commander'
import { credentialsPath, removeCredentials, storeCredentials } from '../agents/credentials.ts'
import { readMe } from '../agents/server.ts'
import { type ClientConfig, readAgentsEnvironment, readAgentsServer, readClientConfigOf } from '../config.ts'
import type { Me } from '../features/people/schema.ts'
import { withServerIssues } from './agents-server.ts'
import { CommandError } from './failures.ts'
import { examples, optionOf } from './options.ts'
import { askSecretly, pipedSecret } from './password.ts'
import { note, print } from './print.ts'

interface LoginFlags {
  url?: string
  tokenStdin?: boolean
}

const KINDS: Record<Exclude<Me['kind'], 'service'>, string> = {
  read: 'a read token, which may not report',
  organization: 'an organization token, which is for telemetry',
  session: 'no token',
}

export function addLoginCommands(agents: Command): void {
  agents
    .command('login')
    .description(
      'Check a service token and store it with the address of its server, for the commands and hooks of agents; TALLY_URL and TALLY_TOKEN go before it',
    )
    .addOption(optionOf('url'))
    .option('--token-stdin', 'read the token from standard input instead of asking for it')
    .addHelpText(
      'after',
      examples(
        'tally agents login --url http://tally.lan:4747',
        'tally agents login --url http://tally.lan:4747 --token-stdin < token.txt',
      ),
    )
    .action(async (_flags, command: Command) => {
      const { url, tokenStdin = false } = command.optsWithGlobals<LoginFlags>()
      const token = await readToken(tokenStdin)
      const server = readClientConfigOf(token, { url })
      const me = await withServerIssues(() => readMe(server))
      if (me.kind !== 'service') {
        throw new CommandError(
          `This is ${KINDS[me.kind]}: \`tally tokens create --kind svc --user ${me.person.email} --name agents\` on the server makes one that may.`,
        )
      }
      const path = storeCredentials(readAgentsEnvironment(), server)
      print(`What agents use here is reported to ${server.url} for ${me.person.name} (${me.person.email}).`)
      print(`The token is in ${path}, for you alone to read.`)
      tellOverridden(server)
    })

  agents
    .command('logout')
    .description('Remove what `tally agents login` stored; the token itself goes on until it is revoked')
    .addHelpText('after', examples('tally agents logout'))
    .action(() => {
      const environment = readAgentsEnvironment()
      if (!removeCredentials(environment)) return print('Nothing is stored.')
      print(`Removed ${credentialsPath(environment)}. \`tally tokens revoke\` on the server ends the token.`)
    })
}

async function readToken(fromStdin: boolean): Promise<string> {
  const token = fromStdin
    ? await pipedSecret()
    : process.stdin.isTTY
      ? await askSecretly((ask) => ask('Service token: '), 'No token was given. Nothing was stored.')
      : undefined
  if (token === undefined) {
    throw new CommandError('There is no terminal to ask for the token: pipe it in and add --token-stdin.', 2)
  }
  if (token.trim() === '') throw new CommandError('No token was given. Nothing was stored.', 2)
  return token.trim()
}

/** What was just stored has no effect where the environment says otherwise. */
function tellOverridden(stored: ClientConfig): void {
  const inForce = readAgentsServer({}, stored)
  if (inForce.url !== stored.url) note(`In this shell TALLY_URL is ${inForce.url}, which goes before it.`)
  else if (inForce.token !== stored.token) note('In this shell TALLY_TOKEN is another token, which goes before it.')
}
