import type { Command } from 'commander'
import { type Config, examineConfig, exposedSecrets, type OptionName } from '../config.ts'
import { textOf } from '../lib/response-text.ts'
import { serverUrl } from './address.ts'
import { checkBackups } from './doctor-backups.ts'
import {
  attempt,
  checkAgents,
  checkClock,
  checkErasures,
  checkFiles,
  checkMail,
  checkOptions,
  checkPeople,
  checkPrices,
  checkQueue,
  checkRecordedTimes,
  checkSecrets,
  checkServer,
  checkTotals,
  type Finding,
  ok,
  warning,
} from './doctor-checks.ts'
import { CommandError } from './failures.ts'
import { examples, optionOf } from './flags/options.ts'
import { CHECK_DEADLINE_MS } from './integrity.ts'
import { counted } from './terminal/numbers.ts'
import { print, printJson } from './terminal/print.ts'
import { type CommandFlags, withServices } from './with-services.ts'

interface DoctorFlags extends CommandFlags {
  fix?: boolean
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Check configuration, files, disk, clock, server, mail and backups, and suggest fixes')
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .addOption(optionOf('publicUrl'))
    .addOption(optionOf('trustedProxies'))
    .addOption(optionOf('smtpUrl'))
    .addOption(optionOf('smtpUrlFile'))
    .addOption(optionOf('smtpFrom'))
    .addOption(optionOf('backupEvery'))
    .addOption(optionOf('backupDir'))
    .addOption(optionOf('backupS3'))
    .addOption(optionOf('backupRecipients'))
    .addOption(optionOf('backupVerifyEvery'))
    .addOption(optionOf('identity'))
    .addOption(optionOf('pricesFrom'))
    .addOption(optionOf('pricesEvery'))
    .option('--fix', 'make the files of the database readable by their owner only')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Run it as the server's user, with the server's options or variables. Exit code 1 if it finds an error. Checks that need
the database are left out if it cannot be opened.
${examples('tally doctor', 'sudo -u tally tally doctor --env-file /etc/tally.env')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<DoctorFlags>()
      const findings = await examine(flags)
      if (flags.json) printJson({ findings })
      else for (const finding of findings) print(lineOf(finding))
      const errors = findings.filter(({ level }) => level === 'error').length
      if (errors > 0) throw new CommandError(`Found ${counted(errors, 'error')}.`)
    })
}

async function examine(flags: DoctorFlags): Promise<Finding[]> {
  const { config, issues } = examineConfig(flags as Partial<Record<OptionName, string>>)
  const now = Date.now()
  const files = await checkFiles(config, { fix: flags.fix ?? false, issues })
  // Without its files there is no database to query.
  const isOpened = !files.some(({ what, level }) => level === 'error' && ['database', 'files'].includes(what))
  const inside = isOpened ? await examineDatabase(flags, config, now) : undefined
  return [
    ...checkOptions(issues),
    ...files,
    ...checkSecrets(exposedSecrets(flags as Partial<Record<OptionName, string>>)),
    await checkClock(now),
    ...(await attempt('backups', () => checkBackups(config, now))),
    ...(await checkServer(config, inside?.publicUrl)),
    ...(await checkJobs(config)),
    await checkMail(config),
    ...(inside?.findings ?? []),
  ]
}

interface Inside {
  /** The setting; undefined if it cannot be read. */
  publicUrl?: string | null
  findings: Finding[]
}

/** Each check by itself: where a file is damaged, only those fail that read that part of it. */
async function examineDatabase(flags: DoctorFlags, config: Config, now: number): Promise<Inside> {
  const inside: Inside = { findings: [] }
  const findings = await attempt('database', () =>
    withServices(
      flags,
      async (services) => {
        const checks: (() => Promise<Finding[]>)[] = [
          async () => {
            inside.publicUrl = (await services.organization.settings()).publicUrl
            return []
          },
          async () => [await checkPeople(services)],
          () => checkRecordedTimes(services, now),
          async () => (config.mail ? [await checkQueue(services)] : []),
          async () => [await checkPrices(services, now)],
          async () => [await checkTotals(services)],
          async () => [await checkErasures(services)],
          () => checkAgents(services),
        ]
        const found: Finding[] = []
        for (const check of checks) found.push(...(await attempt('database', check)))
        return found
      },
      { config, slowDeadlineMs: CHECK_DEADLINE_MS },
    ),
  )
  // Several checks may fail for the same reason.
  inside.findings = [...new Map(findings.map((finding) => [`${finding.what} ${finding.message}`, finding])).values()]
  return inside
}

const MARKS = { ok: 'ok     ', warning: 'WARNING', error: 'ERROR  ' }

function lineOf({ what, level, message, advice }: Finding): string {
  const line = `${MARKS[level]}  ${what.padEnd(14)}  ${message}`
  return advice === null ? line : `${line}\n${' '.repeat(25)}${advice}`
}

/** The check of `tally doctor` of what the running server does by itself: only that process knows. */
const TIMEOUT_MS = 5_000

/** Metrics of all routes of Tally are a tenth of this. */
const RESPONSE_BYTES = 4_194_304

/** A failed run is retried within a minute, so a disturbance is over before this many. */
const FAILED_RUNS = 3

/** Nothing if no Tally answers, or not to this machine: whether the server runs is another check. */
async function checkJobs(config: Config): Promise<Finding[]> {
  const metrics = await metricsOf(await serverUrl(config)).catch(() => '')
  if (metrics === undefined) {
    return [warning('jobs', 'the server cannot say how its jobs do', 'Look for /metrics in the server’s log.')]
  }
  const named = (metric: string, least: number) =>
    [...metrics.matchAll(new RegExp(`^${metric}\\{name="([^"]+)"\\} (\\S+)$`, 'gm'))]
      .filter(([, , value]) => Number(value) >= least)
      .map(([, name]) => name!)
  const jobs = named('tally_job_running', 0)
  if (jobs.length === 0) return []
  const failing = named('tally_job_consecutive_failures', FAILED_RUNS)
  const late = named('tally_job_late', 1).filter((name) => !failing.includes(name))
  if (failing.length + late.length === 0) return [ok('jobs', `all ${counted(jobs.length, 'job')} of the server work`)]
  return [
    ...failing.map((name) =>
      warning('jobs', `${name} fails again and again`, `Look for "job":"${name}" in the server’s log.`),
    ),
    ...late.map((name) =>
      warning('jobs', `${name} is late or does not finish`, 'If it is still late in an hour, restart the server.'),
    ),
  ]
}

/** Undefined if the server fails to say. */
async function metricsOf(url: string): Promise<string | undefined> {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (response.status >= 500) return undefined
  return response.ok ? textOf(response, RESPONSE_BYTES) : ''
}
