/** Examples for the API reference. */
import type { Settings } from './schema.ts'

export const EXAMPLE_SETTINGS: Settings = {
  name: 'Acme',
  time_zone: 'Europe/Berlin',
  week_start: 'monday',
  currency: 'EUR',
  unknown_projects: 'create',
  same_session: 'hold',
  approval_required: false,
  api_tokens: false,
  share_links: false,
  telemetry_by_email: false,
  retention_texts: 24,
  retention_session_ids: null,
  retention_history: null,
  retention_audit: null,
  demo: false,
  email: 'bills@acme.example',
  address: '1 Road\n10115 Berlin',
  tax_id: 'DE123456789',
  markup: 10,
  due_days: 30,
  reminder_days: 7,
  bill_number_format: '{year}-{sequence:4}',
  bill_footer: 'Please pay to DE00 0000 0000 0000 0000 00.',
  logo: 'image/png',
}
