import { Elysia, t } from 'elysia'
import { access } from '../../http/access.ts'
import { csvResponse, fileFormat, ndjsonResponse } from '../../http/csv.ts'
import { documented, EXPORT_CONTENT } from '../../http/documentation.ts'
import { listPage, listParameter, momentParameter, parameter } from '../../operations/parameters.ts'
import { AUDIT_FORMATS, readAuditQuery } from './query.ts'
import { AUDIT_COLUMNS, AuditTrail, changeBody, EXAMPLE_CHANGE } from './schema.ts'
import type { AuditService, AuditView } from './service.ts'

const AuditParameters = t.Object(
  {
    object: listParameter(
      'The object: its id, or its name at the time. Also finds changes of other objects that refer to it, such as a project that was merged into it, or a ticket or entries that were moved to it.',
    ),
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
    format: parameter({
      type: 'string',
      enum: [...AUDIT_FORMATS],
      description:
        '`csv` and `ndjson` export all changes that match the filters, regardless of `limit` and `page`; `Accept: text/csv` and `Accept: application/x-ndjson` do the same.',
    }),
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
      const format = fileFormat(request, asked.format)
      const changes = () => bodiesOf(audit.everyChange(asked.filter))
      if (format === 'csv') return csvResponse(changes(), AUDIT_COLUMNS, 'audit.csv')
      if (format === 'ndjson') return ndjsonResponse(changes(), 'audit.ndjson')
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
            also: EXPORT_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )

async function* bodiesOf(changes: AsyncIterable<AuditView>) {
  for await (const change of changes) yield changeBody(change)
}
