import type { Command } from 'commander'
import type { AppliedRetention } from '../../features/personal-data/service.ts'
import { dayAt } from '../../lib/calendar.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'

interface ApplyFlags extends CommandFlags {
  dryRun?: boolean
  yes?: boolean
}

/** Texts of a large database are read whole. */
const DEADLINE_MS = 3_600_000

const WHAT: Record<AppliedRetention['kind'], { one: string; many: string }> = {
  texts: { one: 'entry with a summary or labels', many: 'entries with a summary or labels' },
  session_ids: { one: 'session id', many: 'session ids' },
  history: { one: 'record of the history of entries', many: 'records of the history of entries' },
  audit: { one: 'record of the audit log', many: 'records of the audit log' },
  events: { one: 'event', many: 'events' },
}

export function addRetentionCommands(program: Command): void {
  const retention = program
    .command('retention')
    .description('Remove texts, session ids, history, audit records and events after their retention period')
    .addHelpText('after', examples('tally retention apply --dry-run'))
  asksFirst(retention.command('apply'))
    .description('Remove now what is older than its retention period, as the server does once a day')
    .option('--dry-run', 'show what would be removed, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The periods are settings: \`tally settings set --retention-texts 24\`.
${examples('tally retention apply --dry-run', 'tally retention apply --yes')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ApplyFlags>()
      const { dryRun = false, yes = false } = flags
      const { applied, timeZone } = await withServices(
        flags,
        async ({ personalData, organization }, { by }) => {
          const { timeZone } = await organization.settings()
          if (dryRun || !yes) {
            const planned = await personalData.retention.plan()
            if (dryRun) return { applied: planned, timeZone }
            printRetention(planned, { timeZone, dryRun: true })
            if (planned.length > 0) await confirm('Remove them? This cannot be undone.', { yes })
          }
          return { applied: await personalData.retention.apply(by), timeZone }
        },
        { slowDeadlineMs: DEADLINE_MS },
      )
      if (flags.json) {
        const data = applied.map(({ before, ...rest }) => ({ ...rest, before: new Date(before).toISOString() }))
        return printJson({ dry_run: dryRun, data })
      }
      printRetention(applied, { timeZone, dryRun })
    })
}

function printRetention(
  applied: readonly AppliedRetention[],
  { timeZone, dryRun }: { timeZone: string; dryRun: boolean },
): void {
  if (applied.length === 0) {
    print('No retention period is set, so everything is kept. Set one with `tally settings set --retention-texts 24`.')
    return
  }
  for (const { kind, months, before, rows } of applied) {
    const { one, many } = WHAT[kind]
    print(
      `${counted(rows, one, many)} from before ${dayAt(before, timeZone)} (${counted(months, 'month')}): ${dryRun ? 'due' : 'done'}`,
    )
  }
}
