/** The entries of one server as reports for another: of each model of a session, its totals so far. Pure. */
import type { Reportable } from '../../agents/batches.ts'
import type { ReportText } from '../../agents/report.ts'
import type { SliceReport, TokenEntry, TokenEntryReport } from '../../features/entries/schema.ts'
import { withoutNulls } from '../../lib/defined.ts'

/** What one model was used for in a session, with one service. */
export interface MovedUse extends Reportable {
  /** The earliest first. */
  entries: readonly TokenEntry[]
}

/**
 * Every entry is in one of them. One without a session has its id as that of its session, so that it counts once however
 * often it is reported; the parts of a divided entry are of the session of the first.
 */
export function movedUses(entries: readonly TokenEntry[]): MovedUse[] {
  const sessions = new Map(entries.map(({ id, session_id }) => [id, session_id]))
  const sessionOf = ({ id, session_id, division }: TokenEntry) => {
    const first = division?.entry ?? id
    return session_id ?? sessions.get(first) ?? first
  }
  const uses = Map.groupBy(entries, (entry) => {
    const { agent_harness, model, service_tier, speed, region } = entry
    return JSON.stringify([agent_harness, sessionOf(entry), model, service_tier, speed, region])
  })
  return [...uses.values()].map((own) => {
    const { agent_harness: agentHarness, model } = own[0]!
    return { agentHarness, sessionId: sessionOf(own[0]!), model, entries: own.toSorted(byStart) }
  })
}

const byStart = (one: TokenEntry, other: TokenEntry) => Date.parse(one.started_at) - Date.parse(other.started_at)

export function movedText(use: MovedUse, { isNamed }: { isNamed: boolean }): ReportText {
  const { slices, ...report } = reportOf(use, isNamed)
  const unfunded = () =>
    JSON.stringify({ ...report, slices: slices.map(({ funding: _, plan: __, ...slice }) => slice) })
  return { sliced: JSON.stringify({ ...report, slices }), unfunded, whole: unfunded }
}

/**
 * The names of projects and tickets are those of the whole report where they are the same: then the slices are the same as
 * those of the agent itself, which names none, and the session can go on with its reports.
 */
function reportOf({ agentHarness, sessionId, model, entries }: MovedUse, isNamed: boolean) {
  const [first, last] = [entries[0]!, entries.at(-1)!]
  const names = isNamed ? entries.map(namesOf) : []
  const isOfOnePlace = names.every((each) => JSON.stringify(each) === JSON.stringify(names[0]))
  const labels = sharedLabels(entries)
  // In all slices or in none.
  const hasCost = entries.every(({ reported_cost }) => reported_cost !== null)
  const { provider, service_tier, speed, region } = last
  return {
    agent_harness: agentHarness,
    agent_name: last.agent_name,
    model,
    started_at: first.started_at,
    ended_at: new Date(Math.max(...entries.map(({ ended_at }) => Date.parse(ended_at)))).toISOString(),
    session_id: sessionId,
    labels,
    ...withoutNulls({ provider, service_tier, speed, region }),
    ...(isOfOnePlace ? names[0] : {}),
    slices: entries.map((entry, at): SliceReport => {
      const { tokens, requests, requests_above, tools, active_seconds, summary } = entry
      const { total: _, over_200k: __, ...counts } = tokens
      const own = Object.entries(entry.labels).filter(([name]) => !Object.hasOwn(labels, name))
      return {
        started_at: entry.started_at,
        ended_at: entry.ended_at,
        tokens: withoutNulls(counts),
        ...withoutNulls({ requests, requests_above, tools, active_seconds, summary }),
        ...(hasCost && { reported_cost: entry.reported_cost! }),
        ...(isOfOnePlace ? {} : names[at]),
        ...(own.length > 0 && { labels: Object.fromEntries(own) }),
        ...fundingOf(entry),
      }
    }),
  } satisfies TokenEntryReport
}

const namesOf = ({ project, ticket }: TokenEntry) =>
  withoutNulls({ project: project?.key ?? null, ticket: ticket?.key ?? null })

/** Which change while a session goes on, so that they are of its slices. */
const PLACE_LABELS = ['repository', 'branch']

function sharedLabels(entries: readonly TokenEntry[]): Record<string, string> {
  const isShared = ([name, value]: [string, string]) =>
    !PLACE_LABELS.includes(name) && entries.every(({ labels }) => labels[name] === value)
  return Object.fromEntries(Object.entries(entries[0]!.labels).filter(isShared))
}

/** As it was reported. What slices said differently, no single one has said. */
function fundingOf({
  funding: { reported_funding, reported_plan },
}: TokenEntry): Pick<SliceReport, 'funding' | 'plan'> {
  if (reported_funding === 'mixed' || reported_funding === 'mixed_credits') return {}
  return withoutNulls({ funding: reported_funding, plan: reported_plan })
}
