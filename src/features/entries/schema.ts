/** Token entries in the API: reports and responses. One source for validation and OpenAPI. */
import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import {
  CORRECTED_FIELDS,
  ENTRY_FUNDINGS,
  FUNDING_NOTES,
  FUNDING_REASONS,
  FUNDINGS,
  MANAGER_BY,
  PLACED_BY,
  SAID_FUNDINGS,
  SOURCES,
  STATUSES,
  type StatedFunding,
} from '../../database/schema/values.ts'
import { TIMESTAMP, TIMESTAMP_EXPECTED } from '../../lib/timestamp.ts'
import { conditions, isAbsent, isGiven, isOneOf, when } from '../../schema/conditions.ts'
import {
  LABEL_NAMES,
  listOf,
  moment,
  money,
  named,
  nameOf,
  oneOf,
  orNull,
  PLAIN_TEXT,
  strict,
} from '../../schema/types.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'
import { SERVICE_NAME } from '../../shared/usage.ts'
import { NOTES_TEXT, TOOL_NAMES, valueFields } from '../prices/schema.ts'

export const COUNT_LIMIT = 1_000_000_000_000
/** A billion dollars; in nano-dollars this fits into 64 bits, with room for sums. */
export const COST_LIMIT = 1_000_000_000
export const BATCH_LIMIT = 1_000

const PLAIN_TEXT_OR_EMPTY = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
/** Tabs and line breaks are allowed here and folded to spaces. */
const FOLDABLE_TEXT = '^[^\\u0000-\\u0008\\u000e-\\u001f\\u007f-\\u009f]*$'

const timestamp = (description: string, examples: string[]) =>
  Type.String({
    description,
    pattern: TIMESTAMP,
    errorMessage: TIMESTAMP_EXPECTED,
    examples,
  })

const dayOrTimestamp = (description: string, examples: string[]) =>
  Type.String({
    description: `${description} A date is the first moment of that day in the organization’s time zone.`,
    pattern: `^\\d{4}-\\d{2}-\\d{2}$|${TIMESTAMP}`,
    errorMessage: 'must be a date, or a timestamp with a UTC offset, such as 2026-12-01T00:00:00Z',
    examples,
  })

const count = (description: string) => Type.Integer({ description, minimum: 0, maximum: COUNT_LIMIT })

const counts = {
  input: count('Input tokens that were neither read from nor written to a cache.'),
  output: count('Output tokens, including reasoning.'),
  cache_read: count('Tokens read from the cache.'),
  cache_write: count('Tokens written to the cache with the default (five-minute) lifetime.'),
  cache_write_1h: count('Tokens written to the cache with a lifetime of one hour (Anthropic).'),
}

const Over200k = Type.Partial(
  Type.Object(counts, {
    ...strict,
    description:
      'The part of the five counts that came from single requests with more than 200,000 input-side tokens: the short form of `requests_above` with this threshold.',
  }),
)

const serviceName = (description: string, examples: string[]) =>
  Type.String({
    description,
    pattern: SERVICE_NAME,
    errorMessage: 'must be a name of 1 to 40 characters of a-z 0-9 _ . -',
    examples,
  })

const media = {
  input_audio: count('Tokens of audio, included in `input`.'),
  input_image: count('Tokens of images, included in `input`.'),
  output_audio: count('Tokens of audio, included in `output`.'),
  output_image: count('Tokens of images, included in `output`.'),
}

/** More than any price table has. */
export const THRESHOLD_LIMIT = 32

const threshold = Type.Integer({
  description: 'Number of input-side tokens (input and the three cache counts) of one request.',
  minimum: 1,
  maximum: COUNT_LIMIT,
  examples: [272_000],
})

const RequestsAbove = Type.Array(
  Type.Object(
    {
      threshold,
      input: Type.Optional(counts.input),
      output: Type.Optional(counts.output),
      cache_read: Type.Optional(counts.cache_read),
      cache_write: Type.Optional(counts.cache_write),
      cache_write_1h: Type.Optional(counts.cache_write_1h),
    },
    strict,
  ),
  {
    maxItems: THRESHOLD_LIMIT,
    description:
      'For each threshold in ascending order, the part of the five counts that came from single requests with more input-side tokens. A request above two thresholds is in both. Valued at the long-context prices.',
  },
)

/** With every count of each, still within the limit of a body's names and values. */
const REQUESTS_LIMIT = 2_000

const UsageOfRequests = Type.Array(
  Type.Partial(
    Type.Object(
      {
        ...counts,
        input_includes_cache: Type.Boolean({ description: 'As in `tokens`.' }),
      },
      strict,
    ),
  ),
  {
    minItems: 1,
    maxItems: REQUESTS_LIMIT,
    description:
      'The counts of each request of the session, instead of `requests` and `requests_above`. Tally stores their sums. If `tokens` is present as well, it must equal these sums.',
  },
)

export const TOOL_LIMIT = 16

const Tools = named(TOOL_NAMES, TOOL_LIMIT, Type.Integer({ minimum: 0, maximum: COUNT_LIMIT }), {
  description: 'Charged uses of tools that the vendor provides, by name.',
  examples: [{ web_search: 3 }],
})

