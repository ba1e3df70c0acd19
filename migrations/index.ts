/**
 * Every migration in order, embedded as text. Forward only: a released file is never edited, a change is a new one. A new one
 * is a file with the next number for each engine, and a line here. Tables of SQLite are STRICT. Tables that are cached (people,
 * tokens, prices, aliases, the organization) have triggers that increment `revision`. For an IN with more than two values in a
 * CHECK, SQLite fills a table at every insert: write it with OR. Rows that must
 * stay have one more trigger, against the statement that removes them without firing others: INSERT OR REPLACE on SQLite,
 * TRUNCATE on PostgreSQL.
 *
 * Servers that share a PostgreSQL database are upgraded one after the other, so the version before still serves while and
 * after the new one migrates:
 *
 * - Expand. A migration that only adds (tables, columns that are nullable or have a constant default, triggers that also fit
 *   what the version before writes, constraints that are NOT VALID) names the oldest schema version that it leaves usable,
 *   {@link Migration.compatibleFrom}. `test/database/expanding-migrations.test.ts` refuses what removes, renames, retypes or
 *   requires something in one, or locks a table for long.
 * - Indexes of existing tables are created with CREATE INDEX CONCURRENTLY, in a migration of their own. Those of entries cannot
 *   be unique without the id, because entries can be partitioned.
 * - Write both, read either. Rows of the version before lack what the migration adds: the new version fills it in when it reads,
 *   or in a job, not in the migration.
 * - Contract one release later. What the last release does not use may be removed: `compatibleFrom` is that release's schema
 *   version, and `CONTRACTED` of the test says why.
 * - Without `compatibleFrom`, servers of the version before refuse every request (503 `database_upgraded`) until they are
 *   replaced. Avoid it, and name it in the changelog under "Upgrading".
 *
 * A new database gets `baseline.sql` and the migrations after {@link BASELINE}. At a release, set its version to the newest and
 * run `bun scripts/baseline.ts`; `test/database/baseline.test.ts` compares it with a database upgraded from version 1.
 */
