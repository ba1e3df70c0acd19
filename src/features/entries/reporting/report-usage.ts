/** The usage in a report: its counts, single requests, service, tools and media. Pure: no database. */

import type { Issue } from '../../../errors.ts'
import { REQUEST_THRESHOLDS } from '../../../lib/request-thresholds.ts'
import {
  COUNT_KINDS,
  type Counts,
  MEDIA_FIELDS,
  MEDIA_KINDS,
  type MediaKind,
  mapCounts,
  PRICE_FIELDS,
  type RequestsAbove,
  SERVICE_FIELDS,
  type ServiceKind,
  sumRequests,
  type UsageDetails,
  usageDetails,
  ZERO_COUNTS,
} from '../../../shared/usage.ts'
import { COUNT_LIMIT, type TokenEntryReport } from '../schema.ts'

export interface ReportedUsage {
  counts: Counts
  details: UsageDetails | null
  requests: number | null
  /** The counts of each request, if the report lists them. Not stored. */
  listed: Counts[] | undefined
}

/** Fields of a report that most reports do not have. */
const DETAIL_FIELDS = ['requests_above', ...Object.values(SERVICE_FIELDS), 'tools'] as const
const TOKEN_DETAIL_FIELDS = ['over_200k', ...Object.values(MEDIA_FIELDS)] as const

/** What the vendor's standard service is called. */
const STANDARD: Record<ServiceKind, readonly string[]> = {
  serviceTier: ['standard', 'default'],
  speed: ['standard'],
  region: ['global'],
}

const CACHE_KINDS = ['cacheRead', 'cacheWrite', 'cacheWrite1h'] as const
const SHORT_FORM = 200_000

type Wire = Pick<
  TokenEntryReport,
  'tokens' | 'usage' | 'requests' | 'requests_above' | 'tools' | (typeof SERVICE_FIELDS)[ServiceKind]
>
type WireCounts = Partial<Record<(typeof PRICE_FIELDS)[keyof typeof PRICE_FIELDS], number>>

/** Reads a usage without issues. Single requests are summed at the thresholds, in ascending order. */
export function readUsage(value: Wire, thresholds: readonly number[] = REQUEST_THRESHOLDS): ReportedUsage {
  const { tokens, usage } = value
  if (!usage) {
    const counts = disjoint(tokens!, tokens!.input_includes_cache)
    const details = hasDetails(value) ? detailsOf(value, requestsAboveOf(value)) : null
    return { counts, details, requests: value.requests ?? null, listed: undefined }
  }
  const listed = usage.map((request) => disjoint(request, request.input_includes_cache))
  return {
    counts: sumOf(listed),
    details: detailsOf(value, sumRequests(listed, thresholds)),
    requests: listed.length,
    listed,
  }
}

function hasDetails(value: Wire): boolean {
  const { tokens } = value
  return (
    DETAIL_FIELDS.some((field) => value[field] !== undefined) ||
    TOKEN_DETAIL_FIELDS.some((field) => tokens![field] !== undefined)
  )
}

function detailsOf(value: Wire, requestsAbove: RequestsAbove[]): UsageDetails | null {
  return usageDetails({
    requestsAbove: requestsAbove.length > 0 ? requestsAbove : null,
    serviceTier: serviceOf(value, 'serviceTier'),
    speed: serviceOf(value, 'speed'),
    region: serviceOf(value, 'region'),
    tools: aboveZero(value.tools ?? {}),
    media: aboveZero(mediaOf(value.tokens ?? {})),
  })
}

function serviceOf(value: Wire, kind: ServiceKind): string | null {
  const name = value[SERVICE_FIELDS[kind]]?.toLowerCase()
  return name === undefined || STANDARD[kind].includes(name) ? null : name
}

function mediaOf(tokens: Partial<Record<(typeof MEDIA_FIELDS)[MediaKind], unknown>>): Record<MediaKind, number> {
  return Object.fromEntries(MEDIA_KINDS.map((kind) => [kind, number(tokens[MEDIA_FIELDS[kind]])])) as never
}