const TokenCounts = Type.Object(
  {
    input: counts.input,
    output: counts.output,
    cache_read: Type.Optional(counts.cache_read),
    cache_write: Type.Optional(counts.cache_write),
    cache_write_1h: Type.Optional(counts.cache_write_1h),
    input_includes_cache: Type.Optional(
      Type.Boolean({
        description:
          'Set to true if `input` includes the three cache counts, as OpenAI and Gemini count. Tally subtracts them, also in `over_200k` and `requests_above`.',
      }),
    ),
    over_200k: Type.Optional(Over200k),
    input_audio: Type.Optional(media.input_audio),
    input_image: Type.Optional(media.input_image),
    output_audio: Type.Optional(media.output_audio),
    output_image: Type.Optional(media.output_image),
  },
  { ...strict, description: 'Token counts of the session. All five counts are disjoint.' },
)

/** Labels of an entry, also of one whose sources have different labels. */
export const LABEL_LIMIT = 16

const Labels = named(
  LABEL_NAMES,
  LABEL_LIMIT,
  Type.String({
    maxLength: 256,
    pattern: PLAIN_TEXT_OR_EMPTY,
    errorMessage: 'must not contain control characters',
  }),
  {
    description: `Up to ${LABEL_LIMIT} name-value pairs, used by placement rules, filters and reports. Names have 1 to 64 characters of a-z 0-9 _ . -`,
    examples: [{ repository: 'acme/web', branch: 'feature/ACME-42' }],
  },
)

const said = {
  funding: Type.Optional(
    Type.String({
      description:
        'What the usage is paid with: `metered` is paid by its price, `plan` is included in a plan, `credits` are bought before, `unknown` if the caller does not know. If absent, funding rules and the plans of the agent manager decide.',
      enum: [...FUNDINGS],
      pattern: `^(${FUNDINGS.join('|')})$`,
      errorMessage: `must be one of ${FUNDINGS.join(', ')}`,
    }) as unknown as TUnsafe<StatedFunding>,
  ),
  plan: Type.Optional(
    nameOf(
      'The plan that pays: its id, its name, or a code under which agents know it. Ignored unless the agent manager has that plan on the day of the session.',
      ['Claude Max', 'codex:pro'],
    ),
  ),
}

/** Checked by `report-usage.ts`, which says what to do. */
const TOKENS_OR_USAGE = when(isAbsent('usage'), isGiven('tokens'), {
  properties: {
    ...isAbsent('requests', 'requests_above').properties,
    tokens: { type: ['object', 'null'], ...isAbsent('over_200k') },
  },
})

/** Checked by `report-slices.ts`. */
const TOKENS_USAGE_OR_SLICES = when(isAbsent('slices'), TOKENS_OR_USAGE.shown, {
  ...isGiven('session_id'),
  properties: {
    ...isGiven('session_id').properties,
    ...isAbsent('usage', 'requests_above', 'tools').properties,
    tokens: { type: ['object', 'null'], ...isAbsent('over_200k', ...Object.keys(media)) },
  },
})

const activeSeconds = Type.Number({
  description:
    'How long the agent has worked, in seconds: without waiting for a person. Rounded to milliseconds; never part of a price.',
  minimum: 0,
  maximum: COST_LIMIT,
  examples: [412.5],
})

const reportFields = {
  agent_harness: nameOf('Name of the harness or application that runs the agent.', ['claude-code', 'codex']),
  agent_name: nameOf('Name of the agent.', ['reviewer']),
  model: nameOf('Name of the model used in the session. The price table is keyed by it.', ['claude-sonnet-4-5']),
  started_at: timestamp('Session start. The entry belongs to this moment in reports, prices and bills.', [
    '2026-11-20T17:53:04Z',
  ]),
  ended_at: timestamp(
    'Session end. Must not be earlier than the start or more than one day ahead of the server time.',
    ['2026-11-20T18:20:41Z'],
  ),
  tokens: Type.Optional({
    ...TokenCounts,
    description: `${TokenCounts.description} Required unless \`usage\` or \`slices\` is present.`,
  }),
  reported_cost: Type.Optional(
    Type.Number({
      description:
        'Cost of the session in US dollars, if the caller knows it. Otherwise the cost is the list value. More than 9 decimals are rounded half to even.',
      minimum: 0,
      maximum: COST_LIMIT,
      examples: [0.063354],
    }),
  ),
  summary: Type.Optional(
    Type.String({
      description: 'One line about what the session did. Line breaks are replaced with spaces.',
      maxLength: 1000,
      pattern: FOLDABLE_TEXT,
      errorMessage: 'must not contain control characters',
      examples: ['Fix the flaky login test'],
    }),
  ),
  project: Type.Optional(
    nameOf(
      'Key, name or alias of the project to place the entry on, unless its ticket belongs to another one. Created on first use. Must not be `none` or an ID.',
      ['acme-web'],
    ),
  ),
  ticket: Type.Optional(
    nameOf('Key of the ticket to place the entry on. Created on first use. Must not be `none` or an ID.', [
      'ACME-42',
      'acme/web#17',
    ]),
  ),
  session_id: Type.Optional(
    nameOf(
      'The harness’s ID of the session. Reports of a session contain its totals so far and update one entry per model instead of adding up.',
      ['7abded9e-af37-492b-8216-95394ad33034'],
    ),
  ),
  labels: Type.Optional(Labels),
  provider: Type.Optional(
    nameOf('Provider of the model, if it is not the vendor, by its name in the price table.', ['aws']),
  ),
  requests: Type.Optional(
    Type.Integer({ description: 'Number of model calls in the session.', minimum: 0, maximum: COUNT_LIMIT }),
  ),
  requests_above: Type.Optional(RequestsAbove),
  usage: Type.Optional(UsageOfRequests),
  service_tier: Type.Optional(
    serviceName(
      'Service tier of all these requests, such as `batch`, `flex` or `priority`. `standard` and `default` are the same as none. A session has an entry for each combination of model, service tier, speed and region.',
      ['batch'],
    ),
  ),
  speed: Type.Optional(
    serviceName('Speed of all these requests, such as `fast`. `standard` is the same as none.', ['fast']),
  ),
  region: Type.Optional(
    serviceName(
      'Region of all these requests, if the vendor charges by region, such as `us` or `eu`. `global` is the same as none.',
      ['us'],
    ),
  ),
  tools: Type.Optional(Tools),
  active_seconds: Type.Optional(activeSeconds),
  ...said,
}

