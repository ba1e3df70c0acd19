/** What somebody with the role viewer reads. Nothing else names their role, but their own account. */
import { Elysia, t } from 'elysia'
import { access, requireCaller } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { bytesResponse } from '../../../http/exports.ts'
import { listPage, listParameter, parameter } from '../../../operations/parameters.ts'
import { reportPeriod } from '../../reports/parameters.ts'
import { BUCKET_WIDTHS, WEEKDAYS } from '../../reports/schema.ts'
import { sharedUsageColumns, sharedUsageLines } from '../csv.ts'
import { EXAMPLE_SHARED, EXAMPLE_SHARED_BILL, EXAMPLE_SHARED_USAGE } from '../examples.ts'
import { readFormat, SHARED_DIMENSIONS } from '../query.ts'
import { Shared, SharedBill, SharedBillList, SharedUsage } from '../schema.ts'
import type { ViewersService } from '../service.ts'

const tag = 'Viewers'
const path = { id: 'Id (bil_…) or number of the bill.' }

const guard = { allow: { session: ['viewer'] }, scope: 'people-only' } as const

const UsageQuery = t.Object(
  {
    ...reportPeriod(),
    bucket_width: parameter({
      type: 'string',
      enum: [...BUCKET_WIDTHS],
      description: 'Default: `1d`. `1q` is a quarter, `1y` a year, `all` a single bucket. At most 1,000 buckets.',
    }),
    week_start: parameter({
      type: 'string',
      enum: [...WEEKDAYS],
      description: 'First day of the weeks of `1w`. Default: that of the organization.',
    }),
    group_by: listParameter(`Up to two of ${SHARED_DIMENSIONS.map((name) => `\`${name}\``).join(', ')}.`),
    client: listParameter('Id or name of a client that you see.'),
    project: listParameter('Id, key or name of a project that you see.'),
    format: parameter({ type: 'string', enum: ['json', 'csv'], description: '`Accept: text/csv` does the same.' }),
  },
  { additionalProperties: false },
)

const { format: _, ...page } = listPage('Bills')
const BillsQuery = t.Object(page, { additionalProperties: false })

export const sharedRoutes = ({ viewers }: { viewers: ViewersService }) => {
  const document = (format: 'pdf' | 'html') =>
    async function answer({ params, caller }: { params: { id: string }; caller: Parameters<typeof requireCaller>[0] }) {
      const rendered = await viewers.renderBill(requireCaller(caller).person, params.id, format)
      const { bytes, contentType, fileName, policy } = rendered
      return bytesResponse(bytes, {
        'content-type': contentType,
        'content-disposition': `inline; filename="${fileName}"`,
        ...(policy !== undefined && { 'content-security-policy': policy }),
      })
    }

  return new Elysia({ name: 'shared', normalize: false })
    .use(access())
    .get('', ({ caller }) => viewers.shared(requireCaller(caller).person), {
      ...guard,
      detail: documented({
        id: 'getShared',
        tag,
        summary: 'Get what is shared with you',
        responses: {
          200: { description: 'The clients and projects that you see.', schema: Shared, example: EXAMPLE_SHARED },
        },
      }),
    })
    .get(
      '/usage',
      async ({ caller, query, request }) => {
        const { format, ...asked } = query
        const isCsv = wantsCsv(request, readFormat({ format }))
        const usage = await viewers.usage(requireCaller(caller).person, asked)
        if (!isCsv) return usage
        return csvResponse(sharedUsageLines(usage), sharedUsageColumns(usage.group_by), 'usage.csv')
      },
      {
        ...guard,
        query: UsageQuery,
        detail: documented({
          id: 'reportSharedUsage',
          tag,
          summary: 'Report the usage that is shared with you',
          description:
            'Covers the entries of the projects that you see, as in `GET /reports/usage`. Each row and the totals have the money that the grants of their projects allow, and `cost_entries` and `amount_entries` say how many entries it covers: of the others, the money is not shared, not known, or they are not billed yet. People are named only for projects whose people are shared.',
          responses: {
            200: {
              description: 'The usage.',
              schema: SharedUsage,
              example: EXAMPLE_SHARED_USAGE,
              also: CSV_CONTENT,
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .get('/bills', ({ caller, query }) => viewers.listBills(requireCaller(caller).person, query), {
      ...guard,
      query: BillsQuery,
      detail: documented({
        id: 'listSharedBills',
        tag,
        summary: 'List the bills that are shared with you',
        responses: {
          200: {
            description: 'A page of bills.',
            schema: SharedBillList,
            example: { data: [EXAMPLE_SHARED_BILL], has_more: false, next_page: null },
          },
        },
      }),
    })
    .get('/bills/:id', ({ caller, params }) => viewers.getBill(requireCaller(caller).person, params.id), {
      ...guard,
      detail: documented({
        id: 'getSharedBill',
        tag,
        summary: 'Get a bill that is shared with you',
        path,
        responses: { 200: { description: 'The bill.', schema: SharedBill, example: EXAMPLE_SHARED_BILL } },
      }),
    })
    .get('/bills/:id/pdf', document('pdf'), {
      ...guard,
      detail: documented({
        id: 'getSharedBillPdf',
        tag,
        summary: 'Get a bill that is shared with you as PDF',
        description: 'As it was sent.',
        path,
        responses: { 200: { description: 'The document.', also: { 'application/pdf': { schema: t.String() } } } },
      }),
    })
    .get('/bills/:id/html', document('html'), {
      ...guard,
      detail: documented({
        id: 'getSharedBillHtml',
        tag,
        summary: 'Get a bill that is shared with you as HTML',
        description: 'As it was sent.',
        path,
        responses: { 200: { description: 'The document.', also: { 'text/html': { schema: t.String() } } } },
      }),
    })
}
