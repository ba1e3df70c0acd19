/**
 * Rules that leads make without an admin, where the organization allows it (docs/design/concepts.md, "Leads and
 * repositories"): each is limited to one repository of one project, and comes after all rules of admins.
 */
import type { Party } from '../../access/actor.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { RuleCondition } from '../../database/schema/records.ts'
import { notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import type { OrganizationService } from '../organization/service.ts'
import { isLedBy } from '../projects/service.ts'
import { conditionsOf, issueOfLeadRules, issuesOfLeadRule, pointerInProposal } from './lead-limits.ts'
import type { createRules, ListedRule, RulesDependencies } from './rule-list.ts'
import { countLeadChanges } from './store.ts'
import type { TimeBudget } from './time-budget.ts'

/** Absent fields stay unchanged. The repository and the project of such a rule never change. */
export interface LeadRuleChange {
  name?: string | undefined
  /** The further conditions. */
  conditions?: RuleCondition[] | undefined
  ticket?: string | null | undefined
}

/** Of one person in a day: every version stays, also in the audit log. */
const DAILY_CHANGES_LIMIT = 100
const DAY_MS = 86_400_000

interface Dependencies extends Omit<RulesDependencies, 'loadRules'> {
  organization: Pick<OrganizationService, 'settings'>
  rules: Pick<ReturnType<typeof createRules>, 'listRulesIn' | 'changeRuleIn' | 'removeRuleIn'>
  budget: TimeBudget
}

export function createLeadRules({ db, clock, projects, organization, rules, budget }: Dependencies) {
  async function listLed(reader: Reader, { person }: Party): Promise<ListedRule[]> {
    if (person === null) throw onlyPeople()
    const ofLeads = (await rules.listRulesIn(reader)).filter(({ rule }) => rule.leadRepository !== null)
    const led = new Map<number, boolean>()
    for (const { project } of ofLeads.map(({ rule }) => rule)) {
      if (led.has(project.id)) continue
      const view = await projects.findProjectNamed(reader, project.uid)
      led.set(project.id, view !== undefined && isLedBy(person.id, view))
    }
    return ofLeads.filter(({ rule }) => led.get(rule.project.id))
  }

  /** By id. Throws `not_found`, also for rules of others. */
  async function getLed(tx: Tx, party: Party, id: string): Promise<ListedRule> {
    const found = (await listLed(tx, party)).find(({ rule }) => rule.uid === id)
    if (!found) throw notFound(`The rule ${id}`)
    return found
  }

  return {
    /** The rules that leads made for projects that the person leads, in evaluation order. */
    listLeadRules: (party: Party): Promise<ListedRule[]> => listLed(db.read, party),

    /**
     * Throws `not_found` unless the person leads the rule's project, `forbidden` if the organization does not let leads
     * make rules, `already_exists`, and `validation_failed` for what could not be proposed, and for
     * more than {@link DAILY_CHANGES_LIMIT} changes in a day.
     */
    async changeLeadRule(party: Party, id: string, { name, conditions, ticket }: LeadRuleChange): Promise<ListedRule> {
      const { person, by } = party
      if (person === null) throw onlyPeople()
      budget.require(person.id)
      return db.write(async (tx) => {
        // Of many at the same time, the first ones may have used it up.
        budget.require(person.id)
        const { rule } = await getLed(tx, party, id)
        if (!(await organization.settings(tx)).leadRules) throw notAllowed()
        const since = clock.now() - DAY_MS
        if ((await countLeadChanges(tx, person.id, since)) >= DAILY_CHANGES_LIMIT) throw tooManyToday()
        const repository = rule.leadRepository!
        const issues = conditions ? issuesOfLeadRule({ repository, conditions }) : []
        if (issues.length > 0) throw validationFailed(issues)
        const change = { name, ticket, conditions: conditions && conditionsOf({ repository, conditions }) }
        const charge = (ms: number) => budget.charge(person.id, ms)
        const changed = await rules.changeRuleIn(tx, by, id, change, { pointerOf: pointerInProposal, charge })
        const others = (await rules.listRulesIn(tx)).flatMap((each) => (each.rule.uid === id ? [] : [each.rule]))
        const issue = conditions && issueOfLeadRules(others, changed.rule)
        if (issue) throw validationFailed([issue])
        return changed
      })
    },

    /** Throws `not_found` unless the person leads the rule's project. */
    removeLeadRule: (party: Party, id: string): Promise<void> =>
      db.write(async (tx) => {
        await getLed(tx, party, id)
        await rules.removeRuleIn(tx, party.by, id)
      }),
  }
}

function onlyPeople(): Problem {
  return new Problem('forbidden', 'Only people lead projects. Use `tally rules`, which lists and changes all rules.')
}

function tooManyToday(): Problem {
  const message = `leads’ rules can be changed at most ${DAILY_CHANGES_LIMIT} times in 24 hours; change more tomorrow`
  return refusal('', 'too_many', message)
}

function notAllowed(): Problem {
  return new Problem(
    'forbidden',
    'Leads cannot change rules in this organization; they propose them. An admin can allow it in the settings.',
  )
}
