/** What an export of a person's data contains: the kinds of objects, and their fields. Secrets and hashes are in none. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Reader } from '../../database/database.ts'
import { NOTIFICATION_TOPICS } from '../../database/schema/values.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { array, day, flag, moment, object, oneOf, orNull } from '../../schema/types.ts'
import {
  eachChange,
  eachHistory,
  eachIdempotencyKey,
  eachSession,
  listAgentStatuses,
  listBillDrafts,
  listBills,
  listBudgets,
  listDeputies,
  listGrants,
  listNotifications,
  listPreferences,
  listProposals,
  listReportViews,
  listResponsibilities,
  listRules,
  listShareLinks,
  listSheets,
  listSignIns,
  listTokens,
  listWebhooks,
  type Subject,
} from './store.ts'

type Fields = Record<string, TSchema>
type Values<Of extends Fields> = { [Name in keyof Of]: Static<Of[Name]> }

export interface Kind {
  /** The member of the JSON document, and the name of the CSV file. */
  name: string
  description: string
  fields: Fields
  rows(reader: Reader, person: Subject): AsyncIterable<Record<string, unknown>>
}

/** The rows are typed by the fields that describe them. */
function kind<Of extends Fields, Row>(
  name: string,
  description: string,
  fields: Of,
  rows: (reader: Reader, person: Subject) => Promise<Row[]> | AsyncGenerator<Row>,
  valuesOf: (row: Row, person: Subject) => Values<Of>,
): Kind {
  return {
    name,
    description,
    fields,
    async *rows(reader, person) {
      for await (const row of await rows(reader, person)) yield valuesOf(row, person)
    },
  }
}

const text = (description?: string) => Type.String(description === undefined ? {} : { description })
const json = (description: string) => orNull(Type.Record(Type.String(), Type.Unknown(), { description }))
const optional = {
  text: (description?: string) => orNull(text(description)),
  moment: (description: string) => orNull(moment(description)),
}

