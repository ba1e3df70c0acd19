/**
 * Every table, once for both engines: `defineTables` is called with each engine's column kit. The migrations create
 * the tables; a test compares both. The comments on columns stand in `migrations/sqlite`.
 */

import { type ColumnKit, postgresKit, sqliteKit } from './columns.ts'
import type { LabelMap, PriceTier, RuleCondition, SessionFacts, SessionTotals, TelemetryTotals } from './records.ts'

export const ROLES = ['member', 'billing', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** `svc` reports entries, `read` reads what its creator's role sees, `org` pushes telemetry. */
export const TOKEN_KINDS = ['svc', 'read', 'org'] as const
export type TokenKind = (typeof TOKEN_KINDS)[number]

export const STATUSES = ['submitted', 'draft', 'pending', 'approved', 'rejected', 'billed'] as const
export type Status = (typeof STATUSES)[number]

/** What told Tally of a session: a report call, or the logs, spans or metrics of pushed telemetry. */
export const SESSION_SOURCES = ['report', 'log', 'span', 'metric'] as const
export type SessionSource = (typeof SESSION_SOURCES)[number]
export type TelemetrySource = Exclude<SessionSource, 'report'>
export const SOURCES = [...SESSION_SOURCES, 'sheet'] as const
export type Source = (typeof SOURCES)[number]

/** What says whose an entry is: the token that brought it, or the e-mail that an agent sent with an organization token. */
export const MANAGER_BY = ['token', 'email'] as const
export type ManagerBy = (typeof MANAGER_BY)[number]

export const SHEET_STATUSES = ['open', 'submitted', 'approved', 'returned'] as const
export type SheetStatus = (typeof SHEET_STATUSES)[number]

export const PLACED_BY = ['named', 'rule', 'manual'] as const
export type PlacedBy = (typeof PLACED_BY)[number]

export const UNKNOWN_PROJECTS = ['create', 'hold'] as const
export type UnknownProjects = (typeof UNKNOWN_PROJECTS)[number]

export type RollupLevel = 'day' | 'month'
export type RollupState = 'stale' | 'building' | 'clean' | 'old'

/** The kinds of project names. */
export const PROJECT_NAME_KINDS = ['key', 'name', 'alias'] as const
export type ProjectNameKind = (typeof PROJECT_NAME_KINDS)[number]

/** The purposes of one-time links: set up Tally, set a first password, or set a new one. */
export type LinkPurpose = 'set_up' | 'invitation' | 'password'

function defineTables(kit: ColumnKit) {
  const { table, key, publicId, integer, bigInteger, time, text, flag, bytes, json } = kit
  return {
    organization: table('organization', {
      id: integer('id').primaryKey(),
      name: text('name').notNull(),
      timeZone: text('time_zone').notNull(),
      currency: text('currency').notNull(),
      unknownProjects: text<UnknownProjects>('unknown_projects').notNull(),
      setUpAt: time('set_up_at'),
      approvalRequired: flag('approval_required').notNull().default(false),
      email: text('email'),
      address: text('address'),
      taxId: text('tax_id'),
      markupPpm: integer('markup_ppm'),
      dueDays: integer('due_days').notNull().default(30),
      billNumberFormat: text('bill_number_format').notNull().default('{year}-{sequence:4}'),
      billFooter: text('bill_footer'),
      logo: bytes('logo'),
      logoType: text('logo_type'),
      telemetryByEmail: flag('telemetry_by_email').notNull().default(false),
      demoAt: time('demo_at'),
    }),
    users: table('users', {
      id: key('id'),
      uid: publicId('uid', 'usr'),
      email: text('email').notNull(),
      name: text('name').notNull(),
      role: text<Role>('role').notNull(),
      passwordHash: text('password_hash'),
      createdAt: time('created_at').notNull(),
      lastSignedInAt: time('last_signed_in_at'),
      disabledAt: time('disabled_at'),
    }),
    userEmails: table('user_emails', {
      email: text('email').primaryKey(),
      userId: integer('user_id').notNull(),
    }),
    tokens: table('tokens', {
      id: key('id'),
      uid: publicId('uid', 'tok'),
      kind: text<TokenKind>('kind').notNull(),
      name: text('name').notNull(),
      hash: bytes('hash').notNull(),
      hint: text('hint').notNull(),
      createdBy: integer('created_by').notNull(),
      allowBills: flag('allow_bills').notNull().default(false),
      createdAt: time('created_at').notNull(),
      expiresAt: time('expires_at'),
      lastUsedAt: time('last_used_at'),
      revokedAt: time('revoked_at'),
    }),
    signIns: table('sign_ins', {
      id: key('id'),
      userId: integer('user_id').notNull(),
      hash: bytes('hash').notNull(),
      createdAt: time('created_at').notNull(),
      lastSeenAt: time('last_seen_at').notNull(),
      expiresAt: time('expires_at').notNull(),
      endedAt: time('ended_at'),
    }),
    oneTimeLinks: table('one_time_links', {
      id: key('id'),
      purpose: text<LinkPurpose>('purpose').notNull(),
      hash: bytes('hash').notNull(),
      userId: integer('user_id'),
      createdAt: time('created_at').notNull(),
      expiresAt: time('expires_at').notNull(),
      usedAt: time('used_at'),
    }),
    clients: table('clients', {
      id: key('id'),
      uid: publicId('uid', 'cli'),
      name: text('name').notNull(),
      nameFolded: text('name_folded').notNull(),
      createdAt: time('created_at').notNull(),
      archivedAt: time('archived_at'),
      email: text('email'),
      address: text('address'),
      taxId: text('tax_id'),
      currency: text('currency'),
      markupPpm: integer('markup_ppm'),
    }),
    projects: table('projects', {
      id: key('id'),
      uid: publicId('uid', 'prj'),
      key: text('key').notNull(),
      name: text('name').notNull(),
      clientId: integer('client_id'),
      createdAt: time('created_at').notNull(),
      archivedAt: time('archived_at'),
      billable: flag('billable').notNull().default(true),
      markupPpm: integer('markup_ppm'),
      budget: bigInteger('budget'),
      mergedIntoId: integer('merged_into_id'),
    }),
    projectNames: table('project_names', {
      folded: text('folded').primaryKey(),
      projectId: integer('project_id').notNull(),
      text: text('text').notNull(),
      kind: text<ProjectNameKind>('kind').notNull(),
    }),
    projectLeads: table('project_leads', {
      projectId: integer('project_id').notNull(),
      userId: integer('user_id').notNull(),
    }),
    tickets: table('tickets', {
      id: key('id'),
      uid: publicId('uid', 'tkt'),
      key: text('key').notNull(),
      keyFolded: text('key_folded').notNull(),
      projectId: integer('project_id'),
      createdAt: time('created_at').notNull(),
      archivedAt: time('archived_at'),
      title: text('title'),
      reported: flag('reported').notNull().default(false),
    }),
    ticketAssumptions: table('ticket_assumptions', {
      ticketId: integer('ticket_id').notNull(),
      userId: integer('user_id').notNull(),
      projectId: integer('project_id'),
    }),
    placementRules: table('placement_rules', {
      id: key('id'),
      uid: publicId('uid', 'rul'),
      position: integer('position').notNull(),
      enabled: flag('enabled').notNull(),
      createdAt: time('created_at').notNull(),
      removedAt: time('removed_at'),
    }),
    placementRuleVersions: table('placement_rule_versions', {
      id: key('id'),
      ruleId: integer('rule_id').notNull(),
      version: integer('version').notNull(),
      name: text('name').notNull(),
      conditions: json<RuleCondition[]>('conditions').notNull(),
      projectId: integer('project_id').notNull(),
      ticket: text('ticket'),
      createdAt: time('created_at').notNull(),
      createdBy: integer('created_by'),
    }),
    bills: table('bills', {
      id: key('id'),
      uid: publicId('uid', 'bil'),
      number: text('number').notNull(),
      kind: text<'bill' | 'credit_note'>('kind').notNull(),
      state: text<'sent' | 'paid' | 'void'>('state').notNull(),
      clientId: integer('client_id'),
      projectId: integer('project_id'),
      periodFrom: text('period_from').notNull(),
      periodTo: text('period_to').notNull(),
      issuedOn: text('issued_on').notNull(),
      dueOn: text('due_on').notNull(),
      currency: text('currency').notNull(),
      subtotal: bigInteger('subtotal').notNull(),
      tax: bigInteger('tax').notNull(),
      total: bigInteger('total').notNull(),
      cost: bigInteger('cost').notNull(),
      listValue: bigInteger('list_value').notNull(),
      entries: integer('entries').notNull(),
      document: text('document').notNull(),
      replacesId: integer('replaces_id'),
      correctsId: integer('corrects_id'),
      createdAt: time('created_at').notNull(),
      createdBy: integer('created_by'),
      paidOn: text('paid_on'),
      paidReference: text('paid_reference'),
      voidedAt: time('voided_at'),
      voidReason: text('void_reason'),
    }),
    billEntries: table('bill_entries', {
      billId: integer('bill_id').notNull(),
      entryId: integer('entry_id').notNull(),
      line: integer('line').notNull(),
      statusBefore: text<'submitted' | 'approved'>('status_before').notNull(),
    }),
    billDocuments: table('bill_documents', {
      billId: integer('bill_id').notNull(),
      format: text('format').notNull(),
      bytes: bytes('bytes').notNull(),
    }),
    billSequences: table('bill_sequences', {
      scope: text('scope').primaryKey(),
      last: integer('last').notNull(),
    }),
    billKeys: table('bill_keys', {
      userId: integer('user_id').notNull(),
      key: text('key').notNull(),
      bodyHash: bytes('body_hash').notNull(),
      billId: integer('bill_id').notNull(),
    }),
    billDeliveries: table('bill_deliveries', {
      id: key('id'),
      billId: integer('bill_id').notNull(),
      notice: text<'sent' | 'void'>('notice').notNull(),
      recipient: text('recipient').notNull(),
      message: text('message'),
      state: text<'queued' | 'sent' | 'failed'>('state').notNull(),
      attempts: integer('attempts').notNull().default(0),
      nextAttemptAt: time('next_attempt_at'),
      answer: text('answer'),
      createdAt: time('created_at').notNull(),
      createdBy: integer('created_by'),
      sentAt: time('sent_at'),
    }),
    names: table('names', {
      id: key('id'),
      text: text('text').notNull(),
      canonicalId: integer('canonical_id'),
    }),
    labelSets: table('label_sets', {
      id: key('id'),
      labels: json<LabelMap>('labels').notNull(),
    }),
    labelPairs: table('label_pairs', {
      name: text('name').notNull(),
      value: text('value').notNull(),
      labelSetId: integer('label_set_id').notNull(),
    }),
    sessions: table('sessions', {
      id: key('id'),
      sessionKey: text('session_key').notNull(),
      harnessId: integer('harness_id').notNull(),
      managerId: integer('manager_id').notNull(),
      source: text<SessionSource>('source').notNull(),
      contested: flag('contested').notNull().default(false),
      managerBy: text<ManagerBy>('manager_by').notNull().default('token'),
      unidentified: flag('unidentified').notNull().default(false),
      byOrganization: flag('by_organization').notNull().default(false),
    }),
    sessionTurns: table('session_turns', {
      turn: integer('turn').primaryKey(),
      taken: integer('taken').notNull(),
    }),
    sessionSources: table('session_sources', {
      sessionId: integer('session_id').notNull(),
      chainModelId: integer('chain_model_id').notNull(),
      source: text<SessionSource>('source').notNull(),
      totals: json<SessionTotals>('totals').notNull(),
    }),
    sheets: table('sheets', {
      id: key('id'),
      uid: publicId('uid', 'sht'),
      managerId: integer('manager_id').notNull(),
      firstDay: text('first_day').notNull(),
      lastDay: text('last_day').notNull(),
      startingAt: time('starting_at').notNull(),
      endingAt: time('ending_at').notNull(),
      note: text('note'),
      status: text<SheetStatus>('status').notNull(),
      reason: text('reason'),
      createdAt: time('created_at').notNull(),
      submittedAt: time('submitted_at'),
      decidedAt: time('decided_at'),
      decidedBy: integer('decided_by'),
      updatedAt: time('updated_at'),
    }),
    entries: table('entries', {
      id: key('id'),
      uid: publicId('uid', 'ent'),
      managerId: integer('manager_id').notNull(),
      tokenId: integer('token_id'),
      source: text<Source>('source').notNull(),
      status: text<Status>('status').notNull(),
      harnessId: integer('harness_id').notNull(),
      agentId: integer('agent_id').notNull(),
      modelId: integer('model_id').notNull(),
      providerId: integer('provider_id'),
      startedAt: time('started_at').notNull(),
      endedAt: time('ended_at').notNull(),
      input: integer('input').notNull(),
      output: integer('output').notNull(),
      cacheRead: integer('cache_read').notNull(),
      cacheWrite: integer('cache_write').notNull(),
      cacheWrite1h: integer('cache_write_1h').notNull(),
      over200kInput: integer('over_200k_input'),
      over200kOutput: integer('over_200k_output'),
      over200kCacheRead: integer('over_200k_cache_read'),
      over200kCacheWrite: integer('over_200k_cache_write'),
      over200kCacheWrite1h: integer('over_200k_cache_write_1h'),
      requests: integer('requests'),
      reportedCost: bigInteger('reported_cost'),
      listValue: bigInteger('list_value'),
      priceId: integer('price_id'),
      priceStep: integer('price_step'),
      priceNote: text('price_note'),
      projectId: integer('project_id'),
      ticketId: integer('ticket_id'),
      placedBy: text<PlacedBy>('placed_by'),
      placementNote: text('placement_note'),
      namedProject: text('named_project'),
      namedTicket: text('named_ticket'),
      summary: text('summary'),
      labelSetId: integer('label_set_id'),
      sessionId: integer('session_id'),
      chainModelId: integer('chain_model_id'),
      part: integer('part'),
      continuesId: integer('continues_id'),
      superseded: flag('superseded').notNull().default(false),
      fingerprint: bigInteger('fingerprint'),
      possibleDuplicateId: integer('possible_duplicate_id'),
      billId: integer('bill_id'),
      createdAt: time('created_at').notNull(),
      updatedAt: time('updated_at'),
      ruleVersionId: integer('rule_version_id'),
      sheetId: integer('sheet_id'),
      managerBy: text<ManagerBy>('manager_by').notNull().default('token'),
    }),
    staleHours: table('stale_hours', {
      hour: integer('hour').notNull(),
    }),
    rollupZones: table('rollup_zones', {
      zone: text('zone').primaryKey(),
      ready: flag('ready').notNull(),
    }),
    rollupPeriods: table('rollup_periods', {
      id: key('id'),
      zone: text('zone').notNull(),
      level: text<RollupLevel>('level').notNull(),
      startsAt: time('starts_at').notNull(),
      endsAt: time('ends_at').notNull(),
      state: text<RollupState>('state').notNull(),
      createdAt: time('created_at').notNull(),
    }),
    rollupSums: table('rollup_sums', {
      periodId: integer('period_id').notNull(),
      grain: integer('grain').notNull(),
      number: integer('number').notNull(),
      managerId: integer('manager_id'),
      harnessId: integer('harness_id'),
      agentId: integer('agent_id'),
      modelId: integer('model_id'),
      providerId: integer('provider_id'),
      projectId: integer('project_id'),
      status: text<Status>('status').notNull(),
      source: text<Source>('source'),
      straddlesTo: time('straddles_to'),
      entries: integer('entries').notNull(),
      unpricedEntries: integer('unpriced_entries').notNull(),
      input: bigInteger('input').notNull(),
      output: bigInteger('output').notNull(),
      cacheRead: bigInteger('cache_read').notNull(),
      cacheWrite: bigInteger('cache_write').notNull(),
      cacheWrite1h: bigInteger('cache_write_1h').notNull(),
      cost: bigInteger('cost'),
      listValue: bigInteger('list_value'),
      reportedCost: bigInteger('reported_cost'),
      comparedEntries: integer('compared_entries').notNull(),
      comparedReportedCost: bigInteger('compared_reported_cost'),
      comparedListValue: bigInteger('compared_list_value'),
    }),
    telemetrySessions: table('telemetry_sessions', {
      sessionId: integer('session_id').primaryKey(),
      facts: json<SessionFacts>('facts').notNull(),
      email: text('email'),
      lastSeenAt: time('last_seen_at').notNull(),
      forgottenTo: time('forgotten_to'),
      remembers: flag('remembers').notNull(),
    }),
    telemetryTotals: table('telemetry_totals', {
      sessionId: integer('session_id').notNull(),
      chainModelId: integer('chain_model_id').notNull(),
      source: text<TelemetrySource>('source').notNull(),
      totals: json<TelemetryTotals>('totals').notNull(),
    }),
    telemetryStreams: table('telemetry_streams', {
      sessionId: integer('session_id').notNull(),
      stream: bytes('stream').notNull(),
      timeNanos: bigInteger('time_nanos').notNull(),
      value: bigInteger('value').notNull(),
    }),
    telemetrySeen: table('telemetry_seen', {
      sessionId: integer('session_id').notNull(),
      identity: bytes('identity').notNull(),
    }),
    telemetryChannels: table('telemetry_channels', {
      harness: text('harness').notNull(),
      version: text('version').notNull(),
      channel: text('channel').notNull(),
      firstSeenAt: time('first_seen_at').notNull(),
      lastSeenAt: time('last_seen_at').notNull(),
      counted: integer('counted').notNull(),
      repeated: integer('repeated').notNull(),
      late: integer('late').notNull(),
      shrunk: integer('shrunk').notNull(),
      tokens: integer('tokens').notNull(),
    }),
    telemetryUncounted: table('telemetry_uncounted', {
      kind: text<'ignored' | 'rejected'>('kind').notNull(),
      what: text('what').notNull(),
      records: integer('records').notNull(),
      lastSeenAt: time('last_seen_at').notNull(),
    }),
    telemetryPushes: table('telemetry_pushes', {
      tokenId: integer('token_id').primaryKey(),
      requests: integer('requests').notNull(),
      records: integer('records').notNull(),
      lastSeenAt: time('last_seen_at').notNull(),
    }),
    idempotencyKeys: table('idempotency_keys', {
      managerId: integer('manager_id').notNull(),
      key: text('key').notNull(),
      bodyHash: bytes('body_hash').notNull(),
      entryId: integer('entry_id').notNull(),
    }),
    entryHistory: table('entry_history', {
      id: key('id'),
      entryId: integer('entry_id').notNull(),
      at: time('at').notNull(),
      action: text('action').notNull(),
      userId: integer('user_id'),
      tokenId: integer('token_id'),
      details: json<Record<string, unknown>>('details').notNull(),
    }),
    audit: table('audit', {
      id: key('id'),
      at: time('at').notNull(),
      userId: integer('user_id'),
      tokenId: integer('token_id'),
      origin: text('origin').notNull(),
      action: text('action').notNull(),
      objectId: text('object_id'),
      objectName: text('object_name'),
      before: json<Record<string, unknown>>('before'),
      after: json<Record<string, unknown>>('after'),
    }),
    migrations: table('migrations', {
      version: integer('version').primaryKey(),
      name: text('name').notNull(),
      appliedAt: time('applied_at').notNull(),
    }),
    revision: table('revision', {
      id: integer('id').primaryKey(),
      value: integer('value').notNull(),
    }),
    prices: table('prices', {
      id: key('id'),
      uid: publicId('uid', 'prc'),
      provider: text('provider').notNull(),
      model: text('model').notNull(),
      input: bigInteger('input'),
      output: bigInteger('output'),
      cacheRead: bigInteger('cache_read'),
      cacheWrite: bigInteger('cache_write'),
      cacheWrite1h: bigInteger('cache_write_1h'),
      tiers: json<PriceTier[]>('tiers'),
      effectiveFrom: time('effective_from'),
      source: text('source').notNull(),
      loadedAt: time('loaded_at').notNull(),
      loadedBy: integer('loaded_by'),
    }),
    priceAliases: table('price_aliases', {
      id: key('id'),
      alias: text('alias').notNull(),
      provider: text('provider'),
      model: text('model').notNull(),
      source: text('source').notNull(),
      createdAt: time('created_at').notNull(),
      createdBy: integer('created_by'),
    }),
    priceTables: table('price_tables', {
      source: text('source').notNull(),
      version: text('version').notNull(),
      loadedAt: time('loaded_at').notNull(),
    }),
  }
}

export const sqliteTables = defineTables(sqliteKit)
export const postgresTables = defineTables(postgresKit)

/** The tables of the engine in use; a store takes them from its `tx`. */
export type Tables = typeof postgresTables