import postgresFoundation from './postgres/0001_foundation.sql' with { type: 'text' }
import postgresWork from './postgres/0002_work.sql' with { type: 'text' }
import postgresSheets from './postgres/0003_sheets.sql' with { type: 'text' }
import postgresRollup from './postgres/0004_rollup.sql' with { type: 'text' }
import postgresBills from './postgres/0005_bills.sql' with { type: 'text' }
import postgresTelemetry from './postgres/0006_telemetry.sql' with { type: 'text' }
import postgresDemo from './postgres/0007_demo.sql' with { type: 'text' }
import postgresOwnership from './postgres/0008_ownership.sql' with { type: 'text' }
import postgresSets from './postgres/0009_sets.sql' with { type: 'text' }
import postgresUsageDetails from './postgres/0010_usage_details.sql' with { type: 'text' }
import postgresPossibleDuplicates from './postgres/0011_possible_duplicates.sql' with { type: 'text' }
import postgresPriceLoads from './postgres/0012_price_loads.sql' with { type: 'text' }
import postgresWeekStart from './postgres/0013_week_start.sql' with { type: 'text' }
import postgresCostMismatches from './postgres/0014_cost_mismatches.sql' with { type: 'text' }
import postgresRollupColumns from './postgres/0015_rollup_columns.sql' with { type: 'text' }
import postgresBillsInPortions from './postgres/0016_bills_in_portions.sql' with { type: 'text' }
import postgresEntryChanges from './postgres/0017_entry_changes.sql' with { type: 'text' }
import postgresVoidedEntries from './postgres/0018_voided_entries.sql' with { type: 'text' }
import postgresApprovers from './postgres/0019_approvers.sql' with { type: 'text' }
import postgresBillPayments from './postgres/0020_bill_payments.sql' with { type: 'text' }
import postgresReleasedBills from './postgres/0021_released_bills.sql' with { type: 'text' }
import postgresReminders from './postgres/0022_reminders.sql' with { type: 'text' }
import postgresApiTokens from './postgres/0023_api_tokens.sql' with { type: 'text' }
import postgresDividedEntries from './postgres/0024_divided_entries.sql' with { type: 'text' }
import postgresShareLinks from './postgres/0025_share_links.sql' with { type: 'text' }
import postgresPriceEnds from './postgres/0026_price_ends.sql' with { type: 'text' }
import postgresPersonalData from './postgres/0027_personal_data.sql' with { type: 'text' }
import postgresViewers from './postgres/0028_viewers.sql' with { type: 'text' }
import postgresEvents from './postgres/0029_events.sql' with { type: 'text' }
import postgresBudgets from './postgres/0030_budgets.sql' with { type: 'text' }
import postgresWebhooks from './postgres/0031_webhooks.sql' with { type: 'text' }
import postgresNotifications from './postgres/0032_notifications.sql' with { type: 'text' }
import postgresBudgetRecounts from './postgres/0033_budget_recounts.sql' with { type: 'text' }
import postgresPreferences from './postgres/0034_preferences.sql' with { type: 'text' }
import postgresRollupDurations from './postgres/0035_rollup_durations.sql' with { type: 'text' }
import postgresReportViews from './postgres/0036_report_views.sql' with { type: 'text' }
import postgresClientTax from './postgres/0037_client_tax.sql' with { type: 'text' }
import postgresProjectRepositories from './postgres/0038_project_repositories.sql' with { type: 'text' }
import postgresSheetRequiredFields from './postgres/0039_sheet_required_fields.sql' with { type: 'text' }
import postgresLeadRules from './postgres/0040_lead_rules.sql' with { type: 'text' }
import postgresBillDrafts from './postgres/0041_bill_drafts.sql' with { type: 'text' }
import postgresPublicUrl from './postgres/0042_public_url.sql' with { type: 'text' }
import postgresMoves from './postgres/0043_moves.sql' with { type: 'text' }
import postgresCompatibleSchema from './postgres/0044_compatible_schema.sql' with { type: 'text' }
import postgresSettledIds from './postgres/0045_settled_ids.sql' with { type: 'text' }
import postgresSharedLimits from './postgres/0046_shared_limits.sql' with { type: 'text' }
import postgresOwedWork from './postgres/0047_owed_work.sql' with { type: 'text' }
import postgresProjectBudgets from './postgres/0048_project_budgets.sql' with { type: 'text' }
import postgresWebhookOwners from './postgres/0049_webhook_owners.sql' with { type: 'text' }
import postgresBackupIdentity from './postgres/0050_backup_identity.sql' with { type: 'text' }
import postgresSlices from './postgres/0051_slices.sql' with { type: 'text' }
import postgresActiveTimeOfReports from './postgres/0052_active_time_of_reports.sql' with { type: 'text' }
import postgresAgentStatus from './postgres/0053_agent_status.sql' with { type: 'text' }
import postgresTelemetryCalls from './postgres/0054_telemetry_calls.sql' with { type: 'text' }
import postgresLocale from './postgres/0055_locale.sql' with { type: 'text' }
import postgresCheaperTriggers from './postgres/0056_cheaper_triggers.sql' with { type: 'text' }
import postgresPlans from './postgres/0057_plans.sql' with { type: 'text' }
import postgresCostBasis from './postgres/0058_cost_basis.sql' with { type: 'text' }
import postgresAllocation from './postgres/0059_allocation.sql' with { type: 'text' }
import postgresLimitReadings from './postgres/0060_limit_readings.sql' with { type: 'text' }
import postgresPeriodMoments from './postgres/0061_period_moments.sql' with { type: 'text' }
import postgresChargedCost from './postgres/0062_charged_cost.sql' with { type: 'text' }
import postgresTrusts from './postgres/0063_trusts.sql' with { type: 'text' }
import postgresSignInLinks from './postgres/0064_sign_in_links.sql' with { type: 'text' }
import postgresCheaperReferences from './postgres/0065_cheaper_references.sql' with { type: 'text' }
import postgresBaseline from './postgres/baseline.sql' with { type: 'text' }

