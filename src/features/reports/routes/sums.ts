import { Elysia } from 'elysia'
import { access, viewerOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { EXAMPLE_SUMS_PROGRESS } from '../examples.ts'
import { SumsProgress } from '../schema.ts'
import type { ReportsService } from '../service.ts'

export const sumsRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'sums', normalize: false })
    .use(access())
    .get('/sums', ({ caller }) => reports.progressFor(viewerOf(caller)), {
      allow: ['read', 'session'],
      scope: 'entries:read',
      detail: documented({
        id: 'readSumsProgress',
        tag: 'Reports',
        summary: 'Get the progress of the totals for reports',
        description:
          'Reports and lists read whole days and months from prepared totals, which are built again after changes and when the organization changes its time zone. Until those of a day are ready, reports read its entries: the results are exact, but slower.',
        responses: { 200: { description: 'The progress.', schema: SumsProgress, example: EXAMPLE_SUMS_PROGRESS } },
      }),
    })
