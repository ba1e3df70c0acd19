/**
 * The stage of a random scenario (`recording-acts.ts`): a database with people, projects and prices, and a clock that
 * the acts move. `recording-dump.ts` shows what a scenario left.
 */
import { desc, eq } from 'drizzle-orm'
import { type Actor, TALLY } from '../../src/access/actor.ts'
import type { CallerOf } from '../../src/access/caller.ts'
import type { Database } from '../../src/database/database.ts'
import { Problem } from '../../src/errors.ts'
import { readReport } from '../../src/features/entries/reporting/report.ts'
import { toTokenEntry } from '../../src/features/entries/wire.ts'
import { normalizeModelName } from '../../src/features/prices/service.ts'
import { createServices, type Services } from '../../src/services.ts'
import { type Act, ORGANIZATIONS, PEOPLE, RULES, type Sent } from './recording-acts.ts'
import { type EntryKeys, entryKeysOf } from './recording-dump.ts'
import { NAMES } from './recording-reports.ts'
import { OPERATOR } from './reports.ts'

export interface StageOptions {
  db: Database
  /** Whether the reports of a group and the items of a batch are sent at the same moment, or one after the other. */
  together: boolean
}

export interface Stage {
  services: Services
  /** Returns the answer, or the Problem; any other error is thrown. */
  carryOut(act: Act): Promise<unknown>
}

const SET_UP_AT = Date.UTC(2026, 10, 20, 7)

