import { csvResponse, fileFormat, ndjsonResponse } from '../../../http/csv.ts'
import { EXPORT_CONTENT } from '../../../http/documentation.ts'
import { endpoint, several } from '../../../operations/operation.ts'
import {
  choiceParameter,
  listPage,
  listParameter,
  momentParameter,
  textParameter,
} from '../../../operations/parameters.ts'
import { AUDIT_FORMATS, readAuditQuery } from '../query.ts'
import { AUDIT_COLUMNS, AuditTrail, changeBody, EXAMPLE_CHANGE } from '../schema.ts'
import type { AuditService, AuditView } from '../service.ts'

interface Needs {
  audit: AuditService
  /** Of later features. */
  people: { requireKnown(values: readonly string[] | undefined, pointer: string): Promise<void> }
  organization: { settings(): { timeZone: string } | Promise<{ timeZone: string }> }
}

/** Intentionally the only one: nothing that was recorded can be changed or removed. */
export const listChanges = endpoint({
  id: 'listChanges',
  tag: 'Organization',
  method: 'GET',
  path: '/audit',
  summary: 'List audit log entries',
  description:
    'Every change made by a person, a token or the command line, newest first: who made it, when, from where, and the values before and after. Different filters must all match. Reported entries are not included; they have a history of their own.',
  allow: { session: ['admin'] },
  scope: 'audit:read',
  query: {
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
    search: textParameter('Text to search for in the action, the object, the origin and the changed values.'),
    ...listPage('Changes'),
    format: choiceParameter(
      AUDIT_FORMATS,
      '`csv` and `ndjson` export all changes that match the filters, regardless of `limit` and `page`; `Accept: text/csv` and `Accept: application/x-ndjson` do the same.',
    ),
  },
  answer: { ...several('A page of audit log entries.', AuditTrail, EXAMPLE_CHANGE), also: EXPORT_CONTENT },
  problems: ['database_deadline'],
  run: async ({ audit, organization, people }: Needs, { query, served }) => {
    const requested = readAuditQuery(query, (await organization.settings()).timeZone)
    await people.requireKnown(requested.filter.users, '/query/user')
    const format = fileFormat(served.request, requested.format)
    const changes = () => bodiesOf(audit.everyChange(requested.filter))
    if (format === 'csv') return csvResponse(changes(), AUDIT_COLUMNS, 'audit.csv')
    if (format === 'ndjson') return ndjsonResponse(changes(), 'audit.ndjson')
    const page = await audit.listChanges(requested)
    return { ...page, data: page.data.map(changeBody) }
  },
})

async function* bodiesOf(changes: AsyncIterable<AuditView>) {
  for await (const change of changes) yield changeBody(change)
}
