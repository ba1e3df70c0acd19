/**
 * Sends the responses to reading requests: compressed as the client accepts, and with an entity tag, so that an unchanged
 * one is not sent again.
 *
 * Responses to changes are not compressed: those to reports are small, and others may contain a new secret next to texts
 * that others chose, whose length would reveal it.
 */
import type { Caller } from '../access/caller.ts'
import { Serialized } from '../lib/serialized.ts'
import { encodingFor } from './accept-encoding.ts'
import { compressed } from './compression.ts'
import { callerTag, hasTag, notModified, objectTag, REVALIDATED } from './entity-tags.ts'
import { ExportResponse } from './exports.ts'

/** Others, such as PDF and PNG, are compressed already. */
const COMPRESSIBLE = /^(text\/|application\/([a-z.]+\+)?(json|x-ndjson|xml)\b)/

export const VARY = 'accept-encoding'

/** What a route's handler returned, and the context of its request. */
interface Handled {
  request: Request
  caller: Caller | null
  /** Of the object that people change; empty for everything else. */
  version: string
  responseValue: unknown
  set: { status?: number | string; headers: Record<string, string | number> }
}

/** The response to send, for Elysia's `mapResponse`; undefined if it is the handler's own. */
export async function readResponse(handled: object): Promise<Response | undefined> {
  const { request, responseValue: content, set } = handled as Handled
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
  if (content instanceof Response) return fileResponse(content, request)
  if (typeof content === 'string') {
    return textResponse(request, content, headersOf(set, String(set.headers['content-type'] ?? TEXT)))
  }
  if (content instanceof Serialized) return jsonResponse(handled as Handled, content.json, content.encoding)
  return isJson(content) ? jsonResponse(handled as Handled, JSON.stringify(content)) : undefined
}

const TEXT = 'text/plain; charset=utf-8'

/** Objects of other kinds, such as files, are sent by Elysia. */
function isJson(content: unknown): content is object {
  if (typeof content !== 'object' || content === null) return false
  const prototype = Object.getPrototypeOf(content)
  return prototype === Object.prototype || prototype === Array.prototype
}

async function jsonResponse(
  { request, caller, version, set }: Handled,
  json: Text,
  encoding?: string,
): Promise<Response> {
  if (caller !== null && statusOf(set) === 200) {
    // A handler may have set the tag of what it read.
    set.headers.etag ??= tagOf({ request, caller, version }, json)
    set.headers['cache-control'] = REVALIDATED
    if (hasTag(request, String(set.headers.etag))) return notModified(set)
  }
  const sent = headersOf(set, 'application/json')
  if (encoding === undefined) return textResponse(request, json, sent)
  return new Response(json, { ...sent, headers: { ...sent.headers, 'content-encoding': encoding } })
}

function tagOf(
  { request, caller, version }: Pick<Handled, 'request' | 'version'> & { caller: Caller },
  json: Text,
): string {
  const content = callerTag(caller, [json])
  return version === '' ? content : objectTag(version, content, encodingFor(request, json.length))
}

function statusOf({ status }: Handled['set']): number {
  return typeof status === 'number' ? status : 200
}

function headersOf(set: Handled['set'], type: string): SentHeaders {
  return { status: statusOf(set), headers: { 'content-type': type, vary: VARY } }
}

interface SentHeaders {
  status: number
  headers: Record<string, string>
}

/** A text, or its UTF-8. */
type Text = string | Uint8Array<ArrayBuffer>

/** A response with a text, compressed if that saves anything. Its headers must contain `Vary`. */
export async function textResponse(request: Request, text: Text, { status, headers }: SentHeaders): Promise<Response> {
  // Most texts are ASCII, whose length is their size; others are larger.
  const encoding = encodingFor(request, text.length)
  if (!encoding) return new Response(text, { status, headers })
  const bytes = await compressed(typeof text === 'string' ? new TextEncoder().encode(text) : text, encoding)
  return new Response(bytes, { status, headers: { ...headers, 'content-encoding': encoding } })
}

/** A document or an export. One that names `Vary` or an encoding was prepared for this client. */
async function fileResponse(response: Response, request: Request): Promise<Response | undefined> {
  const { headers, status } = response
  const isPrepared = headers.has('vary') || headers.has('content-encoding')
  if (status === 304 || isPrepared || !COMPRESSIBLE.test(headers.get('content-type') ?? '')) return undefined
  headers.set('vary', VARY)
  if (!(response instanceof ExportResponse)) {
    return textResponse(request, await response.text(), { status, headers: Object.fromEntries(headers) })
  }
  // Its size is unknown, and an export that is small costs little.
  const encoding = encodingFor(request, Number.POSITIVE_INFINITY)
  if (encoding) response.encode(encoding)
  return undefined
}
