/**
 * Caches the content of session files, so that only changed ones are read again. Contains counts, times and folders,
 * and nothing of the conversations. May be deleted at any time.
 */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import { REQUEST_THRESHOLDS } from '../lib/request-thresholds.ts'
import type { AgentName, Cell, Counts, Damage, Limit } from './agent.ts'
import type { FileReading, ModelCall, SessionOrigin } from './model-calls.ts'
import type { SessionSum } from './session-sums.ts'

/** Must be increased if a reader reads something else from the same file, or if the shape of the cache changes. */
const VERSION = 12

/** The thresholds too, because sums are cached. */
const FORMAT = [VERSION, ...REQUEST_THRESHOLDS].join(' ')

/** The state of a file when it was read. The file counts as unchanged if all of this is the same. */
export interface FileState {
  path: string
  /** Size, time of change and identity of the file and its companions. */
  state: string
}

/** The result for all files of an agent, valid as long as none of them changes. */
export interface KeptScan {
  sums: SessionSum[]
  /** The file with most of each session. */
  files: Record<string, string>
  /** The parents of sessions that were created from others. */
  parents: Record<string, string[]>
  /** What is missing of sessions, in words. */
  missing: Record<string, string>
  /** How sessions were started and are paid for. */
  origins: Record<string, SessionOrigin>
  /** The newest version of the agent; null if no file names one. */
  version: string | null
  /** The latest reading of each limit of its plan. */
  limits?: Limit[]
  damage: Damage[]
}

interface KeptFile extends Omit<FileReading, 'calls'> {
  state: string
  /** Names that calls refer to by their index in this list, because most repeat. */
  names: string[]
  calls: CallRow[]
}

type CallRow = (string | number)[]

/** A scan as it is stored. */
interface StoredScan {
  digest: string
  scan: Omit<KeptScan, 'sums'> & { sums: StoredSum[] }
  /** The rows of the cells of each sum, packed, because they are most of a scan and only reports need them. */
  cells: string
  checksum: string
}

/** Most sessions have a single day, which is the whole. */
type StoredSum = Omit<SessionSum, 'cells' | 'days'> & { days?: readonly Cell[] }

type CellRow = [
  repository: string | null,
  branch: string | null,
  firstAt: number,
  lastAt: number,
  requests: number,
  reportedCost: string | null,
  activeMs: number | null,
  tools: Record<string, number>,
  tokens: number[],
  requestsAbove: number[][],
]

/** What is kept of most files is shorter, and there can be thousands. */
const PIECE_LENGTH = 262_144

export class ScanCache {
  #files: Record<string, KeptFile> | undefined
  /** A JSON object in pieces, because its members would use several times the memory as objects. */
  readonly #current: Buffer[] = []
  #piece = '{'

  constructor(
    readonly environment: AgentsEnvironment,
    readonly agent: AgentName,
  ) {}

  /** Undefined if any file is new, changed or gone. */
  findScan(files: readonly FileState[]): KeptScan | undefined {
    const kept = loadKept<StoredScan>(this.environment, `${this.agent}-scan`)
    // Cells are unpacked later, when it would be too late to notice that they are damaged.
    if (kept?.digest !== digestOf(files) || kept.checksum !== checksumOf(kept.cells)) return undefined
    const { scan } = kept
    let rows: CellRow[][] | undefined
    const cellsAt = (index: number) => {
      rows ??= unpacked<CellRow[][]>(kept.cells)
      return rows[index]!.map(cellOfRow)
    }
    const sums = scan.sums.map((sum, index) => {
      const { days = [sum.whole] } = sum
      return { ...sum, days, cells: () => cellsAt(index) }
    })
    return { ...scan, sums }
  }

