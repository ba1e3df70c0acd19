import type { Command } from 'commander'
import { reportLimits } from '../../features/agent-status/operations/agent-status.ts'
import type { LimitsReport, LimitUse } from '../../features/agent-status/schema.ts'
import { addAction } from '../operations.ts'
import { counted, exactText } from '../terminal/numbers.ts'
import { localMinute, note, print, printTable } from '../terminal/print.ts'

export function addReportsLimitsCommand(reports: Command): void {
  addAction(reports, reportLimits, {
    name: 'limits',
    description: 'Show how much of their plans’ limits people use, and which they will reach',
    flags: { from: '--from <day>', to: '--to <day>', user: '--user <user>', agent_harness: '--harness <harness>' },
    examples: ['tally reports limits', 'tally reports limits --user ada@example.com --from 2026-11-01'],
    show: printLimits,
  })
}

function printLimits({ data, time_zone, left_out }: LimitsReport): undefined {
  if (data.length === 0) return void print('No agent has reported a limit in this period.')
  const used = (share: number) => `${exactText(share)}%`
  printTable(
    [
      { title: 'PERSON', of: ({ user }) => user.name },
      { title: 'AGENT', of: ({ agent_harness }) => agent_harness },
      { title: 'LIMIT', of: ({ name }) => name },
      { title: 'WINDOW', of: ({ window_minutes }) => windowText(window_minutes) },
      { title: 'USED', of: ({ latest }) => used(latest.used_percent), align: 'right' },
      { title: 'AT', of: ({ latest }) => localMinute(latest.read_at, time_zone) },
      { title: 'RESETS', of: ({ latest }) => (latest.resets_at ? localMinute(latest.resets_at, time_zone) : '') },
      { title: 'PROJECTION', of: (use) => projectionText(use, time_zone) },
    ],
    data,
  )
  if (left_out > 0) note(`${counted(left_out, 'limit')} left out: name people with --user to see them.`)
}

function projectionText({ projection }: LimitUse, timeZone: string): string {
  if (!projection) return '–'
  if (!projection.reaches_limit) return `${exactText(projection.used_percent)}% when it resets`
  return projection.reaches_at === null ? 'reached' : `reached ${localMinute(projection.reaches_at, timeZone)}`
}

function windowText(minutes: number): string {
  if (minutes % 1_440 === 0) return counted(minutes / 1_440, 'day')
  return minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute')
}
