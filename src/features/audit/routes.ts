import { Elysia, t } from 'elysia'
import { access } from '../../http/access.ts'
import { csvResponse, wantsCsv } from '../../http/csv.ts'
import { documented } from '../../http/documented.ts'
import { listPage, listParameter, parameter } from '../../http/query.ts'
import { readAuditQuery } from './query.ts'
import { AUDIT_COLUMNS, AuditTrail, changeBody, EXAMPLE_CHANGE } from './schema.ts'
import type { AuditService, AuditView } from './service.ts'

const AuditParameters = t.Object(
  {
    object: listParameter('What was changed: its id, or its name at the time.'),
    user: listParameter('Who did it, by id or e-mail address.'),
    action: listParameter('What happened: an action, or what comes before its point, such as `token`.'),
    without_action: listParameter('Not what happened: as `action`, such as `session` for everything but sign-ins.'),
    starting_at: parameter({ type: 'string', description: 'From this date or timestamp on.' }),
    ending_at: parameter({ type: 'string', description: 'Before this date or timestamp.' }),
    search: parameter({
      type: 'string',
      description: 'A text that the action, the object, the origin or what changed contains.',
    }),
    ...listPage('Changes'),
  },
  { additionalProperties: false },
)

/** Intentionally only GET: nothing that was recorded can be changed or removed. */
export const auditRoutes = ({ audit }: { audit: AuditService }) =>
  new Elysia({ name: 'audit', prefix: '/api/v1/audit', normalize: false }).use(access()).get(
    '',
    async ({ query, request }) => {
      const asked = readAuditQuery(query)
      if (wantsCsv(request, asked.format)) {
        return csvResponse(bodiesOf(audit.everyChange(asked.filter)), AUDIT_COLUMNS, 'audit.csv')
      }
      const page = await audit.listChanges(asked)
      return { ...page, data: page.data.map(changeBody) }
    },
    {
      allow: { session: ['admin'] },
      query: AuditParameters,
      detail: documented({
        id: 'listChanges',
        tag: 'Organization',
        summary: 'Read who changed what',
        description:
          'Every change by a person, a token or the command line, the newest first: who, when, from where, what before and after. Filters of different names must all hold. What entries report is not in it: they have a history of their own.',
        responses: {
          200: {
            description: 'A page of changes.',
            schema: AuditTrail,
            example: { data: [EXAMPLE_CHANGE], has_more: false, next_page: null },
            also: { 'text/csv': { schema: t.String() } },
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )

async function* bodiesOf(changes: AsyncIterable<AuditView>) {
  for await (const change of changes) yield changeBody(change)
}
