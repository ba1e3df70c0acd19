import { Elysia, t } from 'elysia'
import { access, approvalViewerOf, askerOf, partyOf, viewerOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { answerList } from '../../../http/list.ts'
import { listPage, listParameter, listSort } from '../../../operations/parameters.ts'
import { archivedAndSearch, MAY_CHANGE } from '../../../operations/work.ts'
import type { PeopleService } from '../../people/service.ts'
import { PROJECT_COLUMNS } from '../csv.ts'
import { EXAMPLE_MERGE, EXAMPLE_NEW_PROJECT, EXAMPLE_PROJECT } from '../examples.ts'
import { readProjectList } from '../query.ts'
import { Merge, MergeBody, NewProject, ProjectBody, ProjectChange, ProjectList } from '../schema.ts'
import {
  type EntryRelocation,
  mergeBody,
  type ProjectsService,
  type ProjectView,
  pageBehindProject,
  projectBody,
  readProject,
  sightOf,
} from '../service.ts'
import { PROJECT_SORTS } from '../sorts.ts'

const tag = 'Work'

/** How long entries are moved within one call: half of what a connection may be silent. */
const MERGING_BUDGET_MS = 10_000

const ProjectQuery = t.Object(
  {
    ...archivedAndSearch('Text to search for in the key, the name and the aliases.'),
    client: listParameter('Id or name of a client; `none` for projects without one.'),
    lead: listParameter(
      'Id or e-mail address of a lead, including leads of the client. Members can search only among the projects they lead.',
    ),
    approver: listParameter(
      'Id or e-mail address of a person who may approve entries of the project, as lead or approver. Members can search only among the projects whose entries they may approve.',
    ),
    ...listSort(PROJECT_SORTS),
    ...listPage('Projects'),
  },
  { additionalProperties: false },
)

const path = { id: 'Id (prj_…), key, name or alias of the project.' }
const answer = { 200: { description: 'The project.', schema: ProjectBody, example: EXAMPLE_PROJECT } }
const keyOf = ({ project }: ProjectView) => project.id

interface Dependencies {
  projects: ProjectsService
  people: Pick<PeopleService, 'requireKnown'>
  /** `places` of the entries' service. */
  relocation: EntryRelocation
}

export const projectsRoutes = ({ projects, people, relocation }: Dependencies) =>
  new Elysia({ name: 'projects', normalize: false })
    .use(access())
    .get(
      '',
      async ({ query, caller, request }) => {
        const viewer = approvalViewerOf(caller)
        const asked = readProjectList(query)
        await projects.requireKnown('client', asked.filter.clients, '/query/client')
        if (askerOf(caller).listsPeople) {
          await people.requireKnown(asked.filter.leads, '/query/lead')
          await people.requireKnown(asked.filter.approvers, '/query/approver')
        }
        return answerList(request, asked, {
          list: (page) => projects.listProjects(viewer, asked.filter, page),
          keyOf,
          pageBehind: pageBehindProject,
          bodyOf: (view) => projectBody(view, sightOf(viewer, view)),
          columns: PROJECT_COLUMNS,
          fileName: 'projects.csv',
        })
      },
      {
        allow: ['read', 'session'],
        scope: 'projects:read',
        query: ProjectQuery,
        detail: documented({
          id: 'listProjects',
          tag,
          summary: 'List projects',
          description:
            'Newest first. Members see only the names of projects and clients; leads also see the budget and leads of their projects; billing and admin see everything. Merged projects count as archived.',
          responses: {
            200: {
              description: 'A page of projects.',
              schema: ProjectList,
              example: { data: [EXAMPLE_PROJECT], has_more: false, next_page: null },
              also: { 'text/csv': { schema: t.String() } },
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .post(
      '',
      async ({ body, caller, address, set }) => {
        const added = await projects.addProject(partyOf({ caller, address }), { ...readProject(body), key: body.key })
        set.status = 201
        set.headers.location = `/api/v1/projects/${added.project.uid}`
        return projectBody(added, 'everything')
      },
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        parse: 'report',
        body: NewProject,
        detail: documented({
          id: 'addProject',
          tag,
          summary: 'Add a project',
          description: 'Projects are also added automatically when a report names a new one.',
          body: { example: EXAMPLE_NEW_PROJECT },
          responses: {
            201: {
              description: 'The project was added.',
              schema: ProjectBody,
              headers: ['Location'],
              example: EXAMPLE_PROJECT,
            },
          },
          problems: ['already_exists'],
        }),
      },
    )
    .get(
      '/:id',
      async ({ params, caller }) => {
        const view = await projects.showProject(params.id)
        return projectBody(view, sightOf(viewerOf(caller), view))
      },
      {
        allow: ['read', 'session'],
        scope: 'projects:read',
        object: 'prj',
        detail: documented({
          id: 'getProject',
          tag,
          summary: 'Get a project',
          description:
            'A merged project can only be retrieved by its id; its names refer to the project it was merged into.',
          path,
          responses: answer,
        }),
      },
    )
    .patch(
      '/:id',
      async ({ params, body, caller, address }) => {
        const party = partyOf({ caller, address })
        const view = await projects.changeProject(party, params.id, readProject(body))
        return projectBody(view, sightOf(party.viewer, view))
      },
      {
        allow: ['session'],
        scope: 'projects:write',
        object: 'prj',
        parse: 'report',
        body: ProjectChange,
        detail: documented({
          id: 'changeProject',
          tag,
          summary: 'Update a project',
          description:
            'Absent fields stay unchanged; null clears a field. A former key or name becomes an alias, so that reports with the old name still arrive. Requires the role billing or admin; project leads can add and remove aliases of several words that no other person’s report has used.',
          path,
          body: { example: { client: 'Acme Ltd', markup: 15, aliases: ['acme/web', 'acme website'] } },
          responses: answer,
          problems: ['already_exists', 'project_merged'],
        }),
      },
    )
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await projects.removeProject(partyOf({ caller, address }), params.id)
        set.status = 204
      },
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'prj',
        detail: documented({
          id: 'removeProject',
          tag,
          summary: 'Remove an unused project',
          path,
          responses: { 204: { description: 'The project was removed.' } },
          problems: ['in_use'],
        }),
      },
    )
    .post(
      '/:id/archive',
      async ({ params, caller, address }) =>
        projectBody(await projects.archiveProject(partyOf({ caller, address }), params.id), 'everything'),
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'prj',
        detail: documented({
          id: 'archiveProject',
          tag,
          summary: 'Archive a project',
          description:
            'Hides the project from lists. Reports that name it are still assigned to it, with a note that it is archived.',
          path,
          responses: answer,
          problems: ['project_merged'],
        }),
      },
    )
    .post(
      '/:id/restore',
      async ({ params, caller, address }) =>
        projectBody(await projects.restoreProject(partyOf({ caller, address }), params.id), 'everything'),
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'prj',
        detail: documented({
          id: 'restoreProject',
          tag,
          summary: 'Restore an archived project',
          path,
          responses: answer,
          problems: ['project_merged'],
        }),
      },
    )
    .post(
      '/:id/merge',
      async ({ params, body: { into, dry_run = false }, caller, address }) =>
        mergeBody(
          await relocation.mergeProject(partyOf({ caller, address }), params.id, into, {
            dryRun: dry_run,
            budgetMs: MERGING_BUDGET_MS,
          }),
        ),
      {
        allow: MAY_CHANGE,
        scope: 'projects:write',
        object: 'prj',
        parse: 'report',
        body: Merge,
        detail: documented({
          id: 'mergeProject',
          tag,
          summary: 'Merge a project into another one',
          description:
            'The key, name and aliases of the merged project become aliases of the target project, which reports and rules then use. Its tickets and all its unbilled entries move to the target, each with a row in its history. Leads do not move. The request is safe to repeat; if `complete` is false, repeat it.',
          path,
          body: { example: { into: 'ACME', dry_run: true } },
          responses: {
            200: {
              description: 'What moved, or would move with `dry_run`.',
              schema: MergeBody,
              example: EXAMPLE_MERGE,
            },
          },
          problems: ['project_merged', 'database_deadline'],
        }),
      },
    )
