/**
 * Plans: what people pay for agents in addition to API prices, who uses it, and what it costs from day to day
 * (docs/plans.md).
 */
import type { Actor, Party } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import { addDays, dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { foldName } from '../../lib/names.ts'
import { type AuditService, difference } from '../audit/service.ts'
import { previewBody } from '../entries/contract.ts'
import type { EntriesService } from '../entries/service.ts'
import type { FundingPreviewBody } from '../funding/schema.ts'
import { type FundingService, findChangedClosed, noteNewDays } from '../funding/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { issuesOfPeople } from '../people/service.ts'
import { createPeriods } from './periods.ts'
import {
  changedPlan,
  checkPlan,
  type FindPeople,
  isSameName,
  type PlanFields,
  readLoadedPlan,
  readNewPlan,
} from './request.ts'
import {
  type LoadedPlans,
  type NewPlan,
  PLANS_LIMIT,
  type PlanBody,
  type PlanChange,
  type PlanEnd,
  type PlanFile,
} from './schema.ts'
import {
  findPeople,
  findPlan,
  insertPlan,
  listNames,
  listPlans,
  type NamedPlan,
  type PlanView,
  updatePlan,
} from './store/plans.ts'
import { loadedBody, planBody } from './wire.ts'

export type PlansService = ReturnType<typeof createPlansService>

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: Pick<OrganizationService, 'settings'>
  funding: Pick<FundingService, 'closePeriod' | 'reopenPeriod' | 'calculateOwed'>
  entries: Pick<EntriesService, 'corrections' | 'funding'>
}

/** Who changes plans, and whether the change is only counted. */
type Change = Pick<Party, 'by'> & { dryRun?: boolean | undefined }

/** A plan after a change; for a dry run, what the change would do to entries. */
type Changed = PlanBody | FundingPreviewBody

