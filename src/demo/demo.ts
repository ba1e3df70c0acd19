/**
 * Three months of an agency that does not exist, for people to look around in. Everything happens through the services,
 * as it would have happened: a separate clock runs from the first day to now, and every action has an actor with the
 * right to take it.
 */

import { type Actor, type Party, TALLY } from '../access/actor.ts'
import type { CallerOf } from '../access/caller.ts'
import { approvalViewerOf } from '../access/visibility.ts'
import type { User } from '../features/people/service.ts'
import { addDays, dateAt, startOfDay } from '../lib/calendar.ts'
import type { Clock } from '../lib/clock.ts'
import { Random } from '../lib/random.ts'
import type { Services } from '../services.ts'
import { BUDGETS, CI_OWNER, CLIENTS, emailOf, PEOPLE, PROJECTS, RULES, SETTINGS, TIME_ZONE } from './agency.ts'
import { limitReports } from './limits.ts'
import { paperwork } from './paperwork.ts'
import { addPlans, delayed, planSteps } from './plans.ts'
import { type DemoReport, resumed, sessionsOf } from './sessions.ts'
import type { DemoStep, Stage } from './stage.ts'

/** Any number: it makes every demonstration the same, but for its days. */
const SEED = 7

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Two whole months to be billed, and as much of this one as there is: in its first half, the third month before as well. */
const MONTHS_BEFORE = { early: 3, late: 2 }
const LATE_FROM_DAY = 15

/** Reports within this time are sent together, so that they share a write to disk. */
const TOGETHER_MS = HOUR_MS

/** Time between two added people. */
const ADDING_MS = 3 * 60_000

/** Share of sessions that are resumed days later. */
const RESUMED_SHARE = 0.04

/** The present of the demonstration. */
export class DemoClock implements Clock {
  moment = 0

  now(): number {
    return this.moment
  }
}

export interface DemoOptions {
  /** On an empty database, with the clock below. */
  services: Services
  clock: DemoClock
  now: number
  /** Of those who may sign in. */
  password: string
  onProgress(done: number, total: number): void
}

/** Answers how many reports were taken. */
export async function fillDemo({ services, clock, now, password, onProgress }: DemoOptions): Promise<number> {
  const random = new Random(SEED)
  const firstDay = firstDayOf(now)
  clock.moment = startOfDay(firstDay, TIME_ZONE) - 3 * DAY_MS + 9 * HOUR_MS
  // First of all, so that what is interrupted half-way can be removed.
  await services.organization.declareDemo(now, TALLY)
  await services.prices.loadDefaultPrices()
  const users = await addPeople(services, clock, password)
  const as = (user: string) => partyOf(users.get(user)!)
  await addWork(services, as('ines.marques'))
  await addBudgets(services, as('hanna.lindqvist'))
  await addPlans(services, as('hanna.lindqvist'), firstDay)
  const send = await addTokens(services, users)

  const stage: Stage = { services, random, as, firstDay, now }
  const reports = delayed(allReports(firstDay, now, random), firstDay)
  const steps = [...together(reports, send), ...paperwork(stage), ...planSteps(stage), ...limitReports(stage)]
    .filter(({ at }) => at <= now)
    .sort((one, other) => one.at - other.at)
  for (const [index, { at, run }] of steps.entries()) {
    clock.moment = Math.floor(at)
    await run()
    onProgress(index + 1, steps.length)
  }
  // What people did to entries is added, and fees are shared, by jobs of the server, which do not run here.
  await services.budgets.count()
  await services.entries.funding.decideOwed()
  await services.funding.calculateOwed()
  await services.people.flushLastUsed()
  return reports.length
}

/** The first of a month, so long ago that there are whole months to look at. */
function firstDayOf(now: number): string {
  const today = dateAt(now, TIME_ZONE)
  const months = today.day < LATE_FROM_DAY ? MONTHS_BEFORE.early : MONTHS_BEFORE.late
  return today.with({ day: 1 }).subtract({ months }).toString()
}