  keepScan(files: readonly FileState[], scan: KeptScan): void {
    const sums = scan.sums.map(({ cells: _, days, ...sum }) => (days.length === 1 ? sum : { ...sum, days }))
    // One by one, since all rows together use several times the memory of their text.
    const cells = packed(`[${scan.sums.map((sum) => JSON.stringify(sum.cells().map(rowOfCell))).join(',')}]`)
    const stored: StoredScan = { digest: digestOf(files), scan: { ...scan, sums }, cells, checksum: checksumOf(cells) }
    storeKept(this.environment, `${this.agent}-scan`, stored)
  }

  /** Keeps only the files that were found or read since the cache was created. */
  keepFiles(): void {
    storePieces(this.environment, `${this.agent}-files`, [...this.#current, Buffer.from(`${this.#piece}}`)])
  }

  /** Undefined if the file has changed since it was read. */
  findReading({ path, state }: FileState): FileReading | undefined {
    this.#files ??= loadKept<Record<string, KeptFile>>(this.environment, `${this.agent}-files`) ?? {}
    const kept = Object.hasOwn(this.#files, path) ? this.#files[path] : undefined
    if (kept?.state !== state) return undefined
    this.#keep(path, kept)
    const { names, calls, state: _, ...reading } = kept
    return { ...reading, calls: calls.map((row) => callOfRow(row, names)) }
  }

  keepReading({ path, state }: FileState, reading: FileReading): void {
    const names = new Names()
    const calls = reading.calls.map((call) => rowOfCall(call, names))
    this.#keep(path, { ...reading, state, names: names.list(), calls })
  }

  #keep(path: string, file: KeptFile): void {
    const isFirst = this.#current.length === 0 && this.#piece.length === 1
    this.#piece += `${isFirst ? '' : ','}${JSON.stringify(path)}:${JSON.stringify(file)}`
    if (this.#piece.length < PIECE_LENGTH) return
    this.#current.push(Buffer.from(this.#piece))
    this.#piece = ''
  }
}

/** Undefined if nothing is cached, or if the cache is damaged: it is then created again. */
export function loadKept<Content>(environment: AgentsEnvironment, name: string): Content | undefined {
  try {
    const { format, content } = JSON.parse(readFileSync(pathOf(environment, name), 'utf8'))
    return format === FORMAT ? content : undefined
  } catch {
    return undefined
  }
}

/** If the folder can't be written, the only consequence is that the next scan is slower. */
export function storeKept(environment: AgentsEnvironment, name: string, content: unknown): void {
  storePieces(environment, name, [Buffer.from(JSON.stringify(content))])
}

function storePieces(environment: AgentsEnvironment, name: string, content: readonly Buffer[]): void {
  const path = pathOf(environment, name)
  // Two scans at the same time write one each, and the later one stays.
  const unfinished = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(unfinished, 'w', 0o600)
    try {
      writeWhole(file, Buffer.from(`{"format":${JSON.stringify(FORMAT)},"content":`))
      for (const piece of content) writeWhole(file, piece)
      writeWhole(file, Buffer.from('}'))
    } finally {
      closeSync(file)
    }
    renameSync(unfinished, path)
  } catch {
    removeUnfinished(unfinished)
  }
}

function writeWhole(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

/** If the folder can't even be created, removing fails too, with or without `force`. */
function removeUnfinished(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}

function pathOf({ cacheHome }: AgentsEnvironment, name: string): string {
  return join(cacheHome, 'tally', 'agents', `${name}.json`)
}

export function digestOf(files: readonly FileState[]): string {
  const hash = new Bun.CryptoHasher('sha256')
  for (const { path, state } of files) hash.update(`${path}\0${state}\n`)
  return hash.digest('hex')
}

function checksumOf(text: string): string {
  return Bun.hash(text).toString(36)
}

/** The names in the rows of a file. */
class Names {
  readonly #places = new Map<string, number>()
  /** Those of the row before, by column, which are mostly those of the next one too. */
  readonly #names: string[] = []
  readonly #latest: number[] = []

  place(column: number, name: string): number {
    if (this.#names[column] === name) return this.#latest[column]!
    const place = this.#places.get(name) ?? this.#places.size
    this.#places.set(name, place)
    this.#names[column] = name
    this.#latest[column] = place
    return place
  }

  list(): string[] {
    return [...this.#places.keys()]
  }
}

function rowOfCall(call: ModelCall, names: Names): CallRow {
  const { input, output, cache_read, cache_write, cache_write_1h } = call.counts
  return [
    call.key,
    names.place(0, call.session),
    names.place(1, call.owner),
    call.at,
    names.place(2, call.model),
    names.place(3, call.provider),
    input,
    output,
    cache_read,
    cache_write,
    cache_write_1h,
    call.cost,
    names.place(4, call.folder),
    names.place(5, call.branch),
    call.isSidechain ? 1 : 0,
    call.requests ?? 1,
    names.place(6, call.remote ?? ''),
    call.total ?? '',
    call.isSum ? 1 : 0,
    detailsOf(call),
  ]
}

/** What few calls have, as JSON; otherwise empty. */
function detailsOf({ parts, service, tools, endedAt }: ModelCall): string {
  return parts || service || tools || endedAt ? JSON.stringify({ parts, service, tools, endedAt }) : ''
}

function callOfRow(row: CallRow, names: string[]): ModelCall {
  const name = (at: number) => names[row[at] as number]!
  const number = (at: number) => row[at] as number
  const call: ModelCall = {
    key: row[0] as string,
    session: name(1),
    owner: name(2),
    at: number(3),
    model: name(4),
    provider: name(5),
    counts: {
      input: number(6),
      output: number(7),
      cache_read: number(8),
      cache_write: number(9),
      cache_write_1h: number(10),
    },
    cost: row[11] as string,
    folder: name(12),
    branch: name(13),
    isSidechain: row[14] === 1,
    activeMs: null,
    requests: number(15),
    remote: name(16),
  }
  if (row[17] !== '') call.total = row[17] as string
  if (row[18] === 1) call.isSum = true
  return row[19] === '' ? call : { ...call, ...JSON.parse(row[19] as string) }
}

function rowOfCell(cell: Cell): CellRow {
  const { place, firstAt, lastAt, requests, reportedCost, activeMs, tools, tokens, requestsAbove } = cell
  const { repository, branch } = place
  const above = requestsAbove.map(({ threshold, ...counts }) => [threshold, ...numbersOf(counts)])
  return [repository, branch, firstAt, lastAt, requests, reportedCost, activeMs, tools, numbersOf(tokens), above]
}

function cellOfRow([repository, branch, firstAt, lastAt, requests, ...row]: CellRow): Cell {
  const [reportedCost, activeMs, tools, tokens, requestsAbove] = row
  return {
    ...{ place: { repository, branch }, firstAt, lastAt, requests, reportedCost, activeMs, tools },
    tokens: countsIn(tokens),
    requestsAbove: requestsAbove.map(([threshold, ...numbers]) => ({ threshold: threshold!, ...countsIn(numbers) })),
  }
}

/** Higher levels save little, and take longer. */
const COMPRESSION_LEVEL = 1

function packed(json: string): string {
  return Bun.zstdCompressSync(json, { level: COMPRESSION_LEVEL }).toString('base64')
}

function unpacked<Content>(text: string): Content {
  return JSON.parse(Bun.zstdDecompressSync(Buffer.from(text, 'base64')).toString())
}

/** Without the zeros at the end, which most cells have. */
function numbersOf({ input, output, cache_read, cache_write, cache_write_1h }: Counts): number[] {
  const numbers = [input, output, cache_read, cache_write, cache_write_1h]
  return numbers.slice(0, numbers.findLastIndex((number) => number > 0) + 1)
}

function countsIn([input = 0, output = 0, cache_read = 0, cache_write = 0, cache_write_1h = 0]: number[]): Counts {
  return { input, output, cache_read, cache_write, cache_write_1h }
}
