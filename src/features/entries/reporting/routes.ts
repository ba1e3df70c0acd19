import { Elysia, t } from 'elysia'
import type { Logger } from 'pino'
import type { CallerOf } from '../../../access/caller.ts'
import { type Issue, Problem, validationFailed } from '../../../errors.ts'
import { access, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { readIdempotencyKey } from '../../../http/idempotency-key.ts'
import { asProblemOf, logProblem, type ProblemBody, problemBody } from '../../../http/problems.ts'
import { issuesOf } from '../../../issues.ts'
import { EXAMPLE_ENTRY, EXAMPLE_REPORT } from '../examples.ts'
import {
  AnyBatch,
  BATCH_LIMIT,
  BatchResults,
  TokenEntry,
  TokenEntryBatch,
  type TokenEntry as TokenEntryBody,
  TokenEntryReport,
} from '../schema.ts'
import type { EntriesService } from '../service.ts'
import { reportChecker } from './report.ts'
import type { Reported } from './service.ts'

const tag = 'Token entries'

interface ReportingDependencies {
  entries: EntriesService
  logger: Logger
  /** Hears of every entry that was reported, and of every batch. */
  figures: { reported(outcome: BatchResult['result']): void; batch(size: number): void }
}

export const reportingRoutes = ({ entries, logger, figures }: ReportingDependencies) =>
  new Elysia({ name: 'reporting', normalize: false })
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
        parse: 'report',
        body: TokenEntryReport,
        // The schema's issues come first, and with them those that no schema can express: every issue in one answer.
        error: ({ error, code }) => {
          if (code === 'VALIDATION' && error.type === 'body') throw validationFailed(allIssues(entries, error.value))
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
          problems: ['session_shrunk', 'idempotency_key_reused'],
        }),
      },
    )
    .post(
      '/batch',
      async ({ body, caller, request, requestId }) => {
        const key = readIdempotencyKey(request.headers.get('idempotency-key'))
        const results = await reportAll({ entries, logger, requestId }, body, requireCaller(caller, ['service']), key)
        figures.batch(results.length)
        for (const { result } of results) figures.reported(result)
        return { results }
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
            'Send a JSON array or newline-delimited JSON (`application/x-ndjson`). Each item is processed on its own: valid items are saved even if others, including unparsable lines, are rejected. An Idempotency-Key applies to each item by its position in the batch.',
          headers: ['Idempotency-Key'],
          body: {
            schema: TokenEntryBatch,
            example: [EXAMPLE_REPORT],
            also: { 'application/x-ndjson': { schema: t.String(), example: `${JSON.stringify(EXAMPLE_REPORT)}\n` } },
          },
          responses: {
            200: {
              description: 'One result per item.',
              schema: BatchResults,
              example: { results: [{ index: 0, result: 'created', entry: EXAMPLE_ENTRY, problem: null }] },
            },
          },
        }),
      },
    )

function allIssues(entries: EntriesService, body: unknown): Issue[] {
  return [...issuesOf(reportChecker, body), ...entries.reporting.issuesBeyondSchema(body)]
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
      if (!reportChecker.Check(item)) throw validationFailed(allIssues(entries, item))
      const { outcome, entry } = await entries.reporting.reportEntry(item, caller, key && `${key}#${index}`)
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
