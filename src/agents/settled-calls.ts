/**
 * Which session made a call, as it was found first. What shows this may disappear: a fork that copies calls without naming
 * their session must not count them when the file of that session is gone, and must go on counting what its totals have
 * more than those of that session. So the keys of all calls are remembered, as short hashes, and the latter as facts. Of
 * agents that delete requests from their files, the calls themselves are.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import type { AgentName } from './agent.ts'
import type { ModelCall } from './model-calls.ts'
import { writePrivateFile } from './private-files.ts'
import { stateFolder } from './state-folder.ts'

/** Years of a busy agent, in 4 MB. Sessions that have not changed for longest are forgotten first. */
const LIMIT_CALLS = 500_000

/** A kilobyte each at most, one for a fork. */
const LIMIT_FACTS = 1_000

/** Some 20,000 calls. */
const LIMIT_KEPT_LENGTH = 8_000_000

/** Among as many calls, two have the same hash with a probability of one in 2,000. */
const HASH_BYTES = 6

const DIGITS_PER_HASH = (HASH_BYTES * 4) / 3

export class SettledCalls {
  /** By hash. */
  readonly #sessions = new Map<number, string>()
  /** By session. */
  readonly #added = new Map<string, number[]>()
  /** JSON by name. */
  readonly #facts: Map<string, string>
  readonly #addedFacts = new Map<string, string>()
  /** JSON by session. */
  readonly #kept: Map<string, string>
  readonly #foundKept = new Map<string, string>()
  #isKeptChanged = false

  constructor(
    readonly environment: AgentsEnvironment,
    readonly agent: AgentName,
  ) {
    const { sessions, facts, kept } = load(environment, agent)
    this.#facts = facts
    this.#kept = kept
    for (const [session, text] of sessions) {
      forEachHash(text, (hash) => this.#sessions.set(hash, session))
    }
  }

  /** Whether the call is remembered to be the session's. */
  has(session: string, key: string): boolean {
    return this.#sessions.get(hashOf(key)) === session
  }

  /** The same calls, each with the session that it belonged to first. The others are remembered. */
  settle(calls: readonly ModelCall[]): ModelCall[] {
    return calls.map((call) => {
      if (call.key === '') return call
      const hash = hashOf(call.key)
      const session = this.#sessions.get(hash)
      if (session === undefined) this.#add(hash, call.session)
      return session === undefined || session === call.session ? call : { ...call, session }
    })
  }

  #add(hash: number, session: string): void {
    const added = this.#added.get(session)
    if (added) added.push(hash)
    else this.#added.set(session, [hash])
    this.#sessions.set(hash, session)
  }

  /** What was found under that name first, also when it can't be found any more. */
  firstFound<Fact>(name: string, found: Fact | undefined): Fact | undefined {
    const known = this.#facts.get(name)
    if (known !== undefined) return JSON.parse(known)
    if (found !== undefined) this.#addedFacts.set(name, JSON.stringify(found))
    return found
  }

  /** The calls of a session that were kept. */
  kept(session: string): ModelCall[] {
    return JSON.parse(this.#kept.get(session) ?? '[]')
  }

  /** Keeps the calls of sessions, of which the ones that were used last matter most. */
  keep(sessions: readonly { session: string; calls: readonly ModelCall[] }[]): void {
    const lastAt = ({ calls }: { calls: readonly ModelCall[] }) => calls.reduce((last, { at }) => Math.max(last, at), 0)
    for (const { session, calls } of sessions.toSorted((one, other) => lastAt(one) - lastAt(other))) {
      const text = JSON.stringify(calls)
      if (text !== (this.#kept.get(session) ?? '[]')) this.#isKeptChanged = true
      this.#foundKept.set(session, text)
    }
  }

  /** If the folder can't be written, a fork may count copies when the file of their session is gone. */
  save(): void {
    if (this.#added.size + this.#addedFacts.size === 0 && !this.#isKeptChanged) return
    // Another scan may have written meanwhile.
    const { sessions, facts, kept } = load(this.environment, this.agent)
    for (const [session, hashes] of this.#added) {
      const text = (sessions.get(session) ?? '') + textOfHashes(hashes)
      setLast(sessions, session, text)
    }
    for (const [session, text] of this.#foundKept) setLast(kept, session, text)
    const lines = [
      ...latest(sessions, LIMIT_CALLS * DIGITS_PER_HASH).map(([session, text]) => lineOf(session, text, 'calls')),
      ...[...facts, ...this.#addedFacts].slice(-LIMIT_FACTS).map(([name, text]) => lineOf(name, text, 'fact')),
      ...latest(kept, LIMIT_KEPT_LENGTH).map(([session, text]) => lineOf(session, text, 'kept')),
    ]
    try {
      writePrivateFile(pathOf(this.environment, this.agent), lines.join(''))
    } catch {}
  }
}

/** Sets it at the end, as it changed last. */
function setLast(texts: Map<string, string>, name: string, text: string): void {
  texts.delete(name)
  texts.set(name, text)
}

/** The last texts that are not longer together. */
function latest(texts: ReadonlyMap<string, string>, length: number): [name: string, text: string][] {
  let left = length
  const fitting = [...texts].toReversed().filter(([, text]) => {
    left -= text.length
    return left >= 0
  })
  return fitting.toReversed()
}

function pathOf(environment: AgentsEnvironment, agent: AgentName): string {
  return join(stateFolder(environment), 'settled-calls', `${agent}.jsonl`)
}

type LineKind = 'calls' | 'fact' | 'kept'

function lineOf(name: string, text: string, kind: LineKind): string {
  return `${JSON.stringify([name, text, kind, checksumOf(name, text, kind)])}\n`
}

interface Remembered {
  /** By session, the hashes of its calls in Base64. */
  sessions: Map<string, string>
  facts: Map<string, string>
  /** By session, calls as JSON. */
  kept: Map<string, string>
}

const PLACES = { calls: 'sessions', fact: 'facts', kept: 'kept' } as const

/** Without what is damaged: a session with another name would be one that never was. */
function load(environment: AgentsEnvironment, agent: AgentName): Remembered {
  const remembered: Remembered = { sessions: new Map(), facts: new Map(), kept: new Map() }
  for (const line of linesOf(pathOf(environment, agent))) {
    try {
      const [name, text, kind, checksum] = JSON.parse(line)
      if (checksum === checksumOf(name, text, kind)) remembered[PLACES[kind as LineKind]].set(name, text)
    } catch {}
  }
  return remembered
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** A published algorithm, since later versions must find the same. */
function checksumOf(name: string, text: string, kind: LineKind): number {
  return Bun.hash.xxHash32(`${kind} ${name} ${text}`)
}

/** 48 bits of two hashes of 32, which are faster than one of 64. */
function hashOf(key: string): number {
  return Bun.hash.xxHash32(key, 1) + (Bun.hash.xxHash32(key, 2) & 0xffff) * 2 ** 32
}

function forEachHash(text: string, visit: (hash: number) => void): void {
  const bytes = Buffer.from(text, 'base64')
  for (let at = 0; at < bytes.length; at += HASH_BYTES) visit(bytes.readUIntLE(at, HASH_BYTES))
}

/** The texts of several can be joined, because the digits of a hash are not shared with the next one. */
function textOfHashes(hashes: readonly number[]): string {
  const bytes = Buffer.alloc(hashes.length * HASH_BYTES)
  let at = 0
  for (const hash of hashes) at = bytes.writeUIntLE(hash, at, HASH_BYTES)
  return bytes.toString('base64')
}
