/** The command line: every command. */
import { Command, Option } from 'commander'
import { VERSION } from '../embedded/version.ts'
import { subcommandTerm, withSubcommands } from './command-tree.ts'
import { EXIT_DONE, printFailure } from './failures.ts'
import { examples, optionOf } from './flags/options.ts'
import { suggestCommands } from './unknown-command.ts'

type CommandLoader = readonly [names: readonly string[], load: () => Promise<(program: Command) => void>]

/** Every command under its heading, in the order of the help and the manual: its names, and the import of what adds it. */
const COMMANDS: readonly (readonly [heading: string, commands: readonly CommandLoader[]])[] = [
  [
    'Usage and cost',
    [
      [['usage'], async () => (await import('./usage.ts')).addUsageCommand],
      [['receipt'], async () => (await import('./receipt/command.ts')).addReceiptCommand],
      [['reports'], async () => (await import('./reports/group.ts')).addReportsCommands],
      [['entries'], async () => (await import('./entries/group.ts')).addEntriesCommands],
      [['unattributed'], async () => (await import('./unattributed.ts')).addUnattributedCommand],
      [['search'], async () => (await import('./search.ts')).addSearchCommand],
    ],
  ],
  [
    'Projects and approval',
    [
      [['clients'], async () => (await import('./clients.ts')).addClientsCommands],
      [['projects'], async () => (await import('./projects.ts')).addProjectsCommands],
      [['tickets'], async () => (await import('./tickets.ts')).addTicketsCommands],
      [['rules'], async () => (await import('./rules/group.ts')).addRulesCommands],
      [['sheets'], async () => (await import('./sheets/group.ts')).addSheetsCommands],
      [['approvals'], async () => (await import('./approvals.ts')).addApprovalsCommand],
      [['deputies'], async () => (await import('./deputies/group.ts')).addDeputiesCommands],
    ],
  ],
  [
    'Prices, budgets and bills',
    [
      [['prices'], async () => (await import('./prices/group.ts')).addPricesCommands],
      [['budgets'], async () => (await import('./budgets/group.ts')).addBudgetsCommands],
      [['plans'], async () => (await import('./plans/group.ts')).addPlansCommands],
      [['bills'], async () => (await import('./bills/group.ts')).addBillsCommands],
    ],
  ],
  [
    'Agents and integrations',
    [
      [['agents'], async () => (await import('./agents/group.ts')).addAgentsCommands],
      [['ci'], async () => (await import('./ci.ts')).addCiCommands],
      [['telemetry'], async () => (await import('./telemetry/group.ts')).addTelemetryCommands],
      [['webhooks'], async () => (await import('./webhooks/group.ts')).addWebhooksCommands],
      [['events'], async () => (await import('./events/group.ts')).addEventsCommands],
      [['openapi'], async () => (await import('./openapi.ts')).addOpenapiCommand],
    ],
  ],
  [
    'People and access',
    [
      [['users', 'people'], async () => (await import('./users/group.ts')).addUsersCommands],
      [['tokens'], async () => (await import('./tokens.ts')).addTokensCommands],
      [['trusts'], async () => (await import('./trusts.ts')).addTrustsCommands],
      [['share-links'], async () => (await import('./share-links/group.ts')).addShareLinksCommands],
      [['audit'], async () => (await import('./audit.ts')).addAuditCommand],
    ],
  ],
  [
    'Server',
    [
      [['up'], async () => (await import('./up/command.ts')).addUpCommand],
      [['serve'], async () => (await import('./serve/command.ts')).addServeCommand],
      [['demo'], async () => (await import('./demo.ts')).addDemoCommand],
      [['settings'], async () => (await import('./settings/group.ts')).addSettingsCommands],
      [['ready'], async () => (await import('./ready.ts')).addReadyCommand],
      [['doctor'], async () => (await import('./doctor.ts')).addDoctorCommand],
      [['update'], async () => (await import('./update/command.ts')).addUpdateCommand],
    ],
  ],
  [
    'Database',
    [
      [['backup'], async () => (await import('./backup/group.ts')).addBackupCommands],
      [['restore'], async () => (await import('./restore.ts')).addRestoreCommand],
      [['export'], async () => (await import('./transfer/export.ts')).addExportCommand],
      [['import'], async () => (await import('./transfer/import.ts')).addImportCommand],
      [['move'], async () => (await import('./move.ts')).addMoveCommand],
      [['partition'], async () => (await import('./partition.ts')).addPartitionCommand],
      [['compact'], async () => (await import('./compact.ts')).addCompactCommand],
      [['retention'], async () => (await import('./retention/group.ts')).addRetentionCommands],
      [['verify'], async () => (await import('./verify.ts')).addVerifyCommand],
      [['sql'], async () => (await import('./sql.ts')).addSqlCommand],
    ],
  ],
  [
    'Help',
    [
      [
        ['help'],
        async () => {
          const { addHelpCommand } = await import('./help.ts')
          return (program) => addHelpCommand(program, createProgram)
        },
      ],
      [
        ['completion'],
        async () => {
          const { addCompletionCommand } = await import('./completion/command.ts')
          return (program) => addCompletionCommand(program, createProgram)
        },
      ],
      [['version'], async () => (await import('./version.ts')).addVersionCommand],
      [['licenses'], async () => (await import('./licenses.ts')).addLicensesCommand],
    ],
  ],
]

