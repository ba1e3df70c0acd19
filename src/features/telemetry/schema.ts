/** The state of telemetry, and assigning sessions, on the wire. */
import { type Static, Type } from '@sinclair/typebox'
import { STATUSES } from '../../database/tables.ts'
import { moment, oneOf, orNull, strict } from '../../wire.ts'

const seen = { last_seen_at: moment('When something of it came last.') }
const records = Type.Integer({ description: 'How many log records, data points or spans.' })

export const TelemetryStatus = Type.Object(
  {
    agents: Type.Array(
      Type.Object(
        {
          agent_harness: Type.String({ examples: ['claude-code'] }),
          sessions: Type.Integer({ description: 'Sessions that telemetry brought.' }),
        },
        strict,
      ),
    ),
    channels: Type.Array(
      Type.Object(
        {
          agent_harness: Type.String({ examples: ['claude-code'] }),
          version: orNull(Type.String({ description: 'Of the agent, where it says so.', examples: ['2.1.329'] })),
          channel: Type.String({ description: 'The event, metric or span.', examples: ['claude_code.token.usage'] }),
          first_seen_at: moment('When it was seen first.'),
          ...seen,
          counted: Type.Integer({ description: 'Records that were counted.' }),
          repeated: Type.Integer({ description: 'Records that had been counted before, and changed nothing.' }),
          late: Type.Integer({
            description:
              'Records that were not counted because they may be repeats: older than their session was a week ago.',
          }),
          shrunk: Type.Integer({
            description:
              'How often the entries of a session could not follow its totals, because approved or billed ones hold more.',
          }),
          tokens: Type.Integer({
            description: 'Tokens that it told. Channels of one session tell the same ones: never add them up.',
          }),
        },
        strict,
      ),
      { description: 'What is counted, those seen last first.' },
    ),
    rejected: Type.Array(Type.Object({ reason: Type.String(), records, ...seen }, strict), {
      description: 'Records that should tell what was used and could not be counted, the most frequent first.',
    }),
    ignored: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Of the event, metric or span.', examples: ['codex.turn.token_usage'] }),
          reason: Type.String(),
          records,
          ...seen,
        },
        strict,
      ),
      {
        description: 'Records that tell nothing of use: those first that look as if they did, then the most frequent.',
      },
    ),
    by_email: Type.Boolean({ description: 'The setting `telemetry_by_email`.' }),
    pushes: Type.Optional(
      Type.Array(
        Type.Object(
          {
            token: Type.Object({ id: Type.String(), name: Type.String(), hint: Type.String() }, strict),
            requests: Type.Integer({ description: 'Requests that were let in.' }),
            records,
            ...seen,
          },
          strict,
        ),
        { description: 'Which tokens push, those seen last first. For admins only.' },
      ),
    ),
    emails: Type.Optional(
      Type.Array(
        Type.Object(
          {
            email: Type.String(),
            sessions: Type.Integer({
              description: 'Sessions that belong to a token’s creator until they are assigned.',
            }),
            ...seen,
          },
          strict,
        ),
        {
          description:
            'Addresses that agents sent and that were nobody’s when their sessions began: the 100 seen last. For admins only.',
        },
      ),
    ),
  },
  {
    ...strict,
    $id: 'TelemetryStatus',
    description: 'What telemetry brings and what becomes of it; up to ten seconds old.',
  },
)
export type TelemetryStatus = Static<typeof TelemetryStatus>

export const TelemetryAssignment = Type.Object(
  {
    email: Type.String({ description: 'The address that agents sent.', examples: ['ada@users.example.com'] }),
    user: Type.String({
      description: 'Id or e-mail address of the person whose the sessions are.',
      examples: ['ada@example.com'],
    }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Say what would move, and change nothing.' })),
  },
  { ...strict, $id: 'TelemetryAssignment', description: 'Sessions that are to be somebody’s.' },
)
export type TelemetryAssignment = Static<typeof TelemetryAssignment>

const REASONS = ['theirs', 'reported', 'has_another'] as const

export const TelemetryAssigned = Type.Object(
  {
    dry_run: Type.Boolean(),
    email: Type.String(),
    user: Type.Object({ id: Type.String(), name: Type.String() }, strict),
    sessions: Type.Integer({ description: 'Sessions that are the person’s now.' }),
    entries: Type.Integer({ description: 'Entries that moved with them.' }),
    locked: Type.Array(Type.Object({ id: Type.String(), status: oneOf(STATUSES) }, strict), {
      description: 'Entries of these sessions that stay whose they are, because they are approved or billed.',
    }),
    skipped: Type.Array(
      Type.Object(
        {
          agent_harness: Type.String(),
          session_id: Type.String(),
          reason: oneOf(
            REASONS,
            '`theirs` already; `reported` with a service token, which says for certain whose it is; the person `has_another` session with its id.',
          ),
        },
        strict,
      ),
      { description: 'Sessions that stay whose they are.' },
    ),
    complete: Type.Boolean({ description: 'False where the time of a call was over: call again.' }),
  },
  { ...strict, $id: 'TelemetryAssigned', description: 'What was assigned, or would be.' },
)
export type TelemetryAssigned = Static<typeof TelemetryAssigned>
