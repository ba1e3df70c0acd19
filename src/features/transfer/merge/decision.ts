/** Which entries of a file are added to a database in use. Nothing may be counted or billed twice. */

import type { Reader } from '../../../database/database.ts'
import type { Status } from '../../../database/schema/values.ts'
import { hashOfSessionId } from '../../../lib/session-id.ts'
import { type Claim, isForeign, isUnguessable, type OwnerToken } from '../../entries/contract.ts'
import {
  findPresentEntries,
  findPresentSessions,
  findSharesOf,
  findTokenOwners,
  type PresentEntry,
  type PresentSession,
} from '../store/merge.ts'
import type { Line } from '../writing.ts'
import { divisionOf, type MergeContext } from './context.ts'
import type { Group } from './groups.ts'

/** Why entries are not added, in the order in which the reasons apply. */
export const REASONS = {
  already_here: 'already here',
  already_here_changed: 'already here with other figures, which were left as they are',
  of_another_person: 'reported or changed with a service token of another person, or in a session with such an entry',
  billed: 'on a bill of the other Tally, or in a session or division with such an entry',
  on_a_sheet: 'on a token sheet of the other Tally',
  session_here: 'their session was reported here as well, or continued here',
  divided: 'parts of an entry that was not added, or is not divided in the same way here',
} as const

export type Reason = keyof typeof REASONS

export interface Decided {
  group: Group
  /** Why an entry of the group is not added; undefined if the group is added. */
  reasonOf: ((id: string) => Reason) | undefined
}

export interface DecisionContext {
  context: MergeContext
  /** The key of the person here, by their id in the file; undefined if they are not here. */
  personKey(id: string): number | undefined
  /** Divided entries that were added and may not be in the database yet. */
  addedWholes: Set<string>
}

/** Decides about groups in their order. Reads the database, and changes nothing but `addedWholes`. */
export async function decide(reader: Reader, groups: readonly Group[], decisions: DecisionContext): Promise<Decided[]> {
  const decider = new Decider(await readPresent(reader, groups), decisions)
  return groups.map((group) => ({ group, reasonOf: decider.reasonFor(group) }))
}

/** What is here of some groups. */
interface Present {
  /** The tokens that reported or changed their entries. */
  tokens: Map<string, OwnerToken<PersonHere>>
  /** Their entries, and the entries that these are parts of. */
  entries: Map<string, PresentEntry>
  sessions: PresentSession[]
  /** The other parts of divided entries, by the key of the divided one. */
  shares: Map<number, { uid: string }[]>
}

/** The key of a person here, or the id in the file of one who is not here. */
type PersonHere = number | string

async function readPresent(reader: Reader, groups: readonly Group[]): Promise<Present> {
  const lines = groups.flatMap((group) => group.entries.map(({ line }) => line))
  const ids = lines.flatMap(({ id, divided_from: whole }) => (whole ? [id, whole] : [id]) as string[])
  const entries = await findPresentEntries(reader, ids)
  const keys = groups.flatMap(({ session }) => (session ? keyOf(session.line).sessionKeys : []))
  const shares = await findSharesOf(
    reader,
    entries.map(({ id }) => id),
  )
  const tokens = lines.flatMap((line) => [line.token, ...stepsOf(line).map(({ token }) => token)])
  return {
    tokens: await findTokenOwners(
      reader,
      tokens.filter((id) => id !== null),
    ),
    entries: new Map(entries.map((entry) => [entry.uid, entry])),
    sessions: await findPresentSessions(reader, keys),
    shares: Map.groupBy(shares, ({ wholeId }) => wholeId),
  }
}

class Decider {
  /** Two people of the file may be one person here, with the same session. */
  readonly #added = new Set<string>()

  constructor(
    readonly present: Present,
    readonly decisions: DecisionContext,
  ) {}