import sqliteFoundation from './sqlite/0001_foundation.sql' with { type: 'text' }
import sqliteWork from './sqlite/0002_work.sql' with { type: 'text' }
import sqliteSheets from './sqlite/0003_sheets.sql' with { type: 'text' }
import sqliteRollup from './sqlite/0004_rollup.sql' with { type: 'text' }
import sqliteBills from './sqlite/0005_bills.sql' with { type: 'text' }
import sqliteTelemetry from './sqlite/0006_telemetry.sql' with { type: 'text' }
import sqliteDemo from './sqlite/0007_demo.sql' with { type: 'text' }
import sqliteOwnership from './sqlite/0008_ownership.sql' with { type: 'text' }
import sqliteSets from './sqlite/0009_sets.sql' with { type: 'text' }
import sqliteUsageDetails from './sqlite/0010_usage_details.sql' with { type: 'text' }
import sqlitePossibleDuplicates from './sqlite/0011_possible_duplicates.sql' with { type: 'text' }
import sqlitePriceLoads from './sqlite/0012_price_loads.sql' with { type: 'text' }
import sqliteWeekStart from './sqlite/0013_week_start.sql' with { type: 'text' }
import sqliteCostMismatches from './sqlite/0014_cost_mismatches.sql' with { type: 'text' }
import sqliteRollupColumns from './sqlite/0015_rollup_columns.sql' with { type: 'text' }
import sqliteBillsInPortions from './sqlite/0016_bills_in_portions.sql' with { type: 'text' }
import sqliteEntryChanges from './sqlite/0017_entry_changes.sql' with { type: 'text' }
import sqliteVoidedEntries from './sqlite/0018_voided_entries.sql' with { type: 'text' }
import sqliteApprovers from './sqlite/0019_approvers.sql' with { type: 'text' }
import sqliteBillPayments from './sqlite/0020_bill_payments.sql' with { type: 'text' }
import sqliteReleasedBills from './sqlite/0021_released_bills.sql' with { type: 'text' }
import sqliteReminders from './sqlite/0022_reminders.sql' with { type: 'text' }
import sqliteApiTokens from './sqlite/0023_api_tokens.sql' with { type: 'text' }
import sqliteDividedEntries from './sqlite/0024_divided_entries.sql' with { type: 'text' }
import sqliteShareLinks from './sqlite/0025_share_links.sql' with { type: 'text' }
import sqlitePriceEnds from './sqlite/0026_price_ends.sql' with { type: 'text' }
import sqlitePersonalData from './sqlite/0027_personal_data.sql' with { type: 'text' }
import sqliteViewers from './sqlite/0028_viewers.sql' with { type: 'text' }
import sqliteEvents from './sqlite/0029_events.sql' with { type: 'text' }
import sqliteBudgets from './sqlite/0030_budgets.sql' with { type: 'text' }
import sqliteWebhooks from './sqlite/0031_webhooks.sql' with { type: 'text' }
import sqliteNotifications from './sqlite/0032_notifications.sql' with { type: 'text' }
import sqliteBudgetRecounts from './sqlite/0033_budget_recounts.sql' with { type: 'text' }
import sqlitePreferences from './sqlite/0034_preferences.sql' with { type: 'text' }
import sqliteRollupDurations from './sqlite/0035_rollup_durations.sql' with { type: 'text' }
import sqliteReportViews from './sqlite/0036_report_views.sql' with { type: 'text' }
import sqliteClientTax from './sqlite/0037_client_tax.sql' with { type: 'text' }
import sqliteProjectRepositories from './sqlite/0038_project_repositories.sql' with { type: 'text' }
import sqliteSheetRequiredFields from './sqlite/0039_sheet_required_fields.sql' with { type: 'text' }
import sqliteLeadRules from './sqlite/0040_lead_rules.sql' with { type: 'text' }
import sqliteBillDrafts from './sqlite/0041_bill_drafts.sql' with { type: 'text' }
import sqlitePublicUrl from './sqlite/0042_public_url.sql' with { type: 'text' }
import sqliteMoves from './sqlite/0043_moves.sql' with { type: 'text' }
import sqliteCompatibleSchema from './sqlite/0044_compatible_schema.sql' with { type: 'text' }
import sqliteSettledIds from './sqlite/0045_settled_ids.sql' with { type: 'text' }
import sqliteSharedLimits from './sqlite/0046_shared_limits.sql' with { type: 'text' }
import sqliteOwedWork from './sqlite/0047_owed_work.sql' with { type: 'text' }
import sqliteProjectBudgets from './sqlite/0048_project_budgets.sql' with { type: 'text' }
import sqliteWebhookOwners from './sqlite/0049_webhook_owners.sql' with { type: 'text' }
import sqliteBackupIdentity from './sqlite/0050_backup_identity.sql' with { type: 'text' }
import sqliteSlices from './sqlite/0051_slices.sql' with { type: 'text' }
import sqliteActiveTimeOfReports from './sqlite/0052_active_time_of_reports.sql' with { type: 'text' }
import sqliteAgentStatus from './sqlite/0053_agent_status.sql' with { type: 'text' }
import sqliteTelemetryCalls from './sqlite/0054_telemetry_calls.sql' with { type: 'text' }
import sqliteLocale from './sqlite/0055_locale.sql' with { type: 'text' }
import sqliteCheaperTriggers from './sqlite/0056_cheaper_triggers.sql' with { type: 'text' }
import sqlitePlans from './sqlite/0057_plans.sql' with { type: 'text' }
import sqliteCostBasis from './sqlite/0058_cost_basis.sql' with { type: 'text' }
import sqliteAllocation from './sqlite/0059_allocation.sql' with { type: 'text' }
import sqliteLimitReadings from './sqlite/0060_limit_readings.sql' with { type: 'text' }
import sqlitePeriodMoments from './sqlite/0061_period_moments.sql' with { type: 'text' }
import sqliteChargedCost from './sqlite/0062_charged_cost.sql' with { type: 'text' }
import sqliteTrusts from './sqlite/0063_trusts.sql' with { type: 'text' }
import sqliteSignInLinks from './sqlite/0064_sign_in_links.sql' with { type: 'text' }
import sqliteCheaperReferences from './sqlite/0065_cheaper_references.sql' with { type: 'text' }
import sqliteBaseline from './sqlite/baseline.sql' with { type: 'text' }

