/**
 * What a model call's price depends on: the counts, and for some models also the length of single requests, the tier,
 * speed and region of the service, the tools, and the share of audio and images. Pure; agents load it too.
 */
import { normalizeModelName } from './model-name.ts'

/** The five counts of an entry. They are disjoint: no token counts in two of them. */
export const COUNT_KINDS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const
export type CountKind = (typeof COUNT_KINDS)[number]

/** Whole numbers from 0 to 10^12, which are exact in JavaScript. */
export type Counts = Record<CountKind, number>

export const ZERO_COUNTS: Counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }

export function mapCounts(map: (kind: CountKind) => number): Counts {
  return {
    input: map('input'),
    output: map('output'),
    cacheRead: map('cacheRead'),
    cacheWrite: map('cacheWrite'),
    cacheWrite1h: map('cacheWrite1h'),
  }
}

export function totalTokens(counts: Counts): number {
  return counts.input + counts.output + counts.cacheRead + counts.cacheWrite + counts.cacheWrite1h
}

/** The JSON fields of the five counts and their prices. */
export const PRICE_FIELDS = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
} as const satisfies Record<CountKind, string>

/** Shares of the input and the output that have prices of their own at some vendors. */
export const MEDIA_KINDS = ['inputAudio', 'inputImage', 'outputAudio', 'outputImage'] as const
export type MediaKind = (typeof MEDIA_KINDS)[number]

export const MEDIA_FIELDS = {
  inputAudio: 'input_audio',
  inputImage: 'input_image',
  outputAudio: 'output_audio',
  outputImage: 'output_image',
} as const satisfies Record<MediaKind, string>

/** A service tier, a speed or a region: long enough for every vendor's, and part of a key. */
export const SERVICE_NAME = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$'
export const TOOL_NAME = '^[a-z0-9][a-z0-9_.-]{0,63}$'

/** The share of the counts from single requests with more than `threshold` input-side tokens. */
export interface RequestsAbove {
  threshold: number
  counts: Counts
}

/** Choices with prices of their own. All requests of an entry have the same. */
export const SERVICE_KINDS = ['serviceTier', 'speed', 'region'] as const
export type ServiceKind = (typeof SERVICE_KINDS)[number]

export const SERVICE_FIELDS = {
  serviceTier: 'service_tier',
  speed: 'speed',
  region: 'region',
} as const satisfies Record<ServiceKind, string>

export type Service = Record<ServiceKind, string | null>

/** Usage that most entries do not have. */
export interface UsageDetails extends Service {
  /** Ascending by threshold, each including the next. Null if nothing is known of single requests. */
  requestsAbove: RequestsAbove[] | null
  /** Charged uses by the name of the tool. */
  tools: Record<string, number> | null
  media: Partial<Record<MediaKind, number>> | null
}

export interface Usage {
  counts: Counts
  /** Null if there is nothing but the counts. */
  details: UsageDetails | null
  /** Model calls; null if unknown. */
  requests: number | null
}

const NONE: UsageDetails = {
  requestsAbove: null,
  serviceTier: null,
  speed: null,
  region: null,
  tools: null,
  media: null,
}

/** The details with these fields; null if all are absent. */
export function usageDetails(given: Partial<UsageDetails>): UsageDetails | null {
  const details = { ...NONE, ...given }
  return Object.values(details).some((value) => value !== null) ? details : null
}

/** Only the tier, speed and region. */
export function serviceOf(details: UsageDetails | null): UsageDetails | null {
  return details && usageDetails({ serviceTier: details.serviceTier, speed: details.speed, region: details.region })
}

/**
 * Names the entries of a model in a session: what runs with another tier, speed or region has entries of its own. No
 * name in a report contains U+001F.
 */
export function chainName(model: string, service: Service | null): string {
  if (!service || SERVICE_KINDS.every((kind) => service[kind] === null)) return model
  return [normalizeModelName(model), ...SERVICE_KINDS.map((kind) => service[kind] ?? '')].join('\u001f')
}

function inputSide({ input, cacheRead, cacheWrite, cacheWrite1h }: Counts): number {
  return input + cacheRead + cacheWrite + cacheWrite1h
}

/** Part of a usage; if it is not exact, it is the least that is certain. */
export interface Share {
  counts: Counts
  isExact: boolean
}

/**
 * The share of a usage from single requests with at least `length` input-side tokens. Between two thresholds it is known
 * if there is only one request, or if all requests between them together are shorter than `length`.
 */
export function requestsFrom({ counts, details, requests }: Usage, length: number): Share {
  let below = counts
  let above = ZERO_COUNTS
  for (const known of details?.requestsAbove ?? []) {
    // Thresholds are round numbers, and some vendors charge more above them, others from them on.
    if (known.threshold === length - 1 || known.threshold === length) return { counts: known.counts, isExact: true }
    if (known.threshold < length) below = known.counts
    else {
      above = known.counts
      break
    }
  }
  if (requests === 1) return { counts: inputSide(counts) >= length ? counts : ZERO_COUNTS, isExact: true }
  return { counts: above, isExact: inputSide(below) - inputSide(above) < length }
}

/** Adds up single requests at each threshold, without those thresholds that add nothing to the others. */
export function sumRequests(requests: readonly Counts[], thresholds: readonly number[]): RequestsAbove[] {
  const sums = thresholds.map((threshold) => ({ threshold, counts: { ...ZERO_COUNTS } }))
  for (const counts of requests) {
    const length = inputSide(counts)
    for (const sum of sums) {
      if (sum.threshold >= length) break
      for (const kind of COUNT_KINDS) sum.counts[kind] += counts[kind]
    }
  }
  return withoutRedundant(sums)
}

/** A threshold between two with the same counts is known without it, and so is any above one that no request reached. */
export function withoutRedundant(sums: RequestsAbove[]): RequestsAbove[] {
  return sums.filter(({ counts }, at) => {
    const [before, after] = [sums[at - 1], sums[at + 1]]
    if (!before || !isSameCounts(before.counts, counts)) return true
    return !isSameCounts(counts, after ? after.counts : ZERO_COUNTS)
  })
}

export function isSameCounts(one: Counts, other: Counts): boolean {
  return COUNT_KINDS.every((kind) => one[kind] === other[kind])
}
