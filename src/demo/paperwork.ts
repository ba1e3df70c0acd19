/** What people do about the entries of the demonstration: placing, approving, sheets, bills. */
import { addDays, dateAt, daysOfMonth, spanOf, startOfDate, startOfDay } from '../lib/calendar.ts'
import { emailOf, PEOPLE, PROJECTS, REJECTIONS, TIME_ZONE } from './agency.ts'
import type { DemoStep, Stage } from './stage.ts'

const HOUR_MS = 3_600_000

/** The person who does the billing. */
const BOOKS = 'hanna.lindqvist'
const ADMIN = 'ines.marques'

/** More recent entries stay submitted, so that there is something to approve. */
const UNDECIDED_DAYS = 7

/** Of a project and week, a lead turns down one entry in so many weeks. */
const REJECTED_SHARE = 0.35

const at = (day: string, hour: number) => startOfDay(day, TIME_ZONE) + hour * HOUR_MS

export function paperwork(stage: Stage): DemoStep[] {
  return [
    ...weeklySteps(stage),
    ...months(stage).flatMap((month, index, all) => monthlySteps(stage, month, all.length - index)),
    ...sheets(stage),
    leaving(stage),
  ]
}

/** The whole months before this one, as `2026-10`, the oldest first. */
function months({ firstDay, now }: Stage): string[] {
  const whole: string[] = []
  let first = Temporal.PlainDate.from(firstDay)
  for (let next = first.add({ months: 1 }); startOfDate(next, TIME_ZONE) <= now; next = first.add({ months: 1 })) {
    whole.push(first.toString().slice(0, 7))
    first = next
  }
  return whole
}

/** Leads look through the week before on Mondays; what nobody could place, the books place on Tuesdays. */
function weeklySteps(stage: Stage): DemoStep[] {
  const { firstDay, now } = stage
  const steps: DemoStep[] = []
  for (let day = firstDay; startOfDay(day, TIME_ZONE) < now; day = addDays(day, 1)) {
    const weekday = new Date(`${day}T00:00:00Z`).getUTCDay()
    if (weekday === 1 && startOfDay(addDays(day, UNDECIDED_DAYS), TIME_ZONE) < now) {
      for (const [index, { key, leads }] of PROJECTS.entries()) {
        const lead = PEOPLE.find(({ user }) => emailOf(user) === leads![0])!.user
        steps.push({ at: at(day, 9.5 + index / 20), run: () => decide(stage, key, lead, day) })
      }
    }
    if (weekday === 2) steps.push({ at: at(day, 11), run: () => placeSome(stage) })
  }
  return steps
}

async function decide({ services: { entries }, random, as }: Stage, project: string, lead: string, monday: string) {
  const party = as(lead)
  const filter = { project: [project], status: ['submitted' as const], ending_at: startOfDay(monday, TIME_ZONE) }
  if (random.chance(REJECTED_SHARE)) {
    const { data } = await entries.listing.listEntries(party.viewer, { filter, limit: 40, after: undefined })
    const others = data.filter(
      ({ agent_manager: manager }) => manager.name !== PEOPLE.find(({ user }) => user === lead)!.name,
    )
    if (others.length > 0) {
      const reason = random.pick(REJECTIONS)
      await entries.approval.decideEntry(random.pick(others).id, { action: 'reject', reason }, party)
    }
  }
  // The lead's own entries stay submitted: only admins can approve their own.
  await entries.approval.decideEntries({ filter }, { action: 'approve' }, party)
}

/** Where work without a rule belongs; the rest keeps waiting. */
const BY_HAND: Record<string, string> = { 'kestrel/driver-app': 'ROUTES', 'lumen/consumption-study': 'METER' }

async function placeSome({ services: { entries }, as }: Stage) {
  const party = as(BOOKS)
  const { data } = await entries.listing.listEntries(party.viewer, {
    filter: { placed: ['none'] },
    limit: 12,
    after: undefined,
  })
  for (const [repository, project] of Object.entries(BY_HAND)) {
    const ids = data.filter(({ labels }) => labels?.repository === repository).map(({ id }) => id)
    if (ids.length > 0) await entries.places.placeEntries({ ids: ids.slice(0, 3) }, { project }, party)
  }
}

/** What the bank says a euro is. */
const EUROS_PER_DOLLAR = 0.92

