import { Type } from '@sinclair/typebox'
import { SAME_SESSION, UNKNOWN_PROJECTS, WEEKDAYS } from '../../../database/schema/values.ts'
import { COST_BASES } from '../../../shared/cost-basis.ts'
import { bytes, choice, flag, integer, json, moment, orNone, publicUrl, text } from '../columns.ts'
import { kind } from '../kind.ts'

/** The settings of the organization. */
export const SETTINGS = kind({
  type: 'settings',
  table: 'organization',
  order: ['id'],
  isContext: true,
  filled: { id: () => 1 },
  fields: {
    name: text('name'),
    time_zone: text('timeZone'),
    week_start: choice('weekStart', WEEKDAYS),
    locale: orNone(text('locale')),
    currency: text('currency'),
    public_url: orNone(publicUrl('publicUrl')),
    unknown_projects: choice('unknownProjects', UNKNOWN_PROJECTS),
    same_session: choice('sameSession', SAME_SESSION),
    approval_required: flag('approvalRequired'),
    api_tokens: flag('apiTokens'),
    share_links: flag('shareLinks'),
    lead_rules: flag('leadRules'),
    telemetry_by_email: flag('telemetryByEmail'),
    cost_basis: choice('costBasis', COST_BASES),
    leads_see_fees: flag('leadsSeeFees'),
    email: orNone(text('email')),
    address: orNone(text('address')),
    tax_id: orNone(text('taxId')),
    markup_ppm: orNone(integer('markupPpm')),
    due_days: integer('dueDays'),
    reminder_days: orNone(integer('reminderDays')),
    bill_number_format: text('billNumberFormat'),
    bill_footer: orNone(text('billFooter')),
    logo: orNone(bytes('logo')),
    logo_type: orNone(text('logoType')),
    retention_texts: orNone(integer('retentionTexts')),
    retention_session_ids: orNone(integer('retentionSessionIds')),
    retention_history: orNone(integer('retentionHistory')),
    retention_audit: orNone(integer('retentionAudit')),
    retention_events: orNone(integer('retentionEvents')),
    sheet_required_fields: json('sheetRequiredFields', Type.Array(Type.String())),
    hashed_session_ids: flag('hashedSessionIds'),
    set_up_at: orNone(moment('setUpAt')),
    demo_at: orNone(moment('demoAt')),
  },
})
