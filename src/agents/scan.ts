/** Reads the session files of agents and returns the usage of each session. */
import { dirname } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import { AGENTS } from '../shared/agents.ts'
import { setActiveTimes } from './active-time.ts'
import {
  AGENT_NAMES,
  type AgentName,
  type AgentReading,
  type Damage,
  type Scan,
  type SessionName,
  type SessionUse,
} from './agent.ts'
import { latestLimits } from './limits.ts'
import type { FileReading, ModelCall } from './model-calls.ts'
import { newestVersion, notReadIn } from './not-read.ts'
import { createPlaceOf } from './places.ts'
import { READERS } from './readers/all.ts'
import type { Reader, ReadFile } from './readers/reader.ts'
import { type KeptScan, ScanCache } from './scan-cache.ts'
import { type FoundFile, filesOfTranscript, findFiles, issueOf, sessionPlaces } from './session-files.ts'
import { type SessionSum, sumCalls } from './session-sums.ts'
import { SettledCalls } from './settled-calls.ts'
import { WorkTrees } from './work-trees.ts'

export interface ScanOptions {
  environment: AgentsEnvironment
  /** All agents if absent. */
  agents?: readonly AgentName[]
  /** Leaves out sessions that ended before this time, in milliseconds; sessions are never cut. */
  since?: number
  /** Also reads the titles of sessions. */
  withTitles?: boolean
  /** Called from time to time with the progress. */
  onProgress?: (readBytes: number, totalBytes: number) => void
}

/** What is left of reading as many bytes is collected at once: later, it takes longer, and the heap has grown meanwhile. */
const MUCH_READ = 32 * 1024 * 1024

/** Every session of the agents under the home folder. */
export function scanAll(options: ScanOptions): Scan {
  const scan: Scan = { uses: [], damage: [], readings: [], files: 0, bytes: 0 }
  const found = (options.agents ?? AGENT_NAMES).map((agent) => {
    const reader = READERS[agent]
    const damage: Damage[] = []
    return { reader, files: findFiles(reader, options.environment, damage), damage }
  })
  const totalBytes = found.reduce((sum, { files }) => sum + files.reduce((bytes, { size }) => bytes + size, 0), 0)
  for (const { reader, files, damage } of found) {
    const kept = scanFiles(reader, files, options.environment, (bytes) => {
      scan.bytes += bytes
      options.onProgress?.(scan.bytes, totalBytes)
    })
    scan.files += files.length
    damage.push(...kept.damage)
    scan.damage.push(...damage)
    scan.readings.push(readingOf(reader, sessionPlaces(reader, options.environment), kept, damage))
    scan.uses.push(...usesOf(reader, kept, options))
    if (kept.readBytes > MUCH_READ) Bun.gc(true)
  }
  scan.uses.sort((one, other) => (one.startedAt < other.startedAt ? -1 : Number(one.startedAt > other.startedAt)))
  return scan
}

/**
 * One session, including sub-agents with sessions of their own. Empty if its file does not exist or contains no use
 * yet. Reads all files of the agent, because a session may contain calls of an earlier one; unchanged files come from
 * the cache.
 */
export function scanSession(
  agent: AgentName,
  { sessionId, transcriptPath }: SessionName,
  environment: AgentsEnvironment,
): Pick<Scan, 'uses' | 'damage' | 'readings'> {
  const reader = READERS[agent]
  const damage: Damage[] = []
  const files = findFiles(reader, environment, damage)
  const elsewhere = filesOfTranscript(reader, transcriptPath, files, damage)
  const kept = scanFiles(reader, [...files, ...elsewhere], environment, () => {})
  const family = familyOf(sessionId, kept.parents)
  const uses = usesOf(reader, kept, { environment }).filter((use) => family.has(use.sessionId))
  const places = new Set([transcriptPath, ...uses.map(({ file }) => file)])
  damage.push(...kept.damage)
  const [usual, other] = split(damage, ({ file }) => !elsewhere.some(({ path }) => path === file))
  const readings = [readingOf(reader, sessionPlaces(reader, environment), kept, usual)]
  if (elsewhere.length > 0) {
    readings.push(readingOf(reader, [dirname(elsewhere[0]!.path)], { ...kept, sums: [] }, other))
  }
  return { uses, damage: damage.filter(({ file }) => places.has(file)), readings }
}

