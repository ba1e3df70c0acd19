import { type Call, operation, result, several } from '../../../operations/operation.ts'
import { paging } from '../../../operations/parameters.ts'
import { readListPage } from '../../../schema/query.ts'
import { NewReportView, ReportViewBody, ReportViewChange, ReportViewList } from '../views/schema.ts'
import type { ReportViewsService } from '../views/service.ts'

interface Needs {
  reportViews: ReportViewsService
}

/** For signed-in people only: views belong to the web application. */
const ofPeople = { tag: 'Reports', allow: ['session'], scope: 'people-only' } as const

const params = { id: 'Id of the view (rvw_…).' }

const EXAMPLE: ReportViewBody = {
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

const VIEW = result('The view was changed.', ReportViewBody, EXAMPLE)

const askingOf = ({ principal, party }: Pick<Call, 'principal' | 'party'>) => ({
  person: principal!.person,
  by: party.by,
})

const listReportViews = operation({
  ...ofPeople,
  id: 'listReportViews',
  method: 'GET',
  path: '/report-views',
  summary: 'List saved views',
  description: 'Your own views of reports and those that others share, newest first.',
  query: paging('Views'),
  answer: several('A page of views.', ReportViewList, EXAMPLE),
  run: ({ reportViews }: Needs, call) => reportViews.listViews(askingOf(call).person, readListPage(call.query)),
})

const createReportView = operation({
  ...ofPeople,
  id: 'createReportView',
  method: 'POST',
  path: '/report-views',
  summary: 'Save a view',
  description:
    'Saves the question of a report under a name. A view contains no figures: whoever opens a shared one sees what they may see themselves.',
  body: NewReportView,
  example: { name, parameters, shared },
  answer: { ...VIEW, status: 201, isAddressed: false, description: 'The view was saved.' },
  run: ({ reportViews }: Needs, call) => reportViews.createView(call.body, askingOf(call)),
})

const changeReportView = operation({
  ...ofPeople,
  id: 'changeReportView',
  method: 'PATCH',
  path: '/report-views/:id',
  params,
  summary: 'Change a saved view',
  description: 'Renames, updates, shares or pins a view. Only its owner can do this.',
  body: ReportViewChange,
  example: { name: 'Cost by client, last month' },
  answer: VIEW,
  run: ({ reportViews }: Needs, call) => reportViews.changeView(call.params.id, call.body, askingOf(call)),
})

const removeReportView = operation({
  ...ofPeople,
  id: 'removeReportView',
  method: 'DELETE',
  path: '/report-views/:id',
  params,
  summary: 'Delete a saved view',
  description: 'Its owner can do this, and admins if it is shared.',
  answer: { status: 204, description: 'The view was deleted.' },
  run: ({ reportViews }: Needs, call) => reportViews.removeView(call.params.id, askingOf(call)),
})

export const reportViewOperations = [listReportViews, createReportView, changeReportView, removeReportView] as const