/** Quarters of an hour of ten days. */
const SLICES_LIMIT = 1_000

const SliceReport = Type.Object(
  {
    started_at: timestamp(
      'Start of the slice, not before that of the report. It counts on the day of its start, in the time zone of the organization.',
      ['2026-11-20T17:53:04Z'],
    ),
    ended_at: timestamp('End of the slice, not after that of the report.', ['2026-11-20T17:59:12Z']),
    tokens: { ...TokenCounts, description: 'Token counts of the slice. All five counts are disjoint.' },
    requests: reportFields.requests,
    requests_above: reportFields.requests_above,
    tools: reportFields.tools,
    reported_cost: Type.Optional({
      ...reportFields.reported_cost,
      description: 'Cost of the slice in US dollars: in all slices, or in none.',
    }),
    project: Type.Optional({
      ...reportFields.project,
      description: 'As in the report. Replaces its project and its ticket.',
    }),
    ticket: Type.Optional({
      ...reportFields.ticket,
      description: 'As in the report. Replaces its project and its ticket.',
    }),
    labels: Type.Optional({
      ...Labels,
      description: 'Labels of the slice. Each replaces the one of the report with the same name.',
    }),
    summary: reportFields.summary,
    active_seconds: reportFields.active_seconds,
    funding: Type.Optional({
      ...said.funding,
      description:
        'As in the report, which it replaces together with `plan`. If slices of an entry say different things, it is `mixed` where some are metered and a plan pays for the rest, else `unknown`.',
    }),
    plan: Type.Optional({ ...said.plan, description: 'As in the report, which it replaces together with `funding`.' }),
  },
  { ...strict, $id: 'TokenEntrySlice', description: 'The use of the model in a part of the session.' },
)
export type SliceReport = Static<typeof SliceReport>

export const TokenEntryReport = Type.Object(
  {
    ...reportFields,
    slices: Type.Optional(
      Type.Array(SliceReport, {
        minItems: 1,
        maxItems: SLICES_LIMIT,
        description:
          'The session in parts, such as quarters of an hour, so that each day and place pays for its own work: slices of one day with the same project, ticket and labels of their own are one entry. Instead of `usage`, `requests_above` and `tools`; `tokens`, `requests`, `reported_cost` and `active_seconds` are absent, or the sums. All slices together have at most what a report without slices may have.',
      }),
    ),
  },
  {
    ...strict,
    $id: 'TokenEntryReport',
    ...conditions(TOKENS_USAGE_OR_SLICES),
    description: 'Usage of one model in one agent session, as sent to the report endpoint.',
  },
)
export type TokenEntryReport = Static<typeof TokenEntryReport>

const { session_id: _session, ...draftFields } = reportFields

export const TokenEntryDraft = Type.Object(draftFields, {
  ...strict,
  $id: 'TokenEntryDraft',
  ...conditions(TOKENS_OR_USAGE),
  description: 'An entry added manually to a token sheet: the fields of a report, without a session.',
})
export type TokenEntryDraft = Static<typeof TokenEntryDraft>

const { agent_harness, agent_name, model, started_at, ended_at, tokens, ...optionalFields } = draftFields
const clearable = <T extends TSchema>(schema: T) => Type.Optional(orNull(schema))

