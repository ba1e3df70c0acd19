import type { Command } from 'commander'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { examples } from '../flags/options.ts'
import type { DatabaseFlags } from '../with-services.ts'
import type { UpFlags } from './up.ts'

export function addUpCommand(program: Command): void {
  program
    .command('up')
    .description(
      'Start a private server on this machine, import the sessions of its agents, connect them, and open the browser signed in',
    )
    .summary('Start a private server on this machine, with the sessions of its agents')
    .option('--port <number>', 'port to listen on (default 4747, or else a free one, which is remembered)')
    .option('--no-browser', 'print the link that signs in instead of opening it')
    .option('-y, --yes', 'connect the agents without asking; with --join, move the sessions without asking')
    .option('--service', 'have the system start the server at each login: a systemd user unit or a launchd agent')
    .option('--join <url>', 'report what this server has to the one of a team, with a service token, after a preview')
    .option('--no-names', 'with --join, do not name projects and tickets: rules of the team place the sessions')
    .option('--stop', 'stop the server and remove its service; the data stays')
    .addHelpText(
      'after',
      [
        '\nIt listens on 127.0.0.1 only. Its data is in the folder tally/up of your state folder (XDG_STATE_HOME), which is',
        'what --data names for other commands. Every variable of Tally but TALLY_URL and TALLY_TOKEN is ignored.\n',
      ].join('\n') +
        examples(
          'tally up',
          'tally up --no-browser --yes',
          'tally up --service',
          'tally up --join https://tally.example.com',
          'tally up --stop',
        ),
    )
    .action(async (_flags, command: Command) => {
      const { data, databaseUrl, databaseUrlFile } = command.optsWithGlobals<DatabaseFlags>()
      if (data ?? databaseUrl ?? databaseUrlFile) {
        throw new CommandError('tally up has a database of its own. To serve another one: tally serve', EXIT_USAGE)
      }
      const { runUp } = await import('./up.ts')
      await runUp(command.opts<UpFlags>())
    })
}