async function addPeople(
  { organization, people }: Services,
  clock: DemoClock,
  password: string,
): Promise<Map<string, User>> {
  const users = new Map<string, User>()
  let by: Actor = TALLY
  for (const { user, name, role, signsIn } of PEOPLE) {
    clock.moment += ADDING_MS
    const added = await people.addUser(
      { email: emailOf(user), name, role, ...(signsIn !== undefined && { password }) },
      by,
    )
    users.set(user, added)
    // The first one is the admin, who adds the others.
    by = actorOf(users.get(PEOPLE[0]!.user)!)
  }
  await organization.changeSettings(SETTINGS, by)
  return users
}

async function addWork({ projects, placement }: Services, admin: Party): Promise<void> {
  for (const client of CLIENTS) await projects.addClient(admin, client)
  for (const { repository: _, tickets, ...project } of PROJECTS) {
    await projects.addProject(admin, project)
    for (const [index, title] of tickets.entries()) {
      await projects.addNewTicket(admin, { key: `${project.key}-${101 + index}`, title, project: project.key })
    }
  }
  for (const rule of RULES) await placement.addRule(admin.by, rule)
}

async function addBudgets({ budgets }: Services, { by }: Party): Promise<void> {
  for (const budget of BUDGETS) await budgets.addBudget(budget, { by })
  // Only what is counted causes alerts.
  await budgets.count()
}

/** Makes everyone's tokens, and answers what sends a report with the right one. */
async function addTokens(
  { people, entries }: Services,
  users: Map<string, User>,
): Promise<(report: DemoReport) => Promise<unknown>> {
  const secrets = new Map<string, string>()
  const make = async (user: string, name: string, more: { kind?: 'svc' | 'read' | 'org'; expiresAt?: number } = {}) => {
    const by = actorOf(users.get(user)!)
    return people.createToken({ kind: 'svc', user: emailOf(user), name, ...more }, by)
  }
  for (const { user, sessions } of PEOPLE) {
    if (sessions > 0) secrets.set(user, (await make(user, 'laptop')).secret)
  }
  secrets.set('ci', (await make(CI_OWNER, 'nightly checks')).secret)
  await make('ines.marques', 'laptop telemetry', { kind: 'org' })
  await make('hanna.lindqvist', 'monthly spreadsheet', { kind: 'read' })
  const { token } = await make('sam.whitaker', 'old laptop')
  await people.revokeToken({ ownerId: undefined }, token.uid, actorOf(users.get('ines.marques')!))

  return async ({ user, isCi, body }) => {
    const caller = await people.authenticate(`Bearer ${secrets.get(isCi ? 'ci' : user)}`)
    await entries.reporting.reportEntry(body, caller as CallerOf<'service'>)
  }
}

function allReports(firstDay: string, now: number, random: Random): DemoReport[] {
  const reports: DemoReport[] = []
  const startingAt = startOfDay(firstDay, TIME_ZONE)
  for (let day = firstDay; startOfDay(day, TIME_ZONE) < now; day = addDays(day, 1)) {
    const share = (startOfDay(day, TIME_ZONE) - startingAt) / (now - startingAt)
    for (const report of sessionsOf(day, share, random)) {
      reports.push(report)
      if (mayGoOn(report) && random.chance(RESUMED_SHARE)) reports.push(resumed(report, random))
    }
  }
  return reports.filter(({ at }) => at <= now)
}

/** Whose sender knows sessions, and is there some days later. */
function mayGoOn({ user, body }: DemoReport): boolean {
  const leaves = PEOPLE.some((person) => person.user === user && person.leavesAfter !== undefined)
  return body.session_id !== undefined && !leaves
}

/** Reports of the same hour as one step, at its end. */
function together(reports: DemoReport[], send: (report: DemoReport) => Promise<unknown>): DemoStep[] {
  const groups = Map.groupBy(reports, ({ at }) => Math.floor(at / TOGETHER_MS))
  return [...groups.values()].map((group) => {
    const inOrder = group.sort((one, other) => one.at - other.at)
    return { at: inOrder.at(-1)!.at, run: () => Promise.all(inOrder.map(send)) }
  })
}

/** The address of a laptop in an office. */
function actorOf({ id }: User): Actor {
  return { userId: id, tokenId: null, origin: `10.20.0.${10 + id}` }
}

function partyOf(user: User): Party {
  const person = { id: user.id, role: user.role }
  return { viewer: approvalViewerOf(person), person, by: actorOf(user) }
}