/** Null if nothing was used. */
function aboveZero<Name extends string>(counts: Record<Name, number>): Record<Name, number> | null {
  const used = Object.entries(counts).filter(([, count]) => count !== 0)
  return used.length > 0 ? (Object.fromEntries(used) as Record<Name, number>) : null
}

function requestsAboveOf({ tokens, requests_above: listed = [] }: Wire): RequestsAbove[] {
  const { over_200k: long, input_includes_cache: includesCache } = tokens!
  const all = long ? [...listed, { threshold: SHORT_FORM, ...long }] : listed
  return all
    .map(({ threshold, ...counts }) => ({ threshold, counts: disjoint(counts, includesCache) }))
    .sort((one, other) => one.threshold - other.threshold)
}

/** The five counts without overlap: cached tokens that the caller also counted as input are subtracted from it. */
function disjoint(wire: WireCounts, inputIncludesCache: boolean | undefined): Counts {
  const counts = mapCounts((kind) => number(wire[PRICE_FIELDS[kind]]))
  if (inputIncludesCache) counts.input -= counts.cacheRead + counts.cacheWrite + counts.cacheWrite1h
  return counts
}

function sumOf(listed: readonly Counts[]): Counts {
  const sum = { ...ZERO_COUNTS }
  for (const counts of listed) for (const kind of COUNT_KINDS) sum[kind] += counts[kind]
  return sum
}

type Unchecked = Record<string, unknown>

/** Every issue that the schema cannot express. Ignores fields of a wrong type, which the schema reports. */
export function usageIssues(value: Unchecked): Issue[] {
  if (value.usage !== undefined) return listedIssues(value)
  const { tokens } = value
  if (tokens === undefined)
    return [{ pointer: '/tokens', code: 'required', message: 'is required, unless usage is present' }]
  if (!isObject(tokens)) return []
  const includesCache = tokens.input_includes_cache === true
  const issues = includesCache ? cacheIssues(tokens, '/tokens') : []
  const isPlain =
    value.requests_above === undefined && TOKEN_DETAIL_FIELDS.every((field) => tokens[field] === undefined)
  return isPlain || issues.length > 0
    ? issues
    : [...lengthIssues(value, tokens, includesCache), ...mediaIssues(tokens, disjoint(tokens, includesCache))]
}

/** The issues of the sums of single requests, each of which must include the next. */
function lengthIssues({ requests_above: listed }: Unchecked, tokens: Unchecked, includesCache: boolean): Issue[] {
  const { over_200k: long } = tokens
  const sums = Array.isArray(listed)
    ? listed.map((counts, at) => ({
        counts,
        threshold: isObject(counts) ? counts.threshold : undefined,
        pointer: `/requests_above/${at}`,
      }))
    : []
  const issues: Issue[] = []
  for (const [at, { threshold, pointer }] of sums.entries()) {
    const before = sums[at - 1]
    if (before && number(threshold) <= number(before.threshold)) {
      issues.push({
        pointer: `${pointer}/threshold`,
        code: 'not_ascending',
        message: 'must be greater than the previous threshold',
      })
    }
    if (long !== undefined && threshold === SHORT_FORM) {
      issues.push({
        pointer: `${pointer}/threshold`,
        code: 'not_allowed',
        message: 'is the threshold of tokens.over_200k. Send only one of them',
      })
    }
  }
  if (long !== undefined) sums.push({ counts: long, threshold: SHORT_FORM, pointer: '/tokens/over_200k' })
  sums.sort((one, other) => number(one.threshold) - number(other.threshold))
  let outer = { counts: disjoint(tokens, includesCache), name: 'tokens' }
  for (const { counts, pointer } of sums) {
    if (!isObject(counts)) continue
    const own = includesCache ? cacheIssues(counts, pointer) : []
    const inner = disjoint(counts, includesCache)
    for (const kind of own.length > 0 ? [] : COUNT_KINDS) {
      if (inner[kind] <= outer.counts[kind]) continue
      const message = `must not exceed ${outer.name}.${PRICE_FIELDS[kind]}, which includes it`
      own.push({ pointer: `${pointer}/${PRICE_FIELDS[kind]}`, code: 'exceeds_total', message })
    }
    issues.push(...own)
    outer = { counts: inner, name: pointer.slice(1).replaceAll('/', '.') }
  }
  return issues
}

