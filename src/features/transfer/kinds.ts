/** All kinds of lines, in the order of a file: each refers only to earlier ones, if not declared otherwise. */
import type { Kind, TableName } from './kind.ts'
import { AUDIT } from './kinds/audit.ts'
import {
  BILL,
  BILL_DELIVERY,
  BILL_DOCUMENT,
  BILL_DRAFT,
  BILL_ENTRY,
  BILL_KEY,
  BILL_PAYMENT,
  BILL_SEQUENCE,
} from './kinds/bills.ts'
import { BUDGET, BUDGET_ALERT } from './kinds/budgets.ts'
import { ENTRY, IDEMPOTENCY_KEY, SESSION } from './kinds/entries.ts'
import { DEPUTY, PERSON, TOKEN, VIEWER_GRANT } from './kinds/people.ts'
import { FUNDING, FUNDING_RULE, PLAN, PLAN_CORRECTION, PLAN_PERIOD, PLAN_SHARE } from './kinds/plans.ts'
import { PRICE, PRICE_ALIAS, PRICE_LOAD } from './kinds/prices.ts'
import { REPORT_VIEW } from './kinds/reports.ts'
import { SETTINGS } from './kinds/settings.ts'
import { SHEET } from './kinds/sheets.ts'
import {
  AGENT_STATUS,
  LIMIT_READING,
  TELEMETRY_CHANNEL,
  TELEMETRY_PUSH,
  TELEMETRY_UNCOUNTED,
} from './kinds/telemetry.ts'
import { CLIENT, PROJECT, RULE, RULE_PROPOSAL, TICKET } from './kinds/work.ts'

/** The entries of a session follow it, and those without a session follow all others. */
export const KINDS: readonly Kind[] = [
  SETTINGS,
  PERSON,
  TOKEN,
  DEPUTY,
  CLIENT,
  PROJECT,
  VIEWER_GRANT,
  REPORT_VIEW,
  TICKET,
  RULE,
  RULE_PROPOSAL,
  BUDGET,
  BUDGET_ALERT,
  PLAN,
  FUNDING_RULE,
  FUNDING,
  PRICE_LOAD,
  PRICE,
  PRICE_ALIAS,
  SHEET,
  BILL_SEQUENCE,
  BILL,
  SESSION,
  ENTRY,
  IDEMPOTENCY_KEY,
  BILL_ENTRY,
  PLAN_PERIOD,
  PLAN_SHARE,
  PLAN_CORRECTION,
  BILL_PAYMENT,
  BILL_DOCUMENT,
  BILL_DELIVERY,
  BILL_KEY,
  BILL_DRAFT,
  TELEMETRY_CHANNEL,
  TELEMETRY_UNCOUNTED,
  TELEMETRY_PUSH,
  AGENT_STATUS,
  LIMIT_READING,
  AUDIT,
]

/** Tables that a file does not contain, and why. */
export const OMITTED_TABLES: Partial<Record<TableName, string>> = {
  names: 'the texts are in the entries and sessions that use them',
  labelSets: 'the labels are in the entries that have them',
  labelPairs: 'derived from the labels',
  signIns: 'secrets: everyone signs in again',
  failedAttempts: 'attempts at the sign-in of this installation, which count for an hour',
  trusts: 'get tokens of this installation only, whose public URL is their audience: add them again',
  exchangedTokens: 'secrets of minutes',
  tokenCalls: 'calls of the last minutes, for a limit of this installation',
  oneTimeLinks: 'secrets: new links are created',
  webhookEndpoints: 'secrets, and places that get the events of this installation only: add them again',
  webhookDeliveries: 'records of this installation, kept for a week',
  shareLinks: 'the secrets in their addresses are not stored, so that they could not work elsewhere',
  unallocatedHours: 'shares of plans are calculated again from the rows that are imported',
  fundingOwed: 'what is owed follows from the rows that are imported',
  owedWork: 'what is owed follows from the rows that are imported',
  databaseIdentity: 'a secret: a database that a file is imported into is another one, with backups of its own',
  backupTimeline: 'belongs to this database',
  telemetryCalls: 'recognizes the spans of one call that come in several requests, within seconds',
  billingLease: 'no bill is being prepared while an export is made',
  budgetPeriods: 'derived from the entries',
  budgetChanges: 'changes that wait to be added to what is spent, which is counted again',
  notifications: 'e-mails that were sent from this installation',
  notificationEmails: 'e-mails that were sent from this installation',
  staleHours: 'derived from the entries',
  rollupZones: 'derived from the entries',
  rollupPeriods: 'derived from the entries',
  rollupColumns: 'derived from the entries',
  entryChanges: 'positions in lists of changes, which belong to this database',
  priceUpdates: 'the state of a schedule, which belongs to this installation',
  events: 'a feed whose positions belong to this database; what it reports is in the history and the audit log',
  eventOccurrences: 'what the events of this database have reported',
  migrations: 'belongs to this database',
  moves: 'belongs to this database',
  revision: 'belongs to this database',
}

/** Columns that a file does not contain, besides keys, and why. */
export const OMITTED_COLUMNS: Partial<Record<TableName, Record<string, string>>> = {
  organization: {
    internedVersion: 'belongs to what servers of this database hold in memory',
    compactedAt: 'belongs to the file of this database',
    eventsRemovedTo: 'a position in the events of this database',
  },
  users: { passwordHash: 'secret: a new password is set' },
  tokens: { hash: 'secret: new tokens are created', trustId: 'trusts are added again' },
  clients: { nameFolded: 'derived from the name' },
  tickets: { keyFolded: 'derived from the key' },
  entries: { sessionId: 'the entries of a session follow it' },
  planPeriods: {
    changes: 'what is to be calculated follows from the rows that are imported',
    buildingId: 'a calculation of this database that is not finished',
    buildingUntil: 'a calculation of this database that is not finished',
  },
}
