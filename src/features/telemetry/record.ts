/** Records one request in one transaction: each session's totals, and the entries derived from them. */

import type { CallerOf } from '../../access/caller.ts'
import type { Tx } from '../../database/database.ts'
import { chainName } from '../../shared/usage.ts'
import type { Owner, TelemetryPush } from '../entries/contract.ts'
import type { EntriesService } from '../entries/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService } from '../people/service.ts'
import { type Accounted, account, issueOf, type Keyed, type ModelTotals, type Outcome, reportOf } from './accounting.ts'
import type { Observation } from './channels/observation.ts'
import { insertCalls, listCalls } from './store/calls.ts'
import { getKnown, insertSeen, saveSession, saveStreams, saveTotals } from './store/sessions.ts'

export type Pusher = CallerOf<'service' | 'organization'>

export interface RecordingDependencies {
  entries: Pick<EntriesService, 'reporting'>
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'findPersonByEmail'>
}

/** The outcome of each observation, and those whose session's entries could not be updated. */
export interface Recorded {
  outcomes: { observation: Observation; outcome: Outcome }[]
  shrunk: Observation[]
}

/** The observations of one session. */
interface Group {
  harnessKey: number
  session: string
  keyed: Keyed[]
}

export async function recordObservations(
  tx: Tx,
  observations: readonly Observation[],
  { caller, now, ...dependencies }: RecordingDependencies & { caller: Pusher; now: number },
): Promise<Recorded> {
  const push = dependencies.entries.reporting.push(tx, caller)
  const recorded: Recorded = { outcomes: [], shrunk: [] }
  const usable: Observation[] = []
  // A record that violates a constraint would make all of a Collector's export, with everyone's records, a 500.
  for (const observation of observations) {
    const rejected = issueOf(observation, now)
    if (rejected === undefined) usable.push(observation)
    else recorded.outcomes.push({ observation, outcome: { rejected } })
  }
  await push.lock(usable, () => usable.flatMap((observation) => locksOf(observation, caller)))
  for (const group of await groupBySession(usable, push)) {
    const ownership = await ownerOf(tx, group, { caller, ...dependencies })
    const { accounted, shrunk } = await recordGroup(tx, group, push, { ...ownership, caller, now })
    recorded.shrunk.push(...shrunk)
    for (const [position, outcome] of accounted.outcomes.entries()) {
      recorded.outcomes.push({ observation: group.keyed[position]!.observation, outcome })
    }
  }
  return recorded
}

/**
 * Spans of several sessions may report the same call. A request has thousands of identities, and PostgreSQL has room for
 * some thousand locks of all transactions, so the identities of a person share 16 of them.
 */
function locksOf({ usage }: Observation, { person }: Pusher): string[] {
  if (usage.kind !== 'request') return []
  return [...usage.claims, ...usage.repeats].map((identity) => `telemetry call ${person.id} ${identity.slice(0, 1)}`)
}

