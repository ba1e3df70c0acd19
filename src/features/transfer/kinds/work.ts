import { PROJECT_NAME_KINDS, PROPOSAL_STATES } from '../../../database/schema/values.ts'
import { NANO_DIGITS } from '../../../lib/money.ts'
import { foldName } from '../../../lib/names.ts'
import { choice, decimal, flag, integer, json, moment, orNone, ownId, reference, text } from '../columns.ts'
import { kind, type Part, type TableName } from '../kind.ts'

/** The people who lead something, or approve its entries. */
const people = (table: TableName, of: string): Part => ({
  table,
  of,
  fields: { id: reference('userId', 'users') },
})

export const CLIENT = kind({
  type: 'client',
  table: 'clients',
  order: ['id'],
  isContext: true,
  filled: { nameFolded: ({ name }) => foldName(name as string) },
  fields: {
    id: ownId('cli'),
    name: text('name'),
    email: orNone(text('email')),
    address: orNone(text('address')),
    tax_id: orNone(text('taxId')),
    currency: orNone(text('currency')),
    markup_ppm: orNone(integer('markupPpm')),
    reminders: flag('reminders'),
    tax_ppm: orNone(integer('taxPpm')),
    tax_name: orNone(text('taxName')),
    created_at: moment('createdAt'),
    archived_at: orNone(moment('archivedAt')),
  },
  parts: { leads: people('clientLeads', 'clientId'), approvers: people('clientApprovers', 'clientId') },
})

export const PROJECT = kind({
  type: 'project',
  table: 'projects',
  order: ['id'],
  isContext: true,
  isSelfReferring: true,
  fields: {
    id: ownId('prj'),
    key: text('key'),
    name: text('name'),
    client: orNone(reference('clientId', 'clients')),
    billable: flag('billable'),
    markup_ppm: orNone(integer('markupPpm')),
    budget: orNone(decimal('budget', NANO_DIGITS)),
    merged_into: orNone(reference('mergedIntoId', 'projects', { later: true })),
    created_at: moment('createdAt'),
    archived_at: orNone(moment('archivedAt')),
  },
  parts: {
    names: {
      table: 'projectNames',
      of: 'projectId',
      fields: { text: text('text'), folded: text('folded'), kind: choice('kind', PROJECT_NAME_KINDS) },
    },
    leads: people('projectLeads', 'projectId'),
    approvers: people('projectApprovers', 'projectId'),
    repositories: { table: 'projectRepositories', of: 'projectId', fields: { repository: text('repository') } },
  },
})

export const TICKET = kind({
  type: 'ticket',
  table: 'tickets',
  order: ['id'],
  isContext: true,
  filled: { keyFolded: ({ key }) => foldName(key as string) },
  fields: {
    id: ownId('tkt'),
    key: text('key'),
    title: orNone(text('title')),
    project: orNone(reference('projectId', 'projects')),
    reported: flag('reported'),
    created_at: moment('createdAt'),
    archived_at: orNone(moment('archivedAt')),
  },
  parts: {
    assumptions: {
      table: 'ticketAssumptions',
      of: 'ticketId',
      fields: { person: reference('userId', 'users'), project: orNone(reference('projectId', 'projects')) },
    },
  },
})

export const RULE = kind({
  type: 'rule',
  table: 'placementRules',
  order: ['id'],
  fields: {
    id: ownId('rul'),
    position: integer('position'),
    enabled: flag('enabled'),
    created_at: moment('createdAt'),
    removed_at: orNone(moment('removedAt')),
    lead_repository: orNone(text('leadRepository')),
  },
  parts: {
    versions: {
      table: 'placementRuleVersions',
      of: 'ruleId',
      fields: {
        version: integer('version', 1),
        name: text('name'),
        conditions: json('conditions'),
        project: reference('projectId', 'projects'),
        ticket: orNone(text('ticket')),
        created_at: moment('createdAt'),
        created_by: orNone(reference('createdBy', 'users')),
      },
    },
  },
})

export const RULE_PROPOSAL = kind({
  type: 'rule_proposal',
  table: 'ruleProposals',
  order: ['id'],
  fields: {
    id: ownId('rpr'),
    name: text('name'),
    repository: text('repository'),
    conditions: json('conditions'),
    project: reference('projectId', 'projects'),
    ticket: orNone(text('ticket')),
    state: choice('state', PROPOSAL_STATES),
    proposed_by: reference('proposedBy', 'users'),
    created_at: moment('createdAt'),
    decided_by: orNone(reference('decidedBy', 'users')),
    decided_at: orNone(moment('decidedAt')),
    reason: orNone(text('reason')),
    rule: orNone(reference('ruleId', 'placementRules')),
  },
})
