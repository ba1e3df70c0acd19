/**
 * Reads a price table from a file or an address that an admin named. What a source may cost is bounded: bytes, seconds
 * and redirects; and no address may send Tally to an unencrypted one.
 */

import { basename } from 'node:path'
import { Problem } from '../../errors.ts'
import { counted } from '../../lib/counted.ts'
import { OVER_BUDGET } from '../../lib/outgoing/failures.ts'
import { exchangeOnThread } from '../../lib/outgoing/outgoing-thread.ts'
import { followed } from '../../lib/outgoing/redirects.ts'
import { isAddress, isSafeAddress } from '../../lib/outgoing/safe-address.ts'

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

interface ReadingOptions {
  timeoutMs?: number
  onProgress?: (bytes: number, total: number | undefined) => void
}

/** What is wrong with a place that tables are read from; undefined if nothing is. Files are not looked at. */
export function placeIssue(place: string): string | undefined {
  if (!isAddress(place)) return undefined
  if (!isSafeAddress(place)) return 'must be an https:// address (http:// only on this machine) or a file'
  const { username, password } = new URL(place)
  if (username !== '' || password !== '') return 'contains a password, which Tally does not send'
  return undefined
}

/** Throws `price_source_failed` (502) with what to do. `-` is the standard input. */
export async function readTableFile(place: string, options: ReadingOptions = {}): Promise<TableFile> {
  if (!isAddress(place)) return readLocal(place)
  const issue = placeIssue(place)
  if (issue) throw failed(`The address ${issue}.`)
  return download(place, options)
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

async function download(place: string, { timeoutMs = TIMEOUT_MS, onProgress }: ReadingOptions): Promise<TableFile> {
  const { origin, pathname } = new URL(place)
  const name = origin + pathname
  const request = { method: 'GET', bodyBytes: LIMIT_BYTES, timeoutMs } as const
  const { status, statusText, headers, body, cut } = await followed(place, (url) =>
    exchangeOnThread({ ...request, url }, onProgress),
  ).catch(({ code, message }: NodeJS.ErrnoException) => {
    if (code === OVER_BUDGET) throw tooLarge(name)
    throw failed(`${name} cannot be downloaded: ${message.replace(/[.?!]$/, '')}.`)
  })
  if (status < 200 || status > 299) throw failed(`${name} returned ${status} ${statusText}.`)
  if (cut === 'limit') throw tooLarge(name)
  if (cut === 'time') throw failed(`${name} cannot be downloaded: timed out after ${timeoutMs / 1_000} s.`)
  if (cut === 'connection') throw failed(`${name} ended after ${counted(body.length, 'byte')}. Try again.`)
  const modified = Date.parse(headers['last-modified'] ?? '')
  return {
    text: textOf(body, name),
    name,
    modifiedAt: Number.isNaN(modified) ? undefined : modified,
    isDownload: true,
  }
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
