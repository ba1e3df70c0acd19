/** What somebody with the role viewer reads. Nothing else names their role, but their own account. */
import { Type } from '@sinclair/typebox'
import { requireCaller } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT } from '../../../http/documentation.ts'
import { bytesResponse } from '../../../http/exports.ts'
import { endpoint, result, type Served, several } from '../../../operations/operation.ts'
import { choiceParameter, flagParameter, listPage, listParameter } from '../../../operations/parameters.ts'
import { reportPeriod } from '../../reports/parameters.ts'
import { BUCKET_WIDTHS, WEEKDAYS } from '../../reports/schema.ts'
import { sharedUsageColumns, sharedUsageLines } from '../csv.ts'
import { EXAMPLE_SHARED, EXAMPLE_SHARED_BILL, EXAMPLE_SHARED_USAGE } from '../examples.ts'
import { readFormat, SHARED_DIMENSIONS } from '../query.ts'
import { Shared, SharedBill, SharedBillList, SharedUsage } from '../schema.ts'
import type { ViewersService } from '../service.ts'

interface Needs {
  viewers: ViewersService
}

const READING = { tag: 'Viewers', method: 'GET', allow: { session: ['viewer'] }, scope: 'people-only' } as const

const params = { id: 'Id (bil_…) or number of the bill.' }

const { format: _, ...billsPage } = listPage('Bills')

const personOf = ({ caller }: Served) => requireCaller(caller).person

const getShared = endpoint({
  ...READING,
  id: 'getShared',
  path: '/shared',
  summary: 'Get what is shared with you',
  answer: result('The clients and projects that you see.', Shared, EXAMPLE_SHARED),
  run: ({ viewers }: Needs, { served }) => viewers.shared(personOf(served)),
})

const reportSharedUsage = endpoint({
  ...READING,
  id: 'reportSharedUsage',
  path: '/shared/usage',
  summary: 'Report the usage that is shared with you',
  description:
    'Covers the entries of the projects that you see, as in `GET /reports/usage`. Each row and the totals have the money that the grants of their projects allow, and `cost_entries` and `amount_entries` say how many entries it covers: of the others, the money is not shared, not known, or they are not billed yet. People are named only for projects whose people are shared.',
  query: {
    ...reportPeriod(),
    bucket_width: choiceParameter(
      BUCKET_WIDTHS,
      'Default: `1d`. `1q` is a quarter, `1y` a year, `all` a single bucket. At most 1,000 buckets.',
    ),
    week_start: choiceParameter(WEEKDAYS, 'First day of the weeks of `1w`. Default: that of the organization.'),
    group_by: listParameter(`Up to two of ${SHARED_DIMENSIONS.map((name) => `\`${name}\``).join(', ')}.`),
    fill_gaps: flagParameter('Also return buckets without entries.'),
    client: listParameter('Id or name of a client that you see.'),
    project: listParameter('Id, key or name of a project that you see.'),
    billed: flagParameter(
      'Only entries that are billed, or that are not, of the projects whose billed amounts you see.',
    ),
    format: choiceParameter(['json', 'csv'], '`Accept: text/csv` does the same.'),
  },
  answer: result('The usage.', SharedUsage, EXAMPLE_SHARED_USAGE, { also: CSV_CONTENT }),
  problems: ['database_deadline'],
  run: async ({ viewers }: Needs, { query: { format, ...asked }, served }) => {
    const isCsv = wantsCsv(served.request, readFormat({ format }))
    const usage = await viewers.usage(personOf(served), asked)
    if (!isCsv) return usage
    return csvResponse(sharedUsageLines(usage), sharedUsageColumns(usage.group_by), 'usage.csv')
  },
})

const listSharedBills = endpoint({
  ...READING,
  id: 'listSharedBills',
  path: '/shared/bills',
  summary: 'List the bills that are shared with you',
  query: billsPage,
  answer: several('A page of bills.', SharedBillList, EXAMPLE_SHARED_BILL),
  run: ({ viewers }: Needs, { query, served }) => viewers.listBills(personOf(served), query),
})

const getSharedBill = endpoint({
  ...READING,
  id: 'getSharedBill',
  path: '/shared/bills/:id',
  params,
  summary: 'Get a bill that is shared with you',
  answer: result('The bill.', SharedBill, EXAMPLE_SHARED_BILL),
  run: ({ viewers }: Needs, { params, served }) => viewers.getBill(personOf(served), params.id),
})

/** What the operations of both documents have in common. */
const document = (format: 'pdf' | 'html', type: string) =>
  ({
    ...READING,
    params,
    description: 'As it was sent.',
    answer: { status: 200, description: 'The document.', also: { [type]: { schema: Type.String() } } },
    async run({ viewers }: Needs, call: { params: { id: string }; served: Served }): Promise<Response> {
      const rendered = await viewers.renderBill(personOf(call.served), call.params.id, format)
      const { bytes, contentType, fileName, policy } = rendered
      return bytesResponse(bytes, {
        'content-type': contentType,
        'content-disposition': `inline; filename="${fileName}"`,
        ...(policy !== undefined && { 'content-security-policy': policy }),
      })
    },
  }) as const

const getSharedBillPdf = endpoint({
  ...document('pdf', 'application/pdf'),
  id: 'getSharedBillPdf',
  path: '/shared/bills/:id/pdf',
  summary: 'Get a bill that is shared with you as PDF',
})

const getSharedBillHtml = endpoint({
  ...document('html', 'text/html'),
  id: 'getSharedBillHtml',
  path: '/shared/bills/:id/html',
  summary: 'Get a bill that is shared with you as HTML',
})

export const sharedOperations = [
  getShared,
  reportSharedUsage,
  listSharedBills,
  getSharedBill,
  getSharedBillPdf,
  getSharedBillHtml,
] as const
