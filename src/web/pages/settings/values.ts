/** The settings as form values, and the changes to send. */
import type { api } from '../../server/api.ts'
import type { useSettings } from '../../server/me.ts'

/** All settings: only admins open this page, and only members receive fewer. */
export type AllSettings = ReturnType<typeof useSettings>
type SettingsChange = NonNullable<Parameters<typeof api.settings.patch>[0]>

/** The value of a number input, which is empty without a number. */
const numberOrEmpty = (number: number | null | undefined): number | string => number ?? ''

export const valuesOf = (settings: AllSettings) => ({
  name: settings.name,
  time_zone: settings.time_zone,
  week_start: settings.week_start,
  locale: settings.locale ?? '',
  currency: settings.currency as string | null,
  public_url: settings.public_url ?? '',
  unknown_projects: settings.unknown_projects,
  same_session: settings.same_session,
  approval_required: settings.approval_required,
  cost_basis: settings.cost_basis,
  leads_see_fees: settings.leads_see_fees,
  api_tokens: settings.api_tokens,
  share_links: settings.share_links,
  lead_rules: settings.lead_rules,
  telemetry_by_email: settings.telemetry_by_email,
  retention_texts: numberOrEmpty(settings.retention_texts),
  retention_session_ids: numberOrEmpty(settings.retention_session_ids),
  retention_history: numberOrEmpty(settings.retention_history),
  retention_audit: numberOrEmpty(settings.retention_audit),
  retention_events: numberOrEmpty(settings.retention_events),
  sheet_required_fields: settings.sheet_required_fields,
  email: settings.email ?? '',
  address: settings.address ?? '',
  tax_id: settings.tax_id ?? '',
  markup: numberOrEmpty(settings.markup),
  due_days: numberOrEmpty(settings.due_days),
  reminder_days: numberOrEmpty(settings.reminder_days),
  bill_number_format: settings.bill_number_format ?? '',
  bill_footer: settings.bill_footer ?? '',
})

export type SettingsValues = ReturnType<typeof valuesOf>

const numberOrNull = (typed: number | string) => (typed === '' ? null : Number(typed))

const textOrNull = (typed: string) => (typed.trim() === '' ? null : typed.trim())

function wireOf(values: SettingsValues): Required<SettingsChange> {
  return {
    ...values,
    currency: values.currency ?? '',
    locale: values.locale || null,
    public_url: textOrNull(values.public_url),
    email: textOrNull(values.email),
    address: textOrNull(values.address),
    tax_id: textOrNull(values.tax_id),
    markup: numberOrNull(values.markup),
    due_days: Number(values.due_days),
    reminder_days: numberOrNull(values.reminder_days),
    bill_footer: textOrNull(values.bill_footer),
    retention_texts: numberOrNull(values.retention_texts),
    retention_session_ids: numberOrNull(values.retention_session_ids),
    retention_history: numberOrNull(values.retention_history),
    retention_audit: numberOrNull(values.retention_audit),
    retention_events: numberOrNull(values.retention_events),
  }
}

/** Only the changed settings, so that changes by others in the meantime are kept. */
export function changeOf(values: SettingsValues, settings: AllSettings): SettingsChange {
  const before = wireOf(valuesOf(settings))
  const changed = Object.entries(wireOf(values)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof SettingsChange]),
  )
  return Object.fromEntries(changed)
}

/** An example bill number in this format: `2026-0042`. */
export function numberExample(format: string, today: string): string {
  return format
    .replaceAll('{year}', today.slice(0, 4))
    .replaceAll('{month}', today.slice(5, 7))
    .replace(/\{sequence(?::(\d+))?\}/, (_, digits?: string) => '42'.padStart(Math.min(Number(digits ?? 1), 20), '0'))
}
