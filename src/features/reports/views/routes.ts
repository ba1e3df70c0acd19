import { Elysia, t } from 'elysia'
import { access, actorOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage } from '../../../operations/parameters.ts'
import {
  type ReportViewBody as Body,
  NewReportView,
  ReportViewBody,
  ReportViewChange,
  ReportViewList,
} from './schema.ts'
import { type ReportViewsService, readViewList } from './service.ts'

const tag = 'Reports'
const { format: _, ...page } = listPage('Views')
const ViewsQuery = t.Object(page, { additionalProperties: false })
const path = { id: 'Id of the view (rvw_…).' }

/** For signed-in people only: views belong to the web application. */
const guarded = { allow: ['session'], scope: 'people-only' } as const

const EXAMPLE: Body = {
  id: 'rvw_01a1fa172a0277f3983322718874f2eb',
  name: 'Cost by client',
  parameters: { measure: 'cost', by: 'client', period: 'last-month' },
  shared: true,
  pinned: false,
  owner: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
  mine: true,
  created_at: '2026-11-20T17:53:04.000Z',
}
const { name, parameters, shared } = EXAMPLE

export const reportViewsRoutes = ({ reportViews }: { reportViews: ReportViewsService }) => {
  const askingOf = ({ caller, address }: Parameters<typeof actorOf>[0]) => ({
    person: requireCaller(caller).person,
    by: actorOf({ caller, address }),
  })
  return new Elysia({ name: 'report-views', normalize: false })
    .use(access())
    .get('', ({ caller, query }) => reportViews.listViews(requireCaller(caller).person, readViewList(query)), {
      ...guarded,
      query: ViewsQuery,
      detail: documented({
        id: 'listReportViews',
        tag,
        summary: 'List saved views',
        description: 'Your own views of reports and those that others share, newest first.',
        responses: {
          200: {
            description: 'A page of views.',
            schema: ReportViewList,
            example: { data: [EXAMPLE], has_more: false, next_page: null },
          },
        },
      }),
    })
    .post(
      '',
      async ({ caller, address, body, set }) => {
        const view = await reportViews.createView(body, askingOf({ caller, address }))
        set.status = 201
        return view
      },
      {
        ...guarded,
        parse: 'report',
        body: NewReportView,
        detail: documented({
          id: 'createReportView',
          tag,
          summary: 'Save a view',
          description:
            'Saves the question of a report under a name. A view contains no figures: whoever opens a shared one sees what they may see themselves.',
          body: { example: { name, parameters, shared } },
          responses: { 201: { description: 'The view was saved.', schema: ReportViewBody, example: EXAMPLE } },
        }),
      },
    )
    .patch(
      '/:id',
      ({ params, caller, address, body }) => reportViews.changeView(params.id, body, askingOf({ caller, address })),
      {
        ...guarded,
        parse: 'report',
        body: ReportViewChange,
        detail: documented({
          id: 'changeReportView',
          tag,
          summary: 'Change a saved view',
          description: 'Renames, updates, shares or pins a view. Only its owner can do this.',
          path,
          body: { example: { name: 'Cost by client, last month' } },
          responses: { 200: { description: 'The view was changed.', schema: ReportViewBody, example: EXAMPLE } },
        }),
      },
    )
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await reportViews.removeView(params.id, askingOf({ caller, address }))
        set.status = 204
      },
      {
        ...guarded,
        detail: documented({
          id: 'removeReportView',
          tag,
          summary: 'Delete a saved view',
          description: 'Its owner can do this, and admins if it is shared.',
          path,
          responses: { 204: { description: 'The view was deleted.' } },
        }),
      },
    )
}
