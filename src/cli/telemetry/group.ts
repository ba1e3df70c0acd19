import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { printJson } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'
import { printAssigned, printStatus } from './text.ts'

interface Flags extends DatabaseFlags {
  json?: boolean
}

interface AssignFlags extends Flags {
  email: string
  to: string
  dryRun?: boolean
}

export function addTelemetryCommands(program: Command): void {
  const telemetry = program
    .command('telemetry')
    .description('Show the OpenTelemetry data that agents push, and assign sessions to people')
    .addHelpText(
      'after',
      examples(
        'tally telemetry status',
        'tally telemetry assign --email ada@users.example.com --to ada@example.com --dry-run',
      ),
    )

  telemetry
    .command('status')
    .description(
      'Show which agents push data, what is counted, and what is not and why; a running server updates it every 10 seconds',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally telemetry status', "tally telemetry status --json | jq '.rejected'"))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { statusBody } = await import('../../features/telemetry/service.ts')
      const status = await withServices(flags, ({ telemetry }) => telemetry.status())
      const body = statusBody(status, { isAdmin: true })
      if (flags.json) return printJson(body)
      printStatus(body)
    })

  telemetry
    .command('assign')
    .description(
      'Assign the sessions pushed with an unassigned e-mail address to a person; approved and billed entries do not move',
    )
    .requiredOption('--email <address>', 'address that the agents sent')
    .requiredOption('--to <user>', 'e-mail address or id (usr_…) of the person to assign them to')
    .option('--dry-run', 'show what would move, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally telemetry assign --email ada@users.example.com --to ada@example.com --dry-run',
        'tally telemetry assign --email ada@users.example.com --to ada@example.com',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<AssignFlags>()
      const { email, to, dryRun = false } = flags
      const body = await withServices(flags, ({ telemetry }, { by }) =>
        telemetry.assign({ email, user: to, dryRun, by }),
      )
      if (flags.json) return printJson(body)
      printAssigned(body)
    })
}
