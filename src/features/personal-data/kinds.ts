/** What an export of a person's data contains: the kinds of objects, and their fields. Secrets and hashes are in none. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Reader } from '../../database/database.ts'
import { NOTIFICATION_TOPICS } from '../../database/schema/values.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { moneyNumber } from '../../lib/money.ts'
import { array, day, flag, integer, moment, object, oneOf, orNull } from '../../schema/types.ts'
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
  listLimitReadings,
  listNotifications,
  listPlans,
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

export interface Kind {
  /** The member of the JSON document, and the name of the CSV file. */
  name: string
  description: string
  fields: Record<string, TSchema>
  rows(reader: Reader, person: Subject): AsyncIterable<Record<string, unknown>>
}

/** Fields, each with what describes it and its value in a row. */
type Fields<Of extends Record<string, TSchema>, Row> = {
  [Name in keyof Of]: readonly [Of[Name], (row: Row, person: Subject) => Static<Of[Name]>]
}

function kind<Of extends Record<string, TSchema>, Row>(
  name: string,
  description: string,
  rows: (reader: Reader, person: Subject) => Promise<Row[]> | AsyncGenerator<Row>,
  fields: Fields<Of, Row>,
): Kind {
  const all = Object.entries(fields as Record<string, readonly [TSchema, (row: Row, person: Subject) => unknown]>)
  return {
    name,
    description,
    fields: Object.fromEntries(all.map(([field, [schema]]) => [field, schema])),
    async *rows(reader, person) {
      for await (const row of await rows(reader, person))
        yield Object.fromEntries(all.map(([field, [, value]]) => [field, value(row, person)]))
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
  kind('sign_ins', 'When the person signed in. Addresses and browsers are not recorded.', listSignIns, {
    signed_in_at: [moment('When the session began.'), (row) => timestamp(row.createdAt)],
    last_seen_at: [moment('The last request in the session.'), (row) => timestamp(row.lastSeenAt)],
    ended_at: [
      optional.moment('When the person signed out, or was signed out.'),
      (row) => timestampOrNull(row.endedAt),
    ],
  }),
  kind('tokens', 'Tokens that the person created.', listTokens, {
    id: [text(), (row) => row.uid],
    kind: [text(), (row) => row.kind],
    name: [text(), (row) => row.name],
    hint: [text('The last characters of the secret.'), (row) => row.hint],
    networks: [orNull(Type.Array(text())), (row) => row.networks],
    created_at: [moment('When it was created.'), (row) => timestamp(row.createdAt)],
    expires_at: [optional.moment('When it expires.'), (row) => timestampOrNull(row.expiresAt)],
    last_used_at: [optional.moment('When it was last used.'), (row) => timestampOrNull(row.lastUsedAt)],
    revoked_at: [optional.moment('When it was revoked.'), (row) => timestampOrNull(row.revokedAt)],
  }),
  kind('agent_status', 'What the person’s machines reported of their agents.', listAgentStatuses, {
    machine: [text('A random id.'), (row) => row.machine],
    agent_harness: [text(), (row) => row.harness],
    version: [optional.text(), (row) => row.version],
    tally_version: [text(), (row) => row.tallyVersion],
    sessions: [integer('Number of sessions that were read.'), (row) => row.sessions],
    not_read: [
      array('What could not be read.', object({ reason: text(), name: optional.text(), count: Type.Integer() })),
      (row) => row.notRead,
    ],
    reported_at: [moment('When it was reported.'), (row) => timestamp(row.reportedAt)],
  }),
  kind(
    'limit_readings',
    'How much of the limits of their plans the person had used, hour by hour, as their agents said it.',
    listLimitReadings,
    {
      agent_harness: [text(), (row) => row.harness],
      name: [text('Name of the limit.'), (row) => row.name],
      window_minutes: [integer('Length of its window in minutes.'), (row) => row.windowMinutes],
      hour: [moment('The hour in which it was reported.'), (row) => timestamp(row.hour)],
      highest_percent: [
        Type.Number({ description: 'The most that was used in the hour.' }),
        (row) => row.highest / 100,
      ],
      used_percent: [
        Type.Number({ description: 'What was used at the latest reading of the hour.' }),
        (row) => row.used / 100,
      ],
      resets_at: [optional.moment('When the window ends.'), (row) => timestampOrNull(row.resetsAt)],
      plan: [optional.text(), (row) => row.plan],
      credits_left: [orNull(Type.Number()), (row) => moneyNumber(row.credits)],
      read_at: [moment('The latest reading of the hour.'), (row) => timestamp(row.readAt)],
    },
  ),
  kind('responsibilities', 'Clients and projects that the person leads or approves for.', listResponsibilities, {
    relation: [oneOf(['lead', 'approver']), ({ relation }) => relation],
    id: [text('Of the client or project.'), ({ of }) => of],
    name: [text(), ({ name }) => name],
  }),
  kind('grants', 'Clients and projects that are shared with the person, who is a viewer.', listGrants, {
    id: [text('Of the client or project.'), ({ of }) => of],
    name: [text(), ({ name }) => name],
    money: [text('The money that is shown: `amounts`, `cost` or `none`.'), ({ grant }) => grant.money],
    people: [flag('Whether people are named.'), ({ grant }) => grant.showsPeople],
    bills: [flag('Whether sent bills are shown.'), ({ grant }) => grant.showsBills],
    created_at: [moment('When it was granted.'), ({ grant }) => timestamp(grant.createdAt)],
  }),
  kind('deputies', 'Deputies of the person, and people whose deputy they are.', listDeputies, {
    id: [text(), ({ record }) => record.uid],
    person: [text(), ({ person }) => person],
    deputy: [text(), ({ deputy }) => deputy],
    from: [day('First day.'), ({ record }) => record.firstDay],
    to: [day('Last day.'), ({ record }) => record.lastDay],
    created_at: [moment('When the deputy was named.'), ({ record }) => timestamp(record.createdAt)],
  }),
  kind('preferences', 'How the person wants pages to look.', listPreferences, {
    chosen: [json('Format of numbers and dates, and the columns of tables.'), ({ chosen }) => ({ ...chosen })],
  }),
  kind('notifications', 'What the person was sent e-mails about, in the last 30 days, or will be.', listNotifications, {
    topic: [oneOf(NOTIFICATION_TOPICS), ({ topic }) => topic],
    subject: [text(), ({ subject }) => subject],
    body: [text(), ({ body }) => body],
    created_at: [moment('When it was found.'), ({ createdAt }) => timestamp(createdAt)],
  }),
  kind('share_links', 'Share links that the person created.', listShareLinks, {
    id: [text(), (row) => row.uid],
    note: [optional.text(), (row) => row.note],
    created_at: [moment('When it was created.'), (row) => timestamp(row.createdAt)],
    expires_at: [moment('When it expires.'), (row) => timestamp(row.expiresAt)],
    revoked_at: [optional.moment('When it was revoked.'), (row) => timestampOrNull(row.revokedAt)],
  }),
  kind('report_views', 'Views of reports that the person saved.', listReportViews, {
    id: [text(), (row) => row.uid],
    name: [text(), (row) => row.name],
    parameters: [text('The question, as JSON.'), (row) => JSON.stringify(row.parameters)],
    shared: [flag('Whether the organization sees it.'), (row) => row.shared],
    created_at: [moment('When it was saved.'), (row) => timestamp(row.createdAt)],
  }),
  kind('bill_drafts', 'Drafts of bills that the person began or changed last, without what they say.', listBillDrafts, {
    id: [text(), (row) => row.uid],
    created_by_person: [flag('Whether the person began it.'), (row, { id }) => row.createdBy === id],
    created_at: [moment('When it was begun.'), (row) => timestamp(row.createdAt)],
    updated_at: [moment('When it was last changed.'), (row) => timestamp(row.updatedAt)],
  }),
  kind(
    'budgets',
    'Budgets that the person added, that are of their usage, or that notify them by name. Without amounts.',
    listBudgets,
    {
      id: [text(), ({ budget }) => budget.uid],
      name: [text(), ({ budget }) => budget.name],
      created_by_person: [flag('Whether the person added it.'), ({ budget }, { id }) => budget.createdBy === id],
      of_person: [
        flag('Whether it counts only entries of the person.'),
        ({ budget }, { id }) => budget.managerId === id,
      ],
      notifies_person: [flag('Whether a threshold names the person or their address.'), ({ notifies }) => notifies],
      created_at: [moment('When it was added.'), ({ budget }) => timestamp(budget.createdAt)],
      archived_at: [optional.moment('When it was archived.'), ({ budget }) => timestampOrNull(budget.archivedAt)],
    },
  ),
  kind('plans', 'When the person held plans by name. Without fees.', listPlans, {
    id: [text(), ({ plan }) => plan.uid],
    name: [text(), ({ plan }) => plan.name],
    vendor: [text(), ({ plan }) => plan.vendor],
    product: [text(), ({ plan }) => plan.product],
    from: [day('The first day.'), ({ holder }) => holder.fromDay],
    to: [orNull(day('The last day; null while the person holds it.')), ({ holder }) => holder.toDay],
  }),
  kind('webhooks', 'Webhooks that the person added or has taken over.', listWebhooks, {
    id: [text(), (row) => row.uid],
    name: [text(), (row) => row.name],
    host: [text('Of the address, which is a secret if it is that of a chat.'), (row) => new URL(row.url).host],
    format: [text(), (row) => row.format],
    types: [array('Types of events.', text()), (row) => row.types],
    created_at: [moment('When it was added.'), (row) => timestamp(row.createdAt)],
    disabled_at: [optional.moment('When it was disabled.'), (row) => timestampOrNull(row.disabledAt)],
  }),
  kind('placement_rules', 'Versions of placement rules that the person wrote.', listRules, {
    id: [text(), ({ uid }) => uid],
    version: [Type.Integer(), ({ version }) => version.version],
    name: [text(), ({ version }) => version.name],
    conditions: [Type.Array(object({ field: text(), matches: text() })), ({ version }) => version.conditions],
    created_at: [moment('When it was saved.'), ({ version }) => timestamp(version.createdAt)],
  }),
  kind(
    'rule_proposals',
    'Placement rules that the person proposed, and those that they decided about.',
    listProposals,
    {
      id: [text(), (row) => row.uid],
      relation: [oneOf(['proposer', 'decider']), (row, { id }) => (row.proposedBy === id ? 'proposer' : 'decider')],
      name: [text(), (row) => row.name],
      repository: [text(), (row) => row.repository],
      conditions: [Type.Array(object({ field: text(), matches: text() })), (row) => row.conditions],
      state: [text(), (row) => row.state],
      reason: [optional.text(), (row) => row.reason],
      created_at: [moment('When it was proposed.'), (row) => timestamp(row.createdAt)],
    },
  ),
  kind('token_sheets', 'Token sheets of the person, and sheets that they approved or returned.', listSheets, {
    id: [text(), (row) => row.uid],
    relation: [oneOf(['owner', 'approver']), (row, { id }) => (row.managerId === id ? 'owner' : 'approver')],
    from: [day('First day.'), (row) => row.firstDay],
    to: [day('Last day.'), (row) => row.lastDay],
    status: [text(), (row) => row.status],
    note: [optional.text(), (row, { id }) => (row.managerId === id ? row.note : null)],
    reason: [optional.text('Why it was returned.'), (row) => row.reason],
    created_at: [moment('When it was opened.'), (row) => timestamp(row.createdAt)],
    submitted_at: [optional.moment('When it was submitted.'), (row) => timestampOrNull(row.submittedAt)],
    decided_at: [optional.moment('When it was approved or returned.'), (row) => timestampOrNull(row.decidedAt)],
  }),
  kind(
    'bills',
    'Bills that the person sent, that name them, or that contain entries of theirs. Without amounts.',
    listBills,
    {
      id: [text(), (row) => row.uid],
      number: [text(), (row) => row.number],
      kind: [text(), (row) => row.kind],
      state: [text(), (row) => row.state],
      issued_on: [day('When it was issued.'), (row) => row.issuedOn],
      sent_by_person: [flag('Whether the person sent it.'), (row, { id }) => row.createdBy === id],
      names_person: [flag('Whether a line names the person.'), (row) => Boolean(row.isNamed)],
    },
  ),
  kind('sessions', 'Agent sessions of the person.', eachSession, {
    agent_harness: [text(), (row) => row.harness],
    session_id: [text(), (row) => row.sessionKey],
    source: [text(), (row) => row.source],
    email: [optional.text('The address that telemetry named.'), (row) => row.email],
    telemetry: [
      json('What telemetry said of the session besides usage.'),
      (row) => row.facts as Record<string, unknown> | null,
    ],
  }),
  kind(
    'entry_history',
    'What happened to the person’s entries, and what they did to entries of others: decisions, reasons and corrections.',
    eachHistory,
    {
      at: [moment('When it happened.'), ({ record }) => timestamp(record.at)],
      entry: [text('Id of the entry.'), ({ entry }) => entry],
      action: [text(), ({ record }) => record.action],
      by_person: [flag('Whether the person did it.'), ({ record }, { id }) => record.userId === id],
      own_entry: [flag('Whether it is an entry of the person.'), ({ managerId }, { id }) => managerId === id],
      details: [json('Reasons, and values before and after.'), ({ record }) => record.details],
    },
  ),
  kind('idempotency_keys', 'Idempotency keys of the person’s reports.', eachIdempotencyKey, {
    key: [text(), ({ key }) => key],
    entry: [text('Id of the entry.'), ({ entry }) => entry],
  }),
  kind(
    'audit_log',
    'Changes that the person made, that a deputy made for them, and changes of their account.',
    eachChange,
    {
      at: [moment('When it happened.'), (row) => timestamp(row.at)],
      by_person: [flag('Whether the person did it.'), (row, { id }) => row.userId === id],
      // The address of somebody else is theirs.
      origin: [
        optional.text('The address from which the person did it.'),
        (row, { id }) => (row.userId === id ? row.origin : null),
      ],
      action: [text(), (row) => row.action],
      object_id: [optional.text(), (row) => row.objectId],
      object_name: [optional.text(), (row) => row.objectName],
      before: [json('Values before the change.'), (row) => row.before],
      after: [json('Values after the change.'), (row) => row.after],
    },
  ),
]