/** The bills of a month, with payments, voids and credit notes. `age` is 1 for the last whole month, mostly unpaid. */
function monthlySteps(stage: Stage, month: string, age: number): DemoStep[] {
  const { bills } = stage.services
  const { by } = stage.as(BOOKS)
  const begins = addDays(daysOfMonth(month)!.to, 2)
  /** By client, with the number of the bill that replaces another. */
  const numbers = new Map<string, string>()
  const sending =
    (client: string, more: object = {}) =>
    async () => {
      const request = { month, client, leave_unpriced: true, include_earlier: true, ...more }
      const { bill } = await bills.send(request, { by, key: undefined })
      numbers.set(client, bill.bill.number)
    }
  const paying = (client: string, reference: string) => () => bills.payBill(numbers.get(client)!, { reference }, { by })
  const replacing = (client: string, reason: string, more: object) => async () => {
    const replaces = numbers.get(client)!
    await bills.voidBill(replaces, { reason }, by)
    await sending(client, { ...more, replaces })()
  }
  const crediting = (client: string, text: string, amount: number, note: string) => () =>
    bills.creditBill(numbers.get(client)!, { lines: [{ text, amount }], note }, by)

  const inEuros = { exchange_rate: EUROS_PER_DOLLAR, tax: { name: 'VAT', percent: 19 } }
  const setUp = { extra_lines: [{ text: 'Agent setup for your team', amount: 180 }] }
  const wrongOrder = 'Project ROUTES was billed to the wrong purchase order'
  const workshop = 'Canceled workshop'
  const days: [day: number, hour: number, run: DemoStep['run']][] = [
    [0, 8, () => approveRest(stage, month)],
    [0, 10, sending('Harbor & Pine', { purchase_order: 'PO-2087' })],
    [0, 10.2, sending('Lumen Energie GmbH', inEuros)],
    [0, 10.4, sending('Kestrel Logistics')],
    [0, 10.6, sending('Fable Foods', setUp)],
    [9, 15, paying('Fable Foods', 'ACH 4471')],
  ]
  if (age > 1) {
    days.push(
      [1, 9, replacing('Kestrel Logistics', wrongOrder, { purchase_order: 'KL-77' })],
      [11, 15, paying('Harbor & Pine', 'Wire 20931')],
      [12, 15, paying('Lumen Energie GmbH', 'SEPA 8830012')],
      [13, 15, paying('Kestrel Logistics', 'BACS 55120')],
      [15, 10, crediting('Fable Foods', workshop, 60, 'As agreed by phone.')],
    )
  }
  return days.map(([day, hour, run]) => ({ at: at(addDays(begins, day), hour), run }))
}

/** For two clients, what no lead has decided about by then. */
async function approveRest({ services: { entries }, as }: Stage, month: string) {
  const { endingAt } = spanOf(daysOfMonth(month)!, TIME_ZONE)
  const client = ['Harbor & Pine', 'Lumen Energie GmbH']
  await entries.approval.decideEntries(
    { filter: { client, status: ['submitted'], ending_at: endingAt } },
    { action: 'approve' },
    as(BOOKS),
  )
}

/** One sheet in every state: what people did with agents that report nothing. */
function sheets({ services: { sheets }, as, firstDay, now }: Stage): DemoStep[] {
  const thisMonth = dateAt(now, TIME_ZONE).with({ day: 1 })
  const lastMonth = thisMonth.subtract({ months: 1 }).toString()
  const open = (user: string, from: string, note: string, works: Work[]) => async () => {
    const party = as(user)
    const sheet = await sheets.openSheet({ month: from.slice(0, 7), note }, party)
    for (const work of works) await sheets.addEntry(sheet.id, draftOf(work, from), party)
    return sheet.id
  }
  const submitted = (opening: () => Promise<string>, user: string) => async () => {
    const id = await opening()
    await sheets.submitSheet(id, as(user), { confirmOverlaps: true })
    return id
  }
  const jonas = open('jonas.weber', firstDay, 'Browser chats', [
    { day: 2, project: 'SHOP', summary: 'Copy for the size charts', input: 21_000, output: 9_400 },
    { day: 5, project: 'SHOP', summary: 'Ideas for the voucher page', input: 12_500, output: 6_100 },
    { day: 11, project: 'PORTAL', summary: 'Wording of a customer letter', input: 8_300, output: 2_700 },
  ])
  const noor = open('noor.haddad', lastMonth, 'Client workshop', [
    { day: 3, project: 'METER', summary: 'Questions about legacy formats', input: 44_000, output: 18_000 },
    { day: 3, project: 'LAB', summary: 'Compare local models', input: 95_000, output: 31_000 },
  ])
  const aiko = open('aiko.tanaka', lastMonth, 'App store listing', [
    { day: 8, project: 'APP', summary: 'Store descriptions in three languages', input: 15_200, output: 11_900 },
  ])
  const current = open('jonas.weber', thisMonth.toString(), 'This month so far', [
    { day: 0, project: 'SHOP', summary: 'Headlines for the winter sale', input: 9_900, output: 5_200 },
  ])
  const ofLast = (day: number, hour: number) => at(addDays(lastMonth, day), hour)
  return [
    {
      at: at(addDays(firstDay, 20), 16),
      run: async () => sheets.approveSheet(await submitted(jonas, 'jonas.weber')(), as(BOOKS)),
    },
    {
      at: ofLast(12, 16),
      run: async () => {
        const id = await submitted(noor, 'noor.haddad')()
        await sheets.returnSheet(id, 'Please assign the workshop hours to ticket METER-103', as(ADMIN))
      },
    },
    { at: ofLast(20, 16), run: submitted(aiko, 'aiko.tanaka') },
    { at: at(thisMonth.toString(), 9), run: current },
  ]
}

interface Work {
  /** Days after the first day of the sheet. */
  day: number
  project: string
  summary: string
  input: number
  output: number
}

function draftOf({ day, project, summary, input, output }: Work, from: string) {
  const startedAt = at(addDays(from, day), 8)
  return {
    agent_harness: 'browser',
    agent_name: 'chat',
    model: 'gpt-5.5',
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(startedAt + HOUR_MS / 2).toISOString(),
    tokens: { input, output },
    project,
    summary,
  }
}

/** An employee leaves the agency. */
function leaving({ services: { people }, as, firstDay, now }: Stage): DemoStep {
  const { user, leavesAfter } = PEOPLE.find((person) => person.leavesAfter !== undefined)!
  const startingAt = startOfDay(firstDay, TIME_ZONE)
  return {
    at: startingAt + (leavesAfter! + 0.03) * (now - startingAt),
    run: () => people.disableUser(emailOf(user), as(ADMIN).by),
  }
}
