/** The parameters that say which entries a list, a report or an action is about. */
import { PLACED_FILTERS, SOURCES, STATUSES } from '../features/entries/service.ts'
import { listParameter, parameter } from './query.ts'

export const entryFilters = () => ({
  starting_at: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Sessions that started at or after this moment; a date is its first moment in UTC.',
  }),
  ending_at: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Sessions that started before this moment; a date is its first moment in UTC.',
  }),
  ended_after: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Sessions that ended behind this moment; with `ending_at` those that went on behind it.',
  }),
  project: listParameter('Id, key, name or alias of a project; `none` for entries on no project.'),
  ticket: listParameter('Id or key of a ticket.'),
  client: listParameter('Id or name of a client; `none` for entries on a project without one.'),
  billable: parameter({
    type: 'boolean',
    description: 'Whether bills take the project of the entry; true without one.',
  }),
  agent_manager: listParameter('Id or e-mail address of a person.'),
  agent_name: listParameter('Name of an agent.'),
  agent_harness: listParameter('Name of a harness.'),
  model: listParameter('Name of a model as it was reported.'),
  provider: listParameter('Who sold the model, as it was reported; `none` where nobody is named.'),
  status: listParameter('Status.', { type: 'string', enum: [...STATUSES] }),
  source: listParameter('What supplied the figures.', { type: 'string', enum: [...SOURCES] }),
  session_id: listParameter('The harness’s id of a session.'),
  label: listParameter('`name:value`, such as `repository:acme/web`. Values of one name mean any, names all.'),
  without_label: listParameter('Name of a label that the entry does not have.'),
  placed: listParameter('What placed the entry; `none` for unattributed ones.', {
    type: 'string',
    enum: [...PLACED_FILTERS],
  }),
  priced: parameter({ type: 'boolean', description: 'Whether the cost is known.' }),
  sheet: listParameter('Id of a token sheet.'),
  possible_duplicate: parameter({
    type: 'boolean',
    description: "Whether an earlier entry says exactly the same, or another person's session has the same id.",
  }),
  superseded: parameter({
    type: 'boolean',
    description: 'Whether another source supplies the session now, so that the figures are 0.',
  }),
  bill: listParameter('Id or number of a bill; `none` for entries on no bill.'),
  q: parameter({ type: 'string', description: 'A text that the summary contains, whatever the case.' }),
})
