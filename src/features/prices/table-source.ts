/**
 * Reads a price table from a file or an address that an admin named. What a source may cost is bounded: bytes, seconds
 * and redirects; and no address may send Tally to an unencrypted one.
 */
import { basename } from 'node:path'
import { Problem } from '../../errors.ts'

/** A table before it is parsed. */
export interface TableFile {
  text: string
  /** The name of the file, or the address without its query, which may contain a secret. */
  name: string
  /** Of the file, or of the response if it has a date. */
  modifiedAt: number | undefined
  isDownload?: boolean
}

/** LiteLLM's table has 1.4 MB, that of models.dev twice as much; a larger file is something else. */
const LIMIT_BYTES = 16 * 1_048_576

/** A table of a few megabytes takes seconds; after this time no more will come. */
const TIMEOUT_MS = 60_000

/** Published tables are one or two redirects away. */
const REDIRECT_LIMIT = 5

interface ReadingOptions {
  timeoutMs?: number
  onProgress?: (bytes: number, total: number | undefined) => void
}

/** Whether a place is an address, as opposed to a file. */
export function isAddress(place: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/\//i.test(place)
}

/** What is wrong with a place that tables are read from; undefined if nothing is. Files are not looked at. */
export function placeIssue(place: string): string | undefined {
  if (!isAddress(place)) return undefined
  const url = URL.canParse(place) ? new URL(place) : undefined
  if (!url || !isSafe(url, url)) return 'must be an https:// address (http:// only on this machine) or a file'
  if (url.username !== '' || url.password !== '') return 'contains a password, which Tally does not send'
  return undefined
}

/** Throws `price_source_failed` (502) with what to do. `-` is the standard input. */
export async function readTableFile(place: string, options: ReadingOptions = {}): Promise<TableFile> {
  if (!isAddress(place)) return readLocal(place)
  const issue = placeIssue(place)
  if (issue) throw failed(`The address ${issue}.`)
  return download(new URL(place), options)
}

async function readLocal(path: string): Promise<TableFile> {
  const isStandardInput = path === '-'
  const file = isStandardInput ? Bun.stdin : Bun.file(path)
  const name = isStandardInput ? 'Standard input' : path
  if (file.size > LIMIT_BYTES && Number.isFinite(file.size)) throw tooLarge(name)
  const bytes = await file.bytes().catch((error: Error) => {
    throw failed(`${name} cannot be read: ${error.message}.`)
  })
  if (bytes.byteLength > LIMIT_BYTES) throw tooLarge(name)
  const modifiedAt = isStandardInput ? undefined : Bun.file(path).lastModified
  return { text: textOf(bytes, name), name: isStandardInput ? 'standard input' : basename(path), modifiedAt }
}

async function download(url: URL, { timeoutMs = TIMEOUT_MS, onProgress }: ReadingOptions): Promise<TableFile> {
  const name = `${url.origin}${url.pathname}`
  try {
    const response = await followed(url, AbortSignal.timeout(timeoutMs))
    if (!response.ok) throw failed(`${name} returned ${response.status} ${response.statusText}.`)
    const bytes = await bytesOf(response, name, onProgress)
    const modified = Date.parse(response.headers.get('last-modified') ?? '')
    return {
      text: textOf(bytes, name),
      name,
      modifiedAt: Number.isNaN(modified) ? undefined : modified,
      isDownload: true,
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    const { name: kind, message } = error as Error
    const why = kind === 'TimeoutError' ? `timed out after ${timeoutMs / 1_000} s` : message
    throw failed(`${name} cannot be downloaded: ${why.replace(/[.?!]$/, '')}.`)
  }
}

/** The response after redirects, each of which must be as safe as the first address. */
async function followed(first: URL, signal: AbortSignal): Promise<Response> {
  let url = first
  for (let redirects = 0; redirects <= REDIRECT_LIMIT; redirects += 1) {
    const response = await fetch(url.href, { signal, redirect: 'manual' })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined
    if (!next || !isSafe(next, first)) {
      throw failed(`${first.origin}${first.pathname} redirects to an address that is not https://.`)
    }
    url = next
  }
  throw failed(`${first.origin}${first.pathname} redirects more than ${REDIRECT_LIMIT} times.`)
}

/** Only a source on this machine may be read without encryption. */
function isSafe(url: URL, first: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url) && isLoopback(first))
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

async function bytesOf(
  response: Response,
  name: string,
  onProgress: ReadingOptions['onProgress'],
): Promise<Uint8Array> {
  // The length of a compressed body is another one than that of its content.
  const isCompressed = response.headers.has('content-encoding')
  const total = isCompressed ? undefined : Number(response.headers.get('content-length')) || undefined
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > LIMIT_BYTES) throw tooLarge(name)
    chunks.push(chunk)
    onProgress?.(size, total)
  }
  if (total !== undefined && size < total) throw failed(`${name} ended after ${size} of ${total} bytes. Try again.`)
  return Buffer.concat(chunks)
}

function failed(detail: string): Problem {
  return new Problem('price_source_failed', detail)
}

function tooLarge(name: string): Problem {
  return failed(`${name} is larger than ${LIMIT_BYTES / 1_048_576} MiB, the limit for price tables.`)
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw failed(`${name} is not valid UTF-8 text.`)
  }
}
