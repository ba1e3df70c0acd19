/** The settings as form values, and the changes to send. */
import type { api } from '../../server/api.ts'
import type { useSettings } from '../../server/me.ts'

/** All settings: only admins open this page, and only members receive fewer. */
export type AllSettings = ReturnType<typeof useSettings>
type SettingsChange = NonNullable<Parameters<typeof api.settings.patch>[0]>

export const valuesOf = (settings: AllSettings) => ({
  name: settings.name,
  time_zone: settings.time_zone,
  week_start: settings.week_start,
  currency: settings.currency as string | null,
  unknown_projects: settings.unknown_projects,
  same_session: settings.same_session,
  approval_required: settings.approval_required,
  api_tokens: settings.api_tokens,
  share_links: settings.share_links,
  telemetry_by_email: settings.telemetry_by_email,
  email: settings.email ?? '',
  address: settings.address ?? '',
  tax_id: settings.tax_id ?? '',
  markup: (settings.markup ?? '') as number | string,
  due_days: (settings.due_days ?? '') as number | string,
  reminder_days: (settings.reminder_days ?? '') as number | string,
  bill_number_format: settings.bill_number_format ?? '',
  bill_footer: settings.bill_footer ?? '',
})

export type SettingsValues = ReturnType<typeof valuesOf>

const textOrNull = (typed: string) => (typed.trim() === '' ? null : typed.trim())

function wireOf(values: SettingsValues): Required<SettingsChange> {
  return {
    ...values,
    currency: values.currency ?? '',
    email: textOrNull(values.email),
    address: textOrNull(values.address),
    tax_id: textOrNull(values.tax_id),
    markup: values.markup === '' ? null : Number(values.markup),
    due_days: Number(values.due_days),
    reminder_days: values.reminder_days === '' ? null : Number(values.reminder_days),
    bill_footer: textOrNull(values.bill_footer),
  }
}

/** Only the changed settings, so that changes by others in the meantime are kept. */
export function changeOf(values: SettingsValues, settings: AllSettings): SettingsChange {
  const before = wireOf(valuesOf(settings))
  const changed = Object.entries(wireOf(values)).filter(
    ([name, value]) => value !== before[name as keyof SettingsChange],
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