export interface Migration {
  version: number
  name: string
  sql: { sqlite: string; postgres: string }
  /**
   * The oldest schema version whose programs can use the database afterwards, so that servers can be replaced one after
   * the other; without it, only programs that contain the migration can.
   */
  compatibleFrom?: number
}

/** What a new database gets instead of the migrations up to this version. Written by `scripts/baseline.ts`. */
export const BASELINE = { version: 50, sql: { sqlite: sqliteBaseline, postgres: postgresBaseline } }

export const MIGRATIONS: Migration[] = [
  { version: 1, name: 'foundation', sql: { sqlite: sqliteFoundation, postgres: postgresFoundation } },
  { version: 2, name: 'work', sql: { sqlite: sqliteWork, postgres: postgresWork } },
  { version: 3, name: 'sheets', sql: { sqlite: sqliteSheets, postgres: postgresSheets } },
  { version: 4, name: 'rollup', sql: { sqlite: sqliteRollup, postgres: postgresRollup } },
  { version: 5, name: 'bills', sql: { sqlite: sqliteBills, postgres: postgresBills } },
  { version: 6, name: 'telemetry', sql: { sqlite: sqliteTelemetry, postgres: postgresTelemetry } },
  { version: 7, name: 'demo', sql: { sqlite: sqliteDemo, postgres: postgresDemo } },
  { version: 8, name: 'ownership', sql: { sqlite: sqliteOwnership, postgres: postgresOwnership } },
  { version: 9, name: 'sets', sql: { sqlite: sqliteSets, postgres: postgresSets } },
  {
    version: 10,
    name: 'usage_details',
    sql: { sqlite: sqliteUsageDetails, postgres: postgresUsageDetails },
  },
  {
    version: 11,
    name: 'possible_duplicates',
    sql: { sqlite: sqlitePossibleDuplicates, postgres: postgresPossibleDuplicates },
  },
  { version: 12, name: 'price_loads', sql: { sqlite: sqlitePriceLoads, postgres: postgresPriceLoads } },
  { version: 13, name: 'week_start', sql: { sqlite: sqliteWeekStart, postgres: postgresWeekStart } },
  { version: 14, name: 'cost_mismatches', sql: { sqlite: sqliteCostMismatches, postgres: postgresCostMismatches } },
  { version: 15, name: 'rollup_columns', sql: { sqlite: sqliteRollupColumns, postgres: postgresRollupColumns } },
  {
    version: 16,
    name: 'bills_in_portions',
    sql: { sqlite: sqliteBillsInPortions, postgres: postgresBillsInPortions },
  },
  { version: 17, name: 'entry_changes', sql: { sqlite: sqliteEntryChanges, postgres: postgresEntryChanges } },
  { version: 18, name: 'voided_entries', sql: { sqlite: sqliteVoidedEntries, postgres: postgresVoidedEntries } },
  { version: 19, name: 'approvers', sql: { sqlite: sqliteApprovers, postgres: postgresApprovers } },
  { version: 20, name: 'bill_payments', sql: { sqlite: sqliteBillPayments, postgres: postgresBillPayments } },
  { version: 21, name: 'released_bills', sql: { sqlite: sqliteReleasedBills, postgres: postgresReleasedBills } },
  { version: 22, name: 'reminders', sql: { sqlite: sqliteReminders, postgres: postgresReminders } },
  { version: 23, name: 'api_tokens', sql: { sqlite: sqliteApiTokens, postgres: postgresApiTokens } },
  { version: 24, name: 'divided_entries', sql: { sqlite: sqliteDividedEntries, postgres: postgresDividedEntries } },
  { version: 25, name: 'share_links', sql: { sqlite: sqliteShareLinks, postgres: postgresShareLinks } },
  { version: 26, name: 'price_ends', sql: { sqlite: sqlitePriceEnds, postgres: postgresPriceEnds } },
  { version: 27, name: 'personal_data', sql: { sqlite: sqlitePersonalData, postgres: postgresPersonalData } },
  { version: 28, name: 'viewers', sql: { sqlite: sqliteViewers, postgres: postgresViewers } },
  { version: 29, name: 'events', sql: { sqlite: sqliteEvents, postgres: postgresEvents } },
  { version: 30, name: 'budgets', sql: { sqlite: sqliteBudgets, postgres: postgresBudgets } },
  { version: 31, name: 'webhooks', sql: { sqlite: sqliteWebhooks, postgres: postgresWebhooks } },
  { version: 32, name: 'notifications', sql: { sqlite: sqliteNotifications, postgres: postgresNotifications } },
  {
    version: 33,
    name: 'budget_recounts',
    sql: { sqlite: sqliteBudgetRecounts, postgres: postgresBudgetRecounts },
  },
  { version: 34, name: 'preferences', sql: { sqlite: sqlitePreferences, postgres: postgresPreferences } },
  {
    version: 35,
    name: 'rollup_durations',
    sql: { sqlite: sqliteRollupDurations, postgres: postgresRollupDurations },
  },
  { version: 36, name: 'report_views', sql: { sqlite: sqliteReportViews, postgres: postgresReportViews } },
  { version: 37, name: 'client_tax', sql: { sqlite: sqliteClientTax, postgres: postgresClientTax } },
  {
    version: 38,
    name: 'project_repositories',
    sql: { sqlite: sqliteProjectRepositories, postgres: postgresProjectRepositories },
  },
  {
    version: 39,
    name: 'sheet_required_fields',
    sql: { sqlite: sqliteSheetRequiredFields, postgres: postgresSheetRequiredFields },
  },
  { version: 40, name: 'lead_rules', sql: { sqlite: sqliteLeadRules, postgres: postgresLeadRules } },
  { version: 41, name: 'bill_drafts', sql: { sqlite: sqliteBillDrafts, postgres: postgresBillDrafts } },
  { version: 42, name: 'public_url', sql: { sqlite: sqlitePublicUrl, postgres: postgresPublicUrl } },
  { version: 43, name: 'moves', sql: { sqlite: sqliteMoves, postgres: postgresMoves } },
  {
    version: 44,
    name: 'compatible_schema',
    sql: { sqlite: sqliteCompatibleSchema, postgres: postgresCompatibleSchema },
  },
  {
    version: 45,
    name: 'settled_ids',
    sql: { sqlite: sqliteSettledIds, postgres: postgresSettledIds },
    compatibleFrom: 44,
  },
  {
    version: 46,
    name: 'shared_limits',
    sql: { sqlite: sqliteSharedLimits, postgres: postgresSharedLimits },
    compatibleFrom: 44,
  },
  {
    version: 47,
    name: 'owed_work',
    sql: { sqlite: sqliteOwedWork, postgres: postgresOwedWork },
    compatibleFrom: 44,
  },
  {
    version: 48,
    name: 'project_budgets',
    sql: { sqlite: sqliteProjectBudgets, postgres: postgresProjectBudgets },
    compatibleFrom: 44,
  },
  {
    version: 49,
    name: 'webhook_owners',
    // A server of a version before would send events to a webhook that is suspended.
    sql: { sqlite: sqliteWebhookOwners, postgres: postgresWebhookOwners },
  },
  {
    version: 50,
    name: 'backup_identity',
    sql: { sqlite: sqliteBackupIdentity, postgres: postgresBackupIdentity },
    compatibleFrom: 49,
  },
  {
    version: 51,
    name: 'slices',
    // A server of a version before would go on with a slice from another one, and take away its place.
    sql: { sqlite: sqliteSlices, postgres: postgresSlices },
  },
  {
    version: 52,
    name: 'active_time_of_reports',
    sql: { sqlite: sqliteActiveTimeOfReports, postgres: postgresActiveTimeOfReports },
    compatibleFrom: 51,
  },
  {
    version: 53,
    name: 'agent_status',
    sql: { sqlite: sqliteAgentStatus, postgres: postgresAgentStatus },
    compatibleFrom: 52,
  },
  {
    version: 54,
    name: 'telemetry_calls',
    sql: { sqlite: sqliteTelemetryCalls, postgres: postgresTelemetryCalls },
    compatibleFrom: 53,
  },
  {
    version: 55,
    name: 'locale',
    sql: { sqlite: sqliteLocale, postgres: postgresLocale },
    compatibleFrom: 54,
  },
  {
    version: 56,
    name: 'cheaper_triggers',
    sql: { sqlite: sqliteCheaperTriggers, postgres: postgresCheaperTriggers },
    compatibleFrom: 55,
  },
  {
    version: 57,
    name: 'plans',
    sql: { sqlite: sqlitePlans, postgres: postgresPlans },
    compatibleFrom: 56,
  },
  {
    version: 58,
    name: 'cost_basis',
    // A server of a version before would count budgets by cost that have another basis, and bill corrections as free of cost.
    sql: { sqlite: sqliteCostBasis, postgres: postgresCostBasis },
  },
  {
    version: 59,
    name: 'allocation',
    // Comes with the one before, after which no server of an earlier version goes on.
    sql: { sqlite: sqliteAllocation, postgres: postgresAllocation },
  },
  {
    version: 60,
    name: 'limit_readings',
    sql: { sqlite: sqliteLimitReadings, postgres: postgresLimitReadings },
    compatibleFrom: 59,
  },
  {
    version: 61,
    name: 'period_moments',
    // It has the next calculation fill them in, which also writes rows of the versions before.
    sql: { sqlite: sqlitePeriodMoments, postgres: postgresPeriodMoments },
  },
  {
    version: 62,
    name: 'charged_cost',
    // As 59; a server of a version before would also show unknown charges as 0.
    sql: { sqlite: sqliteChargedCost, postgres: postgresChargedCost },
  },
  {
    version: 63,
    name: 'trusts',
    // A server of a version before knows no exchanged token, and refuses it.
    sql: { sqlite: sqliteTrusts, postgres: postgresTrusts },
    compatibleFrom: 62,
  },
  {
    version: 64,
    name: 'sign_in_links',
    // A server of a version before would let a link that signs in set a password.
    sql: { sqlite: sqliteSignInLinks, postgres: postgresSignInLinks },
  },
  {
    version: 65,
    name: 'cheaper_references',
    sql: { sqlite: sqliteCheaperReferences, postgres: postgresCheaperReferences },
    compatibleFrom: 64,
  },
]
