/**
 * Strict body parsing. Elysia's own parser accepts JSON sent as `text/plain` (which a form on another site can post),
 * and replaces invalid UTF-8 and lone surrogates with U+FFFD, so that two different ids could become the same.
 */
import { isUtf8 } from 'node:buffer'
import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { Problem, refusal } from '../errors.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { GatheredBytes } from '../lib/gathered-bytes.ts'
import { countParsedMembers, duplicateNames, type JsonCounts, JsonLimitExceeded, scanJson } from '../lib/json-scan.ts'
import { removeNulls } from '../schema/absent-fields.ts'
import { plainHook } from './hooks.ts'
import { type BodyMemory, COUNTED_BYTES } from './load-limits.ts'
import { partsOf } from './unread-bodies.ts'

const KIB = 1_024
const MIB = 1_048_576

/** A report of one session has about 1 kB; a batch contains up to 1,000 of them. */
export const REPORT_LIMIT_BYTES = MIB
export const BATCH_LIMIT_BYTES = 8 * MIB

/** For requests without a credential: sign-in, password reset and setup. */
const ANONYMOUS_LIMIT_BYTES = 16 * KIB

/** Published price tables have one to three megabytes. */
const TABLE_LIMIT_BYTES = 8 * MIB

/**
 * Names and values of a JSON body, each of which needs up to 150 bytes when parsed. The largest body that is not a
 * batch is a list of 10,000 ids.
 */
const REPORT_LIMIT_PARTS = 30_000

/** A thousand reports with every field and sixteen labels have 100,000. */
const BATCH_LIMIT_PARTS = 120_000

const BATCH_LIMIT_ITEMS = 1_000

/** Memory of an object with a unique name; most parts need a third of it. */
const PART_BYTES = 150

/** Above the limit for any picture, so that the feature can report its own limit. */
const PICTURE_LIMIT_BYTES = MIB

interface BodyContext {
  request: Request
  bodyMemory: BodyMemory
  /** Null if the request had no credential; absent if none was required. */
  caller?: unknown
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Validation is recursive, and a body could be deeper than the stack. Protocol Buffers allow a hundred levels. */
const DEPTH_LIMIT = 100

/** An escape in the range of surrogates, which may be unpaired. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/

/** `http/requests.ts` adds the rest of the context to every request. */
const parser = (read: (context: BodyContext) => Promise<unknown>) =>
  plainHook(read as (context: object) => Promise<unknown>)

/** `parse: 'report'`, `'batch'`, `'table'` or `'picture'` on a route. */
export const bodies = () =>
  new Elysia({ name: 'bodies' })
    .parser('report', parser(readJson))
    .parser('batch', parser(readBatch))
    .parser('table', parser(readTable))
    .parser('picture', parser(readPicture))

/** `report` for a route whose `body` is this schema: nulls of optional fields are removed before validation. */
export function jsonParser(schema: TSchema) {
  const report = parser((context) => readJson(context, schema))
  // The name that the parser of a route without a schema has.
  return Object.defineProperty(report, 'name', { value: 'report' })
}

export async function readJson(context: BodyContext, schema?: TSchema): Promise<unknown> {
  requireContentType(context.request, ['application/json'])
  const limitBytes = context.caller === null ? ANONYMOUS_LIMIT_BYTES : REPORT_LIMIT_BYTES
  const bytes = await readBytes(context, limitBytes)
  const counted = countJson(bytes, REPORT_LIMIT_PARTS)
  const room = roomToParse(context, counted)
  if (room) await room
  const { value, isUnique, mayHaveNull } = parseJson(bytes, counted)
  if (!isUnique) throw notUnique(duplicateNames(bytes)[0]!)
  if (mayHaveNull && schema && context.request.method !== 'PATCH') removeNulls(schema, value)
  return value
}

/**
 * A JSON array, or newline-delimited JSON, depending on the content type. A line that is not valid JSON is replaced by
 * a Problem, because only that item is wrong and not the batch.
 */
export async function readBatch(context: BodyContext): Promise<unknown> {
  const type = requireContentType(context.request, ['application/json', 'application/x-ndjson'])
  const bytes = await readBytes(context, BATCH_LIMIT_BYTES)
  return type === 'application/json' ? parseBatch(context, bytes) : parseLines(context, bytes)
}

/** A file that the feature parses itself, as text. */
async function readTable(context: BodyContext): Promise<string> {
  requireContentType(context.request, ['application/json', 'text/csv'])
  return decode(await readBytes(context, TABLE_LIMIT_BYTES))
}

/** A file that the feature parses itself. */
async function readPicture(context: BodyContext): Promise<Uint8Array> {
  requireContentType(context.request, ['image/png', 'image/jpeg'])
  return readBytes(context, PICTURE_LIMIT_BYTES)
}

function requireContentType(request: Request, accepted: string[]): string {
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.', {
      headers: { 'accept-encoding': 'identity' },
    })
  }
  const type = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  if (accepted.includes(type)) return type
  throw new Problem('unsupported_media_type', `Send the body with Content-Type: ${accepted.join(' or ')}.`, {
    headers: { 'accept-post': accepted.join(', ') },
  })
}

