/** Adds, changes and archives budgets. */
import type { Party } from '../../access/actor.ts'
import type { Database } from '../../database/database.ts'
import { notFound, type Problem, refusal } from '../../errors.ts'
import { firstCharacters } from '../../lib/characters.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AuditService, difference } from '../audit/service.ts'
import type { SpendingService } from '../spending/service.ts'
import type { BudgetPeriods } from './periods.ts'
import type { BudgetReading } from './reading.ts'
import { checkDays, readAmount, readName, readScope, readThresholds, USUAL_THRESHOLDS } from './request.ts'
import type { BudgetBody, BudgetChange, NewBudget } from './schema.ts'
import {
  ACTIVE_LIMIT,
  type BudgetView,
  countActive,
  deletePeriods,
  findBudget,
  findBudgetView,
  insertBudget,
  rearm,
  updateBudget,
} from './store.ts'
import { type BudgetTerms, termsBody } from './wire.ts'

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  spending: Pick<SpendingService, 'warnOfNew'>
  periods: Pick<BudgetPeriods, 'addPeriods' | 'rollOver'>
  reading: Pick<BudgetReading, 'getView' | 'getBudget'>
}

export function createChanges({ db, clock, audit, spending, periods, reading }: Dependencies) {
  const { addPeriods, rollOver } = periods
  const { getView, getBudget } = reading

  return {
    /** Adds a budget, whose entries are counted soon after. Throws 422 with every issue. */
    async addBudget(given: NewBudget, { by }: Pick<Party, 'by'>): Promise<BudgetBody> {
      const scope = await readScope(db.read, given.scope ?? {})
      const measure = given.measure ?? 'cost'
      const basis = given.basis ?? 'cost'
      if (measure === 'tokens' && basis !== 'cost') {
        throw refusal('/basis', 'not_allowed', 'must be left out for a budget of tokens')
      }
      const period = given.period ?? 'month'
      const amount = readAmount(given as { amount: number }, measure)
      const times = { firstDay: given.starts_on ?? null, lastDay: given.ends_on ?? null, period }
      checkDays(times)
      const thresholds = given.thresholds ? await readThresholds(db.read, given.thresholds) : USUAL_THRESHOLDS
      const name = given.name === undefined ? undefined : readName(given.name)
      const uid = await db.write(async (tx) => {
        if ((await countActive(tx)) >= ACTIVE_LIMIT) throw tooManyBudgets()
        const added = await insertBudget(tx, {
          ...scope,
          ...times,
          name: name ?? '',
          measure,
          amount,
          rollOver: given.roll_over ?? false,
          thresholds,
          ofProject: false,
          basis,
          version: 1,
          createdAt: clock.now(),
          createdBy: by.userId,
          archivedAt: null,
        })
        // The names of what the scope refers to are known only now.
        const named = name ?? usualName((await findBudgetView(tx, added.uid, 'everything'))!)
        const budget = await updateBudget(tx, added.id, { name: named })
        await addPeriods(tx, budget, { refusesMore: true })
        const view = (await findBudgetView(tx, budget.uid, 'everything'))!
        await audit.record(tx, by, {
          action: 'budget.added',
          object: { id: budget.uid, name: budget.name },
          after: recorded(termsBody(view)),
        })
        return budget.uid
      })
      return getBudget(uid, null)
    },

    /** Changes a budget. With another amount, scope or time, thresholds can be reached again. */
    async changeBudget(id: string, change: BudgetChange, { by }: Pick<Party, 'by'>): Promise<BudgetBody> {
      const { budget: known } = await getView(id, null)
      const scope = change.scope && (await readScope(db.read, change.scope))
      const amount = change.amount === undefined ? undefined : readAmount(change as { amount: number }, known.measure)
      const thresholds = change.thresholds && (await readThresholds(db.read, change.thresholds, known.thresholds))
      const name = change.name === undefined ? undefined : readName(change.name)
      if (
        known.ofProject &&
        (scope || change.starts_on !== undefined || change.ends_on !== undefined || change.roll_over)
      ) {
        throw refusal(
          '',
          'not_allowed',
          'of the budget of a project, only the name, the amount and the thresholds can be changed',
        )
      }
      await db.write(async (tx) => {
        const view = await findBudgetView(tx, known.uid, 'everything')
        if (!view) throw notFound(`The budget ${id}`)
        const { budget } = view
        const times = {
          period: budget.period,
          firstDay: change.starts_on === undefined ? budget.firstDay : change.starts_on,
          lastDay: change.ends_on === undefined ? budget.lastDay : change.ends_on,
        }
        checkDays(times)
        const isMoved = times.firstDay !== budget.firstDay || times.lastDay !== budget.lastDay
        const wanted = {
          ...budget,
          ...scope,
          ...times,
          name: name ?? budget.name,
          amount: amount ?? budget.amount,
          thresholds: thresholds ?? budget.thresholds,
          rollOver: change.roll_over ?? budget.rollOver,
        }
        const isOther =
          isMoved || wanted.amount !== budget.amount || wanted.rollOver !== budget.rollOver || scope !== undefined
        const { id: key, uid: _, ...columns } = wanted
        const changed = await updateBudget(tx, key, { ...columns, version: budget.version + (isOther ? 1 : 0) })
        if (isMoved || scope) {
          await deletePeriods(tx, key)
          await addPeriods(tx, changed, { refusesMore: true })
        } else if (isOther) {
          await rearm(tx, key, { now: clock.now(), added: wanted.amount - budget.amount })
          await rollOver(tx, changed)
        } else if (thresholds) await spending.warnOfNew(tx, changed)
        const after = termsBody((await findBudgetView(tx, budget.uid, 'everything'))!)
        const changes = difference(recorded(termsBody(view)), recorded(after))
        if (changes) {
          await audit.record(tx, by, {
            action: 'budget.changed',
            object: { id: budget.uid, name: after.name },
            before: changes.before,
            after: { ...changes.after, measure: after.measure },
          })
        }
      })
      return getBudget(known.uid, null)
    },

    /** Archives a budget, which then counts nothing and causes no alerts, or takes it back and counts again. */
    async archiveBudget(id: string, isArchived: boolean, { by }: Pick<Party, 'by'>): Promise<BudgetBody> {
      const { budget: known } = await getView(id, null)
      await db.write(async (tx) => {
        const budget = await findBudget(tx, known.id)
        if (!budget || (budget.archivedAt !== null) === isArchived) return
        await updateBudget(tx, budget.id, { archivedAt: isArchived ? clock.now() : null })
        if (!isArchived) {
          await deletePeriods(tx, budget.id)
          await addPeriods(tx, budget, { refusesMore: false })
        }
        await audit.record(tx, by, {
          action: isArchived ? 'budget.archived' : 'budget.restored',
          object: { id: budget.uid, name: budget.name },
        })
      })
      return getBudget(known.uid, null)
    },
  }
}

/** Without what never changes. */
function recorded({ id: _id, created_at: _at, archived_at: _archived, of_project: _of, ...body }: BudgetTerms) {
  return body
}

/** As of given names. */
const NAME_LIMIT = 200

/** What the budget is for: `Acme web, monthly`. */
function usualName({ budget, client, project, ticket, manager }: BudgetView): string {
  const { agentName, model, labelName, labelValue } = budget
  const label = labelName && `${labelName}:${labelValue}`
  const named = [client?.name, project?.name, ticket?.key, manager?.name, agentName, model, label]
  const what = named.filter((name) => name).join(', ')
  const adverb = { day: 'daily', week: 'weekly', month: 'monthly', quarter: 'quarterly', year: 'yearly', once: 'total' }
  return firstCharacters(`${what === '' ? 'Organization' : what}, ${adverb[budget.period]}`, NAME_LIMIT)
}

function tooManyBudgets(): Problem {
  const message = `there are ${ACTIVE_LIMIT} budgets already; archive some first`
  return refusal('', 'too_many', message)
}
