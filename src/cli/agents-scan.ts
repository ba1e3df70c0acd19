/** `tally agents scan`: what the agents of this machine used, from their own session files, shown or reported. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { AGENT_NAMES, type AgentName, type SessionUse } from '../agents/agent.ts'
import { READERS } from '../agents/readers/all.ts'
import { type ReportOptions, reportOf } from '../agents/report.ts'
import { type Outcome, reportUses } from '../agents/reporting.ts'
import { scanAll } from '../agents/scan.ts'
import { readAgentsEnvironment } from '../config.ts'
import { createListValue } from '../features/prices/list-value.ts'
import { parseDuration, parseMoment } from '../lib/duration.ts'
import { moneyNumber, NANO_DIGITS, type Nanos, parseDecimal } from '../lib/money.ts'
import { type Priced, tellDamage, tellRefused, tellUses } from './agents-scan-text.ts'
import { agentsServer, type ServerFlags } from './agents-server.ts'
import { CommandError } from './failures.ts'
import { examples, optionOf } from './options.ts'
import { note, print, printJson } from './print.ts'
import { Progress } from './progress.ts'
import { collectLabel } from './report-entry.ts'
import { counted } from './report-text.ts'

interface ScanFlags extends ServerFlags {
  agent?: AgentName[]
  since?: number
  report?: boolean
  dryRun?: boolean
  withTitles?: boolean
  all?: boolean
  json?: boolean
  agentName?: string
  project?: string
  ticket?: string
  label?: Record<string, string>
}

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
      const flags = command.optsWithGlobals<ScanFlags>()
      // Before the work, so that a token that is missing is missed at once.
      const target = flags.report && !flags.dryRun ? agentsServer(flags) : undefined
      const environment = readAgentsEnvironment()
      const names = flags.agent ?? AGENT_NAMES
      const scan = scanned(flags, names)
      if (!flags.json) {
        tellUses(scan, { withTitles: flags.withTitles ?? false, all: flags.all ?? false })
        tellDamage(scan.damage)
        if (scan.uses.length === 0) {
          const folders = names.flatMap((name) => READERS[name].folders(environment))
          note(`Looked in ${folders.join(', ')}.`)
        }
      }
      const outcome = target && (await reported(target.server, scan.uses, flags))
      if (flags.json) printJson(jsonOf(scan, outcome, flags))
      else if (outcome) tellOutcome(outcome, target!.server.url)
      else if (scan.uses.length > 0) note('Nothing was sent. --report reports them.')
      if (outcome) failWhereLeft(outcome)
    })
}

export interface PricedScan {
  uses: Priced[]
  damage: ReturnType<typeof scanAll>['damage']
  files: number
  bytes: number
}

function scanned(flags: ScanFlags, agents: readonly AgentName[]): PricedScan {
  const progress = new Progress('Reading')
  const scan = scanAll({
    environment: readAgentsEnvironment(),
    agents,
    ...(flags.since === undefined ? {} : { since: flags.since }),
    withTitles: flags.withTitles ?? false,
    onProgress: (done, total) => progress.show(Math.round(done / 1e6), Math.round(total / 1e6)),
  })
  progress.end()
  const costOf = createCost()
  return { ...scan, uses: scan.uses.map((use) => ({ ...use, costNanos: costOf(use) })) }
}

function createCost(): (use: SessionUse) => Nanos | undefined {
  const listValue = createListValue()
  return ({ model, provider, startedAt, tokens, requests, reportedCost }) => {
    if (reportedCost !== null) return parseDecimal(reportedCost, NANO_DIGITS)
    const counts = (kinds: typeof tokens.over_200k & object) => ({
      input: kinds.input,
      output: kinds.output,
      cacheRead: kinds.cache_read,
      cacheWrite: kinds.cache_write,
      cacheWrite1h: kinds.cache_write_1h,
    })
    const over200k = tokens.over_200k ? counts(tokens.over_200k) : null
    return listValue({ model, provider, startedAt: Date.parse(startedAt), counts: counts(tokens), over200k, requests })
  }
}

function reportOptions({ withTitles, agentName, project, ticket, label }: ScanFlags): ReportOptions {
  return {
    withTitles: withTitles ?? false,
    ...(agentName === undefined ? {} : { agentName }),
    ...(project === undefined ? {} : { project }),
    ...(ticket === undefined ? {} : { ticket }),
    ...(label === undefined ? {} : { labels: label }),
  }
}

async function reported(
  server: ReturnType<typeof agentsServer>['server'],
  uses: readonly SessionUse[],
  flags: ScanFlags,
): Promise<Outcome> {
  const progress = new Progress('Reporting')
  try {
    return await reportUses(server, uses, {
      ...reportOptions(flags),
      onProgress: (done, total) => progress.show(done, total),
      onPause: (reason, pauseMs) => note(`tally: ${reason} Trying again in ${pauseMs / 1_000} s.`),
    })
  } finally {
    progress.end()
  }
}

function tellOutcome({ created, updated, repeated, refused, left }: Outcome, url: string): void {
  const parts = [`${created} new`, `${updated} brought up to date`, `${repeated} known already`]
  if (refused.length > 0) parts.push(`${refused.length} refused`)
  if (left > 0) parts.push(`${left} not sent`)
  print(`\nReported to ${url}: ${parts.join(', ')}.`)
  tellRefused(refused)
}

function failWhereLeft({ refused, fault, left }: Outcome): void {
  if (fault) {
    const what = `${counted(left, 'entry', 'entries')} were not sent; the same command sends them, and nothing twice.`
    throw new CommandError(`${fault.message}\n${what}`)
  }
  if (refused.length > 0) throw new CommandError(`The server refused ${counted(refused.length, 'entry', 'entries')}.`)
}

function jsonOf({ uses, damage, files, bytes }: PricedScan, outcome: Outcome | undefined, flags: ScanFlags): object {
  const options = reportOptions(flags)
  return {
    data: uses.map((use) => ({
      report: reportOf(use, options),
      cost: use.costNanos === undefined ? null : moneyNumber(use.costNanos),
      cost_basis: use.costNanos === undefined ? null : use.reportedCost === null ? 'list_value' : 'agent',
      folder: use.folder,
      file: use.file,
    })),
    damage,
    files,
    bytes,
    cost: moneyNumber(sumOf(uses)),
    unpriced: uses.filter(({ costNanos }) => costNanos === undefined).length,
    reported: outcome
      ? {
          created: outcome.created,
          updated: outcome.updated,
          repeated: outcome.repeated,
          refused: outcome.refused.map(({ use, refusal }) => ({
            agent_harness: use.agentHarness,
            session_id: use.sessionId,
            model: use.model,
            problem: refusal,
          })),
          left: outcome.left,
        }
      : null,
  }
}

function sumOf(uses: readonly Priced[]): Nanos {
  return uses.reduce((sum, { costNanos }) => sum + (costNanos ?? 0n), 0n)
}
