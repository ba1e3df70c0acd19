/** Token entries on the wire: what a report may hold, and how Tally answers an entry. One source for validation and OpenAPI. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { MANAGER_BY, PLACED_BY, SOURCES, STATUSES } from '../../database/tables.ts'
import { listOf, moment, nameOf, oneOf, orNull, PLAIN_TEXT, strict } from '../../wire.ts'

const COUNT_LIMIT = 1_000_000_000_000
/** A thousand million dollars; its nano-dollars stay within 64 bits with room to add up. */
const COST_LIMIT = 1_000_000_000
export const BATCH_LIMIT = 1_000

const PLAIN_TEXT_OR_EMPTY = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
/** Tabs and line breaks are allowed here and folded to spaces. */
const FOLDABLE_TEXT = '^[^\\u0000-\\u0008\\u000e-\\u001f\\u007f-\\u009f]*$'
export const TIMESTAMP =
  '^\\d{4}-\\d{2}-\\d{2}[Tt]([01]\\d|2[0-3]):[0-5]\\d:([0-5]\\d|60)(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$'

const timestamp = (description: string, examples: string[]) =>
  Type.String({
    description,
    pattern: TIMESTAMP,
    errorMessage: 'must be an RFC 3339 timestamp with its offset, such as 2026-11-20T17:53:04Z',
    examples,
  })

const count = (description: string) => Type.Integer({ description, minimum: 0, maximum: COUNT_LIMIT })

const counts = {
  input: count('Input tokens that were neither read from nor written to a cache.'),
  output: count('Output tokens, reasoning included.'),
  cache_read: count('Tokens read from the cache.'),
  cache_write: count('Tokens written to the cache, at the usual (five-minute) lifetime.'),
  cache_write_1h: count('Tokens written to the cache with a lifetime of one hour (Anthropic).'),
}

const Over200k = Type.Partial(
  Type.Object(counts, {
    ...strict,
    description:
      'The share of the five counts that came from single requests with more than 200,000 input-side tokens; valued at the long-context price.',
  }),
)

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
          'Set where the caller’s `input` includes the three cache counts, as OpenAI and Gemini count. Tally subtracts them, also in `over_200k`.',
      }),
    ),
    over_200k: Type.Optional(Over200k),
  },
  { ...strict, description: 'Token counts of the session. All five counts are disjoint.' },
)

const Labels = Type.Record(
  Type.String({ pattern: '^[a-z0-9_.-]{1,64}$' }),
  Type.String({
    maxLength: 256,
    pattern: PLAIN_TEXT_OR_EMPTY,
    errorMessage: 'must be a text without control characters',
  }),
  {
    ...strict,
    maxProperties: 16,
    description: 'Up to 16 pairs, used by placement rules, filters and reports. Names are 1 to 64 of a-z 0-9 _ . -',
    examples: [{ repository: 'acme/web', branch: 'feature/ACME-42' }],
  },
)

export const TokenEntryReport = Type.Object(
  {
    agent_harness: nameOf('Name of the harness or application that runs the agent.', ['claude-code', 'codex']),
    agent_name: nameOf('Name of the agent.', ['reviewer']),
    model: nameOf('Name of the model used in the session. The price table is keyed by it.', ['claude-sonnet-4-5']),
    started_at: timestamp('Session start. The entry belongs to this moment in reports, prices and bills.', [
      '2026-11-20T17:53:04Z',
    ]),
    ended_at: timestamp('Session end: not before the start, and not more than a day ahead of the server’s clock.', [
      '2026-11-20T18:20:41Z',
    ]),
    tokens: TokenCounts,
    reported_cost: Type.Optional(
      Type.Number({
        description:
          'What the session cost, in US dollars, as the caller knows it. Without it the cost is the list value. More than 9 decimals are rounded half to even.',
        minimum: 0,
        maximum: COST_LIMIT,
        examples: [0.063354],
      }),
    ),
    summary: Type.Optional(
      Type.String({
        description: 'One line on what the session did. Line breaks are folded to spaces.',
        maxLength: 1000,
        pattern: FOLDABLE_TEXT,
        errorMessage: 'must be a text without control characters',
        examples: ['Fix the flaky login test'],
      }),
    ),
    project: Type.Optional(
      nameOf(
        'Key, name or alias of the project the entry is placed on, unless its ticket has another one. Created on first mention. Neither `none` nor an id.',
        ['acme-web'],
      ),
    ),
    ticket: Type.Optional(
      nameOf('Key of the ticket the entry is placed on. Created on first mention. Neither `none` nor an id.', [
        'ACME-42',
        'acme/web#17',
      ]),
    ),
    session_id: Type.Optional(
      nameOf(
        'The harness’s id of the session. Reports of one session are totals so far and update one entry per model instead of adding up.',
        ['7abded9e-af37-492b-8216-95394ad33034'],
      ),
    ),
    labels: Type.Optional(Labels),
    provider: Type.Optional(
      nameOf('Who sold the model, where that is not its maker, as the price table names them.', ['aws']),
    ),
    requests: Type.Optional(
      Type.Integer({ description: 'Model calls in the session.', minimum: 0, maximum: COUNT_LIMIT }),
    ),
  },
  { ...strict, $id: 'TokenEntryReport', description: 'One agent session and one model: what a report call sends.' },
)
export type TokenEntryReport = Static<typeof TokenEntryReport>

