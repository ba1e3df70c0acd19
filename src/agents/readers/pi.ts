/**
 * Pi and its fork Oh My Pi: a file of JSON lines per session. A session is a tree in its file; one that is forked begins
 * with copies of the other's lines. Oh My Pi has the files of sub-agents in a folder named after the session.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { settleByKey } from '../duplicate-calls.ts'
import type { ModelCall } from '../model-calls.ts'
import type { SettledCalls } from '../settled-calls.ts'
import { OTHER_AGENT, type PiSource, piFile, readPiSession, readTitle } from './pi-session.ts'
import type { Reader, ReadFile } from './reader.ts'

/** The folder of the files of sub-agents has the name of the session's file, which ends with the session's id. */
const SUBAGENT = /[/\\]\d{4}-\d\d-\d\dT[\d-]+Z_([^/\\]+)[/\\][^/\\]/

export const pi: Reader = {
  name: 'pi',
  folders,
  files: customFiles,
  isSessionFile: (path) => path.endsWith('.jsonl'),
  read: (path) => readPiSession(sourceOf(path)),
  settle: settleWithoutImported,
  readTitles: (path) => (SUBAGENT.test(path) ? new Map() : readTitle(sourceOf(path))),
}

function sourceOf(path: string): PiSource {
  return piFile(path, { dialect: { version: 3 }, root: SUBAGENT.exec(path)?.[1] })
}

/** Both read the same variables; only Oh My Pi has profiles, and a folder for data of its own. */
function folders({ home, dataHome, piAgentDir, piSessionDir }: AgentsEnvironment): string[] {
  return [
    join(piAgentDir ?? join(home, '.pi', 'agent'), 'sessions'),
    join(home, '.omp', 'agent', 'sessions'),
    join(home, '.omp', 'profiles'),
    join(dataHome, 'omp', 'sessions'),
    ...(piSessionDir === undefined ? [] : [piSessionDir]),
  ]
}

/** Oh My Pi notes the paths of files that it was told to write elsewhere. */
function customFiles({ home }: AgentsEnvironment): string[] {
  const folder = join(home, '.omp', 'agent', 'custom-session-files')
  try {
    return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8').trim())
  } catch {
    // There are none.
    return []
  }
}

/**
 * What was imported counts for the agent that made it, also in forks that do not contain the note about the import. This is
 * remembered, for when a fork is all that is left.
 */
function settleWithoutImported(files: ReadFile[], settledCalls: SettledCalls): ModelCall[] {
  const imported = new Set<string>()
  for (const { reading } of files) {
    for (const { owner, key } of reading.calls) if (owner === OTHER_AGENT) imported.add(key)
  }
  const marked = imported.size === 0 ? files : files.map((file) => withOwner(file, imported))
  const calls = settleByKey(marked, () => false, settledCalls)
  return calls.filter(({ session, key }) => session !== OTHER_AGENT && !imported.has(key))
}

function withOwner(file: ReadFile, imported: ReadonlySet<string>): ReadFile {
  const calls = file.reading.calls.map((call) => (imported.has(call.key) ? { ...call, owner: OTHER_AGENT } : call))
  return { ...file, reading: { ...file.reading, calls } }
}
