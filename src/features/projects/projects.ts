/** Projects: their names, leads and clients. Lookups for reports are in `service.ts`. */

import type { Party } from '../../access/actor.ts'
import type { Viewer } from '../../access/visibility.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import { composeName, foldName } from '../../lib/names.ts'
import type { Rows } from '../../schema/lists.ts'
import { type AuditService, type ChangeAction, difference } from '../audit/service.ts'
import { requireChange, requireEverything, sightOf } from './access.ts'
import { findClient } from './clients.ts'
import type { ProjectFields } from './fields.ts'
import type { MergePair } from './merge.ts'
import { changeResponsible } from './responsibility.ts'
import type { PROJECT_SORTS } from './sorts.ts'
import { findProjectByName } from './store/lookups.ts'
import {
  deleteProject,
  findProjectView,
  holdProject,
  insertProjectRecord,
  listMergedInto,
  listNamedByOthers,
  listProjectViews,
  type ProjectFilter,
  type ProjectName,
  type ProjectChange as ProjectRowChange,
  type ProjectView,
  pageAfterProject,
  redirectNames,
  replaceNames,
  updateProject,
  usesOfProject,
} from './store/projects.ts'
import { replaceRepositories } from './store/repositories.ts'
import { listViewers } from './store/viewers.ts'
import { isPossibleName, isPossiblePrefix, issuesOfProject } from './validation.ts'
import { projectBody } from './wire.ts'

/** By id (`prj_…`), key, name or alias. An id finds a merged project itself, a name the one it was merged into. */
export async function findProjectNamed(reader: Reader, project: string): Promise<ProjectView | undefined> {
  if (!isPossibleName(project)) return undefined
  if (isId('prj', project)) return findProjectView(reader, { uid: project })
  const named = await findProjectByName(reader, foldName(project))
  return named && findProjectView(reader, { id: named.id })
}

async function getProjectNamed(reader: Reader, project: string): Promise<ProjectView> {
  const found = await findProjectNamed(reader, project)
  if (!found) throw notFound(`The project '${project}'`)
  return found
}

function nameTaken(text: string, { project }: ProjectView): Problem {
  const state = project.archivedAt === null ? '' : ', archived'
  return new Problem(
    'already_exists',
    `'${text}' already refers to the project ${project.key} (${project.uid}${state}). Choose another name, remove it from that project, or merge the two projects.`,
  )
}

function aliasNeedsManager(aliases: string[]): Problem {
  const texts = aliases.map((alias) => `'${alias}'`).join(', ')
  return new Problem(
    'forbidden',
    `To add or remove ${texts}, you need the role billing or admin, because an alias of one word, or one that other people's reports have used, would move their entries into this project. Project leads can change other aliases.`,
  )
}

function isMerged({ project, mergedInto }: ProjectView): Problem {
  return new Problem(
    'project_merged',
    `The project ${project.key} was merged into ${mergedInto!.key} (${mergedInto!.uid}). Change that project instead.`,
  )
}

function refuseField(pointer: string, message: string): Problem {
  return refusal(pointer, 'unknown', message)
}

/** The record for the audit log and for comparisons, with the API's field names. */
function recordOf(view: ProjectView): Record<string, unknown> {
  return projectBody(view, 'everything')
}

function objectOf({ project }: ProjectView) {
  return { id: project.uid, name: project.key }
}

/** The distinct names of the project: its key before its name, and both before its aliases. */
function namesOf(key: string, name: string, aliases: string[]): ProjectName[] {
  const names = new Map<string, ProjectName>()
  const add = (kind: ProjectName['kind'], text: string) => {
    const folded = foldName(text)
    if (!names.has(folded)) names.set(folded, { folded, text: composeName(text), kind })
  }
  add('key', key)
  add('name', name)
  for (const alias of aliases) add('alias', alias)
  return [...names.values()]
}

/**
 * The aliases after a change. A former key or name becomes an alias, so that reports with it still arrive. Throws
 * `validation_failed` if an alias to remove does not exist.
 */
