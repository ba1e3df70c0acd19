/**
 * Viewers: clients and stakeholders with an account, who see the projects and clients that an admin granted to them, and
 * nothing else. `sight.ts` decides what that is; everything here begins with it.
 */
import type { Actor } from '../../access/actor.ts'
import { grantedViewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { type Issue, notFound, validationFailed } from '../../errors.ts'
import { isId } from '../../lib/id.ts'
import { issuesOfConditions } from '../../schema/conditions.ts'
import { type Page, pageOf } from '../../schema/lists.ts'
import { type QueryTexts, writeKeyPage } from '../../schema/query.ts'
import type { BillsService, BillView } from '../bills/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { GrantTarget, PeopleService } from '../people/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import type { ReportsService } from '../reports/service.ts'
import { readSharedBills, readSharedUsage } from './query.ts'
import {
  type GrantBody,
  grantBody,
  NewGrant,
  type Shared,
  type SharedBill,
  type SharedUsage,
  sharedBillBody,
} from './schema.ts'
import { type Sight, sightOf } from './sight.ts'
import { listReachedProjects } from './store.ts'
import { sharedUsage } from './usage.ts'

export type ViewersService = ReturnType<typeof createViewersService>

/** A person with the role viewer, as whom somebody looks. */
interface ViewingPerson {
  id: number
}

interface Dependencies {
  db: Database
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'grant' | 'removeGrant' | 'listGrants' | 'grantsOf'>
  projects: Pick<ProjectsService, 'getClient' | 'showProject' | 'requireKnown'>
  reports: Pick<ReportsService, 'readUsage' | 'usageRows'>
  bills: Pick<BillsService, 'billedTerms' | 'amountsOn' | 'listClientBills' | 'getBill' | 'renderBill' | 'heads'>
}

export function createViewersService({ db, organization, people, projects, reports, bills }: Dependencies) {
  async function sight({ id }: ViewingPerson): Promise<Sight> {
    const grants = await people.grantsOf(db.read, id)
    const idsOf = (what: 'client' | 'project') => grants.flatMap((grant) => grant[what]?.id ?? [])
    const reached = await listReachedProjects(db.read, { clientIds: idsOf('client'), projectIds: idsOf('project') })
    return sightOf(grants, reached)
  }

  async function usageOf(seen: Pick<Sight, 'projects'>, texts: QueryTexts): Promise<SharedUsage> {
    const asked = readSharedUsage(texts, seen)
    const period = await reports.readUsage(asked.texts, { viewer: grantedViewer([]), listsPeople: false })
    return sharedUsage({ reports, bills }, asked, period)
  }

  /** Throws `validation_failed` for names that do not exist. */
  async function targetOf(named: Pick<NewGrant, 'client' | 'project'>): Promise<GrantTarget> {
    const issues = issuesOfConditions(NewGrant, named)
    if (issues.length > 0) throw validationFailed(issues)
    const { client, project } = named
    if (client !== undefined) {
      await projects.requireKnown('client', [client], '/client')
      return { clientId: (await projects.getClient(client)).id }
    }
    await projects.requireKnown('project', [project!], '/project')
    return { projectId: (await projects.showProject(project!)).project.id }
  }

  /** Of a grant in a path: the id of its client or project. Throws `not_found`. */
  async function targetIn(id: string): Promise<GrantTarget> {
    if (isId('cli', id)) return { clientId: (await projects.getClient(id)).id }
    if (isId('prj', id)) return { projectId: (await projects.showProject(id)).project.id }
    throw notFound(`The client or project '${id}'`)
  }

  /** Throws `not_found`, also for bills of clients whose bills the viewer does not see. */
  async function getShownBill(person: ViewingPerson, bill: string): Promise<BillView> {
    const { billedClientIds } = await sight(person)
    const view = await bills.getBill(bill)
    if (view.bill.clientId === null || !billedClientIds.includes(view.bill.clientId))
      throw notFound(`The bill '${bill}'`)
    return view
  }

  return {
    /** By e-mail address or `usr_` id. Throws `not_found`. */
    listGrants: async (who: string): Promise<GrantBody[]> => (await people.listGrants(who)).map(grantBody),

    /**
     * Grants a client or project to a viewer, or changes how much of it they see. Throws `not_found` for the person, and
     * `validation_failed` for names that do not exist, bills without amounts, and people with another role.
     */
    async grant(
      who: string,
      { money = 'none', people: showsPeople = false, bills: showsBills = false, ...named }: NewGrant,
      by: Actor,
    ): Promise<{ body: GrantBody; isNew: boolean }> {
      const target = await targetOf(named)
      const issues: Issue[] =
        showsBills && !('clientId' in target && money === 'amounts')
          ? [{ pointer: '/bills', code: 'not_allowed', message: 'is possible only for a client, with money amounts' }]
          : []
      if (issues.length > 0) throw validationFailed(issues)
      const { grant, isNew } = await people.grant(who, target, { money, showsPeople, showsBills }, by)
      return { body: grantBody(grant), isNew }
    },

    /** By the id of its client or project. Throws `not_found`. */
    revoke: async (who: string, target: string, by: Actor): Promise<GrantBody> =>
      grantBody(await people.removeGrant(who, await targetIn(target), by)),

    /** By names, on the command line. Throws `validation_failed` for those that do not exist, and `not_found`. */
    revokeNamed: async (who: string, named: Pick<NewGrant, 'client' | 'project'>, by: Actor): Promise<GrantBody> =>
      grantBody(await people.removeGrant(who, await targetOf(named), by)),

    /** What is shared with the person. */
    async shared(person: ViewingPerson): Promise<Shared> {
      const { grants, projects: seen, billedClientIds } = await sight(person)
      const { timeZone, weekStart, locale, currency, name, email } = await organization.settings()
      return {
        grants: grants.map(grantBody),
        shows_people: seen.some(({ showsPeople }) => showsPeople),
        shows_bills: billedClientIds.length > 0,
        time_zone: timeZone,
        week_start: weekStart,
        locale,
        currency,
        contact: { name, email },
      }
    },

    /** The usage that is shared with the person. Throws `validation_failed` and `database_deadline`. */
    usage: async (person: ViewingPerson, texts: QueryTexts): Promise<SharedUsage> =>
      usageOf(await sight(person), texts),

    /**
     * Usage of clients and projects with what was billed for it, for somebody who sees no more than their names: the
     * parameters select them. Throws `validation_failed`, `not_found` and `database_deadline`.
     */
    async billedUsage(
      { clients, projects: named }: { clients: readonly string[]; projects: readonly string[] },
      texts: QueryTexts,
      { showsPeople }: { showsPeople: boolean },
    ): Promise<SharedUsage> {
      const clientIds = await Promise.all(clients.map(async (client) => (await projects.getClient(client)).id))
      const projectIds = await Promise.all(named.map(async (key) => (await projects.showProject(key)).project.id))
      const reached = await listReachedProjects(db.read, { clientIds, projectIds })
      const seen = reached.map((project) => ({
        ...project,
        money: 'amounts' as const,
        showsPeople,
        showsClient: project.client !== null,
      }))
      return usageOf(
        { projects: seen },
        {
          ...texts,
          ...(clients.length > 0 && { client: [...clients] }),
          ...(named.length > 0 && { project: [...named] }),
        },
      )
    },

    /** A page of the bills that are shared with the person, newest first. */
    async listBills(person: ViewingPerson, texts: QueryTexts): Promise<Page<SharedBill>> {
      const { billedClientIds } = await sight(person)
      const { limit, after } = readSharedBills(texts)
      const found =
        billedClientIds.length === 0 ? [] : await bills.listClientBills(billedClientIds, { after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ bill }) => writeKeyPage(bill.id))
      return { ...page, data: (await bills.heads(page.data)).map(sharedBillBody) }
    },

    /** By id or number. Throws `not_found`. */
    async getBill(person: ViewingPerson, bill: string): Promise<SharedBill> {
      const [head] = await bills.heads([await getShownBill(person, bill)])
      return sharedBillBody(head!)
    },

    /** The document as it was sent. Throws `not_found`. */
    renderBill: async (person: ViewingPerson, bill: string, format: 'pdf' | 'html') =>
      bills.renderBill((await getShownBill(person, bill)).bill.uid, format),
  }
}