export async function stageOf({ db, together }: StageOptions): Promise<Stage> {
  const clock = { moment: SET_UP_AT, now: () => clock.moment }
  const services = createServices({ db, clock })
  const { people, projects, prices, placement, organization, entries, bills, telemetry } = services
  const secrets = new Map<string, string>()
  const addPerson = async (name: string, token: string, kind: 'svc' | 'org') => {
    const email = `${name}@example.com`
    if (!(await people.findUser(email))) await people.addUser({ email, name, role: 'admin' }, TALLY)
    secrets.set(token, (await people.createToken({ kind, user: email, name: token }, TALLY)).secret)
  }
  for (const name of PEOPLE) await addPerson(name, name, 'svc')
  for (const token of ORGANIZATIONS) await addPerson(token.slice('org-'.length), token, 'org')
  await addNames(db)
  await projects.addProject(OPERATOR, { key: 'ACME', name: 'Acme web', aliases: ['side job'] })
  for (const key of ['LED', 'OLD', 'WEB']) await projects.addProject(OPERATOR, { key, name: `The ${key} project` })
  await projects.archiveProject(OPERATOR, 'OLD')
  await projects.addNewTicket(OPERATOR, { key: 'ACME-12', project: 'ACME' })

  async function addPrice({ model, input, from, tiered, cached }: Extract<Act, { what: 'price' }>) {
    const price = { input, output: 2 * input, ...(cached && { cache_read: 0.5, cache_write: 3, cache_write_1h: 4 }) }
    const tiers = [{ from_tokens: 200_000, input: 2 * input, output: 3 * input }]
    const body = { model, ...price, effective_from: from, ...(tiered && { tiers }) }
    return prices.setPrice({ ...body, only: true, force: true } as never, TALLY)
  }
  const always = { input: 1, from: 'always', tiered: false, cached: true }
  await addPrice({ what: 'price', after: 0, model: 'gpt-5-codex', ...always })
  await addPrice({ what: 'price', after: 0, model: 'claude-sonnet-5', ...always, tiered: true })

  const callerOf = async (who: string) =>
    (await people.authenticate(`Bearer ${secrets.get(who)}`)) as CallerOf<'service' | 'organization'>

  async function send({ who, body, key, source }: Sent): Promise<unknown> {
    const caller = await callerOf(who)
    if (source === undefined) return entries.reporting.reportEntry(body, caller as CallerOf<'service'>, key)
    const { entry, slices, ...recorded } = await entries.reporting.recordFrom(
      source,
      readReport(body, clock.now()),
      caller,
    )
    const ofSlices = slices?.map((slice) => slice.outcome)
    return { ...recorded, entry: toTokenEntry(entry), ...(ofSlices && { slices: ofSlices }) }
  }

  /** The callers are read before, so that the reports reach the database in their order. */
  async function sendAll(sent: Sent[]): Promise<unknown[]> {
    for (const { who } of sent) await callerOf(who)
    return inTurnOrTogether(sent.map((each) => () => answerOf(send(each))))
  }

  async function sendBatch({ who, items, key }: Extract<Act, { what: 'batch' }>): Promise<unknown[]> {
    const caller = (await callerOf(who)) as CallerOf<'service'>
    if (together) return shown(await entries.reporting.reportEntries(items, caller, { idempotencyKey: key }))
    const results: unknown[] = []
    for (const [index, item] of items.entries()) {
      // The key of an item contains its position.
      const alone = [...Array.from({ length: index }, () => null), item]
      results.push(...shown((await entries.reporting.reportEntries(alone, caller, { idempotencyKey: key })).slice(-1)))
    }
    return results
  }

  async function inTurnOrTogether(sends: (() => Promise<unknown>)[]): Promise<unknown[]> {
    if (together) return Promise.all(sends.map((each) => each()))
    const answers: unknown[] = []
    for (const each of sends) answers.push(await each())
    return answers
  }

  async function targetsOf({ target, all = false }: { target: number; all?: boolean }): Promise<string[]> {
    const keys = await entryKeysOf(db.read)
    const chosen = keys[target % Math.max(keys.length, 1)]
    if (!chosen) return ['ent_00000000000000000000000000000000']
    const isAlike = (other: EntryKeys) =>
      other === chosen || (all && other.session !== null && other.session === chosen.session)
    return keys.filter(isAlike).map(({ uid }) => uid)
  }

  async function voidLastBill(by: Actor): Promise<void> {
    const table = db.read.tables.bills
    const [bill] = await db.read.select().from(table).where(eq(table.state, 'sent')).orderBy(desc(table.id)).limit(1)
    if (!bill) return
    const now = clock.now()
    // Without the documents that `voidBill` would render first.
    await db.write(async (tx) => {
      await tx.update(table).set({ state: 'void', voidedAt: now, voidReason: 'test' }).where(eq(table.id, bill.id))
      await entries.billing.releaseEntries(tx, bill.id, { limit: bill.entries, now, by })
    })
  }

  async function changeRule({ name, change, to }: Extract<Act, { what: 'rule' }>): Promise<void> {
    if (change === 'add') await placement.addRule(TALLY, { name, ...RULES[name]! })
    else if (change === 'remove') await placement.removeRule(TALLY, name)
    else if (change === 'project') await placement.changeRule(TALLY, name, { project: to })
    else if (change === 'ticket') await placement.changeRule(TALLY, name, { ticket: to })
    else await placement.changeRule(TALLY, name, { enabled: change === 'enable' })
  }

  async function run(act: Act): Promise<unknown> {
    switch (act.what) {
      case 'report':
        return send(act)
      case 'group':
        return sendAll(act.sent)
      case 'batch':
        return sendBatch(act)
      case 'push': {
        const none = { ignored: new Map(), rejections: new Map(), rejected: 0, rejectionReason: null }
        const read = { ...none, observations: act.observations, records: act.observations.length }
        return telemetry.receive(await callerOf(act.who), read)
      }
      case 'decide': {
        const reason = ['reject', 'void'].includes(act.action) ? { reason: 'not ours' } : {}
        return entries.approval.decideEntries(
          { ids: await targetsOf(act) },
          { action: act.action, ...reason },
          OPERATOR,
        )
      }
      case 'place': {
        const { project, ticket } = act
        const place = { ...(project !== undefined && { project }), ...(ticket !== undefined && { ticket }) }
        return entries.places.placeEntries({ ids: await targetsOf(act) }, place, OPERATOR)
      }
      case 'correct': {
        const { summary, labels, input } = act
        const correction = {
          ...(summary !== undefined && { summary }),
          ...(labels !== undefined && { labels }),
          ...(input !== undefined && { tokens: { input, output: 1 }, reason: 'a mistake' }),
        }
        return entries.places.changeEntry((await targetsOf(act))[0]!, correction, OPERATOR)
      }
      case 'divide': {
        const parts = act.weights.map((share, part) => ({ share, ...(part > 0 && { project: act.project }) }))
        return entries.division.divide((await targetsOf(act))[0]!, { parts }, OPERATOR)
      }
      case 'undivide':
        return entries.division.undivide((await targetsOf(act))[0]!, OPERATOR)
      case 'bill': {
        const { bill } = await bills.send(
          { month: '2026-11', project: act.project, leave_unpriced: true },
          { by: TALLY, key: undefined },
        )
        return bill.bill.number
      }
      case 'voidBill':
        return voidLastBill(TALLY)
      case 'settings': {
        const { unknownProjects, telemetryByEmail } = act
        return organization.changeSettings({ unknownProjects, telemetryByEmail }, TALLY)
      }
      case 'rename':
        return (await people.changeUser(`${act.who}@example.com`, { name: act.name }, TALLY)).name
      case 'addProject':
        return (await projects.addProject(OPERATOR, { key: act.key, aliases: act.aliases })).project.key
      case 'alias':
        return (await projects.changeProject(OPERATOR, act.project, { addAliases: [act.alias] })).aliases
      case 'archive': {
        const change = act.restore ? projects.restoreProject : projects.archiveProject
        return (await change(OPERATOR, act.project)).project.key
      }
      case 'merge':
        return (await entries.places.mergeProject(OPERATOR, act.project, act.into, {})).entries
      case 'ticket': {
        const { ticket, project } = act
        if (act.add) return (await projects.addNewTicket(OPERATOR, { key: ticket, project })).ticket.key
        return (await entries.places.changeTicket(OPERATOR, ticket, { project })).ticket.key
      }
      case 'rule':
        return changeRule(act)
      case 'applyRules': {
        const request = { scope: 'rule_placed' as const, filter: {} }
        return (await entries.places.applyRules(request, { by: TALLY, limit: 0 })).entries
      }
      case 'price':
        return (await addPrice(act)).isAdded
      case 'revalue': {
        const { valuation } = entries
        const repriced = await (act.all ? valuation.reprice({ filter: {} }) : valuation.valueUnpriced())
        return [repriced.entries, repriced.listValueNanos]
      }
      case 'assign':
        return telemetry.assign({ email: act.email, user: `${act.who}@example.com`, dryRun: false, by: TALLY })
      case 'tidy':
        return telemetry.tidy()
    }
  }

  return {
    services,
    async carryOut(act) {
      clock.moment += act.after
      return answerOf(run(act))
    },
  }
}