/** Absent is unchanged, null removes the value. */
export const TokenEntryDraftChange = Type.Object(
  {
    agent_harness: Type.Optional(agent_harness),
    agent_name: Type.Optional(agent_name),
    model: Type.Optional(model),
    started_at: Type.Optional(started_at),
    ended_at: Type.Optional(ended_at),
    tokens: Type.Optional(tokens),
    reported_cost: clearable(optionalFields.reported_cost),
    summary: clearable(optionalFields.summary),
    project: clearable(optionalFields.project),
    ticket: clearable(optionalFields.ticket),
    labels: clearable(optionalFields.labels),
    provider: clearable(optionalFields.provider),
    requests: clearable(optionalFields.requests),
    requests_above: clearable(optionalFields.requests_above),
    usage: optionalFields.usage,
    service_tier: clearable(optionalFields.service_tier),
    speed: clearable(optionalFields.speed),
    region: clearable(optionalFields.region),
    tools: clearable(optionalFields.tools),
    active_seconds: clearable(optionalFields.active_seconds),
    funding: clearable(optionalFields.funding),
    plan: clearable(optionalFields.plan),
  },
  {
    ...strict,
    $id: 'TokenEntryDraftChange',
    description: 'Changes to a draft. `tokens` and `labels` are replaced as a whole; null clears a field.',
  },
)
export type TokenEntryDraftChange = Static<typeof TokenEntryDraftChange>

const Place = (id: string, what: string) =>
  Type.Object(
    { id: Type.String({ examples: [id] }), key: Type.String(), name: Type.String() },
    { ...strict, description: what },
  )