/**
 * The program with the command that a command line calls, because to load all of them takes longer than most commands;
 * with all of them if it calls none, as for `--help`.
 */
export async function createProgram(args: readonly string[] = []): Promise<Command> {
  const program = new Command('tally')
    .description('Records what AI agents use, shows it, and bills for it.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help and examples')
    .addOption(
      new Option(
        '--env-file <path>',
        'file of variables such as /etc/tally.env, with those of the systemd unit that reads it',
      ),
    )
    .addOption(optionOf('data'))
    .addOption(optionOf('databaseUrl'))
    .addOption(optionOf('databaseUrlFile'))
    .addOption(optionOf('as'))
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, subcommandTerm })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'tally: ')) })
    .showHelpAfterError('(run with --help for usage and examples)')
    .exitOverride()
    .addHelpText(
      'after',
      '\n`tally` alone, on a terminal, shows what the agents of this machine used this week.\n' +
        examples(
          'tally serve',
          'tally users add --email ada@example.com --name Ada --role admin',
          'tally tokens create --kind svc --user ada@example.com --name ci',
        ),
    )
  const called = calledIn(args, program)
  const all = COMMANDS.flatMap(([heading, commands]) => commands.map(([names, load]) => ({ heading, names, load })))
  const named = all.filter(({ names }) => called !== undefined && names.includes(called))
  const adding = (named.length > 0 ? named : all).map(async ({ heading, load }) => ({ heading, add: await load() }))
  for (const { heading, add } of await Promise.all(adding)) add(program.commandsGroup(`${heading}:`))
  for (const command of withSubcommands(program)) if (command.commands.length > 0) suggestCommands(command)
  return program
}

/**
 * The first word that is neither an option of the program nor its value, or what the option for the version is short for;
 * undefined if other options precede it.
 */
function calledIn(args: readonly string[], { options }: Command): string | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!
    if (!arg.startsWith('-')) return arg
    if (arg === '--version' || arg === '-V') return 'version'
    const [flag] = arg.split('=', 1)
    if (!options.some(({ long, required }) => required && long === flag)) return undefined
    if (arg === flag) at += 1
  }
  return undefined
}

/** Runs one command line and returns its exit code: 0 success, 1 refused or failed, 2 usage error. */
export async function run(args: string[]): Promise<number> {
  let called: Command | undefined
  try {
    if (args.length === 0 && process.stdin.isTTY && process.stdout.isTTY) {
      const { printSummary } = await import('./summary.ts')
      if (await printSummary()) return EXIT_DONE
    }
    const program = (await createProgram(args)).hook('preAction', async (_program, command) => {
      called = command
      const { envFile } = command.optsWithGlobals<{ envFile?: string }>()
      if (envFile !== undefined) (await import('./environment-file.ts')).useEnvironmentFile(envFile)
    })
    await program.parseAsync(args, { from: 'user' })
    return EXIT_DONE
  } catch (error) {
    return printFailure(error, called)
  }
}
