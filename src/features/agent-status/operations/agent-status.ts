import { operation, result, several } from '../../../operations/operation.ts'
import { listParameter, paging, parameter, textParameter } from '../../../operations/parameters.ts'
import { Query } from '../../../schema/query.ts'
import type { PeopleService } from '../../people/service.ts'
import { EXAMPLE_AGENT_STATUS, EXAMPLE_LIMITS, EXAMPLE_REPORT } from '../examples.ts'
import { AgentStatusList, AgentStatusReport, LimitsReport } from '../schema.ts'
import type { AgentStatusService } from '../service.ts'

interface Needs {
  people: Pick<PeopleService, 'requireKnown'>
  agentStatus: Pick<AgentStatusService, 'report' | 'list' | 'limits' | 'readLimitsQuery'>
}

export const listAgentStatus = operation({
  id: 'listAgentStatus',
  tag: 'Agents',
  method: 'GET',
  path: '/agent-status',
  summary: 'List the status of agents',
  description:
    'What the agents on your machines recorded and Tally could not read, and therefore did not count; those of everyone if you are an admin. Machines that have not reported for 90 days are forgotten.',
  allow: ['session'],
  scope: 'people-only',
  query: {
    user: listParameter('Whose machines: id or e-mail address.'),
    reads_all: parameter({
      type: 'boolean',
      description: 'Whether everything could be read; all agents without it.',
    }),
    ...paging('Agents'),
  },
  answer: several('A page of agents.', AgentStatusList, EXAMPLE_AGENT_STATUS),
  run: async ({ agentStatus, people }: Needs, { party, asker, query: texts }) => {
    const query = new Query(texts)
    const filter = { users: query.list('user'), readsAll: query.flag('reads_all') }
    const page = query.listPage()
    query.finish()
    if (asker.listsPeople) await people.requireKnown(filter.users, '/query/user')
    return agentStatus.list(party, filter, page)
  },
})

const reportAgentStatus = operation({
  id: 'reportAgentStatus',
  tag: 'Agents',
  method: 'PUT',
  path: '/agent-status',
  summary: 'Report the status of agents',
  description:
    'What a machine could read of its agents’ sessions, and what it could not: counts and short names, never paths or contents. It replaces what the same machine reported of these agents before, for the creator of the token. `limits` are added to what is kept of them. `tally agents scan --report` and hooks send it.',
  allow: ['service'],
  body: AgentStatusReport,
  example: EXAMPLE_REPORT,
  answer: { status: 204, description: 'The status was saved.' },
  run: ({ agentStatus }: Needs, { party, body }) => agentStatus.report(party.person!.id, body),
})

export const reportLimits = operation({
  id: 'reportLimits',
  tag: 'Reports',
  method: 'GET',
  path: '/reports/limits',
  summary: 'Report how much of the limits of plans is used',
  description:
    'The five-hour, weekly and other limits of plans, as agents report them: your own, or those of everyone if you see everything. The most urgent come first: those that would be reached before their window ends if use goes on as it has in this window. There is no projection in the first twentieth of a window.',
  allow: ['read', 'session'],
  scope: 'entries:read',
  query: {
    from: textParameter('First day, such as 2026-11-01. Default: 30 days up to the last one.'),
    to: textParameter('Last day. Default: today.'),
    user: listParameter('Whose limits: id or e-mail address.'),
    agent_harness: listParameter('Of which agents.'),
  },
  answer: result('The limits.', LimitsReport, EXAMPLE_LIMITS),
  problems: ['database_deadline'],
  run: async ({ agentStatus, people }: Needs, { viewer, asker, query }) => {
    const read = await agentStatus.readLimitsQuery(query)
    if (asker.listsPeople) await people.requireKnown(read.users, '/query/user')
    return agentStatus.limits(viewer, read)
  },
})

export const agentStatusOperations = [listAgentStatus, reportAgentStatus, reportLimits] as const
