import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { parameter } from '../../../operations/parameters.ts'
import { BUCKET_WIDTHS } from '../buckets.ts'
import { cacheColumns, cacheLines } from '../csv.ts'
import { EXAMPLE_CACHE } from '../examples.ts'
import { undividedReport } from '../parameters.ts'
import { CACHE_DIMENSIONS, PAGE_BUCKETS } from '../query.ts'
import { CacheReport } from '../schema.ts'
import type { ReportsService } from '../service.ts'

const CacheQuery = t.Object(
  {
    ...undividedReport(),
    bucket_width: parameter({
      type: 'string',
      enum: [...BUCKET_WIDTHS],
      description: `Default: \`all\`. At most ${PAGE_BUCKETS.toLocaleString('en')} buckets.`,
    }),
    group_by: parameter({ type: 'string', enum: [...CACHE_DIMENSIONS], description: 'What to group by.' }),
  },
  { additionalProperties: false },
)

export const cacheRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'cache', normalize: false }).use(access()).get(
    '/cache',
    async ({ query, caller, request }) => {
      const asked = await reports.readCache(query, askerOf(caller))
      const report = await reports.cache(viewerOf(caller), asked)
      if (!wantsCsv(request, asked.format)) return report
      return csvResponse(cacheLines(report), cacheColumns(asked.groupBy), 'cache.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: CacheQuery,
      detail: documented({
        id: 'reportCache',
        tag: 'Reports',
        summary: 'Report cache use and savings',
        description:
          'Covers the same entries as usage reports. The amounts are calculated from the standard prices that are in effect when a session starts: `saved` is what the tokens read from and written to caches would have cost as uncached input, minus what they cost as cached tokens. Prices of long requests, service tiers and hours of the day are not considered. It is independent of reported costs.',
        responses: {
          200: {
            description: 'The report.',
            schema: CacheReport,
            example: EXAMPLE_CACHE,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
