/** The fixed values of columns. Imports nothing, because the web application loads it too. */

/** In the order of what they may do. */
export const ROLES = ['viewer', 'member', 'billing', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** All but viewers, who see only what was granted to them, and change nothing but their own account. */
export const STAFF_ROLES = ['member', 'billing', 'admin'] as const satisfies readonly Role[]

/** Whether a role sees all entries, projects and bills. */
export function seesEverything(role: Role): boolean {
  return role === 'billing' || role === 'admin'
}

/** `svc` reports entries, `read` reads what its creator's role sees, `org` pushes telemetry, `api` does what its scopes allow. */
export const TOKEN_KINDS = ['svc', 'read', 'org', 'api'] as const
export type TokenKind = (typeof TOKEN_KINDS)[number]

export const STATUSES = [
  'submitted',
  'draft',
  'pending',
  'approved',
  'rejected',
  'billed',
  'held',
  'discarded',
  'voided',
] as const
export type Status = (typeof STATUSES)[number]

/**
 * Statuses of entries that reports and budgets do not count: those on sheets that are not approved are not usage yet, possible
 * duplicates may never be, and voided ones are not.
 */
export const UNCOUNTED_STATUSES: readonly Status[] = ['draft', 'pending', 'held', 'discarded', 'voided']

/** Where the data of a session comes from: a report call, or the logs, spans or metrics of pushed telemetry. */
export const SESSION_SOURCES = ['report', 'log', 'span', 'metric'] as const
export type SessionSource = (typeof SESSION_SOURCES)[number]
export type TelemetrySource = Exclude<SessionSource, 'report'>
export const SOURCES = [...SESSION_SOURCES, 'sheet'] as const
export type Source = (typeof SOURCES)[number]

/** Where an entry's agent manager comes from: its token, or the e-mail address sent with an organization token. */
export const MANAGER_BY = ['token', 'email'] as const
export type ManagerBy = (typeof MANAGER_BY)[number]

export const SHEET_STATUSES = ['open', 'submitted', 'approved', 'returned'] as const
export type SheetStatus = (typeof SHEET_STATUSES)[number]

export const PLACED_BY = ['named', 'rule', 'manual'] as const
export type PlacedBy = (typeof PLACED_BY)[number]

/** In the order of ISO 8601. */
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Weekday = (typeof WEEKDAYS)[number]

export const UNKNOWN_PROJECTS = ['create', 'hold'] as const
export type UnknownProjects = (typeof UNKNOWN_PROJECTS)[number]

/** How a session is handled that another person has already reported: held until someone decides, or counted as well. */
export const SAME_SESSION = ['hold', 'count'] as const
export type SameSession = (typeof SAME_SESSION)[number]

/** Whether a session may repeat another person's: waiting for a decision, or what was decided. */
export type SessionDuplicate = 'held' | 'released' | 'discarded'

/** What later reports of its session do after an entry was voided: they add a new part, or they change nothing. */
export const LATER_REPORTS = ['new_part', 'ignore'] as const
export type LaterReports = (typeof LATER_REPORTS)[number]

/** What a person may correct of an entry that was reported. */
export const CORRECTED_FIELDS = ['figures', 'labels', 'summary'] as const
export type CorrectedField = (typeof CORRECTED_FIELDS)[number]

export type RollupLevel = 'day' | 'month'
export type RollupState = 'stale' | 'building' | 'clean' | 'old'

/** The kinds of project names. */
export const PROJECT_NAME_KINDS = ['key', 'name', 'alias'] as const
export type ProjectNameKind = (typeof PROJECT_NAME_KINDS)[number]

/** What became of a rule that a lead proposed. */
export const PROPOSAL_STATES = ['open', 'accepted', 'declined', 'withdrawn'] as const
export type ProposalState = (typeof PROPOSAL_STATES)[number]

/** Whether a database is moved `to` another one, or is the copy `from` another one. */
export type MoveDirection = 'from' | 'to'

/** The purposes of one-time links: set up Tally, set a first password, set a new one, or sign in on one's own machine. */
export type LinkPurpose = 'set_up' | 'invitation' | 'password' | 'sign_in'

/** Whose jobs can get tokens by a trust. */
export const TRUST_PROVIDERS = ['github', 'gitlab'] as const
export type TrustProvider = (typeof TRUST_PROVIDERS)[number]

/** The money that a grant shows: billed amounts, or the cost of usage. A share link of a bill shows the amounts of the bill. */
export const SHARED_MONEY = ['amounts', 'cost', 'none'] as const
export type SharedMoney = (typeof SHARED_MONEY)[number]

/** What a budget limits: cost, cost with the markup of billable entries, or tokens of all kinds. */
export const BUDGET_MEASURES = ['cost', 'billed_amount', 'tokens'] as const
export type BudgetMeasure = (typeof BUDGET_MEASURES)[number]

/** `once` is one period from the first to the last day of the budget. */
export const BUDGET_PERIODS = ['day', 'week', 'month', 'quarter', 'year', 'once'] as const
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number]

