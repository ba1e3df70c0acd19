/** The state of telemetry for people. */
import type { TelemetryAssigned, TelemetryStatus } from '../features/telemetry/schema.ts'
import { type Column, minute, note, print, printTable } from './print.ts'
import { counted, countText } from './report-text.ts'

/** Codex alone has more than a hundred metrics. */
const IGNORED_SHOWN = 20

const LAST_SEEN = { title: 'LAST SEEN (UTC)', of: (row: { last_seen_at: string }) => minute(row.last_seen_at) }

function count<Field extends string>(title: string, field: Field): Column<Record<Field, number>> {
  return { title, of: (row) => countText(row[field]), align: 'right' }
}

export function printStatus(status: TelemetryStatus): void {
  const { channels, pushes = [] } = status
  if (pushes.length === 0) {
    print(
      'Nothing has been pushed yet. `tally tokens create --kind org` makes a token for it, and the README says what',
    )
    print('each agent needs. What is refused, such as a wrong token, stands in the log of the agent or its exporter.')
    return
  }
  print('TOKENS THAT PUSH')
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
  if (channels.length === 0) print('\nNone of it tells what an agent used; what came instead stands below.')
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
  if (ignored.length > IGNORED_SHOWN) print(`… and ${ignored.length - IGNORED_SHOWN} more names: --json shows them.`)
}

function printEmails({ by_email, emails = [] }: TelemetryStatus): void {
  if (!by_email) {
    note('Sessions pushed with an organization token belong to its creator: the setting telemetry_by_email is off.')
  }
  if (emails.length === 0) return
  print('\nE-MAILS OF NOBODY')
  printTable([{ title: 'E-MAIL', of: ({ email }) => email }, count('SESSIONS', 'sessions'), LAST_SEEN], emails)
  note('Their sessions belong to the creator of the token. `tally telemetry assign` gives them to a person.')
}

export function printAssigned({ dry_run, email, user, sessions, entries, locked, skipped }: TelemetryAssigned): void {
  if (sessions + skipped.length === 0) {
    print(`No session waits for ${email}. \`tally telemetry status\` shows the addresses for which some do.`)
    return
  }
  const what = `${counted(sessions, 'session', 'sessions')} with ${counted(entries, 'entry', 'entries')}`
  print(dry_run ? `${what} of ${email} would go to ${user.name}.` : `${what} of ${email} went to ${user.name}.`)
  if (locked.length > 0) {
    print('These entries stay whose they are:')
    printTable(
      [
        { title: 'ID', of: ({ id }) => id },
        { title: 'STATUS', of: ({ status }) => status },
      ],
      locked,
    )
  }
  if (skipped.length > 0) {
    print('These sessions stay whose they are:')
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
  theirs: 'theirs already',
  reported: 'reported with a service token, which says whose it is',
  has_another: 'the person has another session with this id',
}
