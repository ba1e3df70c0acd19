/** How much of the limits of their plans the people of the demonstration use, as their agents report it. */
import type { AgentStatusReport } from '../features/agent-status/schema.ts'
import { addDays, dateAt, dayAt, startOfDay } from '../lib/calendar.ts'
import { Random } from '../lib/random.ts'
import { TIME_ZONE } from './agency.ts'
import type { DemoStep, Stage } from './stage.ts'

type Limits = NonNullable<AgentStatusReport['agents'][number]['limits']>

/** Its own, so that everything else stays as it is. */
const SEED = 11

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FIVE_HOURS_MS = 5 * HOUR_MS

/** Until the present. */
const DAYS = 45

/** When agents report them on a working day, in hours. */
const HOURS = [10, 12, 15, 17]

/** Windows of five hours begin with work. */
const WINDOWS = [9, 14]

interface LimitedPerson {
  user: string
  agent: 'claude-code' | 'codex'
  plan: string | null
  /** What they use of a week by its end, in percent. */
  week: number
  creditsLeft?: number
}

const PEOPLE: LimitedPerson[] = [
  { user: 'mara.vogel', agent: 'claude-code', plan: null, week: 92 },
  { user: 'dele.okafor', agent: 'codex', plan: 'codex:business', week: 61, creditsLeft: 38.5 },
  { user: 'aiko.tanaka', agent: 'claude-code', plan: null, week: 34 },
]

const NAMES = { 'claude-code': ['five_hour', 'seven_day'], codex: ['codex', 'codex'] } as const

/** What is used of a window that began then. */
interface Window {
  minutes: 300 | 10_080
  startedAt: number
  used: number
}

export function limitReports({ services, as, now }: Stage): DemoStep[] {
  const random = new Random(SEED)
  const report = (person: LimitedPerson, windows: readonly Window[]) => {
    const limits = windows.map(({ minutes, startedAt, used }, at): Limits[number] => ({
      name: NAMES[person.agent][at]!,
      window_minutes: minutes,
      used_percent: Math.round(used * 10) / 10,
      resets_at: new Date(startedAt + minutes * 60_000).toISOString(),
      plan: person.plan,
      credits_left: person.creditsLeft ?? null,
    }))
    const agent = { agent_harness: person.agent, version: null, sessions: 0, not_read: [], limits }
    const machine = { machine: '00000000000000d1', tally_version: '1.0.0' }
    return services.agentStatus.report(as(person.user).person!.id, { ...machine, agents: [agent] })
  }
  const steps: DemoStep[] = []
  const first = addDays(dayAt(now, TIME_ZONE), -DAYS)
  for (let day = first; startOfDay(day, TIME_ZONE) < now - DAY_MS; day = addDays(day, 1)) {
    const weekday = dateAt(startOfDay(day, TIME_ZONE), TIME_ZONE).dayOfWeek
    if (weekday > 5) continue
    const pace = PEOPLE.map(() => 0.6 + random.fraction() * 0.6)
    for (const hour of HOURS) {
      const at = startOfDay(day, TIME_ZONE) + hour * HOUR_MS
      const startedAt = startOfDay(day, TIME_ZONE) + WINDOWS.findLast((start) => start < hour)! * HOUR_MS
      const monday = startOfDay(addDays(day, 1 - weekday), TIME_ZONE) + 9 * HOUR_MS
      const reports = PEOPLE.map((person, index) => {
        const ofWindow = (at - startedAt) / FIVE_HOURS_MS
        const ofWeek = (weekday - 1 + (hour - 9) / 9) / 5
        return [
          person,
          [
            { minutes: 300, startedAt, used: Math.min(100, person.week * ofWindow * pace[index]! * 1.6) },
            { minutes: 10_080, startedAt: monday, used: person.week * ofWeek },
          ],
        ] as const
      })
      steps.push({ at, run: () => Promise.all(reports.map(([person, windows]) => report(person, windows))) })
    }
  }
  // So that there is something to see at any time of any day.
  const latest = PEOPLE.map((person): Window[] => [
    { minutes: 300, startedAt: now - 2.5 * HOUR_MS, used: person.week * 0.72 },
    { minutes: 10_080, startedAt: now - 3 * DAY_MS, used: person.week * 0.55 },
  ])
  steps.push({ at: now, run: () => Promise.all(PEOPLE.map((person, index) => report(person, latest[index]!))) })
  return steps
}
