/** The agents' sessions of a day, drawn at random from who works when, with what and on what. Pure. */
import type { EntriesService } from '../features/entries/service.ts'
import { addDays, startOfDay } from '../lib/calendar.ts'
import type { Random } from '../lib/random.ts'
import {
  CI_OWNER,
  type DemoHarness,
  type DemoPerson,
  type DemoProject,
  HARNESSES,
  PEOPLE,
  PROJECTS,
  SUMMARIES,
  UNRULED,
} from './agency.ts'

export type ReportBody = Parameters<EntriesService['reporting']['reportEntry']>[0]
type Cell = NonNullable<ReportBody['slices']>[number]

export interface DemoReport {
  /** Who made the token that it comes with. */
  user: string
  isCi: boolean
  /** When it is sent. */
  at: number
  body: ReportBody
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const DAY_MS = 24 * HOUR_MS

/** Work begins around nine, and few sessions begin after six. */
const FIRST_HOUR = 9
const WORKING_HOURS = 9

/** Chance that a person works on a weekend day. */
const WEEKEND_SHARE = 0.06

/** A release is near: twice as much goes on. */
const BURST_SHARE = 0.08

/** Everyone is away some days. */
const AWAY_SHARE = 0.07

/** Agents report when they are done, a few seconds later. */
const REPORT_DELAY_MS = 4_000

/** How precisely a session names its work, as cumulative shares: by ticket, by project, or by labels only. */
const NAMED_TICKET = 0.42
const NAMED_PROJECT = 0.54
const LABELS_ONLY = 0.97

const CHECKED_REPOSITORIES = PROJECTS.filter(({ key }) => key !== 'LAB').map(({ repository }) => repository)

/** `share` is how much of the whole period is over by then. */
export function sessionsOf(day: string, share: number, random: Random): DemoReport[] {
  return [
    ...PEOPLE.flatMap((person) => sessionsOfPerson(person, day, share, random)),
    ...nightlyChecks(day, share, random),
  ]
}

function sessionsOfPerson(person: DemoPerson, day: string, share: number, random: Random): DemoReport[] {
  if (person.sessions === 0 || share > (person.leavesAfter ?? 1)) return []
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay()
  const isWeekend = weekday === 0 || weekday === 6
  if (random.chance(isWeekend ? 1 - WEEKEND_SHARE : AWAY_SHARE)) return []
  // Use of agents grows while people learn what they are good for.
  const growth = 0.75 + share / 2
  const burst = random.chance(BURST_SHARE) ? 2 : 1
  const count = Math.round((isWeekend ? 2 : person.sessions) * growth * burst * random.size(1.3))
  const opening = startOfDay(day, person.timeZone) + FIRST_HOUR * HOUR_MS
  return Array.from({ length: count }, () => {
    const startedAt = Math.round(opening + random.fraction() * WORKING_HOURS * HOUR_MS)
    return sessionOf(person, startedAt, share, random)
  }).flat()
}

function sessionOf(person: DemoPerson, startedAt: number, share: number, random: Random): DemoReport[] {
  const harness = HARNESSES[random.pick(person.harnesses)]
  const key = random.pick(person.projects)
  const project = PROJECTS.find((each) => each.key === key)!
  const requests = Math.max(1, Math.round(harness.requests * random.size(1.9)))
  const endedAt = startedAt + Math.round(requests * harness.secondsPerRequest * 1_000 * random.size(1.3))
  const model = modelAt(harness, share, random)
  const counting = model.provider ? { ...harness, reportsCost: undefined } : harness
  const { summary, ...work } = workOf(person, project, random)
  const span = { started_at: new Date(startedAt).toISOString(), ended_at: new Date(endedAt).toISOString() }
  const active = Math.round(((endedAt - startedAt) * (0.4 + random.fraction() * 0.3)) / 1_000)
  const cell: Cell = {
    ...span,
    ...usage(counting, requests, random),
    ...work,
    active_seconds: active,
  }
  const body: ReportBody = {
    agent_harness: harness.name,
    agent_name: random.pick(harness.agents),
    ...model,
    ...span,
    summary,
    session_id: random.uuid(),
    slices: [cell],
  }
  const at = endedAt + REPORT_DELAY_MS
  const reports = [{ user: person.user, isCi: false, at, body }]
  const { subModel } = harness
  if (subModel && body.model !== subModel.model && random.chance(subModel.share)) {
    const few = Math.max(1, Math.round(requests / 3))
    const sub = { ...cell, ...usage(harness, few, random), active_seconds: Math.round(active / 4) }
    reports.push({ ...reports[0]!, body: { ...body, model: subModel.model, slices: [sub] } })
  }
  return reports
}

/** The same session some days later, on the branch of another ticket of its project. */
export function resumed({ user, isCi, at, body }: DemoReport, random: Random): DemoReport {
  const [before] = body.slices!
  const factor = 0.3 + random.fraction()
  const endedAt = at - REPORT_DELAY_MS + (3 + random.below(9)) * DAY_MS
  const { tokens, requests = 1, reported_cost: cost, active_seconds: active = 0, started_at, ended_at } = before!
  const more = (figure: number) => Math.round(figure * factor)
  const { input, output, cache_read, cache_write, ...whatElse } = tokens
  const cell: Cell = {
    started_at: new Date(endedAt - more(Date.parse(ended_at) - Date.parse(started_at))).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    tokens: {
      ...{ input: more(input), output: more(output), ...whatElse },
      ...(cache_read !== undefined && { cache_read: more(cache_read) }),
      ...(cache_write !== undefined && { cache_write: more(cache_write) }),
    },
    requests: Math.max(1, more(requests)),
    ...(cost !== undefined && { reported_cost: Number((cost * factor).toFixed(6)) }),
    active_seconds: more(active),
    ...nextWork(before!, random),
  }
  const slices = [before!, cell]
  return { user, isCi, at: endedAt + REPORT_DELAY_MS, body: { ...body, ended_at: cell.ended_at, slices } }
}

/** What a cell names, of the next ticket of its project if it is on the branch of one. */
function nextWork(
  { project, ticket, labels }: Cell,
  random: Random,
): Pick<Cell, 'project' | 'ticket' | 'labels' | 'summary'> {
  const same = { ...(project !== undefined && { project }), ...(labels && { labels }) }
  const found = PROJECTS.find(({ repository }) => repository === labels?.repository)
  const index = found?.tickets.findIndex((title) => labels?.branch?.endsWith(slug(title))) ?? -1
  if (!found || index === -1) return same
  const next = (index + 1) % found.tickets.length
  const key = `${found.key}-${101 + next}`
  const title = found.tickets[next]!
  return {
    ...same,
    ...(ticket !== undefined && { ticket: key }),
    labels: { ...labels, branch: `feature/${key}-${slug(title)}` },
    summary: random.pick(SUMMARIES).replace('{}', title),
  }
}

function modelAt({ models }: DemoHarness, share: number, random: Random): Pick<ReportBody, 'model' | 'provider'> {
  const inUse = models.filter(({ from = 0, until = 1 }) => from <= share && share <= until)
  const { model, provider } = random.pick(inUse.flatMap((each) => new Array<typeof each>(each.weight).fill(each)))
  return provider === undefined ? { model } : { model, provider }
}

/** What so many requests take: each sends the whole conversation again, nearly all of it from the cache. */
function usage(
  harness: DemoHarness,
  requests: number,
  random: Random,
): Pick<Cell, 'tokens' | 'requests' | 'reported_cost'> {
  const context = harness.context * random.size(1.5)
  const fresh = Math.round(requests * harness.freshInput * random.size(1.5))
  const output = Math.round(requests * harness.output * random.size(1.4))
  const cacheRead = Math.round((requests - 1) * context * (0.8 + random.fraction() / 5))
  const cacheWrite = harness.writesCache ? Math.round(context + requests * 900 * random.size(1.3)) : 0
  const firstInput = harness.writesCache ? fresh : fresh + Math.round(context / 2)
  const tokens = harness.inputIncludesCache
    ? { input: firstInput + cacheRead, output, cache_read: cacheRead, input_includes_cache: true }
    : { input: firstInput, output, cache_read: cacheRead, ...(cacheWrite > 0 && { cache_write: cacheWrite }) }
  const price = harness.reportsCost
  if (!price) return { tokens, requests }
  const dollars = (firstInput * price.input + output * price.output + cacheRead * price.cacheRead) / 1_000_000
  return { tokens, requests, reported_cost: Number(dollars.toFixed(6)) }
}

/** What a session says of its work: a ticket, a project, or nothing but where it ran. */
function workOf(
  person: DemoPerson,
  project: DemoProject,
  random: Random,
): Pick<Cell, 'project' | 'ticket' | 'labels'> & { summary: string } {
  const index = random.below(project.tickets.length)
  const ticket = `${project.key}-${101 + index}`
  const title = project.tickets[index]!
  const summary = random.pick(SUMMARIES).replace('{}', title)
  const branch = random.chance(0.7) ? `feature/${ticket}-${slug(title)}` : 'main'
  const labels = { repository: project.repository, branch }
  const said = random.fraction()
  if (said < NAMED_TICKET) return { project: project.key, ticket, labels, summary }
  if (said < NAMED_PROJECT) return { project: project.key, labels, summary }
  const unruled = UNRULED[person.user]
  if (unruled && random.chance(0.15)) return { labels: { repository: unruled, branch }, summary }
  return said < LABELS_ONLY ? { labels, summary } : { summary: 'Quick question' }
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

/** A script that looks over each repository at night, sends what it thinks that it costs, and knows no sessions. */
function nightlyChecks(day: string, share: number, random: Random): DemoReport[] {
  const harness = HARNESSES['nightly-ci']
  const night = startOfDay(addDays(day, 1), 'UTC') - 22 * HOUR_MS
  return CHECKED_REPOSITORIES.flatMap((repository, index) => {
    const startedAt = night + index * 7 * MINUTE_MS + random.below(3 * MINUTE_MS)
    const requests = Math.max(1, Math.round(harness.requests * random.size(1.6)))
    const endedAt = startedAt + requests * harness.secondsPerRequest * 1_000
    const body: ReportBody = {
      agent_harness: harness.name,
      agent_name: random.pick(harness.agents),
      ...modelAt(harness, share, random),
      started_at: new Date(startedAt).toISOString(),
      ended_at: new Date(endedAt).toISOString(),
      ...usage(harness, requests, random),
      labels: { repository, branch: 'main', pipeline: 'nightly' },
      summary: `Nightly checks: ${repository}`,
    }
    const report = { user: CI_OWNER, isCi: true, at: endedAt + REPORT_DELAY_MS, body }
    // Now and then its runner is restarted and sends the same once more.
    return random.chance(0.02) ? [report, { ...report, at: report.at + 5 * MINUTE_MS }] : [report]
  })
}