const { session_id: _session, ...draftFields } = TokenEntryReport.properties

export const TokenEntryDraft = Type.Object(draftFields, {
  ...strict,
  $id: 'TokenEntryDraft',
  description: 'An entry made by hand on a token sheet: what a report says, without a session.',
})
export type TokenEntryDraft = Static<typeof TokenEntryDraft>

const { agent_harness, agent_name, model, started_at, ended_at, tokens, ...optionalFields } = draftFields
const clearable = <T extends TSchema>(schema: T) => Type.Optional(orNull(schema))

/** Absent is unchanged, null is taken away. */
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
  },
  {
    ...strict,
    $id: 'TokenEntryDraftChange',
    description:
      'What is to change of a draft. `tokens` and `labels` are replaced as a whole; null takes a field away.',
  },
)
export type TokenEntryDraftChange = Static<typeof TokenEntryDraftChange>

const money = (description: string) => Type.Number({ description: `${description} US dollars, at most 9 decimals.` })

const Place = (id: string, what: string) =>
  Type.Object(
    { id: Type.String({ examples: [id] }), key: Type.String(), name: Type.String() },
    { ...strict, description: what },
  )

export const TokenEntry = Type.Object(
  {
    id: Type.String({ examples: ['ent_01a1fa172a0277f3983322718874f2ef'] }),
    status: oneOf(STATUSES, '`submitted` when it arrives; see the states of an entry.'),
    source: oneOf(SOURCES, 'What supplied the figures: a report, pushed logs, spans or metrics, or a token sheet.'),
    agent_manager: Type.Object(
      { id: Type.String(), name: Type.String() },
      {
        ...strict,
        description:
          'The person the entry belongs to: the creator of the token that brought it, or whom telemetry names.',
      },
    ),
    manager_by: orNull(
      oneOf(
        MANAGER_BY,
        'What says so: the token that brought it, or the e-mail that an agent sent with an organization token, which anybody who holds that token could send. Null for an entry made by hand.',
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
        over_200k: orNull(Type.Object(counts, strict)),
      },
      strict,
    ),
    requests: orNull(Type.Integer()),
    cost: orNull(
      money(
        'The reported cost, else the list value; null where neither is known (unpriced), which is never the same as 0.',
      ),
    ),
    reported_cost: orNull(money('What the caller said.')),
    list_value: orNull(money('The price table’s value, kept as it was when the entry was valued.')),
    price: orNull(
      Type.Object(
        {
          id: Type.String({
            description: 'The row of the price table.',
            examples: ['prc_01a1fa172a0277f3983322718874f2ef'],
          }),
          step: Type.Integer({
            description: 'Which step of the resolution found the row for the model’s name.',
            minimum: 1,
            maximum: 7,
          }),
          note: orNull(Type.String({ description: '`cache_price_assumed`, `tier_uncertain`, or both with a comma.' })),
        },
        { ...strict, description: 'How the list value was found; null where the model has no price.' },
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
          'What placed the entry: names in the report, a rule, a person, or nothing.',
        ),
        rule: orNull(
          Type.Object(
            { id: Type.String(), name: Type.String(), version: Type.Integer({ minimum: 1 }) },
            {
              ...strict,
              description: 'The rule that placed the entry, or gave its ticket a project, as it was then.',
            },
          ),
        ),
        note: orNull(Type.String({ description: 'Where names or rules disagreed, or could not be used.' })),
        named_project: orNull(Type.String({ description: 'The project that was named but could not be used.' })),
        named_ticket: orNull(Type.String({ description: 'The ticket that was named but could not be used.' })),
      },
      strict,
    ),
    summary: orNull(Type.String()),
    labels: Type.Record(Type.String(), Type.String()),
    session_id: orNull(Type.String()),
    part: orNull(
      Type.Integer({ description: 'Which part of its session and model the entry is, from 1.', minimum: 1 }),
    ),
    continues: orNull(
      Type.String({ description: 'The part before this one, which was locked when the session went on.' }),
    ),
    superseded: Type.Boolean({ description: 'Another source supplies the session now; this entry’s figures are 0.' }),
    possible_duplicate_of: orNull(
      Type.String({
        description:
          "An earlier entry that says exactly the same, or one of another person's session with the same harness and id.",
      }),
    ),
    bill: orNull(Type.Object({ id: Type.String(), number: Type.String() }, strict)),
    sheet: orNull(
      Type.Object({ id: Type.String() }, { ...strict, description: 'The token sheet of an entry made by hand.' }),
    ),
    created_at: moment('When Tally received the entry.'),
    updated_at: orNull(moment('When it was last changed.')),
  },
  { ...strict, $id: 'TokenEntry', description: 'A token entry: what one agent session used of one model.' },
)
export type TokenEntry = Static<typeof TokenEntry>