export type BudgetAlertKind = 'spent' | 'forecast'

/** Who uses a plan: one person, a list of people, or everyone. */
export const PLAN_HOLDERS = ['person', 'people', 'organization'] as const
export type PlanHolder = (typeof PLAN_HOLDERS)[number]

/** How often the fee of a plan is charged; `once` covers the time until the terms change or the plan ends. */
export const PLAN_PERIODS = ['week', 'month', 'year', 'once'] as const
export type PlanPeriod = (typeof PLAN_PERIODS)[number]

/** What the allowance of a plan counts: US dollars at the prices of the API, tokens of all kinds, or requests. */
export const ALLOWANCE_UNITS = ['usd', 'tokens', 'requests'] as const
export type AllowanceUnit = (typeof ALLOWANCE_UNITS)[number]

/** By what entries share the fee of a plan; `active_days`: by list value within equal shares of the days with use. */
export const FEE_WEIGHTS = ['list_value', 'tokens', 'active_time', 'active_days'] as const
export type FeeWeight = (typeof FEE_WEIGHTS)[number]

/** What a report or a rule says that pays: the use itself, the fee of a plan, credits, or nobody knows what. */
export const FUNDINGS = ['metered', 'plan', 'credits', 'unknown'] as const
export type StatedFunding = (typeof FUNDINGS)[number]

/** What pays for an entry; `mixed` if a part of its tokens is metered, and a plan pays for the rest. */
export const ENTRY_FUNDINGS = [...FUNDINGS, 'mixed'] as const
export type FundingKind = (typeof ENTRY_FUNDINGS)[number]

/** What was said of it; mixed if the cells of a slice say different things, `mixed_credits` if all that are not metered say credits. */
export const SAID_FUNDINGS = [...ENTRY_FUNDINGS, 'mixed_credits'] as const
export type SaidFundingKind = (typeof SAID_FUNDINGS)[number]

/** What decided it: a report, what an agent recorded, a rule, the plan of the person, or nothing. */
export const FUNDING_REASONS = ['report', 'agent', 'rule', 'person', 'none', 'correction'] as const
export type FundingReason = (typeof FUNDING_REASONS)[number]

/**
 * What was not taken as it was said: a plan that does not hold the person, or that nobody has; parts that differ. Or that
 * the metered share is that of tokens.
 */
export const FUNDING_NOTES = ['plan_not_held', 'no_plan', 'parts_differ', 'mixed_by_tokens'] as const
export type FundingNote = (typeof FUNDING_NOTES)[number]

/** What people can be sent e-mails about. */
export const NOTIFICATION_TOPICS = ['budget_alerts', 'attention', 'weekly_summary', 'anomalies'] as const
export type NotificationTopic = (typeof NOTIFICATION_TOPICS)[number]

/** Until somebody chooses. */
export const USUAL_NOTIFICATIONS: readonly NotificationTopic[] = ['budget_alerts']

/** The format of the messages that a webhook endpoint gets: signed JSON, or a message in a chat. */
export const WEBHOOK_FORMATS = ['standard', 'slack', 'teams', 'discord', 'chat'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** Why an endpoint gets nothing: a person disabled it, it failed for days, or it answered that it is gone (410). */
export const WEBHOOK_DISABLED_REASONS = ['person', 'failing', 'gone'] as const
export type WebhookDisabledReason = (typeof WEBHOOK_DISABLED_REASONS)[number]

/** Why the events of an endpoint wait: its owner may not be sent them any more, or the token that its owner added it with. */
export const WEBHOOK_SUSPENDED_REASONS = [
  'owner_disabled',
  'owner_role',
  'token_revoked',
  'token_expired',
  'token_scopes',
  'api_tokens_off',
] as const
export type WebhookSuspendedReason = (typeof WEBHOOK_SUSPENDED_REASONS)[number]

/** Why a message was sent: its event was next, or a person sent it again, or tested the endpoint. */
export const WEBHOOK_DELIVERY_KINDS = ['event', 'resend', 'test'] as const
export type WebhookDeliveryKind = (typeof WEBHOOK_DELIVERY_KINDS)[number]

/** What a committed change may leave to be done after it. */
export const OWED_KINDS = ['valuation'] as const
export type OwedKind = (typeof OWED_KINDS)[number]
