/** The status of telemetry and the assignment of sessions in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { STATUSES } from '../../database/schema/values.ts'
import { moment, oneOf, orNull, strict } from '../../schema/types.ts'

const seen = { last_seen_at: moment('When it was last received.') }
const records = Type.Integer({ description: 'Number of log records, data points or spans.' })

export const TelemetryStatus = Type.Object(
  {
    agents: Type.Array(
      Type.Object(
        {
          agent_harness: Type.String({ examples: ['claude-code'] }),
          sessions: Type.Integer({ description: 'Number of sessions received through telemetry.' }),
        },
        strict,
      ),
    ),
    channels: Type.Array(
      Type.Object(
        {
          agent_harness: Type.String({ examples: ['claude-code'] }),
          version: orNull(Type.String({ description: 'Version of the agent, if known.', examples: ['2.1.329'] })),
          channel: Type.String({
            description: 'Name of the event, metric or span, or of an unknown attribute in `gen_ai.usage`.',
            examples: ['claude_code.token.usage'],
          }),
          first_seen_at: moment('When it was first received.'),
          ...seen,
          counted: Type.Integer({ description: 'Number of records that were counted.' }),
          repeated: Type.Integer({
            description: 'Number of records that had already been counted and changed nothing.',
          }),
          late: Type.Integer({
            description:
              'Number of records that were not counted because they may be repeats: they are older than the state of their session a week ago.',
          }),
          shrunk: Type.Integer({
            description:
              'Number of times a session’s totals could not be applied because its approved or billed entries exceed them.',
          }),
          tokens: Type.Integer({
            description:
              'Tokens reported through the channel. Channels of the same session report the same tokens, so do not add them up.',
          }),
        },
        strict,
      ),
      { description: 'Channels that are counted, most recently received first.' },
    ),
    rejected: Type.Array(Type.Object({ reason: Type.String(), records, ...seen }, strict), {
      description: 'Usage records that could not be counted, most frequent first.',
    }),
    ignored: Type.Array(
      Type.Object(
        {
          name: Type.String({
            description:
              'Name of the event, metric or span, of an unknown attribute in `gen_ai.usage`, or of a count that is not certain, such as `output_tokens`.',
            examples: ['codex.turn.token_usage'],
          }),
          reason: Type.String(),
          records,
          ...seen,
        },
        strict,
      ),
      {
        description:
          'Records that contain no usage, attributes of counted records that may, and counts that are not certain: those that look like usage first, then the most frequent.',
      },
    ),
    by_email: Type.Boolean({ description: 'The setting `telemetry_by_email`.' }),
    pushes: Type.Optional(
      Type.Array(
        Type.Object(
          {
            token: Type.Object({ id: Type.String(), name: Type.String(), hint: Type.String() }, strict),
            requests: Type.Integer({ description: 'Number of accepted requests.' }),
            records,
            ...seen,
          },
          strict,
        ),
        { description: 'Tokens that push telemetry, most recently used first. For admins only.' },
      ),
    ),
    emails: Type.Optional(
      Type.Array(
        Type.Object(
          {
            email: Type.String(),
            sessions: Type.Integer({
              description: 'Number of sessions that belong to a token’s creator until they are assigned.',
            }),
            ...seen,
          },
          strict,
        ),
        {
          description:
            'Addresses sent by agents that did not belong to a person when their sessions started: the 100 most recent. For admins only.',
        },
      ),
    ),
  },
  {
    ...strict,
    $id: 'TelemetryStatus',
    description:
      'Received telemetry and how it was processed. Up to a second old; in a very large database, the numbers of sessions may be older.',
  },
)
export type TelemetryStatus = Static<typeof TelemetryStatus>

export const TelemetryAssignment = Type.Object(
  {
    email: Type.String({ description: 'The address sent by agents.', examples: ['ada@users.example.com'] }),
    user: Type.String({
      description: 'ID or e-mail address of the person who owns the sessions.',
      examples: ['ada@example.com'],
    }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Return what would be assigned without saving it.' })),
  },
  { ...strict, $id: 'TelemetryAssignment', description: 'An assignment of sessions to a person.' },
)
export type TelemetryAssignment = Static<typeof TelemetryAssignment>

const REASONS = ['theirs', 'reported', 'has_another'] as const

export const TelemetryAssigned = Type.Object(
  {
    dry_run: Type.Boolean(),
    email: Type.String(),
    user: Type.Object({ id: Type.String(), name: Type.String() }, strict),
    sessions: Type.Integer({ description: 'Number of sessions assigned to the person.' }),
    entries: Type.Integer({ description: 'Number of entries that were assigned with them.' }),
    locked: Type.Array(Type.Object({ id: Type.String(), status: oneOf(STATUSES) }, strict), {
      description: 'Entries of these sessions that keep their owner because they are approved or billed.',
    }),
    skipped: Type.Array(
      Type.Object(
        {
          agent_harness: Type.String(),
          session_id: Type.String(),
          reason: oneOf(
            REASONS,
            '`theirs`: already belongs to the person. `reported`: was reported with a service token, which identifies the owner. `has_another`: the person has another session with this ID.',
          ),
        },
        strict,
      ),
      { description: 'Sessions that keep their owner.' },
    ),
    complete: Type.Boolean({ description: 'False if the call ran out of time. Call again.' }),
  },
  { ...strict, $id: 'TelemetryAssigned', description: 'Result of the assignment.' },
)
export type TelemetryAssigned = Static<typeof TelemetryAssigned>
