import type { Viewer } from '../../../access/visibility.ts'
import { listing, operation, result } from '../../../operations/operation.ts'
import { listParameter, listSort } from '../../../operations/parameters.ts'
import { archivedAndSearch, CHANGING, READING } from '../../../operations/work.ts'
import type { PeopleService } from '../../people/service.ts'
import { sightOf } from '../access.ts'
import { PROJECT_COLUMNS } from '../csv.ts'
import { EXAMPLE_MERGE, EXAMPLE_NEW_PROJECT, EXAMPLE_PROJECT } from '../examples.ts'
import { type EntryRelocation, mergeBody } from '../merge.ts'
import { readProjectList } from '../query.ts'
import { readProject } from '../request.ts'
import { Merge, MergeBody, NewProject, ProjectBody, ProjectChange, ProjectList } from '../schema.ts'
import type { ProjectsService, ProjectView } from '../service.ts'
import { PROJECT_SORTS } from '../sorts.ts'
import { projectBody } from '../wire.ts'

interface Needs {
  projects: ProjectsService
  people: Pick<PeopleService, 'requireKnown'>
  entries: { places: EntryRelocation }
}

/** How long entries are moved within one call: half of what a connection may be silent. */
const MERGING_BUDGET_MS = 10_000

const seen = (view: ProjectView, { viewer }: { viewer: Viewer }) => projectBody(view, sightOf(viewer, view))

const PROJECT = result('The project.', ProjectBody, EXAMPLE_PROJECT)

const one = { object: 'prj', params: { id: 'Id (prj_…), key, name or alias of the project.' } } as const

export const listProjects = listing({
  ...READING,
  id: 'listProjects',
  path: '/projects',
  summary: 'List projects',
  description:
    'Newest first. Members see only the names of projects and clients; leads also see the budget and leads of their projects; billing and admin see everything. Merged projects count as archived.',
  plural: 'projects',
  query: {
    ...archivedAndSearch('Text to search for in the key, the name and the aliases.'),
    client: listParameter('Id or name of a client; `none` for projects without one.'),
    lead: listParameter(
      'Id or e-mail address of a lead, including leads of the client. Members can search only among the projects they lead.',
    ),
    approver: listParameter(
      'Id or e-mail address of a person who may approve entries of the project, as lead or approver. Members can search only among the projects whose entries they may approve.',
    ),
    ...listSort(PROJECT_SORTS),
  },
  page: ProjectList,
  example: EXAMPLE_PROJECT,
  columns: PROJECT_COLUMNS,
  read: readProjectList,
  check: async ({ projects, people }: Needs, { clients, leads, approvers }, asker) => {
    await projects.requireKnown('client', clients, '/query/client')
    if (!asker.listsPeople) return
    await people.requireKnown(leads, '/query/lead')
    await people.requireKnown(approvers, '/query/approver')
  },
  rows: ({ projects }: Needs, { asker }) => projects.projectRows(asker.viewer),
  bodyOf: seen,
})

export const addProject = operation({
  ...CHANGING,
  id: 'addProject',
  method: 'POST',
  path: '/projects',
  summary: 'Add a project',
  description: 'Projects are also added automatically when a report names a new one.',
  body: NewProject,
  example: EXAMPLE_NEW_PROJECT,
  answer: { ...PROJECT, status: 201, description: 'The project was added.' },
  problems: ['already_exists'],
  run: async ({ projects }: Needs, call) =>
    seen(await projects.addProject(call.party, { ...readProject(call.body), key: call.body.key }), call),
})

export const getProject = operation({
  ...READING,
  ...one,
  id: 'getProject',
  method: 'GET',
  path: '/projects/:id',
  summary: 'Get a project',
  description: 'A merged project can only be retrieved by its id; its names refer to the project it was merged into.',
  answer: PROJECT,
  run: async ({ projects }: Needs, call) => seen(await projects.showProject(call.params.id), call),
})

export const changeProject = operation({
  ...CHANGING,
  ...one,
  id: 'changeProject',
  method: 'PATCH',
  path: '/projects/:id',
  summary: 'Update a project',
  description:
    'Absent fields stay unchanged; null clears a field. A former key or name becomes an alias, so that reports with the old name still arrive. Requires the role billing or admin; project leads can add and remove aliases of several words that no other person’s report has used.',
  allow: ['session'],
  body: ProjectChange,
  example: { client: 'Acme Ltd', markup: 15, aliases: ['acme/web', 'acme website'] },
  answer: PROJECT,
  problems: ['already_exists', 'project_merged'],
  run: async ({ projects }: Needs, call) =>
    seen(await projects.changeProject(call.party, call.params.id, readProject(call.body)), call),
})

export const removeProject = operation({
  ...CHANGING,
  ...one,
  id: 'removeProject',
  method: 'DELETE',
  path: '/projects/:id',
  summary: 'Remove an unused project',
  answer: { status: 204, description: 'The project was removed.' },
  problems: ['in_use'],
  run: ({ projects }: Needs, { party, params }) => projects.removeProject(party, params.id),
})

export const archiveProject = operation({
  ...CHANGING,
  ...one,
  id: 'archiveProject',
  method: 'POST',
  path: '/projects/:id/archive',
  summary: 'Archive a project',
  description:
    'Hides the project from lists. Reports that name it are still assigned to it, with a note that it is archived.',
  answer: PROJECT,
  problems: ['project_merged'],
  run: async ({ projects }: Needs, call) => seen(await projects.archiveProject(call.party, call.params.id), call),
})

export const restoreProject = operation({
  ...CHANGING,
  ...one,
  id: 'restoreProject',
  method: 'POST',
  path: '/projects/:id/restore',
  summary: 'Restore an archived project',
  answer: PROJECT,
  problems: ['project_merged'],
  run: async ({ projects }: Needs, call) => seen(await projects.restoreProject(call.party, call.params.id), call),
})

const mergeProject = operation({
  ...CHANGING,
  ...one,
  id: 'mergeProject',
  method: 'POST',
  path: '/projects/:id/merge',
  summary: 'Merge a project into another one',
  description:
    'The key, name and aliases of the merged project become aliases of the target project, which reports and rules then use. Its tickets and all its unbilled entries move to the target, each with a row in its history. Leads do not move. The request is safe to repeat; if `complete` is false, repeat it.',
  body: Merge,
  example: { into: 'ACME', dry_run: true },
  answer: result('What moved, or would move with `dry_run`.', MergeBody, EXAMPLE_MERGE),
  problems: ['project_merged', 'database_deadline'],
  run: async ({ entries }: Needs, { party, params, body: { into, dry_run: dryRun = false } }) =>
    mergeBody(await entries.places.mergeProject(party, params.id, into, { dryRun, budgetMs: MERGING_BUDGET_MS })),
})

export const projectOperations = [
  listProjects,
  addProject,
  getProject,
  changeProject,
  removeProject,
  archiveProject,
  restoreProject,
  mergeProject,
] as const