function changedAliases({ project, aliases }: ProjectView, fields: ProjectFields): string[] {
  const removed = new Set(fields.removeAliases?.map(foldName))
  const known = new Set(aliases.map(foldName))
  for (const [index, alias] of (fields.removeAliases ?? []).entries()) {
    if (known.has(foldName(alias))) continue
    throw refuseField(`/remove_aliases/${index}`, `'${alias}' is not an alias of ${project.key}`)
  }
  const former = [
    ...(fields.key === undefined ? [] : [project.key]),
    ...(fields.name === undefined ? [] : [project.name]),
  ]
  const kept = (fields.aliases ?? aliases).filter((alias) => !removed.has(foldName(alias)))
  return [...kept, ...(fields.addAliases ?? []), ...former]
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createProjects({ db, clock, audit }: Dependencies) {
  /** The API names of the fields that a change contains. */
  function fieldsIn(fields: ProjectFields): string[] {
    const words: Record<keyof ProjectFields, string> = {
      key: 'key',
      name: 'name',
      aliases: 'aliases',
      addAliases: 'add_aliases',
      removeAliases: 'remove_aliases',
      client: 'client',
      billable: 'billable',
      markupPpm: 'markup',
      budgetNanos: 'budget',
      leads: 'leads',
      addLeads: 'leads',
      removeLeads: 'leads',
      approvers: 'approvers',
      addApprovers: 'approvers',
      removeApprovers: 'approvers',
      repositories: 'repositories',
      addRepositories: 'repositories',
      removeRepositories: 'repositories',
    }
    return Object.entries(words).flatMap(([field, word]) =>
      fields[field as keyof ProjectFields] === undefined ? [] : [word],
    )
  }

  async function clientOf(reader: Reader, client: string): Promise<number> {
    const found = await findClient(reader, client)
    if (!found) throw refuseField('/client', `is not an existing client; add '${client}' first`)
    return found.id
  }

  async function rowChange(tx: Tx, { key, name, client, billable, markupPpm, budgetNanos }: ProjectFields) {
    const change: ProjectRowChange = {}
    if (key !== undefined) change.key = composeName(key)
    if (name !== undefined) change.name = composeName(name)
    if (client !== undefined) change.clientId = client === null ? null : await clientOf(tx, client)
    if (billable !== undefined) change.billable = billable
    if (markupPpm !== undefined) change.markupPpm = markupPpm
    if (budgetNanos !== undefined) change.budget = budgetNanos
    return change
  }

  async function setNames(tx: Tx, id: number, names: ProjectName[]): Promise<void> {
    const [taken] = await replaceNames(tx, id, names)
    if (!taken) return
    const holder = (await findProjectByName(tx, taken.folded))!
    throw nameTaken(taken.text, (await findProjectView(tx, { id: holder.id }))!)
  }

  /** The project to change. Throws `not_found`, and `project_merged` for a merged project, which can't be changed. */
  async function getStanding(reader: Reader, project: string): Promise<ProjectView> {
    const view = await getProjectNamed(reader, project)
    if (view.mergedInto) throw isMerged(view)
    return view
  }

  /**
   * Leads see entries that arrive by a new alias. So they may add and remove only aliases by which no other person's
   * reports arrive: names of several words that no other person's report has named so far.
   */
  async function requireAliases(tx: Tx, { viewer }: Party, before: ProjectView, fields: ProjectFields): Promise<void> {
    if (viewer.sees === 'everything') return
    const known = new Set(before.aliases.map(foldName))
    const wanted = new Set(changedAliases(before, fields).map(foldName))
    const changed = [...known.symmetricDifference(wanted)]
    if (changed.length === 0) return
    const named = new Set((await listNamedByOthers(tx, viewer.userId)).map(foldName))
    const refused = changed.filter((alias) => isPossiblePrefix(alias) || named.has(alias))
    if (refused.length > 0) throw aliasNeedsManager(refused)
  }

  async function changeArchived(
    party: Party,
    project: string,
    action: ChangeAction,
    archive: boolean,
  ): Promise<ProjectView> {
    requireEverything(party)
    return db.write(async (tx) => {
      const before = await getStanding(tx, project)
      if ((before.project.archivedAt !== null) === archive) return before
      await updateProject(tx, before.project.id, { archivedAt: archive ? clock.now() : null })
      const after = (await findProjectView(tx, { id: before.project.id }))!
      await audit.record(tx, party.by, {
        action,
        object: objectOf(after),
        ...difference(recordOf(before), recordOf(after)),
      })
      return after
    })
  }

  return {
    projectRows: (viewer: Viewer): Rows<ProjectFilter, keyof typeof PROJECT_SORTS, ProjectView> => ({
      list: (filter, page) =>
        listProjectViews(filter.search === undefined && !page.by ? db.read : db.slow, viewer, filter, page),
      keyOf: ({ project }) => project.id,
      pageAfter: pageAfterProject,
    }),

    /** By id (`prj_…`), key, name or alias. Throws `not_found`. */
    showProject: (project: string): Promise<ProjectView> => getProjectNamed(db.read, project),

    /** Throws `validation_failed`, and `already_exists` if a name already refers to another project. */
    async addProject(party: Party, fields: ProjectFields & { key: string }): Promise<ProjectView> {
      requireEverything(party)
      const { key, name = key, aliases = [] } = composed(fields)
      const issues = issuesOfProject({ ...fields, key, name, aliases })
      if (issues.length > 0) throw validationFailed(issues)
      return db.write(async (tx) => {
        const id = await insertProjectRecord(tx, { ...(await rowChange(tx, fields)), key, name }, clock.now())
        await setNames(tx, id, namesOf(key, name, aliases))
        await changeResponsible(tx, 'project', { id, leads: [], approvers: [] }, fields)
        await changeRepositories(tx, { id, repositories: [] }, fields)
        const added = (await findProjectView(tx, { id }))!
        await audit.record(tx, party.by, { action: 'project.added', object: objectOf(added), after: recordOf(added) })
        return added
      })
    },

    /**
     * Absent fields stay unchanged; null clears a field; a former key or name becomes an alias. Leads may change the
     * project's aliases, all other fields need the role billing or admin. Throws `validation_failed`, `forbidden`,
     * `not_found`, `already_exists` for a name of another project, `project_merged`.
     */
    async changeProject(party: Party, project: string, given: ProjectFields): Promise<ProjectView> {
      const fields = composed(given)
      return db.write(async (tx) => {
        const before = await getProjectNamed(tx, project)
        requireChange(sightOf(party.viewer, before), 'project', fieldsIn(fields))
        if (before.mergedInto) throw isMerged(before)
        const issues = issuesOfProject(fields)
        if (issues.length > 0) throw validationFailed(issues)
        await requireAliases(tx, party, before, fields)
        const { id } = before.project
        await updateProject(tx, id, await rowChange(tx, fields))
        const { key = before.project.key, name = before.project.name } = fields
        if (fields.key ?? fields.name ?? fields.aliases ?? fields.addAliases ?? fields.removeAliases) {
          await setNames(tx, id, namesOf(key, name, changedAliases(before, fields)))
        }
        await changeResponsible(tx, 'project', { ...before, id }, fields)
        await changeRepositories(tx, { ...before, id }, fields)
        const after = (await findProjectView(tx, { id }))!
        const changed = difference(recordOf(before), recordOf(after))
        if (changed) {
          await audit.record(tx, party.by, { action: 'project.changed', object: objectOf(after), ...changed })
        }
        return after
      })
    },

    /** Hides a project from lists. Reports that name it are still assigned to it, with a note that it is archived. */
    archiveProject: (party: Party, project: string): Promise<ProjectView> =>
      changeArchived(party, project, 'project.archived', true),

    restoreProject: (party: Party, project: string): Promise<ProjectView> =>
      changeArchived(party, project, 'project.restored', false),

    /** Removes an unused project. Throws `in_use` for any other. */
    removeProject(party: Party, project: string): Promise<void> {
      requireEverything(party)
      return db.write(async (tx) => {
        const view = await getProjectNamed(tx, project)
        const uses = await usesOfProject(tx, view.project.id)
        if (uses.length > 0) {
          throw new Problem('in_use', `The project ${view.project.key} has ${uses.join(' and ')}. Archive it instead.`)
        }
        await deleteProject(tx, view.project.id)
        await audit.record(tx, party.by, { action: 'project.removed', object: objectOf(view), before: recordOf(view) })
      })
    },

    /**
     * The two projects of a merge. The name of a project that was already merged into the other one finds that project,
     * so that an interrupted merge can be continued with the same request. Throws `not_found`, `validation_failed` for
     * a project and itself, `project_merged` for one that was merged elsewhere.
     */
    async mergePair(reader: Reader, project: string, into: string): Promise<MergePair> {
      const named = await findProjectNamed(reader, into)
      if (!named) throw refuseField('/into', `'${into}' is not the id or name of a project`)
      const target = named.mergedInto ? (await findProjectView(reader, { uid: named.mergedInto.uid }))! : named
      const found = await getProjectNamed(reader, project)
      const from = found.project.id === target.project.id ? await formerly(reader, target, project) : found
      if (!from) {
        throw refusal('/into', 'not_allowed', `is the same project, ${target.project.key}`)
      }
      if (from.mergedInto && from.mergedInto.uid !== target.project.uid) throw isMerged(from)
      const viewers = await listViewers(reader, from.project)
      return { from, into: target, viewers, viewersOfTarget: await listViewers(reader, target.project) }
    },

    /**
     * The first step of a merge, after which no new entries arrive at the project: its names become aliases of the
     * other one. Its leads do not become leads there, since no one has decided that they may see the other entries.
     * Returns false if this was done before. Runs in the transaction of the caller, who then moves entries and tickets
     * and writes the audit log.
     */
    async beginMerge(tx: Tx, { from, into }: { from: ProjectView; into: ProjectView }): Promise<boolean> {
      if (from.mergedInto) return false
      await holdProject(tx, from.project)
      await redirectNames(tx, from.project.id, into.project.id)
      // Their unattributed entries belong to the same work as the entries that move.
      await replaceRepositories(tx, into.project.id, [...into.repositories, ...from.repositories])
      await replaceRepositories(tx, from.project.id, [])
      const { id, archivedAt } = from.project
      await updateProject(tx, id, { mergedIntoId: into.project.id, archivedAt: archivedAt ?? clock.now() })
      return true
    },
  }
}

/** Repositories are compared exactly, like the labels that name them. Throws `validation_failed` if there are too many. */
async function changeRepositories(
  tx: Tx,
  before: { id: number; repositories: string[] },
  { repositories, addRepositories, removeRepositories }: ProjectFields,
): Promise<void> {
  if (!repositories && !addRepositories && !removeRepositories) return
  const removed = new Set(removeRepositories)
  const after = new Set([...(repositories ?? before.repositories), ...(addRepositories ?? [])]).difference(removed)
  const issues = issuesOfProject({ repositories: [...after] })
  if (issues.length > 0) throw validationFailed(issues)
  await replaceRepositories(tx, before.id, after)
}

/** In the canonical spelling of stored names. */
function composed<Fields extends ProjectFields>(fields: Fields): Fields {
  const each = (texts: string[] | undefined) => texts?.map(composeName)
  return {
    ...fields,
    key: fields.key === undefined ? undefined : composeName(fields.key),
    name: fields.name === undefined ? undefined : composeName(fields.name),
    aliases: each(fields.aliases),
    addAliases: each(fields.addAliases),
  }
}

/** The project with this key or name that was merged into the target. */
async function formerly(reader: Reader, target: ProjectView, name: string): Promise<ProjectView | undefined> {
  const folded = foldName(name)
  const merged = await listMergedInto(reader, target.project.id)
  return merged.find(({ project }) => [project.key, project.name].some((text) => foldName(text) === folded))
}