function inWords(bytes: number): string {
  return bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`
}

function tooLarge(limitBytes: number): Problem {
  return new Problem(
    'body_too_large',
    `The body is larger than ${inWords(limitBytes)}. Split it into several requests.`,
  )
}

function tooManyParts(limit: number): Problem {
  const count = limit.toLocaleString('en')
  // The slices of a session cannot be split: each report has all of them.
  const advice =
    limit < BATCH_LIMIT_PARTS
      ? `Send a report with many slices in a batch, which may have ${BATCH_LIMIT_PARTS.toLocaleString('en')}, and split other bodies into several requests.`
      : 'Split it into several requests.'
  return new Problem('body_too_large', `The body has more than ${count} names and values. ${advice}`)
}

/** The whole body. A body that is too long is refused as soon as that is known, without storing it. */
async function readBytes(context: BodyContext, limitBytes: number): Promise<Uint8Array> {
  const { request } = context
  const declared = request.headers.get('content-length')
  const length = declared === null ? limitBytes : Number(declared)
  if (length > limitBytes) throw tooLarge(limitBytes)
  try {
    // Most reports arrive together with their headers, and are read at once.
    if (length < COUNTED_BYTES) return await request.bytes()
    return await gather(context, length)
  } catch (error) {
    // A client that disconnects halfway is not a server error.
    throw error instanceof Problem ? error : new Problem('bad_request', 'The body ended before it was complete.')
  }
}

/** Memory is counted as it is used: a declared length reserves nothing. */
async function gather({ request, bodyMemory }: BodyContext, limitBytes: number): Promise<Uint8Array> {
  const gathered = new GatheredBytes(limitBytes)
  let held = 0
  for await (const part of partsOf(request)) {
    if (gathered.length + part.byteLength > limitBytes) throw tooLarge(limitBytes)
    gathered.add(part)
    if (gathered.length - held >= COUNTED_BYTES) {
      bodyMemory.hold(request, gathered.length - held)
      held = gathered.length
    }
  }
  return gathered.take()
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw notUtf8()
  }
}

function notUtf8(): Problem {
  return new Problem('malformed_json', 'The body is not valid UTF-8.')
}

/** An item that contains a name twice is replaced by a Problem, because the other items may be valid. */
async function parseBatch(context: BodyContext, bytes: Uint8Array): Promise<unknown> {
  const counted = countJson(bytes, BATCH_LIMIT_PARTS)
  await roomToParse(context, counted)
  const { value, isUnique } = parseJson(bytes, counted)
  if (isUnique) return shortened(value)
  const duplicates = duplicateNames(bytes)
  if (!Array.isArray(value)) throw notUnique(duplicates[0]!)
  for (const [index, ...path] of duplicates) value[index as number] = notUnique(path)
  return shortened(value)
}

/** If the batch is too long, its items are not examined. */
function shortened(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(0, BATCH_LIMIT_ITEMS + 1) : value
}

async function parseLines(context: BodyContext, bytes: Uint8Array): Promise<unknown[]> {
  if (!isUtf8(bytes)) throw notUtf8()
  const lines: { line: Uint8Array; where: string; counted: JsonCounts }[] = []
  let parts = 0
  for (const { line, number } of linesOf(bytes)) {
    const where = `Line ${number}`
    const counted = countJson(line, BATCH_LIMIT_PARTS, where)
    parts += counted.parts
    if (parts > BATCH_LIMIT_PARTS) throw tooManyParts(BATCH_LIMIT_PARTS)
    lines.push({ line, where, counted })
  }
  await roomToParse(context, { parts })
  return lines.map(({ line, where, counted }) => parseLine(line, where, counted))
}

function parseLine(line: Uint8Array, where: string, counted: JsonCounts): unknown {
  try {
    const { value, isUnique } = parseJson(line, counted, where)
    return isUnique ? value : notUnique(duplicateNames(line)[0]!)
  } catch (error) {
    return error
  }
}

/** Non-empty lines, up to one more than a batch may have, so that the route can detect that there are too many. */
function* linesOf(bytes: Uint8Array): Generator<{ line: Uint8Array; number: number }> {
  let number = 1
  let lines = 0
  for (let start = 0; start < bytes.length && lines <= BATCH_LIMIT_ITEMS; start += 1) {
    if (bytes[start] === LINE_FEED) number += 1
    if (isSpace(bytes[start]!)) continue
    const next = bytes.indexOf(LINE_FEED, start)
    const end = next < 0 ? bytes.length : next
    yield { line: bytes.subarray(start, end), number }
    lines += 1
    number += 1
    start = end
  }
}

const LINE_FEED = 0x0a

const isSpace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= LINE_FEED) || byte === 0x0d

/** Counts before parsing. Throws if the text exceeds a limit of size or depth. */
function countJson(bytes: Uint8Array, limitParts: number, where = 'The body'): JsonCounts {
  try {
    return scanJson(bytes, { depth: DEPTH_LIMIT, parts: limitParts })
  } catch (error) {
    if (!(error instanceof JsonLimitExceeded)) throw error
    if (error.limit === 'parts') throw tooManyParts(limitParts)
    throw new Problem('malformed_json', `${where} is nested more than ${DEPTH_LIMIT} levels deep.`)
  }
}

/** Waits if too much is being parsed already; a report is too small to wait. */
function roomToParse(
  { request, bodyMemory }: BodyContext,
  { parts }: Pick<JsonCounts, 'parts'>,
): Promise<void> | undefined {
  return bodyMemory.holdParsed(request, parts * PART_BYTES)
}

function parseJson(
  bytes: Uint8Array,
  { members }: Pick<JsonCounts, 'members'>,
  where = 'The body',
): { value: unknown; isUnique: boolean; mayHaveNull: boolean } {
  const text = decode(bytes)
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch {
    throw new Problem('malformed_json', `${where} is not valid JSON.`)
  }
  if (SURROGATE_ESCAPE.test(text) && !isWellFormed(value)) {
    throw new Problem(
      'malformed_json',
      `${where} contains a lone surrogate (such as "\\ud83d"), which is not a valid character.`,
    )
  }
  return { value, isUnique: countParsedMembers(value) === members, mayHaveNull: text.includes('null') }
}

/** JSON does not define which of the values counts, and intermediaries may have read the other one. */
function notUnique(path: readonly (string | number)[]): Problem {
  const pointer = path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return refusal(pointer, 'duplicate_name', 'is a duplicate; send each name once')
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner))
}
