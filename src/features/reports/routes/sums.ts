import { Elysia } from 'elysia'
import { access } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { EXAMPLE_SUMS_PROGRESS } from '../examples.ts'
import { SumsProgress } from '../schema.ts'
import type { ReportsService } from '../service.ts'

export const sumsRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'sums', prefix: '/api/v1/reports', normalize: false })
    .use(access())
    .get('/sums', () => reports.progress(), {
      allow: ['read', 'session'],
      detail: documented({
        id: 'readSumsProgress',
        tag: 'Reports',
        summary: 'Read how far the sums of days are made',
        description:
          'Reports take whole days from sums that are kept, and make those again after changes and where the organization has changed its time zone. Until a day is made they read its entries: they are exact, but slower.',
        responses: { 200: { description: 'How far they are.', schema: SumsProgress, example: EXAMPLE_SUMS_PROGRESS } },
      }),
    })