function mediaIssues(tokens: Unchecked, counts: Pick<Counts, 'input' | 'output'>): Issue[] {
  const media = mediaOf(tokens)
  const issues: Issue[] = []
  const check = (side: 'input' | 'output', kinds: readonly MediaKind[]) => {
    if (kinds.reduce((sum, kind) => sum + media[kind], 0) <= counts[side]) return
    const kind = kinds.find((one) => media[one] > 0)!
    const message = `must not exceed the ${side} tokens, which include audio and images but no cached tokens`
    issues.push({ pointer: `/tokens/${MEDIA_FIELDS[kind]}`, code: 'exceeds_total', message })
  }
  check('input', ['inputAudio', 'inputImage'])
  check('output', ['outputAudio', 'outputImage'])
  return issues
}

/** A list whose requests all have an issue has the same one two thousand times. */
const LISTED_ISSUES_LIMIT = 20

/** The issues of a list of single requests, which replaces their number and their sums. */
function listedIssues(value: Unchecked): Issue[] {
  const issues: Issue[] = []
  const tokens = isObject(value.tokens) ? value.tokens : undefined
  const replaced = {
    '/requests': value.requests,
    '/requests_above': value.requests_above,
    '/tokens/over_200k': tokens?.over_200k,
  }
  for (const [pointer, field] of Object.entries(replaced)) {
    if (field !== undefined)
      issues.push({ pointer, code: 'not_allowed', message: 'must be absent if usage is present' })
  }
  if (!Array.isArray(value.usage)) return issues
  const listed = value.usage.filter(isObject)
  for (const [at, request] of listed.entries()) {
    if (request.input_includes_cache === true) issues.push(...cacheIssues(request, `/usage/${at}`))
    if (issues.length >= LISTED_ISSUES_LIMIT) break
  }
  if (issues.length > 0) return issues
  const sum = sumOf(listed.map((request) => disjoint(request, request.input_includes_cache === true)))
  for (const kind of COUNT_KINDS) {
    if (sum[kind] > COUNT_LIMIT)
      issues.push({
        pointer: '/usage',
        code: 'too_large',
        message: `must have at most ${COUNT_LIMIT} ${PRICE_FIELDS[kind]} tokens in total`,
      })
  }
  if (!tokens) return issues
  const includesCache = tokens.input_includes_cache === true
  const total = disjoint(tokens, includesCache)
  for (const kind of COUNT_KINDS) {
    if (total[kind] === sum[kind]) continue
    const message = `must equal the sum of usage (${sum[kind]}${includesCache && kind === 'input' ? ' without the cache counts' : ''}), or be left out together with tokens`
    issues.push({ pointer: `/tokens/${PRICE_FIELDS[kind]}`, code: 'differs_from_usage', message })
  }
  return [...issues, ...mediaIssues(tokens, sum)]
}

function cacheIssues(counts: Unchecked, pointer: string): Issue[] {
  const cache = CACHE_KINDS.reduce((sum, kind) => sum + number(counts[PRICE_FIELDS[kind]]), 0)
  if (typeof counts.input !== 'number' ? cache === 0 : counts.input >= cache) return []
  return [
    {
      pointer: `${pointer}/input`,
      code: 'cache_exceeds_input',
      message: `must be at least the sum of the cache counts (${cache}) because input_includes_cache is true. Send false if input does not include cached tokens`,
    },
  ]
}

export function isObject(value: unknown): value is Unchecked {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
