/**
 * Every column with text, and what erasing a person does to it. A test compares the list with the tables, so that a new
 * column cannot be forgotten.
 */
import type { Tables } from '../../../database/schema/tables.ts'

/** Why a text stays, though it may name the person; undefined for texts that cannot. */
export const KEPT = {
  /** Accounting records: article 17(3)(b) GDPR leaves what the law requires to be kept, unchanged, for years. */
  bills: 'sent bills, their payments and their deliveries: tax law requires that they are kept unchanged',
  /** Everyone refers to work by these. */
  work: 'names of clients, projects and tickets: rename or archive them',
  prices: 'price tables and their sources',
  organization: 'settings of the organization, which bills show',
  /** It would no longer be that address. */
  webhooks: 'addresses of webhooks: change or remove them',
  /** A repeated request must find its first response. */
  requests: 'idempotency keys of other people',
} as const

export type KeptBecause = keyof typeof KEPT

type TableName = keyof Tables
type ColumnsOf<Name extends TableName> = keyof Tables[Name]['$inferSelect'] & string

interface Texts<Name extends TableName> {
  /** The columns of the primary key. Rows are read in ranges of the first one. */
  key: ColumnsOf<Name>[]
  /** Columns in which words are replaced. */
  text?: ColumnsOf<Name>[]
  json?: ColumnsOf<Name>[]
  /** Columns with ids of sessions, which are replaced by their hashes if they contain a word. */
  sessionIds?: ColumnsOf<Name>[]
  /** A column without two equal values. */
  unique?: ColumnsOf<Name>
  kept?: Partial<Record<ColumnsOf<Name>, KeptBecause>>
  /** Values of Tally's own, digests, and the account of the person, which is replaced as a whole. */
  other?: ColumnsOf<Name>[]
}