const Valuation = Type.Object(
  {
    price: Type.Object(
      {
        id: Type.String({ examples: ['prc_01a1fa172a0277f3983322718874f2ef'] }),
        provider: Type.String({ description: 'Empty where the price holds for any provider.' }),
        model: Type.String({ description: 'As the price table writes the name.' }),
        source: Type.String({ description: 'The table that the row came from.', examples: ['default', 'litellm'] }),
        effective_from: orNull(moment('The first moment it holds; null where it always held.')),
      },
      { ...strict, description: 'The row of the price table.' },
    ),
    parts: Type.Array(
      Type.Object(
        {
          kind: oneOf(['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'], 'Which of the five counts.'),
          tokens: Type.Integer(),
          price: Type.Number({ description: 'US dollars per million tokens.' }),
          from_tokens: orNull(
            Type.Integer({ description: 'Where the long-context price begins; null for the base price.' }),
          ),
          amount: Type.Number({ description: 'tokens × price, in US dollars, exact at 12 decimals.' }),
        },
        strict,
      ),
      { description: 'Only of what was used.' },
    ),
    list_value: money('The sum of the parts, rounded once, half to even.'),
  },
  { ...strict, description: 'The arithmetic of the list value.' },
)

export const TokenEntryDetail = Type.Object(
  {
    ...TokenEntry.properties,
    placed_by_rule: orNull(
      Type.Object(
        {
          ticket: orNull(Type.String({ description: 'The ticket as the rule composes it.' })),
          conditions: Type.Array(
            Type.Object(
              {
                field: Type.String(),
                matches: Type.String(),
                value: orNull(Type.String({ description: 'What the entry says there now.' })),
              },
              strict,
            ),
          ),
        },
        {
          ...strict,
          description: 'What the rule in `placement` said when it placed the entry; for those who may read rules.',
        },
      ),
    ),
    valuation: orNull(Valuation),
  },
  {
    ...strict,
    $id: 'TokenEntryDetail',
    description: 'A token entry with the rule that placed it and the arithmetic of its list value.',
  },
)
export type TokenEntryDetail = Static<typeof TokenEntryDetail>

export const TokenEntryList = listOf(TokenEntry, 'TokenEntryList')

/** What a batch is checked for as a whole; its items are checked one by one, so that good ones are kept. */
export const AnyBatch = Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_LIMIT })
export const TokenEntryBatch = Type.Array(TokenEntryReport, { minItems: 1, maxItems: BATCH_LIMIT })

/** `problem` is the schema of a problem, which the document knows and this feature does not. */
export const BatchResults = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ description: 'Which item of the batch, from 0.', minimum: 0 }),
          result: oneOf(['created', 'updated', 'repeated', 'rejected'], 'What became of the item.'),
          entry: orNull(TokenEntry),
          problem: orNull(Type.Ref('Problem')),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'TokenEntryBatchResults', description: 'One result an item, in the order of the batch.' },
)

export const Repricing = Type.Object(
  {
    all: Type.Optional(
      Type.Boolean({
        description:
          'Also entries that have a value. Those that are approved, pending or billed never change theirs. Without it only entries without a price are valued.',
      }),
    ),
    starting_at: Type.Optional(
      timestamp('With `all`: sessions that started at or after this moment.', ['2026-11-01T00:00:00Z']),
    ),
    ending_at: Type.Optional(
      timestamp('With `all`: sessions that started before this moment.', ['2026-12-01T00:00:00Z']),
    ),
    models: Type.Optional(
      Type.Array(nameOf('A model as it was reported.', ['claude-sonnet-4-5']), {
        description: 'With `all`: only these models.',
        maxItems: 1_000,
      }),
    ),
    page: Type.Optional(Type.String({ description: 'With `all`: the `next_page` of a call whose time was over.' })),
    dry_run: Type.Optional(Type.Boolean({ description: 'Only answers what would change.' })),
  },
  { ...strict, $id: 'RepricingRequest' },
)
export type Repricing = Static<typeof Repricing>

