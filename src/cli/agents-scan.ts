/** `tally agents scan`: what the agents of this machine used, from their own session files, shown or reported. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { AGENT_NAMES } from '../agents/agent.ts'
import { parseDuration, parseMoment } from '../lib/duration.ts'
import type { ScanFlags } from './agents-scanning.ts'
import { examples, optionOf } from './options.ts'
import { collectLabel } from './report-entry.ts'

function parseSince(text: string): number {
  const durationMs = parseDuration(text)
  const moment = durationMs === undefined ? parseMoment(text) : Date.now() - durationMs
  if (moment === undefined) throw new InvalidArgumentError('Use a date such as 2026-11-01, or how long ago: 12h, 30d.')
  return moment
}

export function addScanCommand(agents: Command): void {
  agents
    .command('scan')
    .description('Find what agents used in their own session files, show it, and with --report send it to a server')
    .addOption(new Option('--agent <names...>', 'only these agents').choices(AGENT_NAMES))
    .option(
      '--since <when>',
      'only sessions that went on after a date (UTC), a timestamp, or a duration ago such as 30d; each as a whole',
      parseSince,
    )
    .option('--report', 'report them; what was reported before is brought up to date, never counted twice')
    .option('--dry-run', 'only show them, which is what happens without --report as well')
    .option('--with-titles', 'show and send what sessions are called, which is made of what was asked in them')
    .option('--project <name>', 'project they are placed on, made on first mention (default: as rules place them)')
    .option('--ticket <key>', 'ticket they are placed on, made on first mention')
    .option('--label <name=value>', 'label beside repository and branch, repeatable', collectLabel)
    .option('--agent-name <name>', 'name of the agent in entries (default: that of the harness)')
    .addOption(optionOf('url'))
    .addOption(optionOf('token'))
    .addOption(optionOf('tokenFile'))
    .option('--all', 'list every session, not only the latest')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      [
        '\nCosts are what the agent noted, else list values of the prices that Tally brings along;',
        'a server values what is reported at its own prices. Nothing that was said in a session is',
        'sent or kept, unless --with-titles asks for titles.\n',
      ].join('\n') +
        examples(
          'tally agents scan',
          'tally agents scan --agent claude-code codex --since 30d',
          'tally agents scan --since 2026-11-01 --report',
          'TALLY_URL=http://tally.lan:4747 TALLY_TOKEN=tally_svc_… tally agents scan --report --label team=web',
        ),
    )
    .action(async (_flags, command: Command) => {
      // Loaded here and not above: other commands of this machine, hooks among them, are to start at once.
      const { runScan } = await import('./agents-scanning.ts')
      await runScan(command.optsWithGlobals<ScanFlags>())
    })
}