async function groupBySession(observations: Observation[], push: TelemetryPush): Promise<Group[]> {
  const keys = await push.keysOf(
    observations.flatMap(({ harness, model, service }) => [harness, chainName(model, service)]),
  )
  const groups = new Map<string, Group>()
  for (const [position, observation] of observations.entries()) {
    const { session } = observation
    const [harnessKey, modelKey] = [keys[2 * position]!, keys[2 * position + 1]!]
    const key = `${session} ${harnessKey}`
    const group = groups.get(key) ?? { harnessKey, session, keyed: [] }
    groups.set(key, group)
    group.keyed.push({ observation, modelKey })
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}

interface Whose {
  /** The owner of the session if it is new. */
  owner: Owner
  /** The address sent by the agent, if people are looked up by it. */
  email: string | null
}

/**
 * The creator of the token; or, for an organization token, the person that the agent identifies, if the admin has
 * enabled that.
 */
async function ownerOf(
  tx: Tx,
  { keyed }: Group,
  { caller, organization, people }: Pick<RecordingDependencies, 'organization' | 'people'> & { caller: Pusher },
): Promise<Whose> {
  if (caller.kind === 'service') return { owner: { manager: caller.person, identifiedBy: 'token' }, email: null }
  const creator: Owner = { manager: caller.person, identifiedBy: 'nothing' }
  if (!(await organization.settings(tx)).telemetryByEmail) return { owner: creator, email: null }
  const email = lastEmailOf(keyed)
  const found = email === null ? undefined : await people.findPersonByEmail(tx, email)
  // Viewers own no entries.
  const person = found?.role === 'viewer' ? undefined : found
  return { owner: person ? { manager: person, identifiedBy: 'email' } : creator, email }
}

/** The last address; of two with the same time, always the same one. */
function lastEmailOf(keyed: Keyed[]): string | null {
  const emails = keyed
    .map(({ observation: { email, endedAt } }) => ({ email, at: endedAt ?? Number.MAX_SAFE_INTEGER }))
    .filter(({ email }) => email !== null)
    .sort((a, b) => a.at - b.at || (a.email! < b.email! ? -1 : 1))
  return emails.at(-1)?.email ?? null
}

async function recordGroup(
  tx: Tx,
  group: Group,
  push: TelemetryPush,
  { owner, email, caller: { person }, now }: Whose & { caller: Pusher; now: number },
): Promise<{ accounted: Accounted; shrunk: Observation[] }> {
  const session = await push.join(group, group.keyed[0]!.observation.source, owner)
  const { calls, ...keys } = keysOf(group)
  const known = await getKnown(tx, session.id, keys)
  for (const call of await listCalls(tx, person.id, calls)) known.seen.add(call)
  const accounted = account(known, group.keyed, now, session.timeZone)
  // A session in which nothing could be counted is not saved.
  if (accounted.totals.length === 0) return { accounted, shrunk: [] }
  await saveSession(tx, session.id, {
    facts: accounted.facts,
    email: (session.isUnidentified ? email : null) ?? known.email,
    lastSeenAt: now,
  })
  await saveTotals(tx, session.id, accounted.changed)
  await insertSeen(tx, session.id, accounted.seen)
  await insertCalls(tx, person.id, accounted.claimed, now)
  await saveStreams(tx, session.id, accounted.streams)
  return { accounted, shrunk: await recordEntries(group, accounted, push, owner) }
}

function keysOf({ keyed }: Group): { identities: string[]; streams: string[]; calls: string[] } {
  const [identities, streams, calls] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const { observation } of keyed) {
    const { usage } = observation
    if (usage.kind === 'request') {
      identities.add(usage.identity)
      // Only spans claim what others repeat, and other spans of the call may have claimed the identity.
      if (usage.claims.length > 0)
        for (const each of [usage.identity, ...usage.claims, ...usage.repeats]) calls.add(each)
    } else if (usage.kind === 'delta') identities.add(usage.stream)
    else streams.add(usage.stream)
  }
  return { identities: [...identities], streams: [...streams], calls: [...calls] }
}

/** Updates the entries of changed totals, or all of the session's if other fields have changed. */
async function recordEntries(
  group: Group,
  { totals, changed, facts, factsChanged }: Accounted,
  push: TelemetryPush,
  owner: Owner,
): Promise<Observation[]> {
  const { harness, session } = group.keyed[0]!.observation
  const moved = (factsChanged ? totals : [...changed]).toSorted(bySourceAndModel)
  const reports = moved.map((each) => ({ source: each.source, report: reportOf(each, facts, { harness, session }) }))
  const recorded = await push.record(reports, owner)
  return moved
    .filter((_, position) => !recorded[position])
    .map(({ source }) => {
      const latest = group.keyed.findLast(({ observation }) => observation.source === source)
      return (latest ?? group.keyed[0]!).observation
    })
}

function bySourceAndModel(a: ModelTotals, b: ModelTotals): number {
  return a.source === b.source ? a.modelKey - b.modelKey : a.source < b.source ? -1 : 1
}
