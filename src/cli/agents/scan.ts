/** `tally agents scan`: shows or reports the usage of this machine's agents, read from their session files. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { AGENT_NAMES } from '../../agents/agent.ts'
import { parseDuration, parseMoment } from '../../lib/duration.ts'
import { collectLabel } from '../flags/entry.ts'
import { examples, optionOf } from '../flags/options.ts'
import type { ScanFlags } from './scan-run.ts'

export const agentOption = () => new Option('--agent <names...>', 'only these agents').choices(AGENT_NAMES)

export function parseSince(text: string): number {
  const durationMs = parseDuration(text)
  const moment = durationMs === undefined ? parseMoment(text, 'UTC') : Date.now() - durationMs
  if (moment === undefined)
    throw new InvalidArgumentError('Use a date such as 2026-11-01, or a duration such as 12h or 30d.')
  return moment
}

export function addAgentsScanCommand(agents: Command): void {
  agents
    .command('scan')
    .description('Read token usage from the session files of agents, show it, and with --report send it to a server')
    .addOption(agentOption())
    .option(
      '--since <when>',
      'only sessions that were active after a date (UTC), a timestamp or a duration ago such as 30d; each is counted as a whole',
      parseSince,
    )
    .option('--report', 'report the sessions; earlier reports are updated, never counted twice')
    .option('--dry-run', 'show what --report would create and change on the server, without saving anything')
    .option('--with-titles', 'show and send session titles, which contain parts of the prompts')
    .option('--project <name>', 'project for the entries, created if it is new (default: decided by placement rules)')
    .option('--ticket <key>', 'ticket for the entries, created if it is new')
    .option('--label <name=value>', 'label in addition to repository and branch, repeatable', collectLabel)
    .option('--agent-name <name>', 'name of the agent in entries (default: name of the harness)')
    .addOption(optionOf('url'))
    .addOption(optionOf('token'))
    .addOption(optionOf('tokenFile'))
    .option('--all', 'list all sessions, not only the latest')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      [
        '\nCosts are those recorded by the agent, or else list values at the prices built into Tally;',
        'a server values reports at its own prices. No content of sessions is sent or stored,',
        'except titles if you use --with-titles.',
        'Jobs of GitHub Actions and GitLab CI/CD need no stored token, but an ID token and a trust.',
        '\nExit code 4: a file or folder could not be read in full; everything else was shown and reported.\n',
      ].join('\n') +
        examples(
          'tally agents scan',
          'tally agents scan --agent claude-code codex --since 30d',
          'tally agents scan --dry-run',
          'tally agents scan --since 2026-11-01 --report',
          'TALLY_URL=http://tally.lan:4747 TALLY_TOKEN=tally_svc_… tally agents scan --report --label team=web',
        ),
    )
    .action(async (_flags, command: Command) => {
      // Loaded here and not above: other commands of this machine, hooks among them, are to start at once.
      const { runScan } = await import('./scan-run.ts')
      await runScan(command.optsWithGlobals<ScanFlags>())
    })
}
