import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { listPage } from '../../../operations/parameters.ts'
import { entryFilters } from '../../selection/parameters.ts'
import type { ReportsService } from '../service.ts'
import { UNATTRIBUTED_COLUMNS } from '../unattributed.ts'
import { EXAMPLE_UNATTRIBUTED, UnattributedReport } from '../unattributed-schema.ts'

const UnattributedQuery = t.Object({ ...entryFilters(), ...listPage('Groups') }, { additionalProperties: false })

export const unattributedRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'unattributed', normalize: false }).use(access()).get(
    '/unattributed',
    async ({ query, caller, request }) => {
      const viewer = viewerOf(caller)
      const asked = await reports.readUnattributed(query, askerOf(caller))
      if (!wantsCsv(request, asked.format)) return reports.unattributed(viewer, asked)
      return csvResponse(reports.exportUnattributed(viewer, asked), UNATTRIBUTED_COLUMNS, 'unattributed.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: UnattributedQuery,
      detail: documented({
        id: 'reportUnattributed',
        tag: 'Reports',
        summary: 'Report unattributed entries in groups',
        description:
          'Groups entries by repository if the agent reported one, otherwise by person, harness and agent, highest cost first. `list` is the path of the list of a group’s entries; `POST /token-entries/actions` with the same filters places them. `rule` is a suggested placement rule for the group.',
        responses: {
          200: {
            description: 'A page of groups.',
            schema: UnattributedReport,
            example: EXAMPLE_UNATTRIBUTED,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
