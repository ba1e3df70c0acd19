import { Elysia, type Static, t } from 'elysia'
import type { Logger } from 'pino'
import { validationFailed } from '../../../../errors.ts'
import { access, requireCaller } from '../../../../http/access.ts'
import { documented } from '../../../../http/documentation.ts'
import { readIdempotencyKey } from '../../../../http/idempotency-key.ts'
import { asProblemOf, logProblem, type ProblemBody, problemBody } from '../../../../http/problems.ts'
import { parameter } from '../../../../operations/parameters.ts'
import { Query } from '../../../../schema/query.ts'
import { EXAMPLE_ENTRY, EXAMPLE_REPORT } from '../../examples.ts'
import {
  AnyBatch,
  BATCH_LIMIT,
  BatchResults,
  TokenEntry,
  TokenEntryBatch,
  type TokenEntry as TokenEntryBody,
  TokenEntryReport,
} from '../../schema.ts'
import type { EntriesService } from '../../service.ts'
import type { BatchItem, EntryOutcome } from '../service.ts'

const tag = 'Token entries'

interface ReportingDependencies {
  entries: EntriesService
  logger: Logger
  /** Counts every entry that was reported, and every batch. */
  figures: { reported(outcome: BatchResult['result']): void; batch(size: number): void }
}

interface BatchResult {
  index: number
  result: BatchItem['outcome']
  entry: TokenEntryBody | null
  entries: readonly EntryOutcome[]
  problem: ProblemBody | null
}

const DryRun = t.Object({
  dry_run: parameter({
    type: 'boolean',
    description: 'Return the results, and the entries before and after, without saving anything.',
  }),
})

function readDryRun(texts: Static<typeof DryRun>): boolean {
  const query = new Query(texts)
  const dryRun = query.flag('dry_run')
  query.finish()
  return dryRun ?? false
}

export const reportingRoutes = ({ entries, logger, figures }: ReportingDependencies) => {
  function problemOf(error: unknown, requestId: string): ProblemBody {
    const problem = asProblemOf(error)
    logProblem(logger, problem, error, { id: requestId, method: 'POST', path: '/api/v1/token-entries/batch' })
    return problemBody(problem, requestId)
  }

  return new Elysia({ name: 'reporting', normalize: false })
    .use(access())
    .post(
      '',
      async ({ body, caller, request, set }) => {
        const key = readIdempotencyKey(request.headers.get('idempotency-key'))
        const reported = await entries.reporting.reportEntry(body, requireCaller(caller, ['service']), key)
        figures.reported(reported.outcome)
        set.status = reported.outcome === 'created' ? 201 : 200
        if (reported.outcome === 'created') set.headers.location = `/api/v1/token-entries/${reported.entry.id}`
        if (reported.replayed) set.headers['idempotent-replayed'] = 'true'
        return reported.entry
      },
      {
        allow: ['service'],
        forProjects: true,
        parse: 'report',
        body: TokenEntryReport,
        // The schema's issues come first, and with them those that no schema can express: every issue in one answer.
        error: ({ error, code }) => {
          if (code === 'VALIDATION' && error.type === 'body')
            throw validationFailed(entries.reporting.issuesOfReport(error.value))
        },
        detail: documented({
          id: 'reportTokenEntry',
          tag,
          summary: 'Report a token entry',
          description:
            'Creates an entry with status `submitted` for the creator of the service token. With a `session_id`, the figures are the session’s totals so far: later reports update the entry of that session and model instead of adding one. A report only changes sessions of the same person. If another person’s session has the same ID, `possible_duplicate_of` refers to its entry. A ticket’s project in a report applies to this person’s entries only, unless billing, an admin or a lead of the project has set it.',
          headers: ['Idempotency-Key'],
          body: { example: EXAMPLE_REPORT },
          responses: {
            201: {
              description: 'The entry was created.',
              schema: TokenEntry,
              headers: ['Location'],
              example: EXAMPLE_ENTRY,
            },
            200: {
              description: 'The session’s entry was updated, or the report was already known and nothing changed.',
              schema: TokenEntry,
              headers: ['Idempotent-Replayed'],
              example: EXAMPLE_ENTRY,
            },
          },
          problems: ['session_shrunk', 'session_too_large', 'idempotency_key_reused', 'outside_of_project'],
        }),
      },
    )
    .post(
      '/batch',
      async ({ body, query, caller, request, requestId }) => {
        const idempotencyKey = readIdempotencyKey(request.headers.get('idempotency-key'))
        const reporter = requireCaller(caller, ['service'])
        const resultOf = (item: BatchItem, index: number): BatchResult => {
          const { outcome: result } = item
          if (item.outcome !== 'rejected')
            return { index, result, entry: item.entry, entries: item.entries, problem: null }
          return { index, result, entry: null, entries: [], problem: problemOf(item.error, requestId) }
        }
        if (readDryRun(query)) {
          const tried = await entries.reporting.tryOutEntries(body, reporter, { idempotencyKey })
          return { results: tried.items.map(resultOf), entries: tried.entries }
        }
        const items = await entries.reporting.reportEntries(body, reporter, { idempotencyKey })
        figures.batch(items.length)
        for (const { outcome } of items) figures.reported(outcome)
        return { results: items.map(resultOf) }
      },
      {
        allow: ['service'],
        forProjects: true,
        parse: 'batch',
        query: DryRun,
        body: AnyBatch,
        detail: documented({
          id: 'reportTokenEntries',
          tag,
          summary: `Report up to ${BATCH_LIMIT} token entries`,
          description:
            'Send a JSON array or newline-delimited JSON (`application/x-ndjson`). Each item is processed on its own: valid items are saved even if others, including unparsable lines, are rejected. An Idempotency-Key applies to each item by its position in the batch. With `dry_run`, nothing is saved: the results and `entries` show what would be, for example how a session that was one entry is divided into slices, up to 10,000 entries. The IDs of new entries are not those that they will have.',
          headers: ['Idempotency-Key'],
          body: {
            schema: TokenEntryBatch,
            example: [EXAMPLE_REPORT],
            also: {
              'application/x-ndjson': {
                schema: t.String({ description: 'At least one line that is not empty.', pattern: '\\S' }),
                example: `${JSON.stringify(EXAMPLE_REPORT)}\n`,
              },
            },
          },
          responses: {
            200: {
              description: 'One result per item.',
              schema: BatchResults,
              example: {
                results: [
                  {
                    ...{ index: 0, result: 'created', entry: EXAMPLE_ENTRY, problem: null },
                    entries: [{ id: EXAMPLE_ENTRY.id, result: 'created' }],
                  },
                ],
              },
            },
          },
        }),
      },
    )
}
