import { Elysia, t } from 'elysia'
import { access, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { documented } from '../../../http/documented.ts'
import { entryFilters } from '../../../http/entry-filters.ts'
import { listPage } from '../../../http/query.ts'
import type { ReportsService } from '../service.ts'
import { readUnattributed, UNATTRIBUTED_COLUMNS } from '../unattributed.ts'
import { EXAMPLE_UNATTRIBUTED, UnattributedReport } from '../unattributed-schema.ts'

const UnattributedQuery = t.Object({ ...entryFilters(), ...listPage('Groups') }, { additionalProperties: false })

export const unattributedRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'unattributed', prefix: '/api/v1/reports', normalize: false }).use(access()).get(
    '/unattributed',
    async ({ query, caller, request }) => {
      const viewer = viewerOf(caller)
      const asked = readUnattributed(query)
      if (!wantsCsv(request, asked.format)) return reports.unattributed(viewer, asked)
      return csvResponse(reports.exportUnattributed(viewer, asked), UNATTRIBUTED_COLUMNS, 'unattributed.csv')
    },
    {
      allow: ['read', 'session'],
      query: UnattributedQuery,
      detail: documented({
        id: 'reportUnattributed',
        tag: 'Reports',
        summary: 'Report entries that nothing placed, by what they have in common',
        description:
          'By repository where the agent told one, else by person, harness and agent; the most money first. `list` are exactly the entries of a group: `POST /token-entries/actions` with the same filters places them. `rule` is what a placement rule for the group would say.',
        responses: {
          200: {
            description: 'A page of groups.',
            schema: UnattributedReport,
            example: EXAMPLE_UNATTRIBUTED,
            also: { 'text/csv': { schema: t.String() } },
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