export const TokenEntry = Type.Object(
  {
    id: Type.String({ examples: ['ent_01a1fa172a0277f3983322718874f2ef'] }),
    status: oneOf(STATUSES, '`submitted` on arrival. See the states of an entry.'),
    source: oneOf(SOURCES, 'Source of the figures: a report, pushed logs, spans or metrics, or a token sheet.'),
    agent_manager: Type.Object(
      { id: Type.String(), name: Type.String() },
      {
        ...strict,
        description:
          'The person the entry belongs to: the creator of the token that reported it, or the person identified by telemetry.',
      },
    ),
    manager_by: orNull(
      oneOf(
        MANAGER_BY,
        'How the agent manager was identified: by the token that reported the entry, or by the e-mail address that an agent sent with an organization token. Anyone who holds that token can send any address. Null for entries added manually.',
      ),
    ),
    agent_harness: Type.String(),
    agent_name: Type.String(),
    model: Type.String(),
    provider: orNull(Type.String()),
    started_at: moment('Session start.'),
    ended_at: moment('Session end.'),
    tokens: Type.Object(
      {
        ...counts,
        total: Type.Integer({ description: 'Sum of the five counts.' }),
        over_200k: orNull(
          Type.Object(counts, {
            ...strict,
            description: 'The part from requests with more than 200,000 input-side tokens; null if unknown.',
          }),
        ),
        input_audio: orNull(media.input_audio),
        input_image: orNull(media.input_image),
        output_audio: orNull(media.output_audio),
        output_image: orNull(media.output_image),
      },
      strict,
    ),
    requests: orNull(Type.Integer()),
    active_seconds: orNull(
      Type.Number({
        description: 'How long the agent has worked, in seconds, with at most 3 decimals. Null if unknown.',
      }),
    ),
    requests_above: orNull(
      Type.Array(Type.Object({ threshold, ...counts }, strict), {
        description:
          'For each known threshold, the part of the counts from requests with more input-side tokens. Null if nothing is known of single requests.',
      }),
    ),
    service_tier: orNull(Type.String({ description: 'Service tier; null for the standard one.', examples: ['batch'] })),
    speed: orNull(Type.String({ description: 'Speed; null for the standard one.', examples: ['fast'] })),
    region: orNull(Type.String({ description: 'Region that the vendor charges for; null if none.', examples: ['us'] })),
    tools: orNull(
      Type.Record(Type.String(), Type.Integer(), { description: 'Charged uses of tools, by name; null if none.' }),
    ),
    cost: orNull(
      money(
        'The reported cost, or else the list value. Null if neither is known (unpriced), which is not the same as 0.',
      ),
    ),
    reported_cost: orNull(money('The cost reported by the caller.')),
    list_value: orNull(money('The value according to the price table, as of when the entry was valued.')),
    cost_mismatch: Type.Boolean({
      description:
        'Whether the reported cost is more than 10 times the list value, or less than a tenth of it, and they are more than 1 US dollar apart; false without tokens, where there is nothing to compare. The entry still counts with its reported cost.',
    }),
    price: orNull(
      Type.Object(
        {
          id: Type.String({
            description: 'ID of the row in the price table.',
            examples: ['prc_01a1fa172a0277f3983322718874f2ef'],
          }),
          step: Type.Integer({
            description: 'The step of price resolution that matched the model’s name.',
            minimum: 1,
            maximum: 7,
          }),
          note: orNull(Type.String({ description: NOTES_TEXT })),
        },
        { ...strict, description: 'How the list value was determined; null if the model has no price.' },
      ),
    ),
    project: orNull(Place('prj_01a1fa172a0277f3983322718874f2ef', 'The project the entry is placed on.')),
    ticket: orNull(
      Type.Object(
        { id: Type.String(), key: Type.String() },
        { ...strict, description: 'The ticket the entry is placed on.' },
      ),
    ),
    placement: Type.Object(
      {
        by: oneOf(
          [...PLACED_BY, 'unattributed'],
          'How the entry was placed: by names in the report, by a rule, by a person, or not at all.',
        ),
        rule: orNull(
          Type.Object(
            { id: Type.String(), name: Type.String(), version: Type.Integer({ minimum: 1 }) },
            {
              ...strict,
              description: 'The rule that placed the entry or determined its ticket’s project, as it was at that time.',
            },
          ),
        ),
        note: orNull(Type.String({ description: 'Explains names or rules that conflicted or could not be used.' })),
        named_project: orNull(Type.String({ description: 'The project named in the report that could not be used.' })),
        named_ticket: orNull(Type.String({ description: 'The ticket named in the report that could not be used.' })),
      },
      strict,
    ),
    summary: orNull(Type.String()),
    labels: Type.Record(Type.String(), Type.String()),
    session_id: orNull(Type.String()),
    part: orNull(
      Type.Integer({
        description: 'Part number of the entry within its session and model, starting at 1.',
        minimum: 1,
      }),
    ),
    slice: orNull(
      Type.Object(
        {
          day: Type.String({
            description:
              'The day of the slice, in the time zone that the organization had when the session was first sliced.',
            examples: ['2026-11-20'],
          }),
          estimated: Type.Boolean({
            description:
              'Whether the figures are those of another source than the one that names the place, divided as its slices are.',
          }),
        },
        {
          ...strict,
          description: 'The part of its session that the entry is for. Null if the session is one entry per model.',
        },
      ),
    ),
    continues: orNull(
      Type.String({ description: 'The previous part of the same slice, which was locked when the session continued.' }),
    ),
    corrected: Type.Array(oneOf(CORRECTED_FIELDS, ''), {
      description:
        'What a person has corrected, which later reports do not change: `figures` (also times, model and provider), `labels`, `summary`.',
    }),
    division: orNull(
      Type.Object(
        {
          entry: Type.String({ description: 'The entry that was divided, which is the first of its parts.' }),
          share: Type.Number({ description: 'The share of this entry, between 0 and 1, rounded.', examples: [0.3] }),
        },
        { ...strict, description: 'Set if the entry is a part of a divided entry.' },
      ),
    ),
    superseded: Type.Boolean({
      description:
        'True if later reports or another source of the session leave nothing of this entry. Its figures are 0.',
    }),
    possible_duplicate_of: orNull(
      Type.String({
        description:
          'An identical earlier entry, or an entry of another person’s session with the same harness and ID.',
      }),
    ),
    bill: orNull(Type.Object({ id: Type.String(), number: Type.String() }, strict)),
    sheet: orNull(
      Type.Object({ id: Type.String() }, { ...strict, description: 'The token sheet of an entry added manually.' }),
    ),
    funding: Type.Object(
      {
        kind: oneOf(
          ENTRY_FUNDINGS,
          'What pays for the usage: its price (`metered`), a plan, credits, a plan for what of its tokens is not metered (`mixed`), or nothing is known of it. Approved and billed entries keep what they had.',
        ),
        plan: orNull(
          Type.Object({ id: Type.String(), name: Type.String() }, { ...strict, description: 'The plan that pays.' }),
        ),
        reason: oneOf(
          FUNDING_REASONS,
          'What decided: the `report`, a plan as the `agent` calls it, a funding `rule`, the plan of the `person`, or `none`.',
        ),
        rule: orNull(
          Type.Object(
            { id: Type.String(), name: Type.String(), version: Type.Integer({ minimum: 1 }) },
            { ...strict, description: 'The funding rule that decided, as it was at that time.' },
          ),
        ),
        note: orNull(
          oneOf(
            FUNDING_NOTES,
            'What could not be used: a plan that the agent manager does not have on that day (`plan_not_held`), a statement that a plan pays although there is none (`no_plan`), slices that say different things (`parts_differ`). Or that the metered share of what is `mixed` is that of its tokens (`mixed_by_tokens`).',
          ),
        ),
        reported_funding: orNull(
          oneOf(
            SAID_FUNDINGS,
            'The `funding` of the report; `mixed` of slices that differ, `mixed_credits` if all that are not metered are paid with credits.',
          ),
        ),
        reported_plan: orNull(
          Type.String({ description: 'The `plan` of the report, whether it could be used or not.' }),
        ),
        metered_share: orNull(
          Type.Number({
            description:
              'Of slices of which some are metered: their share of the tokens, from 0 to 1 with 9 decimals. Null of others.',
          }),
        ),
      },
      { ...strict, description: 'How the usage is paid for, and why.' },
    ),
    created_at: moment('When Tally received the entry.'),
    updated_at: orNull(
      moment(
        'When it was last changed in any way, such as by being approved or billed. Renaming a project or person that it refers to does not count.',
      ),
    ),
  },
  { ...strict, $id: 'TokenEntry', description: 'A token entry: the usage of one model in one agent session.' },
)
export type TokenEntry = Static<typeof TokenEntry>