  reasonFor(group: Group): Decided['reasonOf'] {
    const lines = group.entries.map(({ line }) => line)
    if (lines.some(({ id }) => this.present.entries.has(id as string))) return (id) => this.#reasonHere(lines, id)
    const reason = this.#reasonForAll(group, lines)
    if (reason) return () => reason
    if (group.session) this.#added.add(this.#ownedKey(group.session.line))
    for (const line of lines) if (divisionOf(line) === line.id) this.decisions.addedWholes.add(line.id as string)
    return undefined
  }

  /** Of a group with some entries that are here: others belong to a session that went on there. */
  #reasonHere(lines: readonly Line[], id: string): Reason {
    const here = this.present.entries.get(id)
    if (!here) return 'session_here'
    return isSame(here, lines.find((line) => line.id === id)!) ? 'already_here' : 'already_here_changed'
  }

  #reasonForAll({ session }: Group, lines: readonly Line[]): Reason | undefined {
    if (lines.some((line) => isForeign(this.#claimOf(line, session?.line)))) return 'of_another_person'
    if (lines.some((line) => this.#isBilled(line))) return 'billed'
    if (lines.some(({ sheet }) => sheet !== null)) return 'on_a_sheet'
    if (session && this.#isDoubled(session.line)) return 'session_here'
    const whole = lines[0]?.divided_from as string | null | undefined
    if (whole && !this.decisions.addedWholes.has(whole) && !this.#isSameDivision(whole)) return 'divided'
    return undefined
  }

  #claimOf(line: Line, session: Line | undefined): Claim<PersonHere> {
    const person = (id: unknown) => this.decisions.personKey(id as string) ?? (id as string)
    const token = (id: string | null) => {
      if (id === null) return null
      const line = this.decisions.context.tokens.get(id)?.line
      const there = line && { kind: line.kind as string, createdBy: person(line.created_by) }
      return this.present.tokens.get(id) ?? there ?? null
    }
    return {
      manager: person(line.agent_manager),
      status: line.status as Status,
      token: token(line.token as string | null),
      session: session ? person(session.agent_manager) : null,
      history: stepsOf(line).map((step) => ({ ...step, because: step.details?.because, token: token(step.token) })),
    }
  }

  #isBilled(line: Line): boolean {
    const whole = divisionOf(line)
    return line.status === 'billed' || (whole !== undefined && this.decisions.context.divisions.get(whole)!.isBilled)
  }

  #isDoubled(line: Line): boolean {
    const { sessionKeys, harness } = keyOf(line)
    const owner = this.decisions.personKey(line.agent_manager as string)
    const isSession = (one: PresentSession) => sessionKeys.includes(one.sessionKey) && one.harness === harness
    return (
      this.#added.has(this.#ownedKey(line)) ||
      this.present.sessions.some(
        (one) => isSession(one) && (one.managerId === owner || isUnguessable(line.session_id as string)),
      )
    )
  }

  /** Whether the entry is here, and divided as in the file: after an interruption, some of the parts may be missing. */
  #isSameDivision(whole: string): boolean {
    const here = this.present.entries.get(whole)
    const there = this.decisions.context.divisions.get(whole)!
    if (!here || here.amendment === null || JSON.stringify(here.amendment) !== there.amendment) return false
    return (this.present.shares.get(here.id) ?? []).every(({ uid }) => there.shares.has(uid))
  }

  #ownedKey(line: Line): string {
    const owner = line.agent_manager as string
    return JSON.stringify([line.session_id, line.agent_harness, this.decisions.personKey(owner) ?? owner])
  }
}

interface Step {
  action: string
  token: string | null
  details: Record<string, unknown> | null
}

const stepsOf = (line: Line) => line.history as Step[]

/** A session here may have the hash of its id instead. */
function keyOf(line: Line): { sessionKeys: [string, string]; harness: string } {
  const id = line.session_id as string
  return { sessionKeys: [id, hashOfSessionId(id)], harness: line.agent_harness as string }
}

function isSame(here: PresentEntry, line: Line): boolean {
  return (
    here.input === line.input &&
    here.output === line.output &&
    here.cacheRead === line.cache_read &&
    here.cacheWrite === line.cache_write &&
    here.cacheWrite1h === line.cache_write_1h
  )
}
