/** The lines of a file, read without waiting, because a transaction must not wait for anything but the database. */
import { readSync } from 'node:fs'
import { parseRawJson } from '../../lib/exact-json.ts'
import { JsonLimitExceeded, scanJson } from '../../lib/json-scan.ts'
import { issuesOf } from '../../schema/issues.ts'
import { type End, endChecker, FORMAT, FORMAT_VERSION, type Header, headerChecker, LINE_LIMIT_BYTES } from './format.ts'
import type { Kind } from './kind.ts'
import { KINDS } from './kinds.ts'
import { wrongFile, wrongLine } from './problems.ts'
import type { Line } from './writing.ts'

const CHUNK_BYTES = 1_048_576
const NEWLINE = 0x0a

/** A line between the header and the end. */
export interface ReadLine {
  number: number
  kind: Kind
  line: Line
  /** How far the file is read. */
  bytes: number
}

/** What a file says of itself, and how many lines of which type it has. */
export interface FileSummary {
  header: Header
  counts: Record<string, number>
}

const BY_TYPE = new Map(KINDS.map((kind) => [kind.type, kind]))
const POSITIONS = new Map(KINDS.map((kind, position) => [kind, position]))

/** Lines of these types alternate. */
const INTERLEAVED = ['session', 'entry']

interface Reading {
  /** Whether each line is compared with its schema. */
  checks: boolean
}

/** Reads an open file from its beginning to its end. Throws if it is not a complete export, with the number of the line. */
export function* readLines(file: number, { checks }: Reading): Generator<ReadLine, FileSummary> {
  const hash = new Bun.CryptoHasher('sha256')
  const counts: Record<string, number> = {}
  let header: Header | undefined
  let end: End | undefined
  let number = 0
  let bytes = 0
  let position = 0
  for (const raw of rawLines(file)) {
    number += 1
    bytes += raw.length + 1
    if (end) throw wrongLine(number, 'nothing may follow the line of type "end".')
    const value = parsed(number, raw)
    if (!header) {
      header = headerOf(value)
    } else if (value.type === 'end') {
      end = endOf(number, value)
      requireEqual(end, hash, counts)
      continue
    } else {
      const kind = BY_TYPE.get(value.type as string)
      if (!kind) throw wrongLine(number, `the type ${JSON.stringify(value.type)?.slice(0, 60)} is unknown.`)
      position = nextPosition(number, kind, position)
      if (checks) requireValid(number, kind, value)
      counts[kind.type] = (counts[kind.type] ?? 0) + 1
      yield { number, kind, line: value, bytes }
    }
    hash.update(raw)
    hash.update('\n')
  }
  if (!header) throw wrongFile('The file is empty. Create one with `tally export`.')
  if (!end) {
    throw wrongFile(
      `The file is truncated: its last line is not of the type "end" (after line ${number}). Create or copy it again.`,
    )
  }
  return { header, counts }
}

function nextPosition(number: number, kind: Kind, before: number): number {
  const position = POSITIONS.get(kind)!
  if (position >= before) return position
  if (INTERLEAVED.includes(kind.type) && INTERLEAVED.includes(KINDS[before]!.type)) return before
  throw wrongLine(
    number,
    `lines of the type "${kind.type}" must come before those of the type "${KINDS[before]!.type}".`,
  )
}

function headerOf(value: Line): Header {
  if (value.format !== FORMAT) {
    throw wrongFile('This is not an export of Tally: its first line is not that of the format "tally-export".')
  }
  if (value.version !== FORMAT_VERSION) {
    throw wrongFile(
      `The file has version ${JSON.stringify(value.version)} of the format, but this version of tally reads version ${FORMAT_VERSION}. Import it with the version of Tally that created it, or a later one.`,
    )
  }
  if (headerChecker.Check(value)) return value
  throw wrongLine(1, explain(headerChecker, value))
}

function endOf(number: number, value: Line): End {
  if (endChecker.Check(value)) return value
  throw wrongLine(number, explain(endChecker, value))
}

function requireEqual({ counts, sha256 }: End, hash: Bun.CryptoHasher, counted: Record<string, number>): void {
  if (hash.digest('hex') !== sha256) {
    throw wrongFile(
      'The file was changed or damaged after it was created: its SHA-256 is not that of its last line. Copy it again.',
    )
  }
  for (const type of new Set([...Object.keys(counts), ...Object.keys(counted)])) {
    if (counts[type] === counted[type]) continue
    throw wrongFile(
      `The file has ${counted[type] ?? 0} lines of the type "${type}", but its last line says ${counts[type] ?? 0}.`,
    )
  }
}

function requireValid(number: number, kind: Kind, value: Line): void {
  if (!kind.checker.Check(value)) throw wrongLine(number, explain(kind.checker, value))
}

function explain(checker: Parameters<typeof issuesOf>[0], value: unknown): string {
  const [first] = issuesOf(checker, value)
  return first ? `${first.pointer.slice(1) || 'the line'} ${first.message}.` : 'is not valid.'
}

/** Deeper than anything that Tally writes, and no danger for the stack; and more parts than the longest session has. */
const JSON_LIMITS = { depth: 100, parts: 5_000_000 }

function parsed(number: number, raw: Uint8Array): Line {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw)
  } catch {
    throw wrongLine(number, 'is not valid UTF-8.')
  }
  let value: unknown
  try {
    scanJson(raw, JSON_LIMITS)
    value = parseRawJson(text)
  } catch (error) {
    if (error instanceof JsonLimitExceeded) throw wrongLine(number, 'has too many or too deeply nested values.')
    throw wrongLine(number, 'is not valid JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrongLine(number, 'is not a JSON object.')
  if (SUSPICIOUS_ESCAPE.test(text) && !isText(value)) {
    throw wrongLine(number, 'contains U+0000 or half of a character, which is not text.')
  }
  return value as Line
}

/** Escapes of characters that are no text: U+0000, and halves of others. */
const SUSPICIOUS_ESCAPE = /\\u(0000|d[89a-f])/i

function isText(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, inner]) => isText(name) && isText(inner))
}

/** The bytes of each line, without its end. They are valid until the next one is read. */
function* rawLines(file: number): Generator<Uint8Array> {
  const chunk = new Uint8Array(CHUNK_BYTES)
  let rest = new Uint8Array(0)
  let number = 1
  let position = 0
  for (;;) {
    const length = readSync(file, chunk, 0, chunk.length, position)
    if (length === 0) break
    position += length
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && at < length; at = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, at)
      requireShort(number, rest.length + piece.length)
      yield rest.length === 0 ? piece : joined(rest, piece)
      rest = new Uint8Array(0)
      number += 1
      from = at + 1
    }
    requireShort(number, rest.length + length - from)
    rest = joined(rest, chunk.subarray(from, length))
  }
  // Also the line of a file without a line end at its end.
  if (rest.length > 0) yield rest
}

function requireShort(number: number, bytes: number): void {
  if (bytes > LINE_LIMIT_BYTES) throw wrongLine(number, `is longer than ${LINE_LIMIT_BYTES / 1_048_576} MB.`)
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