const Valuation = Type.Object(
  {
    price: Type.Object(
      {
        id: Type.String({ examples: ['prc_01a1fa172a0277f3983322718874f2ef'] }),
        provider: Type.String({ description: 'Empty if the price applies to any provider.' }),
        model: Type.String({ description: 'Model name in the price table.' }),
        source: Type.String({
          description: 'The price table that contains the row.',
          examples: ['default', 'litellm'],
        }),
        effective_from: orNull(moment('Start of validity; null if it has always applied.')),
      },
      { ...strict, description: 'ID of the row in the price table.' },
    ),
    ...valueFields,
  },
  { ...strict, description: 'Calculation of the list value.' },
)

/** What is paid for entries that are read: it is calculated after they are reported. */
const paid = {
  marginal_cost: orNull(
    money(
      'What was paid for the entry in addition to the fees of plans: its cost if it is `metered` or paid by `credits` of no plan, else what was charged beyond the allowance of its plan. Null if it is unknown what pays, or until it is calculated.',
    ),
  ),
  allocated_cost: orNull(
    money('The marginal cost and the share of the fee. Null if either is unknown, and for those who do not see fees.'),
  ),
  fee_share: orNull(
    money('The share of the fee of the plan; 0 if no plan pays. Null if unknown, and for those who do not see fees.'),
  ),
  provisional: Type.Boolean({
    description: 'Whether these amounts may change, because a plan pays and its period is not closed.',
  }),
}

export const ListedTokenEntry = Type.Object(
  { ...TokenEntry.properties, ...paid },
  { ...strict, $id: 'ListedTokenEntry', description: 'A token entry, with what was paid for it.' },
)
export type ListedTokenEntry = Static<typeof ListedTokenEntry>

export const TokenEntryDetail = Type.Object(
  {
    ...ListedTokenEntry.properties,
    placed_by_rule: orNull(
      Type.Object(
        {
          ticket: orNull(Type.String({ description: 'Ticket template of the rule.' })),
          conditions: Type.Array(
            Type.Object(
              {
                field: Type.String(),
                matches: Type.String(),
                value: orNull(Type.String({ description: 'The entry’s current value of the field.' })),
              },
              strict,
            ),
          ),
        },
        {
          ...strict,
          description:
            'The rule in `placement` as it was when it placed the entry. Only for callers who can read rules.',
        },
      ),
    ),
    valuation: orNull(Valuation),
    settled_by: orNull(
      Type.String({
        description:
          'Of an entry that arrived after the period of its plan was closed: the correction (ent_…) that contains its share of the fee and what is charged in addition to it, with those of other entries of the same person, project and ticket. Null until the period is settled.',
      }),
    ),
  },
  {
    ...strict,
    $id: 'TokenEntryDetail',
    description: 'A token entry with the rule that placed it and the calculation of its list value.',
  },
)
export type TokenEntryDetail = Static<typeof TokenEntryDetail>

export const TokenEntryList = Type.Object(
  {
    ...listOf(ListedTokenEntry, 'TokenEntryList').properties,
    basis: oneOf(COST_BASES, 'What `cost` of the entries is, and what they are sorted by with `sort=cost`.'),
    searched_to: orNull(
      moment(
        'Set if the page ended early, because looking through entries for this filter takes long: those from this moment on (in ascending order, until this moment) were searched, or sorted if `sort` names a figure. `has_more` is then true, and `next_page` continues. Null if the page is complete.',
      ),
    ),
    deleted: orNull(
      Type.Array(Type.String(), {
        description: 'With `updated_since`: ids of drafts that were deleted, whether they match the filters or not.',
      }),
    ),
  },
  { ...strict, $id: 'TokenEntryList' },
)

/** Validates a batch as a whole; items are validated one by one, so that valid ones are recorded. */
export const AnyBatch = Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_LIMIT })
export const TokenEntryBatch = Type.Array(TokenEntryReport, { minItems: 1, maxItems: BATCH_LIMIT })

/** `problem` is the schema of a problem, which is known to the OpenAPI document but not to this feature. */
export const BatchResults = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ description: 'Position in the batch, starting at 0.', minimum: 0 }),
          result: oneOf(['created', 'updated', 'repeated', 'rejected'], 'Outcome for the item.'),
          entry: orNull(TokenEntry),
          entries: Type.Array(
            Type.Object(
              {
                id: Type.String(),
                result: oneOf(['created', 'updated', 'repeated'], 'Outcome for the entry.'),
              },
              strict,
            ),
            { description: 'The outcome for each entry of the session and model. Empty if the item was rejected.' },
          ),
          problem: orNull(Type.Ref('Problem')),
        },
        strict,
      ),
    ),
    entries: Type.Optional(
      Type.Array(
        Type.Object(
          {
            result: oneOf(['created', 'updated', 'repeated'], 'Outcome for the entry.'),
            before: orNull(TokenEntry),
            after: TokenEntry,
          },
          strict,
        ),
        {
          description:
            'Only with `dry_run`: the entries that would be created, whose `before` is null, or change, and the others of the reported sessions and models.',
        },
      ),
    ),
  },
  {
    ...strict,
    $id: 'TokenEntryBatchResults',
    description:
      'One result per item, in the order of the batch. `entry` of a session with slices is that of the latest one.',
  },
)

