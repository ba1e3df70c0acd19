import type { TelemetryStatus } from '../../features/telemetry/schema.ts'
import { counted, countText } from '../terminal/numbers.ts'
import { type Column, minute, note, print, printTable } from '../terminal/print.ts'

/** Codex alone has more than a hundred metrics. */
const IGNORED_SHOWN = 20

const LAST_SEEN = { title: 'LAST SEEN (UTC)', of: (row: { last_seen_at: string }) => minute(row.last_seen_at) }

function count<Field extends string>(title: string, field: Field): Column<Record<Field, number>> {
  return { title, of: (row) => countText(row[field]), align: 'right' }
}

/** `tally telemetry status`. */
export function printStatus(status: TelemetryStatus): undefined {
  const { channels, pushes = [] } = status
  if (pushes.length === 0) {
    print(
      'No data has been pushed yet. Create a token with `tally tokens create --kind org`, and configure the agents as',
    )
    print(
      '`tally help connect/telemetry` describes. Refused pushes, such as those with a wrong token, are in the log of the',
    )
    print('agent or exporter.')
    return
  }
  print('TOKENS')
  printTable(
    [
      { title: 'NAME', of: ({ token }) => token.name },
      count('REQUESTS', 'requests'),
      count('RECORDS', 'records'),
      LAST_SEEN,
      { title: 'ID', of: ({ token }) => token.id },
    ],
    pushes,
  )
  if (channels.length === 0) print('\nNone of the data contains token usage. What was received is listed below.')
  else printCounted(status)
  printUncounted(status)
  printEmails(status)
}

function printCounted({ agents, channels }: TelemetryStatus): void {
  const sessions = agents.map((each) => `${each.agent_harness} ${counted(each.sessions, 'session')}`)
  print(`\nCOUNTED: ${sessions.join(', ')}`)
  printTable(
    [
      { title: 'HARNESS', of: ({ agent_harness, version }) => [agent_harness, version].filter(Boolean).join(' ') },
      { title: 'CHANNEL', of: ({ channel }) => channel },
      count('COUNTED', 'counted'),
      count('REPEATED', 'repeated'),
      count('LATE', 'late'),
      count('SHRUNK', 'shrunk'),
      count('TOKENS', 'tokens'),
      LAST_SEEN,
    ],
    channels,
  )
}

function printUncounted({ rejected, ignored }: TelemetryStatus): void {
  if (rejected.length > 0) {
    print('\nREJECTED')
    printTable([count('RECORDS', 'records'), LAST_SEEN, { title: 'REASON', of: ({ reason }) => reason }], rejected)
  }
  if (ignored.length === 0) return
  print('\nIGNORED')
  printTable(
    [
      count('RECORDS', 'records'),
      { title: 'NAME', of: ({ name }) => name },
      { title: 'REASON', of: ({ reason }) => reason },
    ],
    ignored.slice(0, IGNORED_SHOWN),
  )
  if (ignored.length > IGNORED_SHOWN)
    print(`… and ${counted(ignored.length - IGNORED_SHOWN, 'more name')}; use --json to list all of them.`)
}

function printEmails({ by_email, emails = [] }: TelemetryStatus): void {
  if (!by_email) {
    note(
      'The setting telemetry_by_email is off: sessions pushed with an organization token are assigned to its creator.',
    )
  }
  if (emails.length === 0) return
  print('\nUNASSIGNED ADDRESSES')
  printTable([{ title: 'E-MAIL', of: ({ email }) => email }, count('SESSIONS', 'sessions'), LAST_SEEN], emails)
  note('Their sessions are assigned to the creator of the token. To assign them to a person: tally telemetry assign')
}