/**
 * The names of the reports. A request of telemetry records models in the order of the keys of their names, which is not
 * that of the reports if several of them have new names at the same moment.
 */
function addNames(db: Database): Promise<void> {
  return db.write(async (tx) => {
    const { names } = tx.tables
    const ids = new Map<string, number>()
    const add = async (text: string, canonicalId: number | null) => {
      const [row] = await tx.insert(names).values({ text, canonicalId }).returning({ id: names.id })
      ids.set(text, row!.id)
    }
    for (const canonical of new Set(NAMES.map(normalizeModelName))) await add(canonical, null)
    for (const text of NAMES) if (!ids.has(text)) await add(text, ids.get(normalizeModelName(text))!)
  })
}

async function answerOf(answering: Promise<unknown>): Promise<unknown> {
  try {
    return await answering
  } catch (error) {
    return problemOf(error)
  }
}

function problemOf(error: unknown): { problem: string; detail: string } {
  if (!(error instanceof Problem)) throw error
  return { problem: error.code, detail: error.message }
}

/** The results of a batch, with the Problems of rejected items as values. */
function shown(results: { outcome: string; entry?: unknown; error?: unknown }[]): unknown[] {
  return results.map((item) => ('error' in item ? { ...item, error: problemOf(item.error) } : item))
}