export const Repricing = Type.Object(
  {
    all: Type.Optional(
      Type.Boolean({
        description:
          'Also reprice entries that have a list value. Approved, pending and billed entries never change. By default, only unpriced entries are valued.',
      }),
    ),
    starting_at: Type.Optional(
      dayOrTimestamp('With `all`: only sessions that started at or after this time.', ['2026-11-01']),
    ),
    ending_at: Type.Optional(
      dayOrTimestamp('With `all`: only sessions that started before this time.', ['2026-12-01']),
    ),
    models: Type.Optional(
      Type.Array(nameOf('Model name as reported.', ['claude-sonnet-4-5']), {
        description: 'With `all`: only these models.',
        maxItems: 1_000,
      }),
    ),
    page: Type.Optional(
      Type.String({ description: 'With `all`: the `next_page` of a previous call that was not complete.' }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Return the changes without saving them.' })),
  },
  { ...strict, $id: 'RepricingRequest' },
)
export type Repricing = Static<typeof Repricing>

export const TokenEntryHistory = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          at: moment('Time of the change.'),
          action: Type.String({ examples: ['created', 'placed', 'superseded'] }),
          actor: orNull(
            Type.Object(
              {
                user: Type.Object({ id: Type.String(), name: Type.String() }, strict),
                token: orNull(Type.Object({ id: Type.String(), name: Type.String() }, strict)),
              },
              { ...strict, description: 'Person who made the change; null for Tally itself.' },
            ),
          ),
          details: Type.Record(Type.String(), Type.Unknown(), {
            description: 'What was changed, and why. A `rule` has its name only for callers who can read rules.',
          }),
        },
        strict,
      ),
    ),
    names: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, strict), {
      description:
        'The people and projects that `details` refer to by their ids, with their names, and the keys of projects; without those that were removed.',
    }),
  },
  { ...strict, $id: 'TokenEntryHistory' },
)
export type TokenEntryHistory = Static<typeof TokenEntryHistory>

const orCleared = <T extends TSchema>(schema: T, expected: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { errorMessage: `must be ${expected}, or null` }))

const { project, ticket, summary, labels } = TokenEntryReport.properties

const reason = Type.String({
  description: 'Reason, shown to the owner of the entry.',
  minLength: 1,
  maxLength: 1000,
  pattern: PLAIN_TEXT,
  errorMessage: 'must be 1 to 1000 characters long, without control characters, and must not be blank',
  examples: ['Counted twice: this session is already on the October sheet'],
})

/** What billing and admins may correct of what an agent reported. */
export const FIGURE_FIELDS = [
  'model',
  'provider',
  'started_at',
  'ended_at',
  'tokens',
  'requests',
  'requests_above',
  'usage',
  'service_tier',
  'speed',
  'region',
  'tools',
  'reported_cost',
  'active_seconds',
] as const satisfies (keyof TokenEntryDraftChange)[]

const figureChanges = Object.fromEntries(
  FIGURE_FIELDS.map((field) => [field, TokenEntryDraftChange.properties[field]]),
) as Pick<typeof TokenEntryDraftChange.properties, (typeof FIGURE_FIELDS)[number]>

/** Fields of an entry that a person may change. */
export const EntryCorrection = Type.Object(
  {
    project: orCleared(
      Type.String({
        ...project,
        description: 'ID, key, name or alias of a project. Null removes the entry from its project.',
      }),
      'the ID, key, name or alias of a project',
    ),
    ticket: orCleared(
      Type.String({
        ...ticket,
        description:
          'ID or key of a ticket, which also determines the project. An unknown ticket is created if its project is known. Null removes the entry from its ticket.',
      }),
      'the ID or key of a ticket',
    ),
    summary: orCleared(summary, 'at most 1000 characters without control characters'),
    labels: Type.Optional(orNull(labels)),
    ...figureChanges,
    reason: Type.Optional({ ...reason, description: 'Required to correct figures, times, the model or the provider.' }),
  },
  {
    ...strict,
    $id: 'TokenEntryCorrection',
    minProperties: 1,
    errorMessage: 'must contain at least one field to change',
  },
)
export type EntryCorrection = Static<typeof EntryCorrection>

/** The reason for a rejection or return. */
export const Reason = Type.Object({ reason }, { ...strict, $id: 'Reason' })

const laterReports = Type.Union([Type.Literal('new_part'), Type.Literal('ignore')], {
  description:
    'Later reports of the session: `new_part` (default) counts what is used from now on as a further entry; `ignore` never counts the session’s usage of this model again.',
  errorMessage: 'must be new_part or ignore',
})

/** Why an entry is voided, and what that means for its session. */
export const EntryVoiding = Type.Object(
  { reason, later_reports: Type.Optional(laterReports) },
  { ...strict, $id: 'TokenEntryVoiding' },
)

/** Parts of a divided entry: more than anybody fills in by hand. */
const PART_LIMIT = 50

const positive = (description: string, examples: number[]) =>
  Type.Optional(
    Type.Number({ description, exclusiveMinimum: 0, maximum: 1e9, examples, errorMessage: 'must be a number above 0' }),
  )

