import { Elysia, t } from 'elysia'
import type { Logger } from 'pino'
import { type Fault, Problem, validationFailed } from '../../errors.ts'
import { access, requireCaller } from '../../http/access.ts'
import { FixedContent } from '../../http/content.ts'
import { csvResponse, wantsCsv } from '../../http/csv.ts'
import { documented } from '../../http/documented.ts'
import { faultsOf } from '../../http/faults.ts'
import { standaloneSchema } from '../../http/json-schema.ts'
import { asProblemOf, logProblem, type ProblemBody, problemBody } from '../../http/problems.ts'
import { listPage, listParameter, parameter } from '../../http/query.ts'
import type { CallerOf } from '../people/service.ts'
import { RepricingBody, repricedBody } from '../prices/service.ts'
import { ENTRY_COLUMNS } from './csv.ts'
import { EXAMPLE_DETAIL, EXAMPLE_ENTRY, EXAMPLE_HISTORY, EXAMPLE_REPORT, EXAMPLE_REPRICING } from './examples.ts'
import { DEFAULT_LIMIT, LIST_LIMIT, PLACED_FILTERS, readListQuery } from './filter.ts'
import { readIdempotencyKey, reportChecker } from './report.ts'
import { readRepricing } from './repricing.ts'
import {
  AnyBatch,
  BATCH_LIMIT,
  BatchResults,
  Repricing,
  SOURCES,
  STATUSES,
  TokenEntry,
  TokenEntryBatch,
  type TokenEntry as TokenEntryBody,
  TokenEntryDetail,
  TokenEntryHistory,
  TokenEntryList,
  TokenEntryReport,
} from './schema.ts'
import type { EntriesService, Reported } from './service.ts'

const tag = 'Token entries'

const EntryQuery = t.Object(
  {
    starting_at: parameter({
      type: 'string',
      format: 'date-time',
      description: 'Sessions that started at or after this moment.',
    }),
    ending_at: parameter({
      type: 'string',
      format: 'date-time',
      description: 'Sessions that started before this moment.',
    }),
    project: listParameter('Id, key, name or alias of a project.'),
    ticket: listParameter('Id or key of a ticket.'),
    client: listParameter('Id or name of a client.'),
    agent_manager: listParameter('Id or e-mail address of a person.'),
    agent_name: listParameter('Name of an agent.'),
    agent_harness: listParameter('Name of a harness.'),
    model: listParameter('Name of a model as it was reported.'),
    status: listParameter('Status.', { type: 'string', enum: [...STATUSES] }),
    source: listParameter('What supplied the figures.', { type: 'string', enum: [...SOURCES] }),
    session_id: listParameter('The harness’s id of a session.'),
    label: listParameter('`name:value`, such as `repository:acme/web`. Values of one name mean any, names all.'),
    placed: listParameter('What placed the entry; `none` for unattributed ones.', {
      type: 'string',
      enum: [...PLACED_FILTERS],
    }),
    priced: parameter({ type: 'boolean', description: 'Whether the cost is known.' }),
    bill: listParameter('Id or number of a bill; `none` for entries on no bill.'),
    q: parameter({ type: 'string', description: 'A text that the summary contains, whatever the case.' }),
    ...listPage('Entries', { limit: DEFAULT_LIMIT, most: LIST_LIMIT }),
  },
  { additionalProperties: false },
)

/** The schema of a report, for whoever writes one. The same one validates. */
export const tokenEntrySchemaRoute = () => {
  const schema = standaloneSchema(TokenEntryReport, 'urn:tally:v1:token-entry', 'Token entry')
  const content = new FixedContent(JSON.stringify(schema), 'application/schema+json')
  return new Elysia({ name: 'token-entry-schema' }).get(
    '/api/v1/token-entry-schema',
    ({ request }) => content.respond(request),
    {
      detail: documented({
        id: 'getTokenEntrySchema',
        tag,
        summary: 'Read the token entry schema',
        description: 'The JSON Schema (2020-12) of the body of a report, which describes every field.',
        responses: {
          200: {
            description: 'The schema.',
            headers: ['ETag'],
            also: { 'application/schema+json': { schema: t.Record(t.String(), t.Unknown()) } },
          },
          304: { description: 'It is still the one that If-None-Match names.', headers: ['ETag'] },
        },
      }),
    },
  )
}

