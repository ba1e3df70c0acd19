/** The settings on the command line. */
import type { Settings } from '../../features/organization/schema.ts'
import { counted, percentText } from '../terminal/numbers.ts'

export const settingsText = (body: Settings): string =>
  [
    ['name', body.name],
    ['time zone', body.time_zone],
    ['week start', body.week_start],
    ['locale', body.locale],
    ['currency', body.currency],
    ['public url', body.public_url],
    ['unknown projects', body.unknown_projects],
    ['same session', body.same_session],
    ['approval required', yesOrNo(body.approval_required)],
    ['cost basis', body.cost_basis],
    ['leads see fees', yesOrNo(body.leads_see_fees)],
    ['api tokens', yesOrNo(body.api_tokens)],
    ['share links', yesOrNo(body.share_links)],
    ['lead rules', yesOrNo(body.lead_rules)],
    ['telemetry by mail', yesOrNo(body.telemetry_by_email)],
    ['sheet entries need', body.sheet_required_fields.join(', ') || null],
    ['keep texts', months(body.retention_texts)],
    ['keep session ids', months(body.retention_session_ids)],
    ['keep history', months(body.retention_history)],
    ['keep audit log', months(body.retention_audit)],
    ['keep events', months(body.retention_events)],
    ['e-mail', body.email],
    ['address', body.address],
    ['tax id', body.tax_id],
    ['markup', percentText(body.markup)],
    ['due days', body.due_days],
    ['reminder days', body.reminder_days],
    ['bill numbers', body.bill_number_format],
    ['bill footer', body.bill_footer],
    ['logo', body.logo],
  ]
    .map(([name, value]) => `${String(name).padEnd(WIDTH - 1)} ${String(value ?? '–').replaceAll('\n', INDENTED)}`)
    .join('\n')

/** Of the names, but for the longest one. */
const WIDTH = 18
const INDENTED = `\n${' '.repeat(WIDTH)}`

const yesOrNo = (is: boolean) => (is ? 'yes' : 'no')
const months = (number: number | null) => (number === null ? 'forever' : counted(number, 'month'))