export const TokenEntryHistory = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          at: moment('When it happened.'),
          action: Type.String({ examples: ['created', 'placed', 'superseded'] }),
          actor: orNull(
            Type.Object(
              {
                user: Type.Object({ id: Type.String(), name: Type.String() }, strict),
                token: orNull(Type.Object({ id: Type.String(), name: Type.String() }, strict)),
              },
              { ...strict, description: 'Who did it; null where Tally did.' },
            ),
          ),
          details: Type.Record(Type.String(), Type.Unknown()),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'TokenEntryHistory' },
)
export type TokenEntryHistory = Static<typeof TokenEntryHistory>

const orCleared = <T extends TSchema>(schema: T, expected: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { errorMessage: `must be ${expected}, or null` }))

const { project, ticket, summary, labels } = TokenEntryReport.properties

/** What a person may change of an entry: never its figures. */
export const EntryCorrection = Type.Object(
  {
    project: orCleared(
      Type.String({
        ...project,
        description: 'Id, key, name or alias of a project; null takes the entry off its project.',
      }),
      'the id, key, name or alias of a project',
    ),
    ticket: orCleared(
      Type.String({
        ...ticket,
        description:
          'Id or key of a ticket, which brings its project along; one that is not known yet is made where its project is. Null takes the entry off its ticket.',
      }),
      'the id or key of a ticket',
    ),
    summary: orCleared(summary, 'a text of at most 1000 characters without control characters'),
    labels: orCleared(labels, 'up to 16 pairs of texts; names are 1 to 64 of a-z 0-9 _ . -'),
  },
  {
    ...strict,
    $id: 'TokenEntryCorrection',
    minProperties: 1,
    errorMessage: 'must say what to change: project, ticket, summary or labels',
  },
)
export type EntryCorrection = Static<typeof EntryCorrection>

const reason = Type.String({
  description: 'Why, for the person whose entry it is.',
  minLength: 1,
  maxLength: 1000,
  pattern: PLAIN_TEXT,
  errorMessage: 'must be a text of up to 1000 characters without control characters that is not only white space',
  examples: ['Counted twice: the same session is on the sheet of October'],
})

/** Why something is rejected or returned. */
export const Reason = Type.Object({ reason }, { ...strict, $id: 'Reason' })

/** One call acts on so many: half a second of a transaction, or two where entries move, for which reporting waits. */
export const ACTION_LIMIT = 10_000

export const TokenEntriesAction = Type.Object(
  {
    action: Type.Union(
      [
        Type.Literal('approve'),
        Type.Literal('reject'),
        Type.Literal('reopen'),
        Type.Literal('withdraw_approval'),
        Type.Literal('place'),
      ],
      { errorMessage: 'must be one of approve, reject, reopen, withdraw_approval, place' },
    ),
    ids: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Ids of entries (ent_…). Without them the filters of the query say which; one of both is needed.',
        minItems: 1,
        maxItems: ACTION_LIMIT,
      }),
    ),
    reason: Type.Optional({ ...reason, description: 'Why; required for `reject` and only for that.' }),
    project: Type.Optional({ ...EntryCorrection.properties.project, description: 'Only for `place`: where to.' }),
    ticket: Type.Optional({ ...EntryCorrection.properties.ticket, description: 'Only for `place`: where to.' }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Only answers what would be done.' })),
  },
  { ...strict, $id: 'TokenEntriesAction' },
)
export type TokenEntriesAction = Static<typeof TokenEntriesAction>

export const TokenEntriesActionResults = Type.Object(
  {
    dry_run: Type.Boolean(),
    done: Type.Integer({ description: 'Entries with which it was done.' }),
    refused: Type.Integer(),
    cost: money('The sum of the known costs of what was done.'),
    unpriced_entries: Type.Integer({ description: 'Those of unknown cost among them.' }),
    results: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          result: oneOf(['done', 'unchanged', 'refused'], 'What became of the entry.'),
          status: orNull(oneOf(STATUSES, 'The status that it has now; null where it was not decided about.')),
          problem: orNull(
            Type.Object(
              {
                code: Type.String({ examples: ['wrong_status'] }),
                detail: Type.String({ description: 'What is in the way and what to do.' }),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
      { description: 'In the order of the ids, or newest first.' },
    ),
  },
  { ...strict, $id: 'TokenEntriesActionResults' },
)
export type TokenEntriesActionResults = Static<typeof TokenEntriesActionResults>