function split<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

function readingOf(
  reader: Reader,
  places: readonly string[],
  { sums, version, limits = [] }: Pick<KeptScan, 'sums' | 'version' | 'limits'>,
  damage: readonly Damage[],
): AgentReading {
  return {
    agent: reader.name,
    source: Bun.hash(JSON.stringify(places)).toString(36),
    version,
    sessions: new Set(sums.map(({ session }) => session)).size,
    notRead: notReadIn(damage),
    ...(limits.length > 0 && { limits }),
  }
}

/** The session, and all sessions created from it, directly or indirectly. */
function familyOf(sessionId: string, parents: Record<string, string[]>): Set<string> {
  const family = new Set([sessionId])
  for (let size = 0; size < family.size; ) {
    size = family.size
    for (const [child, made] of Object.entries(parents)) if (made.some((id) => family.has(id))) family.add(child)
  }
  return family
}

/** The result for all files, of which only the changed ones are read. */
function scanFiles(
  reader: Reader,
  files: readonly FoundFile[],
  environment: AgentsEnvironment,
  onRead: (bytes: number) => void,
): KeptScan & { readBytes: number } {
  const cache = new ScanCache(environment, reader.name)
  const known = cache.findScan(files)
  if (known) {
    onRead(files.reduce((bytes, { size }) => bytes + size, 0))
    return { ...known, readBytes: 0 }
  }
  let readBytes = 0
  const unread: Damage[] = []
  const read = files.flatMap((file): ReadFile[] => {
    const kept = cache.findReading(file)
    if (!kept) readBytes += file.size
    const reading = kept ?? readFile(reader, file, cache, unread)
    onRead(file.size)
    return reading ? [{ path: file.path, bornAt: file.bornAt, reading }] : []
  })
  const notes: Damage[] = []
  setActiveTimes(read)
  const settledCalls = new SettledCalls(environment, reader.name)
  const calls = reader.settle(read, settledCalls, (file, what) => notes.push({ file, line: null, what, isNote: true }))
  const workTrees = new WorkTrees(environment)
  const scan: KeptScan = {
    sums: sumCalls(calls, createPlaceOf(workTrees, startsOf(reader, read), reader)),
    files: placesOf(read),
    parents: Object.assign({}, ...read.map(({ reading }) => reading.parents)),
    missing: Object.assign({}, ...read.map(({ reading }) => reading.missing)),
    origins: Object.assign({}, ...read.map(({ reading }) => reading.origins)),
    version: newestVersion(read.map(({ reading }) => reading.version)),
    limits: latestLimits(read.flatMap(({ reading }) => reading.limits ?? [])),
    damage: [...read.flatMap(({ path, reading }) => reading.damage.map((each) => ({ file: path, ...each }))), ...notes],
  }
  settledCalls.save()
  workTrees.save()
  cache.keepFiles()
  // A file that could not be read may be readable the next time, without having changed.
  if (unread.length === 0) cache.keepScan(files, scan)
  return { ...scan, damage: [...unread, ...scan.damage], readBytes }
}

function readFile(reader: Reader, file: FoundFile, cache: ScanCache, unread: Damage[]): FileReading | undefined {
  try {
    const reading = reader.read(file.path)
    shareNames(reading.calls)
    cache.keepReading(file, reading)
    return reading
  } catch (error) {
    unread.push({ file: file.path, line: null, what: issueOf(error) })
    return undefined
  }
}

