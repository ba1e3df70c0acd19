/** Filter parameters that select entries for lists, reports and bulk actions. */

import { SOURCES, STATUSES } from '../../../database/schema/values.ts'
import { listParameter, parameter } from '../../../http/query.ts'
import { PLACED_FILTERS } from './filter.ts'

export const entryFilters = () => ({
  starting_at: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Sessions that started at or after this time. A date means 00:00 UTC.',
  }),
  ending_at: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Sessions that started before this time. A date means 00:00 UTC.',
  }),
  ended_after: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Sessions that ended after this time; together with `ending_at`, sessions that ran past it.',
  }),
  project: listParameter('Id, key, name or alias of a project; `none` for entries without a project.'),
  ticket: listParameter('Id or key of a ticket.'),
  client: listParameter('Id or name of a client; `none` for entries whose project has no client.'),
  billable: parameter({
    type: 'boolean',
    description: 'Whether the entry’s project is billable; true for entries without a project.',
  }),
  agent_manager: listParameter('Id or e-mail address of a person.'),
  agent_name: listParameter('Name of an agent.'),
  agent_harness: listParameter('Name of a harness.'),
  model: listParameter('Name of a model, as reported.'),
  provider: listParameter('Provider of the model, as reported; `none` for entries without a provider.'),
  status: listParameter('Status.', { type: 'string', enum: [...STATUSES] }),
  source: listParameter('Source of the token counts.', { type: 'string', enum: [...SOURCES] }),
  session_id: listParameter('Id of a session, as assigned by the harness.'),
  label: listParameter(
    '`name:value`, such as `repository:acme/web`. Values of the same name are alternatives; different names must all match.',
  ),
  without_label: listParameter('Name of a label that the entry does not have.'),
  placed: listParameter('How the entry was placed; `none` for unattributed entries.', {
    type: 'string',
    enum: [...PLACED_FILTERS],
  }),
  priced: parameter({ type: 'boolean', description: 'Whether the cost is known.' }),
  sheet: listParameter('Id of a token sheet.'),
  possible_duplicate: parameter({
    type: 'boolean',
    description: "Whether the entry is identical to an earlier one, or another person's session has the same id.",
  }),
  superseded: parameter({
    type: 'boolean',
    description: 'Whether another source now supplies the session, so that the entry’s counts are 0.',
  }),
  bill: listParameter('Id or number of a bill; `none` for unbilled entries.'),
  q: parameter({ type: 'string', description: 'Text to search for in the summary, ignoring case.' }),
})
