import type { Command } from 'commander'
import { exposedSecrets, type OptionName, readConfig } from '../config.ts'
import { checkBackups } from './doctor-backups.ts'
import {
  checkClock,
  checkErasures,
  checkFiles,
  checkMail,
  checkPeople,
  checkPrices,
  checkSecrets,
  checkServer,
  checkTotals,
  type Finding,
} from './doctor-checks.ts'
import { CommandError } from './failures.ts'
import { examples, optionOf } from './flags/options.ts'
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
Run it as the server's user, with the server's options or variables. Exit code 1 if it finds an error.
${examples('tally doctor', 'sudo -u tally env $(cat /etc/tally.env) tally doctor')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<DoctorFlags>()
      const findings = await examine(flags)
      if (flags.json) printJson({ findings })
      else for (const finding of findings) print(lineOf(finding))
      const errors = findings.filter(({ level }) => level === 'error').length
      if (errors > 0) throw new CommandError(`Found ${errors === 1 ? '1 error' : `${errors} errors`}.`)
    })
}

async function examine(flags: DoctorFlags): Promise<Finding[]> {
  const config = readConfig(flags as Partial<Record<OptionName, string>>)
  const now = Date.now()
  const files = [
    ...(await checkFiles(config, { fix: flags.fix ?? false })),
    ...checkSecrets(exposedSecrets(flags as Partial<Record<OptionName, string>>)),
  ]
  const rest = [await checkClock(now), ...(await checkBackups(config, now))]
  // Without its files there is no database to query.
  if (files.some(({ level }) => level === 'error'))
    return [...files, ...rest, ...(await checkServer(config, undefined))]
  const inside = await withServices(flags, async (services) => [
    ...(await checkServer(config, (await services.organization.settings()).publicUrl)),
    await checkPeople(services),
    await checkMail(config, services),
    await checkPrices(services, now),
    await checkTotals(services),
    await checkErasures(services),
  ])
  return [...files, ...rest, ...inside]
}

const MARKS = { ok: 'ok     ', warning: 'WARNING', error: 'ERROR  ' }

function lineOf({ what, level, message, advice }: Finding): string {
  const line = `${MARKS[level]}  ${what.padEnd(14)}  ${message}`
  return advice === null ? line : `${line}\n${' '.repeat(25)}${advice}`
}