/** Where the parts of an entry go, and how much each gets. */
export const EntryDivision = Type.Object(
  {
    parts: Type.Array(
      Type.Object(
        {
          project: EntryCorrection.properties.project,
          ticket: EntryCorrection.properties.ticket,
          share: positive('Weight of the part, such as its percentage. The shares need not sum up to 100.', [70]),
          amount: positive('Cost of the part in US dollars.', [42.5]),
        },
        { ...strict, ...conditions(when(isGiven('amount'), isAbsent('share'))), $id: 'TokenEntryDivisionPart' },
      ),
      {
        description:
          'The first part is the entry itself. Each part has a `share`, or each an `amount`, which one of them may omit to get the rest. A part without `project` and `ticket` stays where the entry is.',
        minItems: 2,
        maxItems: PART_LIMIT,
        errorMessage: `must be 2 to ${PART_LIMIT} parts`,
      },
    ),
  },
  { ...strict, $id: 'TokenEntryDivision' },
)
export type EntryDivision = Static<typeof EntryDivision>

export const DividedTokenEntry = Type.Object(
  {
    entry: Type.String({ description: 'The entry that was divided.' }),
    cost: orNull(money('The cost of all parts together; null if it is unknown.')),
    tokens: Type.Integer({ description: 'The tokens of all parts together.' }),
    parts: Type.Array(TokenEntry, { description: 'The parts that you can see; the divided entry is the first.' }),
    hidden_parts: Type.Integer({ description: 'The number of parts that you cannot see.' }),
  },
  { ...strict, $id: 'DividedTokenEntry' },
)
export type DividedTokenEntry = Static<typeof DividedTokenEntry>

/** Entries per call: half a second of a transaction, or two if entries move, during which reports wait. */
export const ACTION_LIMIT = 10_000

export const TokenEntriesAction = Type.Object(
  {
    action: Type.Union(
      [
        Type.Literal('approve'),
        Type.Literal('reject'),
        Type.Literal('reopen'),
        Type.Literal('withdraw_approval'),
        Type.Literal('release'),
        Type.Literal('discard'),
        Type.Literal('void'),
        Type.Literal('restore'),
        Type.Literal('place'),
        Type.Literal('unplace'),
      ],
      {
        errorMessage:
          'must be one of approve, reject, reopen, withdraw_approval, release, discard, void, restore, place, unplace',
      },
    ),
    ids: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'IDs of entries (ent_…). If absent, the filters of the query select the entries. One of the two is required.',
        minItems: 1,
        maxItems: ACTION_LIMIT,
      }),
    ),
    reason: Type.Optional({
      ...reason,
      description: 'Reason. Required for `reject` and `void`, not allowed for other actions.',
    }),
    later_reports: Type.Optional({ ...laterReports, description: `Only for \`void\`. ${laterReports.description}` }),
    project: Type.Optional({
      ...EntryCorrection.properties.project,
      description: 'Only for `place`: the destination.',
    }),
    ticket: Type.Optional({ ...EntryCorrection.properties.ticket, description: 'Only for `place`: the destination.' }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Return the results without saving anything.' })),
    digest: Type.Optional(
      Type.String({
        description:
          'Only for `place`: the `digest` of a dry run. If it would now do something else, the request fails with `preview_changed`.',
        maxLength: 100,
      }),
    ),
  },
  {
    ...strict,
    ...conditions(
      when(isOneOf('action', 'reject', 'void'), isGiven('reason'), isAbsent('reason')),
      when(isOneOf('action', 'void'), undefined, isAbsent('later_reports')),
      when(
        isOneOf('action', 'place'),
        { anyOf: [{ required: ['project'] }, { required: ['ticket'] }] },
        isAbsent('project', 'ticket', 'digest'),
      ),
    ),
    $id: 'TokenEntriesAction',
  },
)
export type TokenEntriesAction = Static<typeof TokenEntriesAction>

export const TokenEntriesActionResults = Type.Object(
  {
    dry_run: Type.Boolean(),
    done: Type.Integer({ description: 'Number of entries that were processed successfully.' }),
    refused: Type.Integer(),
    cost: money('Total known cost of these entries.'),
    unpriced_entries: Type.Integer({ description: 'Unpriced entries among them.' }),
    digest: Type.Optional(
      Type.String({ description: 'Identifies what a dry run of `place` would do. Send it to do exactly that.' }),
    ),
    results: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          result: oneOf(['done', 'unchanged', 'refused'], 'Outcome for the entry.'),
          status: orNull(oneOf(STATUSES, 'The current status; null if the action does not change the status.')),
          problem: orNull(
            Type.Object(
              {
                code: Type.String({ examples: ['wrong_status'] }),
                detail: Type.String({ description: 'Why the action is not possible, and what to do.' }),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
      {
        description:
          'In the order of `ids`, or newest first. `release` and `discard` also decide about the other entries of the sessions, which follow.',
      },
    ),
  },
  { ...strict, $id: 'TokenEntriesActionResults' },
)
export type TokenEntriesActionResults = Static<typeof TokenEntriesActionResults>
