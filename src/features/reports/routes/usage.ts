import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { versioned } from '../../../http/entity-tags.ts'
import { serialized } from '../../../lib/serialized.ts'
import { listPage, listParameter, parameter } from '../../../operations/parameters.ts'
import { entryFilters } from '../../selection/parameters.ts'
import { BUCKET_WIDTHS, WEEKDAYS } from '../buckets.ts'
import { usageColumns, usageLines } from '../csv.ts'
import { EXAMPLE_USAGE } from '../examples.ts'
import { EXTRA_FIGURES } from '../extra-figures.ts'
import { reportPeriod } from '../parameters.ts'
import { BUCKET_LIMIT, PAGE_BUCKETS } from '../query.ts'
import { UsageReport } from '../schema.ts'
import type { ReportsService } from '../service.ts'
import { DIMENSIONS } from '../sums.ts'

const UsageQuery = t.Object(
  {
    ...entryFilters(),
    ...reportPeriod(),
    bucket_width: parameter({
      type: 'string',
      enum: [...BUCKET_WIDTHS],
      description: `Default: \`1d\`. \`1q\` is a quarter, \`1y\` a year, \`all\` a single bucket. At most ${BUCKET_LIMIT.toLocaleString('en')} buckets.`,
    }),
    week_start: parameter({
      type: 'string',
      enum: [...WEEKDAYS],
      description: 'First day of the weeks of `1w`. Default: that of the organization.',
    }),
    group_by: listParameter(`Up to three of ${DIMENSIONS.map((name) => `\`${name}\``).join(', ')}, \`label:<name>\`.`),
    include: listParameter(
      `Further figures, which take longer to calculate: ${EXTRA_FIGURES.map((name) => `\`${name}\``).join(', ')}. \`sessions\` reads every entry of the period.`,
    ),
    fill_gaps: parameter({ type: 'boolean', description: 'Also return buckets without entries.' }),
    ...listPage('Number of buckets that a page covers, with or without entries:', {
      usual: PAGE_BUCKETS,
      most: PAGE_BUCKETS,
    }),
  },
  { additionalProperties: false },
)

export const usageRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'usage', normalize: false }).use(access()).get(
    '/usage',
    async ({ query, caller, request, set }) => {
      const viewer = viewerOf(caller)
      const asked = await reports.readUsage(query, askerOf(caller))
      if (!wantsCsv(request, asked.format)) {
        const version = await reports.version(viewer, asked)
        return versioned({ request, caller, set }, version, async () =>
          serialized<UsageReport>(await reports.usageJson(viewer, asked)),
        )
      }
      return csvResponse(
        usageLines(reports.exportUsage(viewer, asked)),
        usageColumns(asked.dimensions, asked.include),
        'usage.csv',
      )
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: UsageQuery,
      detail: documented({
        id: 'reportUsage',
        tag: 'Reports',
        summary: 'Report tokens and cost over time',
        description:
          'Covers the entries visible to the signed-in person or the token’s creator. An entry belongs to the time its session started. Buckets are hours, days, weeks, months, quarters or years in the time zone; the first and last bucket are cut at the bounds of the period. Draft and pending entries on token sheets are excluded unless selected with `status`. Amounts cover priced entries only; `unpriced_entries` is the number of entries they exclude.',
        responses: {
          200: {
            description: 'A page of buckets.',
            schema: UsageReport,
            example: EXAMPLE_USAGE,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
