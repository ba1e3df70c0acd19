import { Elysia, t } from 'elysia'
import { access, approvalViewerOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { EXAMPLE_APPROVALS } from '../examples.ts'
import { moments } from '../parameters.ts'
import { Approvals } from '../schema.ts'
import type { SheetsService } from '../service.ts'

export const approvalsRoute = ({ sheets }: { sheets: SheetsService }) =>
  new Elysia({ name: 'approvals', normalize: false }).use(access()).get(
    '',
    async ({ query, caller }) => {
      const { person } = requireCaller(caller)
      return sheets.listApprovals(await sheets.readApprovals(query), { person, viewer: approvalViewerOf(caller) })
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: t.Object(moments, { additionalProperties: false }),
      detail: documented({
        id: 'listApprovals',
        tag: 'Approval',
        summary: 'List pending approvals',
        description: 'Token sheets and reported entries that the caller can approve, with totals.',
        responses: { 200: { description: 'The pending approvals.', schema: Approvals, example: EXAMPLE_APPROVALS } },
        problems: ['database_deadline'],
      }),
    },
  )