export const TEXT_COLUMNS: { [Name in TableName]?: Texts<Name> } = {
  organization: {
    key: ['id'],
    kept: {
      name: 'organization',
      email: 'organization',
      address: 'organization',
      taxId: 'organization',
      billFooter: 'organization',
      billNumberFormat: 'organization',
      publicUrl: 'organization',
    },
    other: [
      'timeZone',
      'currency',
      'unknownProjects',
      'logoType',
      'weekStart',
      'locale',
      'sameSession',
      'sheetRequiredFields',
      'costBasis',
    ],
  },
  users: { key: ['id'], other: ['email', 'name', 'role', 'passwordHash', 'notifications'] },
  preferences: { key: ['userId'], other: ['chosen'] },
  erasures: { key: ['userId'], other: ['words', 'counts'] },
  userEmails: { key: ['userId'], other: ['email'] },
  tokens: { key: ['id'], text: ['name'], other: ['kind', 'hint', 'scopes', 'networks'] },
  trusts: {
    key: ['id'],
    kept: { repository: 'work', branches: 'work', environment: 'work' },
    other: ['provider', 'issuer', 'repositoryId'],
  },
  oneTimeLinks: { key: ['id'], other: ['purpose'] },
  clients: {
    key: ['id'],
    kept: { name: 'work', nameFolded: 'work', email: 'work', address: 'work', taxId: 'work', taxName: 'work' },
    other: ['currency'],
  },
  projects: { key: ['id'], kept: { key: 'work', name: 'work' } },
  projectNames: { key: ['projectId'], kept: { folded: 'work', text: 'work' }, other: ['kind'] },
  projectRepositories: { key: ['projectId', 'repository'], kept: { repository: 'work' } },
  deputies: { key: ['id'], other: ['firstDay', 'lastDay'] },
  shareLinks: { key: ['id'], text: ['note'], json: ['report'], other: ['money'] },
  reportViews: { key: ['id'], text: ['name'], json: ['parameters'] },
  viewerGrants: { key: ['id'], other: ['money'] },
  budgets: {
    key: ['id'],
    text: ['name', 'agentName', 'labelValue'],
    json: ['thresholds'],
    kept: { model: 'prices' },
    other: ['labelName', 'measure', 'basis', 'period', 'firstDay', 'lastDay'],
  },
  budgetPeriods: { key: ['id'], other: ['firstDay'] },
  budgetAlerts: { key: ['id'], other: ['firstDay', 'kind', 'spent', 'available'] },
  notifications: { key: ['id'], text: ['recipient', 'subject', 'body'], other: ['topic', 'key'] },
  notificationEmails: { key: ['id'], text: ['recipient', 'answer'], other: ['state'] },
  tickets: { key: ['id'], text: ['title'], kept: { key: 'work', keyFolded: 'work' } },
  placementRules: { key: ['id'], kept: { leadRepository: 'work' } },
  placementRuleVersions: { key: ['id'], text: ['name'], json: ['conditions'], kept: { ticket: 'work' } },
  plans: {
    key: ['id'],
    text: ['name', 'note'],
    json: ['vendorCodes'],
    kept: { vendor: 'prices', product: 'prices' },
    other: ['holder', 'endsOn'],
  },
  planHolders: { key: ['planId', 'userId', 'fromDay'], other: ['fromDay', 'toDay'] },
  planVersions: {
    key: ['planId', 'fromDay'],
    json: ['conditions'],
    kept: { sourceUrl: 'prices' },
    other: ['fromDay', 'period', 'currency', 'allowanceUnit', 'weight', 'sourceDay'],
  },
  fundingRuleVersions: { key: ['id'], text: ['name'], json: ['conditions'], other: ['funding'] },
  fundings: { key: ['id'], text: ['saidPlan'], other: ['saidFunding', 'funding', 'reason', 'note'] },
  planGenerations: { key: ['id'], other: ['firstDay'] },
  planPeriods: { key: ['planId', 'firstDay'], other: ['firstDay', 'lastDay'] },
  planCorrections: { key: ['entryId'], other: ['ofFirstDay'] },
  fundingOwed: { key: ['id'], other: ['fromDay'] },
  ruleProposals: {
    key: ['id'],
    text: ['name', 'reason'],
    json: ['conditions'],
    kept: { repository: 'work', ticket: 'work' },
    other: ['state'],
  },
  bills: {
    key: ['id'],
    kept: { number: 'bills', document: 'bills', paidReference: 'bills', voidReason: 'bills' },
    other: [
      'kind',
      'state',
      'basis',
      'periodFrom',
      'periodTo',
      'issuedOn',
      'dueOn',
      'currency',
      'paidOn',
      'remindedOn',
    ],
  },
  billDrafts: { key: ['id'], json: ['form'] },
  billPayments: { key: ['billId'], kept: { reference: 'bills', reverseReason: 'bills' }, other: ['paidOn'] },
  billEntries: { key: ['billId'], other: ['statusBefore'] },
  billDocuments: { key: ['billId'], other: ['format'] },
  billSequences: { key: [], other: ['scope'] },
  billKeys: { key: ['billId'], kept: { key: 'bills' } },
  billDeliveries: {
    key: ['id'],
    kept: { recipient: 'bills', message: 'bills', answer: 'bills' },
    other: ['notice', 'state'],
  },
  names: { key: ['id'], text: ['text'], unique: 'text' },
  labelSets: { key: ['id'], json: ['labels'], unique: 'labels' },
  // Follow the labels of their set.
  labelPairs: { key: ['labelSetId', 'name', 'value'], other: ['name', 'value'] },
  sessions: { key: ['id'], sessionIds: ['sessionKey'], other: ['source', 'managerBy', 'duplicate', 'zone'] },
  sessionSources: { key: ['sessionId', 'chainModelId', 'source'], json: ['totals'], other: ['source'] },
  sheets: { key: ['id'], text: ['note', 'reason'], other: ['firstDay', 'lastDay', 'status'] },
  entries: {
    key: ['id'],
    text: ['priceNote', 'placementNote', 'namedProject', 'namedTicket', 'summary'],
    json: ['usageDetails', 'amendment'],
    other: ['source', 'status', 'placedBy', 'managerBy', 'corrected'],
  },
  rollupZones: { key: [], other: ['zone'] },
  rollupPeriods: { key: ['id'], other: ['zone', 'level', 'state'] },
  rollupColumns: { key: ['periodId'], other: ['name'] },
  telemetrySessions: { key: ['sessionId'], text: ['email'], json: ['facts'] },
  telemetryTotals: { key: ['sessionId', 'chainModelId', 'source'], json: ['totals'], other: ['source'] },
  telemetryChannels: { key: [], other: ['harness', 'version', 'channel'] },
  telemetryUncounted: { key: [], other: ['kind', 'what'] },
  // Deleted with the person.
  agentStatuses: { key: ['id'], other: ['machine', 'harness', 'version', 'tallyVersion', 'notRead'] },
  limitReadings: { key: ['id'], other: ['harness', 'name', 'plan'] },
  idempotencyKeys: { key: ['entryId'], kept: { key: 'requests' } },
  entryHistory: { key: ['id'], json: ['details'], other: ['action'] },
  audit: {
    key: ['id'],
    text: ['origin', 'objectName'],
    json: ['before', 'after'],
    other: ['action', 'objectId'],
  },
  events: { key: ['id'], text: ['objectName'], json: ['details'], other: ['type', 'objectId'] },
  // Keys of what they are about.
  eventOccurrences: { key: [], other: ['key'] },
  webhookEndpoints: {
    key: ['id'],
    text: ['name'],
    kept: { url: 'webhooks' },
    other: ['format', 'types', 'disabledReason', 'suspendedReason', 'leaseHolder'],
  },
  webhookDeliveries: { key: ['id'], text: ['response', 'error'], json: ['body'], other: ['type', 'kind'] },
  migrations: { key: ['version'], other: ['name'] },
  moves: { key: ['id'], other: ['move', 'direction', 'place', 'restores'] },
  owedWork: { key: [], other: ['kind'] },
  backupTimeline: { key: ['id'], other: ['timeline'] },
  databaseIdentity: { key: ['id'] },
  prices: { key: ['id'], text: ['source'], kept: { provider: 'prices', model: 'prices' }, other: ['tiers', 'extras'] },
  priceLoads: {
    key: ['id'],
    text: ['name'],
    json: ['replacedAliases', 'notice'],
    other: ['format', 'digest', 'counts'],
  },
  priceUpdates: { key: ['id'], kept: { source: 'prices', error: 'prices' } },
  priceAliases: { key: ['id'], text: ['source'], kept: { alias: 'prices', provider: 'prices', model: 'prices' } },
}