export function createPlansService({ db, clock, audit, organization, funding, entries }: Dependencies) {
  const today = async () => dayAt(clock.now(), (await organization.settings()).timeZone)

  /** @param text its id or name */
  async function getView(reader: Reader, text: string): Promise<PlanView> {
    const plan = await findPlan(reader, text)
    if (!plan) throw notFound(`The plan ${text}`)
    return plan
  }

  /** Saves a plan, and records what has changed. Undefined if nothing has. */
  async function save(
    tx: Tx,
    by: Actor,
    before: PlanView | undefined,
    plan: PlanFields,
    known: readonly NamedPlan[],
  ): Promise<PlanView | undefined> {
    const namesake = known.find(({ uid, name }) => uid !== before?.uid && isSameName(name, plan.name))
    if (namesake) throw nameTaken(plan.name, namesake)
    if (!before && known.length >= PLANS_LIMIT) {
      throw refusal(
        '',
        'too_many',
        `there can be at most ${PLANS_LIMIT} plans; a plan can have several people and seats`,
      )
    }
    if (before) {
      const closed = await findChangedClosed(tx, before.id, { ...plan, id: before.id })
      if (closed) throw periodClosed(before, closed)
      await updatePlan(tx, before, plan)
      await noteNewDays(tx, before, { ...plan, id: before.id }, await today())
    }
    const after = await getView(tx, before?.uid ?? (await insertPlan(tx, plan, clock.now())))
    const object = { id: after.uid, name: after.name }
    if (!before) {
      await audit.record(tx, by, { action: 'plan.added', object, after: loadedBody(after) })
      return after
    }
    const changes = difference(loadedBody(before), loadedBody(after))
    if (!changes) return undefined
    const hasEnded = before.endsOn === null && after.endsOn !== null
    await audit.record(tx, by, { action: hasEnded ? 'plan.ended' : 'plan.changed', object, ...changes })
    return after
  }

  /** Makes a change in one transaction, or rolls it back and counts what it would do. */
  const make = async (change: (tx: Tx) => Promise<PlanBody>, { dryRun }: Change): Promise<Changed> =>
    dryRun ? previewBody(await entries.funding.preview(change)) : db.write(change)

  /** Changes a plan as it is in the transaction. */
  function changing(
    text: string,
    how: Change,
    change: (plan: PlanView, find: FindPeople) => PlanFields | Promise<PlanFields>,
  ): Promise<Changed> {
    return make(async (tx) => {
      const before = await getView(tx, text)
      const after = await save(tx, how.by, before, await change(before, peopleIn(tx)), await listNames(tx))
      return planBody(after ?? before, await today())
    }, how)
  }

  return {
    ...createPeriods({ db, clock, audit, organization, funding, entries, getView }),

    /** All plans, by name. */
    async listPlans(): Promise<PlanBody[]> {
      const [plans, day] = [await listPlans(db.read), await today()]
      return plans.map((plan) => planBody(plan, day)).sort((one, other) => one.name.localeCompare(other.name, 'en'))
    },

    getPlan: async (text: string): Promise<PlanBody> => planBody(await getView(db.read, text), await today()),

    /** Throws 422 with every issue. */
    addPlan: (given: NewPlan, how: Change): Promise<Changed> =>
      make(async (tx) => {
        const added = await save(tx, how.by, undefined, await readNewPlan(given, peopleIn(tx)), await listNames(tx))
        return planBody(added!, await today())
      }, how),

    /** Changes a plan; its terms from a day on. Throws 422 with every issue. */
    changePlan: (text: string, change: PlanChange, how: Change): Promise<Changed> =>
      changing(text, how, (plan, find) => changedPlan(plan, change, find)),

    /** Removes the terms that begin on a day, so that those before them go on. */
    removeVersion: (
      text: string,
      { from, prorate }: { from: string; prorate?: boolean | undefined },
      how: Change,
    ): Promise<Changed> =>
      changing(text, how, (plan) => {
        const versions = plan.versions.filter(({ fromDay }) => fromDay !== from)
        if (versions.length === plan.versions.length) throw notFound(`A version of the plan ${plan.name} from ${from}`)
        if (versions.length === 0) {
          throw refusal(
            '/path/from',
            'not_allowed',
            'must not be the only version; end the plan before it begins instead',
          )
        }
        return checkPlan({ ...plan, versions }, prorate)
      }),

    /** Ends a plan after a day, or lets it continue. */
    endPlan: (text: string, { on, prorate }: PlanEnd, how: Change): Promise<Changed> =>
      changing(text, how, (plan) => checkPlan({ ...plan, endsOn: on, endProrates: prorate ?? null }, prorate)),

    /** All plans as a body that can be loaded. */
    exportPlans: async (): Promise<PlanFile> => ({ plans: (await listPlans(db.read)).map(loadedBody) }),

    /** Adds the plans of a file, and replaces those with the same name. Others stay as they are. Throws 422 with the issues. */
    async loadPlans(file: PlanFile, { by, dryRun = false }: Change): Promise<LoadedPlans> {
      const write = async (tx: Tx): Promise<LoadedPlans> => {
        const plans: LoadedPlans['plans'] = []
        const known: NamedPlan[] = await listPlans(tx)
        const existing = new Map((known as PlanView[]).map((plan) => [foldName(plan.name), plan]))
        for (const [at, given] of file.plans.entries()) {
          const plan = await readLoadedPlan(given, peopleIn(tx), `/plans/${at}`)
          if (plans.some(({ name }) => isSameName(name, plan.name))) {
            throw refusal(`/plans/${at}/name`, 'not_allowed', `must not be the name of two plans: ${plan.name}`)
          }
          const before = existing.get(foldName(plan.name))
          const saved = await save(tx, by, before, plan, known)
          if (saved && !before) known.push(saved)
          plans.push({ name: plan.name, result: !before ? 'added' : saved ? 'changed' : 'unchanged' })
        }
        const count = (result: string) => plans.filter((plan) => plan.result === result).length
        const counts = { added: count('added'), changed: count('changed'), unchanged: count('unchanged') }
        return { ...counts, plans, dry_run: dryRun, funding: null }
      }
      if (!dryRun) return db.write(write)
      let loaded: LoadedPlans | undefined
      const preview = await entries.funding.preview(async (tx) => {
        loaded = await write(tx)
      })
      return { ...loaded!, funding: previewBody(preview) }
    },
  }
}

const peopleIn =
  (reader: Reader): FindPeople =>
  async (people, pointer) => {
    const issues = await issuesOfPeople(reader, people, pointer)
    if (issues.length > 0) throw validationFailed(issues)
    return (await findPeople(reader, people)) as number[]
  }

function periodClosed(
  { name }: NamedPlan,
  { firstDay, lastDay }: { firstDay: string; lastDay: string | null },
): Problem {
  const next = lastDay === null ? '' : `, or let the new terms begin on ${addDays(lastDay, 1)} or later`
  return new Problem(
    'period_closed',
    `The period from ${firstDay} of plan ${name} is closed, and this would change its fee, seats or days. Reopen it first: tally plans reopen '${name}' ${firstDay} --reason …${next}.`,
  )
}

function nameTaken(name: string, { uid }: NamedPlan): Problem {
  return new Problem(
    'already_exists',
    `A plan named '${name}' already exists (${uid}). Choose another name, or change that plan.`,
  )
}
