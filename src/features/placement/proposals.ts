/**
 * Placement rules that leads propose for the repositories of their projects (docs/design/concepts.md, "Leads and
 * repositories"). A proposal places nothing: once an admin accepts it, it is an admin's rule, the last of theirs. Where
 * the organization lets leads make rules, it takes effect at once, as a rule of leads.
 */
import type { Party } from '../../access/actor.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { RuleCondition } from '../../database/schema/records.ts'
import { seesEverything } from '../../database/schema/values.ts'
import { notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import { isId } from '../../lib/id.ts'
import { composeName } from '../../lib/names.ts'
import { type Page, pageOf } from '../../schema/lists.ts'
import { writeKeyPage } from '../../schema/query.ts'
import type { OrganizationService } from '../organization/service.ts'
import { isLedBy, type ProjectView, sightOf } from '../projects/service.ts'
import { type CompiledCondition, compileCondition } from './condition.ts'
import { conditionsOf, issueOfLeadRules, issuesOfLeadRule, pointerInProposal } from './lead-limits.ts'
import { type createRules, type ListedRule, type RulesDependencies, unknownProject } from './rule-list.ts'
import {
  countProposals,
  decideProposal,
  findProposal,
  insertProposal,
  listProposals,
  type Outcome,
  type ProposalFilter,
  type ProposalView,
} from './store/proposals.ts'
import type { TimeBudget } from './time-budget.ts'

/** Of one person: admins decide about all of them by hand. */
const OPEN_LIMIT = 50

/** The same in a day, including withdrawn ones: each stays, also in the audit log. */
const DAILY_LIMIT = 100
const DAY_MS = 86_400_000

export interface NewProposalFields {
  name: string
  /** One of the repositories of the project. */
  repository: string
  /** Further conditions. */
  conditions: RuleCondition[]
  /** By id, key, name or alias. */
  project: string
  ticket: string | null
}

export interface ProposalQuery extends Pick<ProposalFilter, 'state'> {
  limit: number
  after: number | undefined
}

interface Dependencies extends Omit<RulesDependencies, 'loadRules'> {
  organization: Pick<OrganizationService, 'settings'>
  rules: Pick<ReturnType<typeof createRules>, 'addRuleIn' | 'checkRule' | 'listRulesIn'>
  budget: TimeBudget
}

/** A rule that somebody could propose. */
export interface CheckedProposal {
  name: string
  ticket: string | null
  conditions: CompiledCondition[]
  /** Counts the milliseconds for which the rule was tried. */
  charge: (ms: number) => void
}

export function createProposals({ db, clock, audit, projects, organization, rules, budget }: Dependencies) {
  /** Own proposals for members, those of everyone for billing and admin. */
  function sightOfParty({ person }: Party): ProposalFilter {
    return person === null || seesEverything(person.role) ? {} : { proposedBy: person.id }
  }

  async function get(reader: Reader, id: string, filter: ProposalFilter): Promise<ProposalView> {
    const found = isId('rpr', id) ? await findProposal(reader, id, filter) : undefined
    if (!found) throw notFound(`The proposed rule ${id}`)
    return found
  }

  async function decide(
    tx: Tx,
    { by }: Party,
    view: ProposalView,
    outcome: Omit<Outcome, 'decidedBy' | 'decidedAt'>,
  ): Promise<ProposalView> {
    const { id, uid, name, state } = view.proposal
    const decision = { decidedBy: by.userId, decidedAt: clock.now() }
    if (!(await decideProposal(tx, id, { ...outcome, ...decision }))) throw alreadyDecided(view)
    await audit.record(tx, by, {
      action: `rule_proposal.${outcome.state}`,
      object: { id: uid, name },
      before: { state },
      after: { state: outcome.state, ...(outcome.reason !== undefined && { reason: outcome.reason }) },
    })
    return get(tx, uid, {})
  }

  /** The project. Throws unless the person leads it and it has the repository. Nothing is compiled. */
  async function requireLed(
    reader: Reader,
    { viewer }: Party,
    given: Pick<NewProposalFields, 'project' | 'repository' | 'conditions'>,
  ): Promise<ProjectView> {
    const view = await projects.findProjectNamed(reader, given.project)
    if (!view) throw validationFailed([unknownProject(given.project)])
    if (sightOf(viewer, view) === 'names') throw notLed(view.project.key)
    if (!view.repositories.includes(given.repository)) throw foreignRepository(given.repository, view.project.key)
    const issues = issuesOfLeadRule(given)
    if (issues.length > 0) throw validationFailed(issues)
    return view
  }

  /** As for {@link requireLed}, of the person who proposed it. */
  async function refuseOutdated(tx: Tx, { proposal, project, proposer }: ProposalView): Promise<void> {
    const view = await projects.findProjectNamed(tx, project.uid)
    const { key } = view?.project ?? project
    if (!view || !(seesEverything(proposer.role) || isLedBy(proposal.proposedBy, view))) {
      throw outdated(`${proposer.name} no longer leads ${key}`)
    }
    if (!view.repositories.includes(proposal.repository)) {
      throw outdated(`${proposal.repository} is no longer one of the repositories of ${key}`)
    }
  }

  /** The conditions of a rule that the person could propose, compiled. Throws as `proposeRule`, and writes nothing. */
  async function checkProposal(party: Party, given: NewProposalFields): Promise<CheckedProposal> {
    const { person } = party
    if (person === null) throw onlyPeople()
    budget.require(person.id)
    await requireLed(db.read, party, given)
    const fields = { ...given, name: composeName(given.name), conditions: conditionsOf(given) }
    const checking = checkingOf(person.id)
    await rules.checkRule(db.read, fields, checking)
    const conditions = fields.conditions.map(compileCondition)
    return { name: fields.name, ticket: given.ticket, conditions, charge: checking.charge }
  }

  const checkingOf = (personId: number) => ({
    pointerOf: pointerInProposal,
    charge: (ms: number) => budget.charge(personId, ms),
  })

  return {
    /** A page of proposals, newest first: own ones for members, those of everyone for billing and admin. */
    listProposals: async (party: Party, { state, limit, after }: ProposalQuery): Promise<Page<ProposalView>> => {
      const views = await listProposals(db.read, { ...sightOfParty(party), state }, { after, limit: limit + 1 })
      return pageOf(views, limit, ({ proposal }) => writeKeyPage(proposal.id))
    },

    /** The number of proposals that nobody has decided. */
    countOpenProposals: (): Promise<number> => countProposals(db.read, undefined, { state: 'open' }),

    checkProposal,

    /**
     * Throws `forbidden` unless the person leads the project, `validation_failed` unless the repository is one of the
     * project's, and for everything that a rule could not say, and `rate_limited`. Where leads make rules, the proposal
     * is accepted at once, which throws `already_exists` if another rule has the name.
     */
    async proposeRule(party: Party, given: NewProposalFields): Promise<ProposalView> {
      const { person, by } = party
      if (person === null) throw onlyPeople()
      budget.require(person.id)
      return db.write(async (tx) => {
        // Of many at the same time, the first ones may have used it up.
        budget.require(person.id)
        const view = await requireLed(tx, party, given)
        const now = clock.now()
        if ((await countProposals(tx, person.id, { state: 'open' })) >= OPEN_LIMIT) throw tooManyOpen()
        if ((await countProposals(tx, person.id, { since: now - DAY_MS })) >= DAILY_LIMIT) throw tooManyToday()
        const name = composeName(given.name)
        const fields = { ...given, name, conditions: conditionsOf(given) }
        const { id } = await rules.checkRule(tx, fields, checkingOf(person.id))
        const { repository, conditions, ticket } = given
        const said = conditions.map(({ field, matches }) => ({ field, matches }))
        const row = { name, repository, conditions: said, projectId: id, ticket }
        const uid = await insertProposal(tx, { ...row, proposedBy: person.id, createdAt: now })
        await audit.record(tx, by, {
          action: 'rule_proposal.proposed',
          object: { id: uid, name },
          after: { name, conditions: fields.conditions, project: view.project.key, ticket },
        })
        const proposed = await get(tx, uid, {})
        // Of those who may propose for every project, only leads decide for themselves.
        if (!isLedBy(person.id, view) || !(await organization.settings(tx)).leadRules) return proposed
        const others = (await rules.listRulesIn(tx)).map(({ rule }) => rule)
        const added = await rules.addRuleIn(tx, by, { ...fields, project: view.project.uid }, repository)
        const issue = issueOfLeadRules(others, added.rule)
        if (issue) throw validationFailed([issue])
        return decide(tx, party, proposed, { state: 'accepted', ruleId: added.rule.id })
      })
    },

    /**
     * Creates the rule, as the last of admins. Throws `not_found`, `proposal_decided` (409), `proposal_outdated` (409)
     * if the proposer could no longer propose it, and as `addRule`.
     */
    acceptProposal: (party: Party, id: string): Promise<ProposalView & { rule: ListedRule }> =>
      db.write(async (tx) => {
        const view = await get(tx, id, {})
        const { proposal } = view
        if (proposal.state !== 'open') throw alreadyDecided(view)
        await refuseOutdated(tx, view)
        const { name, ticket } = proposal
        const fields = { name, conditions: conditionsOf(proposal), project: view.project.uid, ticket }
        const rule = await rules.addRuleIn(tx, party.by, fields)
        return { ...(await decide(tx, party, view, { state: 'accepted', ruleId: rule.rule.id })), rule }
      }),

    /** Throws `not_found`, and `proposal_decided` (409). */
    declineProposal: (party: Party, id: string, reason: string): Promise<ProposalView> =>
      db.write(async (tx) => decide(tx, party, await get(tx, id, {}), { state: 'declined', reason })),

    /** Only by the person who proposed it. Throws `not_found`, and `proposal_decided` (409). */
    withdrawProposal: (party: Party, id: string): Promise<ProposalView> =>
      db.write(async (tx) => {
        const { person } = party
        const view = await get(tx, id, { proposedBy: person?.id })
        return decide(tx, party, view, { state: 'withdrawn' })
      }),
  }
}

function alreadyDecided({ proposal: { uid, state } }: ProposalView): Problem {
  const now = state === 'open' ? 'decided' : state
  return new Problem('proposal_decided', `The proposed rule ${uid} was already ${now}. Reload the list.`)
}

function onlyPeople(): Problem {
  return new Problem('forbidden', 'Only people propose rules. Add the rule instead.')
}

function outdated(because: string): Problem {
  return new Problem(
    'proposal_outdated',
    `${because}, so this rule can no longer be accepted. Decline it, or add the rule yourself.`,
  )
}

function notLed(key: string): Problem {
  return new Problem(
    'forbidden',
    `To propose a rule for ${key}, you must be a lead of it. Ask billing to make you a lead.`,
  )
}

function foreignRepository(repository: string, key: string): Problem {
  const message = `'${repository}' is not one of the repositories of ${key}; billing or an admin can add it to the project`
  return refusal('/repository', 'not_allowed', message)
}

function tooManyOpen(): Problem {
  const message = `at most ${OPEN_LIMIT} of your proposals can wait for a decision; withdraw one, or ask an admin to decide`
  return refusal('', 'too_many', message)
}

function tooManyToday(): Problem {
  const message = `at most ${DAILY_LIMIT} rules can be proposed in 24 hours, including withdrawn ones; propose more tomorrow`
  return refusal('', 'too_many', message)
}
