import { type Command, Option } from 'commander'
import type { Settings } from '../features/people/schema.ts'
import { CommandError } from './failures.ts'
import { examples } from './options.ts'
import { print, printJson } from './print.ts'
import { type DatabaseFlags, withServices } from './with-services.ts'

type UnknownProjects = Settings['unknown_projects']
const UNKNOWN_PROJECTS: UnknownProjects[] = ['create', 'hold']

interface Flags extends DatabaseFlags {
  json?: boolean
}

interface SetFlags extends Flags {
  name?: string
  timeZone?: string
  currency?: string
  unknownProjects?: UnknownProjects
  approvalRequired?: 'yes' | 'no'
}

const bodies = () => import('../features/people/service.ts')

function printSettings(body: Settings, { json }: Flags): void {
  if (json) {
    printJson(body)
    return
  }
  print(`name              ${body.name}`)
  print(`time zone         ${body.time_zone}`)
  print(`currency          ${body.currency}`)
  print(`unknown projects  ${body.unknown_projects}`)
  print(`approval required ${body.approval_required ? 'yes' : 'no'}`)
}

export function addSettingsCommands(program: Command): void {
  const settings = program
    .command('settings')
    .description('Show and change the settings of the organization')
    .addHelpText('after', examples('tally settings show', 'tally settings set --unknown-projects hold'))

  settings
    .command('show')
    .description('Show the settings')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally settings show --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { settingsBody } = await bodies()
      printSettings(settingsBody(await withServices(flags, async ({ people }) => people.organization())), flags)
    })

  settings
    .command('set')
    .description('Change settings; what is not named stays as it is')
    .option('--name <name>', 'name of the organization, as bills show it')
    .option('--time-zone <zone>', 'IANA time zone in which days and months begin')
    .option('--currency <code>', 'ISO 4217 code of the usual bill currency')
    .addOption(
      new Option(
        '--unknown-projects <what>',
        'projects and tickets that a report names for the first time: create them, or hold the entry unattributed',
      ).choices(UNKNOWN_PROJECTS),
    )
    .addOption(
      new Option('--approval-required <yes|no>', 'whether only approved entries are billed').choices(['yes', 'no']),
    )
    .option('--json', 'print the settings as JSON')
    .addHelpText(
      'after',
      examples(
        'tally settings set --time-zone Europe/Berlin --currency EUR',
        'tally settings set --unknown-projects hold',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<SetFlags>()
      const { name, timeZone, currency, unknownProjects, approvalRequired: said } = flags
      const approvalRequired = said && said === 'yes'
      const change = { name, timeZone, currency, unknownProjects, approvalRequired }
      if (Object.values(change).every((value) => value === undefined)) {
        throw new CommandError(
          'Say what to change: --name, --time-zone, --currency, --unknown-projects or --approval-required.',
          2,
        )
      }
      const { settingsBody } = await bodies()
      const changed = await withServices(flags, ({ people }, { by }) => people.changeSettings(change, by))
      printSettings(settingsBody(changed), flags)
    })
}
