/** The status of agents in the API, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, type TUnsafe, Type } from '@sinclair/typebox'
import { timestamp } from '../../lib/duration.ts'
import {
  array,
  component,
  day,
  flag,
  integer,
  listOf,
  moment,
  number,
  object,
  orNull,
  strict,
} from '../../schema/types.ts'
import { LIMIT_BOUNDS } from '../../shared/agents.ts'
import { NOT_READ_REASONS, type NotReadReason } from '../../shared/not-read.ts'
import type { AgentStatusView } from './store.ts'

export type { NotRead } from '../../shared/not-read.ts'

/** Neither a path nor a sentence has one of these forms. */
const NAME = { maxLength: 64, pattern: '^[A-Za-z_][A-Za-z0-9_.:-]*$', errorMessage: 'must be a short name' }
const VERSION = { maxLength: 64, pattern: '^[0-9A-Za-z][0-9A-Za-z.+_-]*$', errorMessage: 'must be a version' }

const COUNT_LIMIT = 1_000_000_000

/** More agents than Tally reads, and more reasons than a person looks at. */
const AGENTS_LIMIT = 50
const NOT_READ_LIMIT = 50

const PLAN_CODE = { maxLength: 100, pattern: '^[0-9A-Za-z][0-9A-Za-z_.:-]*$', errorMessage: 'must be a short code' }

const machine = Type.String({
  description: 'A random ID of the machine, from the folder of its state. It says nothing about the machine.',
  pattern: '^[0-9a-f]{16}$',
  errorMessage: 'must be 16 hexadecimal digits',
  examples: ['5f0c7d1e9ab34268'],
})

const tallyVersion = Type.String({
  ...VERSION,
  description: 'Version of Tally on the machine.',
  examples: ['1.4.0'],
})

export const NotReadList = Type.Array(
  Type.Object(
    {
      reason: Type.Union(
        NOT_READ_REASONS.map((reason) => Type.Literal(reason)),
        {
          description:
            '`unknown_session` and `unknown_file`: in a format that Tally does not read. `unknown_record`: with records of a type or version that Tally does not know. `unknown_count`: with a count that Tally does not know. `invalid_record`: with damaged or incomplete records. `invalid_count`: with a missing or invalid count. `unreadable_file`: a file or folder that cannot be opened.',
        },
      ) as unknown as TUnsafe<NotReadReason>,
      name: orNull(
        Type.String({
          ...NAME,
          description: 'Short name of the format, table, type or count; null if it has none.',
          examples: ['session_v3'],
        }),
      ),
      count: Type.Integer({
        minimum: 1,
        maximum: COUNT_LIMIT,
        description: 'Number of sessions, or of files if the reason is `unknown_file` or `unreadable_file`.',
      }),
    },
    strict,
  ),
  { maxItems: NOT_READ_LIMIT, description: 'What could not be read, and therefore is not counted.' },
)

const ofAgent = {
  agent_harness: Type.String({ ...NAME, description: 'The agent application.', examples: ['opencode'] }),
  version: orNull(Type.String({ ...VERSION, description: 'Version of the agent, if known.', examples: ['2.0.3'] })),
  sessions: Type.Integer({ minimum: 0, maximum: COUNT_LIMIT, description: 'Number of sessions that were read.' }),
  not_read: NotReadList,
}

/** A limit of an agent for a time, such as five hours. */
const windowOf = {
  name: Type.String({ ...NAME, description: 'The agent’s name for the limit.', examples: ['five_hour'] }),
  window_minutes: integer('Length of the window in minutes.', { minimum: 1, maximum: LIMIT_BOUNDS.windowMinutes }),
}

const resetsAt = orNull(moment('When the window ends, if known.'))
const plan = orNull(
  Type.String({ ...PLAN_CODE, description: 'The plan, as the agent reports it.', examples: ['codex:pro'] }),
)
const creditsLeft = orNull(
  number('Remaining credits, if the agent reports them.', { minimum: 0, maximum: LIMIT_BOUNDS.credits }),
)

const LimitReading = Type.Object(
  {
    ...windowOf,
    used_percent: number('How much of it is used, in percent.', { minimum: 0, maximum: LIMIT_BOUNDS.percent }),
    resets_at: Type.Optional(resetsAt),
    plan: Type.Optional(plan),
    credits_left: Type.Optional(creditsLeft),
  },
  strict,
)
export type LimitReading = Static<typeof LimitReading>

const limits = Type.Array(LimitReading, {
  maxItems: LIMIT_BOUNDS.limits,
  description:
    'How much of their plan’s limits the person has used, as the agent reports it. Of each limit and hour, by the server’s clock, the highest and the latest are kept, for 400 days.',
})

export const AgentStatusReport = Type.Object(
  {
    machine,
    tally_version: tallyVersion,
    agents: Type.Array(Type.Object({ ...ofAgent, limits: Type.Optional(limits) }, strict), {
      maxItems: AGENTS_LIMIT,
      description: 'The agents that were read, each once. The status of other agents of the machine is kept.',
    }),
  },
  { ...strict, $id: 'AgentStatusReport', description: 'What was read of the agents of one machine, and what was not.' },
)
export type AgentStatusReport = Static<typeof AgentStatusReport>

export const AgentStatus = Type.Object(
  {
    user: Type.Object(
      { id: Type.String(), name: Type.String(), email: Type.String() },
      { ...strict, description: 'Whose machine it is: the creator of the token that reported it.' },
    ),
    machine,
    tally_version: tallyVersion,
    ...ofAgent,
    reported_at: moment('When the machine last reported it, by the server’s clock.'),
  },
  { ...strict, $id: 'AgentStatus', description: 'What one machine last reported of an agent.' },
)
export type AgentStatus = Static<typeof AgentStatus>

const Used = object({
  used_percent: number('How much was used, in percent.'),
  read_at: moment('When it was reported.'),
  resets_at: resetsAt,
  credits_left: creditsLeft,
})

const Projection = object({
  used_percent: number('How much would be used when the window ends, if use goes on as it has in this window.'),
  reaches_limit: flag('Whether the limit would be reached before the window ends, or has been.'),
  reaches_at: orNull(moment('When it would be, if it is not yet.')),
})

export const LimitUse = component('LimitUse', 'How much of a limit a person has used.', {
  user: object({ id: Type.String(), name: Type.String() }),
  agent_harness: ofAgent.agent_harness,
  ...windowOf,
  plan,
  latest: Used,
  projection: orNull(Projection),
  days: array(
    'The days with a reading, in the organization’s time zone.',
    object({ day: day('The day.'), highest_percent: number('The most that was used.') }),
  ),
})
export type LimitUse = Static<typeof LimitUse>

export const LimitsReport = component('LimitsReport', {
  time_zone: Type.String(),
  from: day('First day.'),
  to: day('Last day.'),
  data: array('The limits of each person, the most urgent first.', LimitUse),
  limits: integer('All limits with a reading in these days.'),
  left_out: integer('Those that are not in `data`, because there are too many. Name people to see them.'),
})
export type LimitsReport = Static<typeof LimitsReport>

export const AgentStatusList = listOf(AgentStatus, 'AgentStatusList', 'The status of agents, the newest ones first.')

export function agentStatusBody({ record, user }: AgentStatusView): AgentStatus {
  const { machine, tallyVersion, harness, version, sessions, notRead, reportedAt } = record
  return {
    user: { id: user.uid, name: user.name, email: user.email },
    ...{ machine, tally_version: tallyVersion, agent_harness: harness, version, sessions, not_read: notRead },
    reported_at: timestamp(reportedAt),
  }
}