/** The calls of a file repeat most names: as a text each, they would be most of what the calls use. */
function shareNames(calls: readonly ModelCall[]): void {
  const names = new Map<string, string>()
  const shared = (name: string) => {
    const known = names.get(name)
    if (known === undefined) names.set(name, name)
    return known ?? name
  }
  let last = calls[0]
  for (const call of calls) {
    call.session = call.session === last!.session ? last!.session : shared(call.session)
    call.model = call.model === last!.model ? last!.model : shared(call.model)
    call.folder = call.folder === last!.folder ? last!.folder : shared(call.folder)
    call.branch = call.branch === last!.branch ? last!.branch : shared(call.branch)
    last = call
  }
}

/** The file with the most calls of each session, apart from those of sub-agents. */
function placesOf(files: readonly ReadFile[]): Record<string, string> {
  const places = new Map<string, { path: string; count: number }>()
  for (const { path, reading } of files) {
    const counts = new Map<string, number>()
    for (const { session, isSidechain } of reading.calls) {
      counts.set(session, (counts.get(session) ?? 0) + (isSidechain ? 0 : 1))
    }
    for (const [session, count] of counts) {
      if (count > (places.get(session)?.count ?? -1)) places.set(session, { path, count })
    }
  }
  return Object.fromEntries([...places].map(([session, { path }]) => [session, path]))
}

/** When sessions started whose calls have the branch of that moment. */
function startsOf({ recordsFirstBranch }: Reader, files: readonly ReadFile[]): (session: string) => number | undefined {
  const starts = new Map<string, number>()
  for (const { reading } of recordsFirstBranch ? files : []) {
    const [first] = reading.calls
    if (!first) continue
    const startedAt = reading.startedAt ?? first.at
    starts.set(first.session, Math.min(startedAt, starts.get(first.session) ?? startedAt))
  }
  return (session) => starts.get(session)
}

function usesOf(reader: Reader, kept: KeptScan, { since, withTitles }: ScanOptions): SessionUse[] {
  const recent = since === undefined ? undefined : sessionsSince(kept.sums, since)
  const sums = recent ? kept.sums.filter(({ session }) => recent.has(session)) : kept.sums
  const titles = withTitles ? titlesOf(reader, sums, kept.files) : undefined
  return sums.map((sum) => useOf(reader, sum, kept, titles?.get(sum.session) ?? null))
}

function useOf(
  reader: Reader,
  sum: SessionSum,
  { files, missing, origins }: KeptScan,
  title: string | null,
): SessionUse {
  const { cells, days } = sum
  const { firstAt, lastAt, place, ...use } = sum.whole
  return {
    agentHarness: reader.name,
    sessionId: sum.session,
    model: sum.model,
    provider: sum.provider || null,
    startedAt: new Date(firstAt).toISOString(),
    endedAt: new Date(lastAt).toISOString(),
    ...use,
    service: sum.service,
    ...{ cells, days },
    folder: sum.folder || null,
    ...place,
    summary: `${AGENTS[reader.name].title}${place.repository ? ` in ${place.repository}` : ''}`,
    title,
    missing: missing[sum.session] ?? null,
    plan: origins[sum.session]?.plan ?? null,
    entrypoint: origins[sum.session]?.entrypoint ?? null,
    funding: reader.charges && sum.whole.reportedCost !== null ? reader.charges : null,
    file: files[sum.session] ?? '',
  }
}

function sessionsSince(sums: readonly SessionSum[], since: number): Set<string> {
  const isSince = ({ whole }: SessionSum) => whole.lastAt >= since
  return new Set(sums.filter(isSince).map(({ session }) => session))
}

/** Read each time, since titles are not cached. */
function titlesOf(reader: Reader, sums: readonly SessionSum[], files: Record<string, string>): Map<string, string> {
  const titles = new Map<string, string>()
  for (const path of new Set(sums.flatMap(({ session }) => files[session] ?? []))) {
    try {
      for (const [session, title] of reader.readTitles(path)) titles.set(session, title)
    } catch {
      // Unreadable files have already been reported as damage.
    }
  }
  return titles
}
