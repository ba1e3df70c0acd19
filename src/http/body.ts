/**
 * Reading bodies strictly. Elysia's own parser takes JSON sent as `text/plain` (a form on another site can post that),
 * and turns invalid UTF-8 and lone surrogates into U+FFFD, by which two different ids could become one.
 */
import { Elysia } from 'elysia'
import { Problem } from '../errors.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { COUNTED_BYTES, holdBody } from './load-limits.ts'

const MIB = 1_048_576

/** A report of one session is about 1 kB; a batch holds up to 1,000 of them. */
export const REPORT_LIMIT_BYTES = MIB
export const BATCH_LIMIT_BYTES = 8 * MIB

/** Published tables of prices have one to three megabytes. */
const TABLE_LIMIT_BYTES = 8 * MIB

/** Above what any picture may have, so that the feature says how much that is. */
const PICTURE_LIMIT_BYTES = MIB

interface BodyContext {
  request: Request
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** What checks a value goes down into it, and a body can be deeper than the stack. A hundred levels is what Protocol Buffers allow. */
const DEPTH_LIMIT = 100

/** An escape in the range of surrogates, whose halves may stand alone. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/

/** `parse: 'report'`, `'batch'`, `'table'` or `'picture'` on a route. */
export const bodies = () =>
  new Elysia({ name: 'bodies' })
    .parser('report', (context) => readJson(context))
    .parser('batch', (context) => readBatch(context))
    .parser('table', (context) => readTable(context))
    .parser('picture', (context) => readPicture(context))

export async function readJson({ request }: BodyContext, limitBytes = REPORT_LIMIT_BYTES): Promise<unknown> {
  requireContentType(request, ['application/json'])
  return parseJson(decode(await readBytes(request, limitBytes)))
}

/**
 * A JSON array, or newline-delimited JSON where the content type says so. A line that is no JSON becomes the Problem
 * that says so, in its place, for it is one item that is wrong and not the batch.
 */
export async function readBatch({ request }: BodyContext): Promise<unknown> {
  const type = requireContentType(request, ['application/json', 'application/x-ndjson'])
  const text = decode(await readBytes(request, BATCH_LIMIT_BYTES))
  if (type === 'application/json') return parseJson(text)
  return text
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => parseLine(line, number))
}

/** A file that the feature reads itself, as text. */
async function readTable({ request }: BodyContext): Promise<string> {
  requireContentType(request, ['application/json', 'text/csv'])
  return decode(await readBytes(request, TABLE_LIMIT_BYTES))
}

/** A file that the feature looks into itself. */
async function readPicture({ request }: BodyContext): Promise<Uint8Array> {
  requireContentType(request, ['image/png', 'image/jpeg'])
  return readBytes(request, PICTURE_LIMIT_BYTES)
}

function parseLine(line: string, number: number): unknown {
  try {
    return parseJson(line, `Line ${number}`)
  } catch (error) {
    return error
  }
}

function requireContentType(request: Request, accepted: string[]): string {
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported_media_type', 'The body must be sent as it is, without Content-Encoding.', {
      headers: { 'accept-encoding': 'identity' },
    })
  }
  const type = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  if (accepted.includes(type)) return type
  throw new Problem('unsupported_media_type', `The body must be sent with Content-Type: ${accepted.join(' or ')}.`, {
    headers: { 'accept-post': accepted.join(', ') },
  })
}

function tooLarge(limitBytes: number): Problem {
  return new Problem('body_too_large', `The body has more than ${limitBytes / MIB} MiB.`, {
    headers: { connection: 'close' },
  })
}

/** The whole body. What is longer is refused as soon as that is known, without keeping it. */
async function readBytes(request: Request, limitBytes: number): Promise<Uint8Array> {
  const length = request.headers.get('content-length')
  if (length !== null) {
    if (Number(length) > limitBytes) throw tooLarge(limitBytes)
    holdBody(request, Number(length))
    return request.bytes()
  }
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let total = 0
  let held = 0
  for await (const chunk of request.body) {
    total += chunk.byteLength
    if (total > limitBytes) throw tooLarge(limitBytes)
    if (total - held >= COUNTED_BYTES) {
      holdBody(request, total - held)
      held = total
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Problem('malformed_json', 'The body is not valid UTF-8.')
  }
}

function parseJson(text: string, where = 'The body'): unknown {
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch {
    throw new Problem('malformed_json', `${where} is not valid JSON.`)
  }
  if (isDeeperThan(DEPTH_LIMIT, value)) {
    throw new Problem('malformed_json', `${where} is nested more than ${DEPTH_LIMIT} levels deep.`)
  }
  if (SURROGATE_ESCAPE.test(text) && !isWellFormed(value)) {
    throw new Problem(
      'malformed_json',
      `${where} holds half of a surrogate pair (such as "\\ud83d" alone), which is no character.`,
    )
  }
  return value
}

function isDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return limit === 0 || Object.values(value).some((inner) => isDeeperThan(limit - 1, inner))
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner))
}
