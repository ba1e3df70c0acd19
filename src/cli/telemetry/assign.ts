import type { Command } from 'commander'
import type { TelemetryAssigned } from '../../features/telemetry/schema.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'

interface AssignFlags extends CommandFlags {
  email: string
  to: string
  dryRun?: boolean
  yes?: boolean
}

export function addTelemetryAssignCommand(telemetry: Command): void {
  asksFirst(telemetry.command('assign'))
    .description(
      'Assign the sessions pushed with an unassigned e-mail address to a person; approved and billed entries do not move',
    )
    .summary('Assign the sessions of an unassigned e-mail address to a person')
    .requiredOption('--email <address>', 'address that the agents sent')
    .requiredOption('--to <user>', 'e-mail address or id (usr_…) of the person to assign them to')
    .option('--dry-run', 'show what would move, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally telemetry assign --email ada@users.example.com --to ada@example.com --dry-run',
        'tally telemetry assign --email ada@users.example.com --to ada@example.com --yes',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<AssignFlags>()
      const { email, to, dryRun = false, yes = false } = flags
      const body = await withServices(flags, async ({ telemetry }, { by }) => {
        const assign = (dryRun: boolean) => telemetry.assign({ email, user: to, dryRun, by })
        if (dryRun || yes) return assign(dryRun)
        const planned = await assign(true)
        if (planned.sessions === 0) return planned
        printAssigned(planned)
        await confirm(`Assign ${counted(planned.sessions, 'session')} to ${planned.user.name}?`, {})
        return assign(false)
      })
      if (flags.json) return printJson(body)
      printAssigned(body)
    })
}

function printAssigned({ dry_run, email, user, sessions, entries, locked, skipped }: TelemetryAssigned): void {
  if (sessions + skipped.length === 0) {
    print(`No sessions to assign for ${email}. To list unassigned addresses: tally telemetry status`)
    return
  }
  const what = `${counted(sessions, 'session', 'sessions')} with ${counted(entries, 'entry', 'entries')}`
  print(
    dry_run
      ? `${what} of ${email} would be assigned to ${user.name}.`
      : `${what} of ${email} assigned to ${user.name}.`,
  )
  if (locked.length > 0) {
    print('These entries are locked and keep their owner:')
    printTable(
      [
        { title: 'ID', of: ({ id }) => id },
        { title: 'STATUS', of: ({ status }) => status },
      ],
      locked,
    )
  }
  if (skipped.length > 0) {
    print('These sessions keep their owner:')
    printTable(
      [
        { title: 'SESSION', of: ({ agent_harness, session_id }) => `${agent_harness} ${session_id}` },
        { title: 'REASON', of: ({ reason }) => WHY_SKIPPED[reason] },
      ],
      skipped,
    )
  }
}

const WHY_SKIPPED: Record<TelemetryAssigned['skipped'][number]['reason'], string> = {
  theirs: 'already assigned to this person',
  reported: 'reported with a service token, which determines its owner',
  has_another: 'the person has another session with this id',
}
