import { MANAGER_BY, PLACED_BY, SESSION_SOURCES, SOURCES, STATUSES } from '../../../database/schema/values.ts'
import { NANO_DIGITS } from '../../../lib/money.ts'
import {
  bytes,
  choice,
  decimal,
  flag,
  integer,
  json,
  jsonText,
  moment,
  orNone,
  ownId,
  reference,
  text,
} from '../columns.ts'
import { kind } from '../kind.ts'

const TELEMETRY_SOURCES = SESSION_SOURCES.filter((source) => source !== 'report')

/** The length of hashes that identify telemetry. */
const IDENTITY_BYTES = 16

/** A session, with all that later reports and telemetry of it are compared with. Its entries follow it. */
export const SESSION = kind({
  type: 'session',
  table: 'sessions',
  order: ['id'],
  isContext: true,
  fields: {
    session_id: text('sessionKey'),
    agent_harness: reference('harnessId', 'names'),
    agent_manager: reference('managerId', 'users'),
    manager_by: choice('managerBy', MANAGER_BY),
    source: choice('source', SESSION_SOURCES),
    contested: flag('contested'),
    unidentified: flag('unidentified'),
    by_organization: flag('byOrganization'),
    duplicate: orNone(choice('duplicate', ['held', 'released', 'discarded'])),
    time_zone: orNone(text('zone')),
  },
  parts: {
    sources: {
      table: 'sessionSources',
      of: 'sessionId',
      fields: {
        model: reference('chainModelId', 'names'),
        source: choice('source', SESSION_SOURCES),
        totals: json('totals'),
      },
    },
    telemetry: {
      table: 'telemetrySessions',
      of: 'sessionId',
      single: true,
      fields: {
        facts: json('facts'),
        email: orNone(text('email')),
        last_seen_at: moment('lastSeenAt'),
        forgotten_to: orNone(moment('forgottenTo')),
        remembers: flag('remembers'),
      },
    },
    telemetry_totals: {
      table: 'telemetryTotals',
      of: 'sessionId',
      fields: {
        model: reference('chainModelId', 'names'),
        source: choice('source', TELEMETRY_SOURCES),
        totals: json('totals'),
      },
    },
    telemetry_streams: {
      table: 'telemetryStreams',
      of: 'sessionId',
      fields: {
        stream: bytes('stream', IDENTITY_BYTES),
        time_nanos: decimal('timeNanos', 0),
        value: decimal('value', 0),
      },
    },
    telemetry_seen: {
      table: 'telemetrySeen',
      of: 'sessionId',
      fields: { identity: bytes('identity', IDENTITY_BYTES) },
    },
  },
})

/** The highest count of an entry. */
const COUNT_LIMIT = 1_000_000_000_000
const count = (column: string) => integer(column, 0, COUNT_LIMIT)

export const ENTRY = kind({
  type: 'entry',
  table: 'entries',
  order: ['id'],
  isContext: true,
  fields: {
    id: ownId('ent'),
    /** In the order in which entries were recorded. */
    position: integer('id', 1),
    agent_manager: reference('managerId', 'users'),
    manager_by: choice('managerBy', MANAGER_BY),
    token: orNone(reference('tokenId', 'tokens')),
    source: choice('source', SOURCES),
    status: choice('status', STATUSES),
    agent_harness: reference('harnessId', 'names'),
    agent_name: reference('agentId', 'names'),
    model: reference('modelId', 'names'),
    provider: orNone(reference('providerId', 'names')),
    started_at: moment('startedAt'),
    ended_at: moment('endedAt'),
    input: count('input'),
    output: count('output'),
    cache_read: count('cacheRead'),
    cache_write: count('cacheWrite'),
    cache_write_1h: count('cacheWrite1h'),
    usage_details: orNone(jsonText('usageDetails')),
    requests: orNone(integer('requests', 0)),
    reported_cost: orNone(decimal('reportedCost', NANO_DIGITS)),
    list_value: orNone(decimal('listValue', NANO_DIGITS)),
    price: orNone(reference('priceId', 'prices')),
    price_step: orNone(integer('priceStep')),
    price_note: orNone(text('priceNote')),
    project: orNone(reference('projectId', 'projects')),
    ticket: orNone(reference('ticketId', 'tickets')),
    placed_by: orNone(choice('placedBy', PLACED_BY)),
    rule: orNone(reference('ruleVersionId', 'placementRuleVersions')),
    placement_note: orNone(text('placementNote')),
    named_project: orNone(text('namedProject')),
    named_ticket: orNone(text('namedTicket')),
    summary: orNone(text('summary')),
    labels: orNone(reference('labelSetId', 'labelSets')),
    /** Whether it is one of the entries of the session before it. */
    in_session: flag('inSession'),
    session_model: orNone(reference('chainModelId', 'names')),
    part: orNone(integer('part', 1)),
    continues: orNone(reference('continuesId', 'entries', { later: true })),
    superseded: flag('superseded'),
    corrected: orNone(json('corrected')),
    amendment: orNone(json('amendment')),
    divided_from: orNone(reference('dividedFromId', 'entries', { later: true })),
    slice_day: orNone(integer('sliceDay')),
    slice_place: orNone(decimal('slicePlace', 0)),
    estimated: flag('estimated'),
    active_ms: orNone(integer('activeMs', 0)),
    funding: orNone(reference('fundingId', 'fundings')),
    possible_duplicate_of: orNone(reference('possibleDuplicateId', 'entries', { later: true })),
    fingerprint: orNone(decimal('fingerprint', 0)),
    bill: orNone(reference('billId', 'bills')),
    sheet: orNone(reference('sheetId', 'sheets')),
    created_at: moment('createdAt'),
    updated_at: orNone(moment('updatedAt')),
  },
  parts: {
    history: {
      table: 'entryHistory',
      of: 'entryId',
      fields: {
        at: moment('at'),
        action: text('action'),
        person: orNone(reference('userId', 'users')),
        token: orNone(reference('tokenId', 'tokens')),
        details: json('details'),
      },
    },
  },
})

export const IDEMPOTENCY_KEY = kind({
  type: 'idempotency_key',
  table: 'idempotencyKeys',
  order: ['managerId', 'key'],
  fields: {
    agent_manager: reference('managerId', 'users'),
    key: text('key'),
    body_hash: bytes('bodyHash', 32),
    entry: reference('entryId', 'entries'),
  },
})
