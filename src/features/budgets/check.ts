/** Whether anything is left of the budgets that entries would count for. */
import type { Asker } from '../../access/asker.ts'
import type { Database } from '../../database/database.ts'
import { refusal } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp } from '../../lib/duration.ts'
import { foldName } from '../../lib/names.ts'
import type { OrganizationService } from '../organization/service.ts'
import { BudgetIndex, type BudgetRecord, unitsOf } from '../spending/contract.ts'
import { readTerms, type SpendingService } from '../spending/service.ts'
import { sightOf } from './reading.ts'
import { readScope } from './request.ts'
import type { BudgetCheck, NewBudget } from './schema.ts'
import { type BudgetView, findProjectOf, listEveryBudget } from './store.ts'
import { countedAtOf, numberOf, stateOf } from './wire.ts'

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  spending: Pick<SpendingService, 'applyChanges' | 'periodsAt' | 'terms'>
}

export function createCheck({ db, clock, organization, spending }: Dependencies) {
  /**
   * Whether the budgets that entries of any of these scopes count for leave anything: all of them, as a script may not go on
   * because its person does not see one. Of those, only the state is returned. Budgets by allocated cost are left out for who
   * does not see fees, as their state depends on these; that there are some does not. Throws 422 for what does not exist.
   */
  return async function check(
    scopes: readonly NonNullable<NewBudget['scope']>[],
    asker: Pick<Asker, 'viewer' | 'self'> | null,
  ): Promise<BudgetCheck> {
    for (const scope of scopes) requireOwn(scope, asker)
    await spending.applyChanges()
    const views = await listEveryBudget(db.read, 'everything')
    const sight = await sightOf({ db, organization }, asker?.viewer ?? null)
    const seenIds = new Set((await listEveryBudget(db.read, sight)).map(({ budget }) => budget.id))
    // Recording knows of those by cost alone.
    const isOtherClient = views.some(({ budget }) => budget.basis !== 'cost' && budget.clientId !== null)
    const terms = isOtherClient
      ? await readTerms(db.read, views.map(withoutPeriods), await organization.settings())
      : await spending.terms(db.read)
    const index = new BudgetIndex(
      views.map((view) => view.budget),
      (id) => terms?.index.clientOf(id) ?? null,
    )
    const matching: BudgetRecord[] = []
    for (const scope of scopes) {
      const requested = await readScope(db.read, scope, '/query')
      const subject = {
        managerId: requested.managerId ?? -1,
        projectId:
          requested.projectId ??
          (requested.ticketId === null ? null : await findProjectOf(db.read, requested.ticketId)),
        ticketId: requested.ticketId,
        agent: requested.agentName ?? '',
        model: requested.model ?? '',
        labels: requested.labelName === null ? null : { [requested.labelName]: requested.labelValue! },
      }
      matching.push(...index.matching(subject))
      if (requested.clientId !== null) {
        matching.push(
          ...views.map(({ budget }) => budget).filter((b) => b.clientId === requested.clientId && isOnly(b)),
        )
      }
    }
    const now = clock.now()
    const periods = await spending.periodsAt(
      matching.map(({ id }) => id),
      now,
    )
    const applying = [...new Set(matching)].filter(({ id }) => periods.has(id))
    const seesFees = sight === 'everything' || sight.seesFees
    const shown = applying.filter(({ basis }) => seesFees || basis !== 'allocated')
    const rows = shown.map((budget) => {
      const period = periods.get(budget.id)!
      return { budget, period, left: period.available - unitsOf(period), isSeen: seenIds.has(budget.id) }
    })
    rows.sort((one, other) => (one.left < other.left ? -1 : one.left > other.left ? 1 : 0))
    const least = (isTokens: boolean) =>
      rows.find(({ budget, isSeen }) => isSeen && (budget.measure === 'tokens') === isTokens)
    const [money, tokens] = [least(false), least(true)]
    return {
      allowed: rows.every(({ left }) => left > 0n),
      complete: rows.every(({ period }) => period.countedAt !== null),
      remaining: money ? numberOf(money.budget, money.left) : null,
      remaining_tokens: tokens ? numberOf(tokens.budget, tokens.left) : null,
      // Those that the asker does not see come last: their place would reveal how much is left of them.
      budgets: [...rows.filter(({ isSeen }) => isSeen), ...rows.filter(({ isSeen }) => !isSeen).sort(byKey)].map(
        ({ budget, period, left, isSeen }) => ({
          id: isSeen ? budget.uid : null,
          name: isSeen ? budget.name : null,
          measure: budget.measure,
          basis: budget.basis,
          spent: isSeen ? numberOf(budget, unitsOf(period)) : null,
          available: isSeen ? numberOf(budget, period.available) : null,
          remaining: isSeen ? numberOf(budget, left) : null,
          state: stateOf(unitsOf(period), period.available),
          counted_at: countedAtOf(budget, period),
        }),
      ),
      left_out: applying.length - shown.length,
      as_of: timestamp(now),
    }
  }
}

const withoutPeriods = ({ budget }: BudgetView) => ({ ...budget, periods: [] })

/** A client's budget of all of its entries. */
function isOnly({ projectId, ticketId, managerId, agentName, model, labelName }: BudgetRecord): boolean {
  return [projectId, ticketId, managerId, agentName, model, labelName].every((column) => column === null)
}

/** Who does not see everyone's usage learns nothing of other people, not even whether they exist. */
function requireOwn(
  { agent_manager: person }: NonNullable<NewBudget['scope']>,
  asker: Pick<Asker, 'viewer' | 'self'> | null,
): void {
  if (!person || asker === null || asker.viewer.sees === 'everything') return
  if (person === asker.self!.uid || foldName(person) === asker.self!.email) return
  throw refusal('/query/agent_manager', 'not_allowed', 'must be yourself')
}

const byKey = (one: { budget: BudgetRecord }, other: { budget: BudgetRecord }) => one.budget.id - other.budget.id
