/** Serializes the status of telemetry. */
import { timestamp } from '../../lib/duration.ts'
import { reasonNotCounted } from './channels/index.ts'
import type { TelemetryStatus } from './schema.ts'
import type { WaitingEmail } from './store/sessions.ts'
import type { ChannelRecord, PushView, UncountedRecord } from './store/status.ts'

export interface Status {
  byEmail: boolean
  sessions: { harness: string; sessions: number }[]
  channels: ChannelRecord[]
  uncounted: UncountedRecord[]
  pushes: PushView[]
  emails: WaitingEmail[]
}

/** Omits people and tokens if the caller may not see them. */
export function statusBody(status: Status, { isAdmin }: { isAdmin: boolean }): TelemetryStatus {
  const { byEmail, sessions, channels, uncounted, pushes, emails } = status
  const ofKind = (kind: UncountedRecord['kind']) => uncounted.filter((row) => row.kind === kind)
  return {
    agents: sessions.map(({ harness, sessions }) => ({ agent_harness: harness, sessions })),
    channels: channels.map((row) => ({
      agent_harness: row.harness,
      version: row.version || null,
      channel: row.channel,
      first_seen_at: timestamp(row.firstSeenAt),
      last_seen_at: timestamp(row.lastSeenAt),
      counted: row.counted,
      repeated: row.repeated,
      late: row.late,
      shrunk: row.shrunk,
      tokens: row.tokens,
    })),
    rejected: ofKind('rejected').map(({ what, records, lastSeenAt }) => ({
      reason: what,
      records,
      last_seen_at: timestamp(lastSeenAt),
    })),
    ignored: explainedFirst(ofKind('ignored')).map(({ what, records, lastSeenAt }) => ({
      name: what,
      reason: reasonNotCounted(what) ?? 'contains no token counts that Tally recognizes',
      records,
      last_seen_at: timestamp(lastSeenAt),
    })),
    by_email: byEmail,
    ...(isAdmin && {
      pushes: pushes.map(({ token: { uid, name, hint }, requests, records, lastSeenAt }) => ({
        token: { id: uid, name, hint },
        requests,
        records,
        last_seen_at: timestamp(lastSeenAt),
      })),
      emails: emails.map(({ email, sessions, lastSeenAt }) => ({
        email,
        sessions,
        last_seen_at: timestamp(lastSeenAt),
      })),
    }),
  }
}

/** Names with an explanation come first: people look for these, and a screen of irrelevant names would hide them. */
function explainedFirst(rows: UncountedRecord[]): UncountedRecord[] {
  const [explained, others] = [true, false].map((wanted) =>
    rows.filter(({ what }) => (reasonNotCounted(what) !== undefined) === wanted),
  )
  return [...explained!, ...others!]
}
