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
    .option('--no-browser', 'print the sign-in link instead of opening it')
    .option('-y, --yes', 'connect the agents without asking; with --join, move the sessions without asking')
    .option('--service', 'start the server at each login, with a systemd user unit or a launchd agent')
    .option('--join <url>', 'report these sessions to a team’s server, with a service token, after a preview')
    .option('--no-names', 'with --join, do not name projects and tickets: the team’s rules assign the sessions')
    .option('--stop', 'stop the server and remove its service; the data stays')
    .addHelpText(
      'after',
      [
        '\nThe server listens on 127.0.0.1 only. Its data is in tally/up/data in your state folder (XDG_STATE_HOME); other',
        'commands use it with --data. All variables of Tally except TALLY_URL and TALLY_TOKEN are ignored.\n',
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
        throw new CommandError('`tally up` has its own database. To serve another one: tally serve', EXIT_USAGE)
      }
      const { runUp } = await import('./up.ts')
      await runUp(command.opts<UpFlags>())
    })
}