export const entriesRoutes = ({ entries, logger }: { entries: EntriesService; logger: Logger }) =>
  new Elysia({ name: 'entries', prefix: '/api/v1/token-entries', normalize: false })
    .use(access())
    .post(
      '',
      async ({ body, caller, request, set }) => {
        const key = readIdempotencyKey(request.headers.get('idempotency-key'))
        const reported = await entries.reportEntry(body, requireCaller(caller, ['service']), key)
        set.status = reported.outcome === 'created' ? 201 : 200
        if (reported.outcome === 'created') set.headers.location = `/api/v1/token-entries/${reported.entry.id}`
        if (reported.replayed) set.headers['idempotent-replayed'] = 'true'
        return reported.entry
      },
      {
        allow: ['service'],
        parse: 'report',
        body: TokenEntryReport,
        // The schema's faults come first, and with them those that no schema can express: every fault in one answer.
        error: ({ error, code }) => {
          if (code === 'VALIDATION' && error.type === 'body') throw validationFailed(allFaults(entries, error.value))
        },
        detail: documented({
          id: 'reportTokenEntry',
          tag,
          summary: 'Report one token entry',
          description:
            'Creates an entry with status `submitted` for the creator of the service token. With a `session_id` the figures are the session’s totals so far: reported again they update the entry of that session and model instead of adding one.',
          headers: ['Idempotency-Key'],
          body: { example: EXAMPLE_REPORT },
          responses: {
            201: {
              description: 'The entry was made.',
              schema: TokenEntry,
              headers: ['Location'],
              example: EXAMPLE_ENTRY,
            },
            200: {
              description: 'The session’s entry was updated, or the report was known already and nothing changed.',
              schema: TokenEntry,
              headers: ['Idempotent-Replayed'],
              example: EXAMPLE_ENTRY,
            },
          },
          problems: ['session_shrunk', 'idempotency_key_reused'],
        }),
      },
    )
    .post(
      '/batch',
      async ({ body, caller, request, requestId }) => {
        const key = readIdempotencyKey(request.headers.get('idempotency-key'))
        return {
          results: await reportAll({ entries, logger, requestId }, body, requireCaller(caller, ['service']), key),
        }
      },
      {
        allow: ['service'],
        parse: 'batch',
        body: AnyBatch,
        detail: documented({
          id: 'reportTokenEntries',
          tag,
          summary: `Report up to ${BATCH_LIMIT} token entries`,
          description:
            'A JSON array, or newline-delimited JSON (`application/x-ndjson`). Every item is reported on its own: good ones are kept when others are rejected, unreadable lines among them. An Idempotency-Key counts for each item by its place in the batch.',
          headers: ['Idempotency-Key'],
          body: {
            schema: TokenEntryBatch,
            example: [EXAMPLE_REPORT],
            also: { 'application/x-ndjson': { schema: t.String(), example: `${JSON.stringify(EXAMPLE_REPORT)}\n` } },
          },
          responses: {
            200: {
              description: 'What became of each item.',
              schema: BatchResults,
              example: { results: [{ index: 0, result: 'created', entry: EXAMPLE_ENTRY, problem: null }] },
            },
          },
        }),
      },
    )
    .get(
      '',
      async ({ query, caller, request }) => {
        const { person } = requireCaller(caller)
        const asked = readListQuery(query)
        if (!wantsCsv(request, asked.format)) return entries.listEntries(person, asked)
        return csvResponse(entries.exportEntries(person, asked.filter), ENTRY_COLUMNS, 'token-entries.csv')
      },
      {
        allow: ['read', 'session'],
        query: EntryQuery,
        detail: documented({
          id: 'listTokenEntries',
          tag,
          summary: 'List token entries',
          description:
            'Newest first, of those that the signed-in person or the token’s creator may see. Filters of different names must all hold.',
          responses: {
            200: {
              description: 'A page of entries.',
              schema: TokenEntryList,
              example: { data: [EXAMPLE_ENTRY], has_more: false, next_page: null },
              also: { 'text/csv': { schema: t.String() } },
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .get('/:id', ({ params, caller }) => entries.getEntry(params.id, requireCaller(caller).person), {
      allow: ['read', 'session'],
      detail: documented({
        id: 'getTokenEntry',
        tag,
        summary: 'Read one token entry',
        description: 'With the arithmetic of its list value.',
        path: { id: 'Id of the entry (ent_…).' },
        responses: { 200: { description: 'The entry.', schema: TokenEntryDetail, example: EXAMPLE_DETAIL } },
      }),
    })
    .get('/:id/history', ({ params, caller }) => entries.getHistory(params.id, requireCaller(caller).person), {
      allow: ['read', 'session'],
      detail: documented({
        id: 'getTokenEntryHistory',
        tag,
        summary: 'Read who changed what of an entry',
        path: { id: 'Id of the entry (ent_…).' },
        responses: {
          200: { description: 'What happened, oldest first.', schema: TokenEntryHistory, example: EXAMPLE_HISTORY },
        },
      }),
    })

/** How long entries are valued within one call: half of what a connection may be silent. */
const REPRICING_BUDGET_MS = 10_000

export const repricingRoute = ({ entries }: { entries: EntriesService }) =>
  new Elysia({ name: 'repricing', normalize: false }).use(access()).post(
    '/api/v1/prices/reprice',
    async ({ body, caller }) => {
      const { person } = requireCaller(caller, ['session'])
      const dryRun = body.dry_run ?? false
      const options = { dryRun, by: { userId: person.id, tokenId: null }, budgetMs: REPRICING_BUDGET_MS }
      const asked = readRepricing(body)
      const repriced = asked ? entries.reprice(asked, options) : entries.valueUnpriced(options)
      return repricedBody(await repriced, { dryRun })
    },
    {
      allow: { session: ['billing', 'admin'] },
      parse: 'report',
      body: Repricing,
      detail: documented({
        id: 'repriceTokenEntries',
        tag: 'Prices',
        summary: 'Value entries again',
        description:
          'Those without a price, or with `all` every one that is not locked, at the prices loaded now. Each change leaves its trace in the entry’s history. A call ends after about ten seconds: where `complete` is false, call again, with the `next_page` as `page`.',
        body: { example: { all: true, starting_at: '2026-11-01T00:00:00Z', dry_run: true } },
        responses: {
          200: {
            description: 'What changed, or would change.',
            schema: RepricingBody,
            example: EXAMPLE_REPRICING,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )

function allFaults(entries: EntriesService, body: unknown): Fault[] {
  return [...faultsOf(reportChecker, body), ...entries.faultsBeyondSchema(body)]
}

interface BatchResult {
  index: number
  result: Reported['outcome'] | 'rejected'
  entry: TokenEntryBody | null
  problem: ProblemBody | null
}

/** Items that share a commit. Together they take a few milliseconds, after which single reports get their turn. */
const ITEMS_AT_ONCE = 100

async function reportAll(
  { entries, logger, requestId }: { entries: EntriesService; logger: Logger; requestId: string },
  items: unknown[],
  caller: CallerOf<'service'>,
  key: string | undefined,
): Promise<BatchResult[]> {
  const results: BatchResult[] = []
  const report = async (item: unknown, index: number): Promise<BatchResult> => {
    try {
      // A line of newline-delimited JSON that could not be read.
      if (item instanceof Problem) throw item
      if (!reportChecker.Check(item)) throw validationFailed(allFaults(entries, item))
      const { outcome, entry } = await entries.reportEntry(item, caller, key && `${key}#${index}`)
      return { index, result: outcome, entry, problem: null }
    } catch (error) {
      // Whatever failed, the other items are known to be kept, and a 500 for all of them would have them sent again.
      const problem = asProblemOf(error)
      logProblem(logger, problem, error, { id: requestId, method: 'POST', path: '/api/v1/token-entries/batch' })
      return { index, result: 'rejected', entry: null, problem: problemBody(problem, requestId) }
    }
  }
  for (let start = 0; start < items.length; start += ITEMS_AT_ONCE) {
    const chunk = items.slice(start, start + ITEMS_AT_ONCE)
    results.push(...(await Promise.all(chunk.map((item, offset) => report(item, start + offset)))))
  }
  return results
}
