/** The command line: every command on one screen. */
import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { addAgentsCommands } from './agents/group.ts'
import { addApprovalsCommand } from './approvals.ts'
import { addAuditCommand } from './audit.ts'
import { addBackupCommand } from './backup.ts'
import { addBillsCommands } from './bills/group.ts'
import { addClientsCommands } from './clients/group.ts'
import { addCompactCommand } from './compact.ts'
import { addDemoCommand } from './demo.ts'
import { addDeputiesCommands } from './deputies/group.ts'
import { addDoctorCommand } from './doctor.ts'
import { addEntriesCommands } from './entries/group.ts'
import { EXIT_DONE, printFailure } from './failures.ts'
import { examples, optionOf } from './flags/options.ts'
import { addLicensesCommand } from './licenses.ts'
import { addOpenapiCommand } from './openapi.ts'
import { addPricesCommands } from './prices/group.ts'
import { addProjectsCommands } from './projects/group.ts'
import { addReadyCommand } from './ready.ts'
import { addReportsCommands } from './reports/group.ts'
import { addRestoreCommand } from './restore.ts'
import { addRetentionCommands } from './retention/group.ts'
import { addRulesCommands } from './rules/group.ts'
import { addServeCommand } from './serve.ts'
import { addSettingsCommands } from './settings/group.ts'
import { addShareLinksCommands } from './share-links/group.ts'
import { addSheetsCommands } from './sheets/group.ts'
import { addSqlCommand } from './sql.ts'
import { addTelemetryCommands } from './telemetry/group.ts'
import { addTicketsCommands } from './tickets/group.ts'
import { addTokensCommands } from './tokens/group.ts'
import { addExportCommand } from './transfer/export.ts'
import { addImportCommand } from './transfer/import.ts'
import { addUnattributedCommand } from './unattributed.ts'
import { addUsageCommand } from './usage.ts'
import { addUsersCommands } from './users/group.ts'
import { addVerifyCommand } from './verify.ts'
import { addVersionCommand } from './version.ts'

export function createProgram(): Command {
  const program = new Command('tally')
    .description('Records what AI agents use, shows it, and bills for it.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help and examples')
    .addOption(optionOf('data'))
    .addOption(optionOf('databaseUrl'))
    .addOption(optionOf('databaseUrlFile'))
    .addOption(optionOf('as'))
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'tally: ')) })
    .showHelpAfterError('(run with --help for usage and examples)')
    .exitOverride()
    .addHelpText(
      'after',
      examples(
        'tally serve',
        'tally users add --email ada@example.com --name Ada --role admin',
        'tally tokens create --kind svc --user ada@example.com --name ci',
      ),
    )
  addServeCommand(program)
  addDemoCommand(program)
  addUsersCommands(program)
  addTokensCommands(program)
  addDeputiesCommands(program)
  addShareLinksCommands(program)
  addSettingsCommands(program)
  addAuditCommand(program)
  addEntriesCommands(program)
  addUnattributedCommand(program)
  addSheetsCommands(program)
  addApprovalsCommand(program)
  addClientsCommands(program)
  addProjectsCommands(program)
  addTicketsCommands(program)
  addRulesCommands(program)
  addPricesCommands(program)
  addBillsCommands(program)
  addUsageCommand(program)
  addReportsCommands(program)
  addOpenapiCommand(program)
  addAgentsCommands(program)
  addTelemetryCommands(program)
  addBackupCommand(program)
  addRestoreCommand(program)
  addCompactCommand(program)
  addRetentionCommands(program)
  addExportCommand(program)
  addImportCommand(program)
  addVerifyCommand(program)
  addDoctorCommand(program)
  addReadyCommand(program)
  addSqlCommand(program)
  addVersionCommand(program)
  addLicensesCommand(program)
  return program
}

/** Runs one command line and returns its exit code: 0 success, 1 refused or failed, 2 usage error. */
export async function run(args: string[]): Promise<number> {
  let called: Command | undefined
  try {
    const program = createProgram().hook('preAction', (_program, command) => {
      called = command
    })
    await program.parseAsync(args, { from: 'user' })
    return EXIT_DONE
  } catch (error) {
    return printFailure(error, called)
  }
}