export const KINDS: readonly Kind[] = [
  kind(
    'sign_ins',
    'When the person signed in. Addresses and browsers are not recorded.',
    {
      signed_in_at: moment('When the session began.'),
      last_seen_at: moment('The last request in the session.'),
      ended_at: optional.moment('When the person signed out, or was signed out.'),
    },
    listSignIns,
    (row) => ({
      signed_in_at: timestamp(row.createdAt),
      last_seen_at: timestamp(row.lastSeenAt),
      ended_at: timestampOrNull(row.endedAt),
    }),
  ),
  kind(
    'tokens',
    'Tokens that the person created.',
    {
      id: text(),
      kind: text(),
      name: text(),
      hint: text('The last characters of the secret.'),
      networks: orNull(Type.Array(text())),
      created_at: moment('When it was created.'),
      expires_at: optional.moment('When it expires.'),
      last_used_at: optional.moment('When it was last used.'),
      revoked_at: optional.moment('When it was revoked.'),
    },
    listTokens,
    (row) => ({
      id: row.uid,
      kind: row.kind,
      name: row.name,
      hint: row.hint,
      networks: row.networks,
      created_at: timestamp(row.createdAt),
      expires_at: timestampOrNull(row.expiresAt),
      last_used_at: timestampOrNull(row.lastUsedAt),
      revoked_at: timestampOrNull(row.revokedAt),
    }),
  ),
  kind(
    'agent_status',
    'What the person’s machines reported of their agents.',
    {
      machine: text('A random id.'),
      agent_harness: text(),
      version: optional.text(),
      tally_version: text(),
      sessions: Type.Integer({ description: 'Number of sessions that were read.' }),
      not_read: Type.Array(Type.Object({ reason: text(), name: optional.text(), count: Type.Integer() }, strict), {
        description: 'What could not be read.',
      }),
      reported_at: moment('When it was reported.'),
    },
    listAgentStatuses,
    (row) => ({
      machine: row.machine,
      agent_harness: row.harness,
      version: row.version,
      tally_version: row.tallyVersion,
      sessions: row.sessions,
      not_read: row.notRead,
      reported_at: timestamp(row.reportedAt),
    }),
  ),
  kind(
    'responsibilities',
    'Clients and projects that the person leads or approves for.',
    { relation: oneOf(['lead', 'approver']), id: text('Of the client or project.'), name: text() },
    listResponsibilities,
    ({ relation, of, name }) => ({ relation, id: of, name }),
  ),
  kind(
    'grants',
    'Clients and projects that are shared with the person, who is a viewer.',
    {
      id: text('Of the client or project.'),
      name: text(),
      money: text('The money that is shown: `amounts`, `cost` or `none`.'),
      people: flag('Whether people are named.'),
      bills: flag('Whether sent bills are shown.'),
      created_at: moment('When it was granted.'),
    },
    listGrants,
    ({ grant, of, name }) => ({
      id: of,
      name,
      money: grant.money,
      people: grant.showsPeople,
      bills: grant.showsBills,
      created_at: timestamp(grant.createdAt),
    }),
  ),
  kind(
    'deputies',
    'Deputies of the person, and people whose deputy they are.',
    {
      id: text(),
      person: text(),
      deputy: text(),
      from: day('First day.'),
      to: day('Last day.'),
      created_at: moment('When the deputy was named.'),
    },
    listDeputies,
    ({ record, person, deputy }) => ({
      id: record.uid,
      person,
      deputy,
      from: record.firstDay,
      to: record.lastDay,
      created_at: timestamp(record.createdAt),
    }),
  ),
  kind(
    'preferences',
    'How the person wants pages to look.',
    { chosen: json('Format of numbers and dates, and the columns of tables.') },
    listPreferences,
    ({ chosen }) => ({ chosen: { ...chosen } }),
  ),
  kind(
    'notifications',
    'What the person was sent e-mails about, in the last 30 days, or will be.',
    {
      topic: oneOf(NOTIFICATION_TOPICS),
      subject: text(),
      body: text(),
      created_at: moment('When it was found.'),
    },
    listNotifications,
    ({ topic, subject, body, createdAt }) => ({ topic, subject, body, created_at: timestamp(createdAt) }),
  ),
  kind(
    'share_links',
    'Share links that the person created.',
    {
      id: text(),
      note: optional.text(),
      created_at: moment('When it was created.'),
      expires_at: moment('When it expires.'),
      revoked_at: optional.moment('When it was revoked.'),
    },
    listShareLinks,
    (row) => ({
      id: row.uid,
      note: row.note,
      created_at: timestamp(row.createdAt),
      expires_at: timestamp(row.expiresAt),
      revoked_at: timestampOrNull(row.revokedAt),
    }),
  ),
  kind(
    'report_views',
    'Views of reports that the person saved.',
    {
      id: text(),
      name: text(),
      parameters: text('The question, as JSON.'),
      shared: flag('Whether the organization sees it.'),
      created_at: moment('When it was saved.'),
    },
    listReportViews,
    (row) => ({
      id: row.uid,
      name: row.name,
      parameters: JSON.stringify(row.parameters),
      shared: row.shared,
      created_at: timestamp(row.createdAt),
    }),
  ),
  kind(
    'bill_drafts',
    'Drafts of bills that the person began or changed last, without what they say.',
    {
      id: text(),
      created_by_person: flag('Whether the person began it.'),
      created_at: moment('When it was begun.'),
      updated_at: moment('When it was last changed.'),
    },
    listBillDrafts,
    (row, { id }) => ({
      id: row.uid,
      created_by_person: row.createdBy === id,
      created_at: timestamp(row.createdAt),
      updated_at: timestamp(row.updatedAt),
    }),
  ),
  kind(
    'budgets',
    'Budgets that the person added, that are of their usage, or that notify them by name. Without amounts.',
    {
      id: text(),
      name: text(),
      created_by_person: flag('Whether the person added it.'),
      of_person: flag('Whether it counts only entries of the person.'),
      notifies_person: flag('Whether a threshold names the person or their address.'),
      created_at: moment('When it was added.'),
      archived_at: optional.moment('When it was archived.'),
    },
    listBudgets,
    ({ budget, notifies }, { id }) => ({
      id: budget.uid,
      name: budget.name,
      created_by_person: budget.createdBy === id,
      of_person: budget.managerId === id,
      notifies_person: notifies,
      created_at: timestamp(budget.createdAt),
      archived_at: timestampOrNull(budget.archivedAt),
    }),
  ),
  kind(
    'webhooks',
    'Webhooks that the person added or has taken over.',
    {
      id: text(),
      name: text(),
      host: text('Of the address, which is a secret if it is that of a chat.'),
      format: text(),
      types: array('Types of events.', text()),
      created_at: moment('When it was added.'),
      disabled_at: optional.moment('When it was disabled.'),
    },
    listWebhooks,
    (row) => ({
      id: row.uid,
      name: row.name,
      host: new URL(row.url).host,
      format: row.format,
      types: row.types,
      created_at: timestamp(row.createdAt),
      disabled_at: timestampOrNull(row.disabledAt),
    }),
  ),
  kind(
    'placement_rules',
    'Versions of placement rules that the person wrote.',
    {
      id: text(),
      version: Type.Integer(),
      name: text(),
      conditions: Type.Array(object({ field: text(), matches: text() })),
      created_at: moment('When it was saved.'),
    },
    listRules,
    ({ uid, version }) => ({
      id: uid,
      version: version.version,
      name: version.name,
      conditions: version.conditions,
      created_at: timestamp(version.createdAt),
    }),
  ),
  kind(
    'rule_proposals',
    'Placement rules that the person proposed, and those that they decided about.',
    {
      id: text(),
      relation: oneOf(['proposer', 'decider']),
      name: text(),
      repository: text(),
      conditions: Type.Array(object({ field: text(), matches: text() })),
      state: text(),
      reason: optional.text(),
      created_at: moment('When it was proposed.'),
    },
    listProposals,
    (row, { id }) => ({
      id: row.uid,
      relation: row.proposedBy === id ? 'proposer' : 'decider',
      name: row.name,
      repository: row.repository,
      conditions: row.conditions,
      state: row.state,
      reason: row.reason,
      created_at: timestamp(row.createdAt),
    }),
  ),
  kind(
    'token_sheets',
    'Token sheets of the person, and sheets that they approved or returned.',
    {
      id: text(),
      relation: oneOf(['owner', 'approver']),
      from: day('First day.'),
      to: day('Last day.'),
      status: text(),
      note: optional.text(),
      reason: optional.text('Why it was returned.'),
      created_at: moment('When it was opened.'),
      submitted_at: optional.moment('When it was submitted.'),
      decided_at: optional.moment('When it was approved or returned.'),
    },
    listSheets,
    (row, { id }) => ({
      id: row.uid,
      relation: row.managerId === id ? 'owner' : 'approver',
      from: row.firstDay,
      to: row.lastDay,
      status: row.status,
      note: row.managerId === id ? row.note : null,
      reason: row.reason,
      created_at: timestamp(row.createdAt),
      submitted_at: timestampOrNull(row.submittedAt),
      decided_at: timestampOrNull(row.decidedAt),
    }),
  ),
  kind(
    'bills',
    'Bills that the person sent, that name them, or that contain entries of theirs. Without amounts.',
    {
      id: text(),
      number: text(),
      kind: text(),
      state: text(),
      issued_on: day('When it was issued.'),
      sent_by_person: flag('Whether the person sent it.'),
      names_person: flag('Whether a line names the person.'),
    },
    listBills,
    (row, { id }) => ({
      id: row.uid,
      number: row.number,
      kind: row.kind,
      state: row.state,
      issued_on: row.issuedOn,
      sent_by_person: row.createdBy === id,
      names_person: Boolean(row.isNamed),
    }),
  ),
  kind(
    'sessions',
    'Agent sessions of the person.',
    {
      agent_harness: text(),
      session_id: text(),
      source: text(),
      email: optional.text('The address that telemetry named.'),
      telemetry: json('What telemetry said of the session besides usage.'),
    },
    eachSession,
    (row) => ({
      agent_harness: row.harness,
      session_id: row.sessionKey,
      source: row.source,
      email: row.email,
      telemetry: row.facts as Record<string, unknown> | null,
    }),
  ),
  kind(
    'entry_history',
    'What happened to the person’s entries, and what they did to entries of others: decisions, reasons and corrections.',
    {
      at: moment('When it happened.'),
      entry: text('Id of the entry.'),
      action: text(),
      by_person: flag('Whether the person did it.'),
      own_entry: flag('Whether it is an entry of the person.'),
      details: json('Reasons, and values before and after.'),
    },
    eachHistory,
    ({ record, entry, managerId }, { id }) => ({
      at: timestamp(record.at),
      entry,
      action: record.action,
      by_person: record.userId === id,
      own_entry: managerId === id,
      details: record.details,
    }),
  ),
  kind(
    'idempotency_keys',
    'Idempotency keys of the person’s reports.',
    { key: text(), entry: text('Id of the entry.') },
    eachIdempotencyKey,
    ({ key, entry }) => ({ key, entry }),
  ),
  kind(
    'audit_log',
    'Changes that the person made, that a deputy made for them, and changes of their account.',
    {
      at: moment('When it happened.'),
      by_person: flag('Whether the person did it.'),
      origin: optional.text('The address from which the person did it.'),
      action: text(),
      object_id: optional.text(),
      object_name: optional.text(),
      before: json('Values before the change.'),
      after: json('Values after the change.'),
    },
    eachChange,
    (row, { id }) => ({
      at: timestamp(row.at),
      by_person: row.userId === id,
      // The address of somebody else is theirs.
      origin: row.userId === id ? row.origin : null,
      action: row.action,
      object_id: row.objectId,
      object_name: row.objectName,
      before: row.before,
      after: row.after,
    }),
  ),
]
