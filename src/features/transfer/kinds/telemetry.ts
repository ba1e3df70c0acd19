import { NANO_DIGITS } from '../../../lib/money.ts'
import { NotReadList } from '../../agent-status/schema.ts'
import { choice, decimal, flag, integer, json, moment, orNone, reference, text } from '../columns.ts'
import { kind } from '../kind.ts'

const count = (column: string) => integer(column, 0)

/** What came by which channel of which agent, for people to look at. */
export const TELEMETRY_CHANNEL = kind({
  type: 'telemetry_channel',
  table: 'telemetryChannels',
  order: ['harness', 'version', 'channel'],
  fields: {
    agent_harness: text('harness'),
    version: text('version'),
    channel: text('channel'),
    first_seen_at: moment('firstSeenAt'),
    last_seen_at: moment('lastSeenAt'),
    counted: count('counted'),
    repeated: count('repeated'),
    late: count('late'),
    shrunk: count('shrunk'),
    tokens: count('tokens'),
  },
})

export const TELEMETRY_UNCOUNTED = kind({
  type: 'telemetry_uncounted',
  table: 'telemetryUncounted',
  order: ['kind', 'what'],
  fields: {
    kind: choice('kind', ['ignored', 'rejected']),
    what: text('what'),
    records: count('records'),
    last_seen_at: moment('lastSeenAt'),
  },
})

export const TELEMETRY_PUSH = kind({
  type: 'telemetry_push',
  table: 'telemetryPushes',
  order: ['tokenId'],
  fields: {
    token: reference('tokenId', 'tokens'),
    requests: count('requests'),
    records: count('records'),
    last_seen_at: moment('lastSeenAt'),
  },
})

/** What a person's machine reported of an agent. */
export const AGENT_STATUS = kind({
  type: 'agent_status',
  table: 'agentStatuses',
  order: ['id'],
  fields: {
    person: reference('userId', 'users'),
    machine: text('machine'),
    agent_harness: text('harness'),
    version: orNone(text('version')),
    tally_version: text('tallyVersion'),
    sessions: count('sessions'),
    not_read: json('notRead', NotReadList),
    reads_all: flag('readsAll'),
    reported_at: moment('reportedAt'),
  },
})

/** How much of a limit of their plan somebody had used in an hour. */
export const LIMIT_READING = kind({
  type: 'limit_reading',
  table: 'limitReadings',
  order: ['id'],
  fields: {
    person: reference('userId', 'users'),
    agent_harness: text('harness'),
    name: text('name'),
    window_minutes: integer('windowMinutes', 1),
    hour: moment('hour'),
    highest: count('highest'),
    used: count('used'),
    resets_at: orNone(moment('resetsAt')),
    plan: orNone(text('plan')),
    credits_left: orNone(decimal('credits', NANO_DIGITS)),
    read_at: moment('readAt'),
  },
})
