import { Elysia, t } from 'elysia'
import { access } from '../../http/access.ts'
import { csvResponse, wantsCsv } from '../../http/csv.ts'
import { documented } from '../../http/documentation.ts'
import { listPage, listParameter, momentParameter, parameter } from '../../http/query.ts'
import { readAuditQuery } from './query.ts'
import { AUDIT_COLUMNS, AuditTrail, changeBody, EXAMPLE_CHANGE } from './schema.ts'
import type { AuditService, AuditView } from './service.ts'

const AuditParameters = t.Object(
  {
    object: listParameter('The object that was changed: its id, or its name at the time.'),
    user: listParameter('The person who made the change, or for whom a deputy made it: id or e-mail address.'),
    action: listParameter('The action, or the part before its dot, such as `token`.'),
    without_action: listParameter(
      'Actions to exclude, in the same form as `action`; for example, `session` excludes sign-ins.',
    ),
    starting_at: momentParameter('At or after this time.'),
    ending_at: momentParameter('Before this time.'),
    search: parameter({
      type: 'string',
      description: 'Text to search for in the action, the object, the origin and the changed values.',
    }),
    ...listPage('Changes'),
  },
  { additionalProperties: false },
)

interface AuditDependencies {
  audit: AuditService
  people: { requireKnown(values: readonly string[] | undefined, pointer: string): Promise<void> }
  organization: { settings(): { timeZone: string } | Promise<{ timeZone: string }> }
}

/** Intentionally only GET: nothing that was recorded can be changed or removed. */
export const auditRoutes = ({ audit, organization, people }: AuditDependencies) =>
  new Elysia({ name: 'audit', normalize: false }).use(access()).get(
    '',
    async ({ query, request }) => {
      const asked = readAuditQuery(query, (await organization.settings()).timeZone)
      await people.requireKnown(asked.filter.users, '/query/user')
      if (wantsCsv(request, asked.format)) {
        return csvResponse(bodiesOf(audit.everyChange(asked.filter)), AUDIT_COLUMNS, 'audit.csv')
      }
      const page = await audit.listChanges(asked)
      return { ...page, data: page.data.map(changeBody) }
    },
    {
      allow: { session: ['admin'] },
      scope: 'audit:read',
      query: AuditParameters,
      detail: documented({
        id: 'listChanges',
        tag: 'Organization',
        summary: 'List audit log entries',
        description:
          'Every change made by a person, a token or the command line, newest first: who made it, when, from where, and the values before and after. Different filters must all match. Reported entries are not included; they have a history of their own.',
        responses: {
          200: {
            description: 'A page of audit log entries.',
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
