/** That the published JSON Schema of a report and the server accept the same bodies, as far as a schema can say. */
import { expect, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020'
import fc from 'fast-check'
import { isReport, issuesOfReport } from '../../../../src/features/entries/reporting/report.ts'
import { TokenEntryReport } from '../../../../src/features/entries/schema.ts'
import { standaloneSchema } from '../../../../src/http/json-schema.ts'
import { acceptingNulls } from '../../../../src/schema/absent-fields.ts'
import { reportBody } from '../../../support/reports.ts'
import { runs } from '../../../support/tier.ts'

const NOW = Date.parse('2026-11-28T12:00:00Z')

/** Issues that depend on values of other fields, on the clock, the calendar or reserved names, which no schema has. */
const BEYOND_SCHEMA = [
  'cache_exceeds_input',
  'differs_from_usage',
  'ends_before_start',
  'exceeds_total',
  'in_the_future',
  'no_such_time',
  'not_ascending',
]
const RESERVED_NAMES = /^must not be 'none' or an ID/
const SAME_THRESHOLD = /^is the threshold of tokens.over_200k/
const SUM = /^must have at most \d+ \w+ tokens in total/

const isBeyondSchema = ({ code, message }: { code: string; message: string }) =>
  BEYOND_SCHEMA.includes(code) || [RESERVED_NAMES, SAME_THRESHOLD, SUM].some((expected) => expected.test(message))

/** Mostly valid values, so that a report with many of them is valid at times. */
const mostly = (valid: unknown[], invalid: unknown[]) =>
  fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...valid) }, fc.constantFrom(...invalid))

const someOf = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] })
const count = mostly([0, 1, 5, 1e12, null], [-1, 1.5, '5', 1e12 + 1])
const counts = { input: count, output: count, cache_read: count, cache_write: count, cache_write_1h: count }
const name = mostly(['acme', 'none', '👍'.repeat(200)], ['', ' ', 'a\u0000', '👍'.repeat(201), null, 7])
const sums = someOf({ ...counts, threshold: count })
const flag = mostly([true, false, null], ['yes'])

const tokens = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>({ input: 5, output: 5 }, { input: 5, output: 5, over_200k: { input: 1 } }),
  },
  someOf({ ...counts, input_includes_cache: flag, over_200k: fc.oneof(sums, fc.constant(null)), input_audio: count }),
  fc.constantFrom<unknown>(null, [], 'none'),
)
const usage = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<unknown>([{ input: 5, output: 5 }], [{ input: null }]) },
  fc.array(someOf({ ...counts, input_includes_cache: flag }), { maxLength: 2 }),
  fc.constantFrom<unknown>(null, {}),
)
const texts = someOf({ project: name, ticket: name, session_id: name, provider: name, agent_name: name })
const usages = someOf({
  tokens,
  usage,
  requests: count,
  requests_above: fc.oneof(fc.array(sums, { maxLength: 2 }), fc.constant(null)),
  tools: mostly([{ web_search: 1 }, {}, null], [{ '': 1 }]),
  labels: mostly([{ branch: 'main' }, { branch: null }, null], [{ Branch: 'main' }]),
  reported_cost: count,
})

test('a report is valid by the published schema exactly if the server finds nothing that a schema can say', () => {
  const ajv = new Ajv2020()
  const isValid = ajv.compile(standaloneSchema(acceptingNulls(TokenEntryReport), 'urn:tally:report', 'Token entry'))
  const { tokens: _, ...others } = reportBody()
  const seen = { valid: 0, invalid: 0 }
  fc.assert(
    fc.property(
      fc.oneof(
        usages,
        texts.map((fields) => ({ tokens: { input: 5, output: 5 }, ...fields })),
      ),
      (fields) => {
        const body = { ...others, ...fields }
        const expected = isValid(structuredClone(body))
        seen[expected ? 'valid' : 'invalid'] += 1
        // Removes nulls, as both routes do.
        isReport(body)
        const issues = issuesOfReport(body, NOW).filter((issue) => !isBeyondSchema(issue))
        expect([fields, expected, issues]).toEqual([fields, issues.length === 0, issues])
      },
    ),
    { numRuns: runs(5_000) },
  )
  expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(50)
})
