/** The settings on the command line. */
import type { Settings } from '../../features/organization/schema.ts'
import { counted, percentText } from '../terminal/numbers.ts'
import { print, printJson } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'

export function printSettings(body: Settings, { json }: CommandFlags): void {
  if (json) {
    printJson(body)
    return
  }
  print(`name              ${body.name}`)
  print(`time zone         ${body.time_zone}`)
  print(`week start        ${body.week_start}`)
  print(`currency          ${body.currency}`)
  print(`public url        ${body.public_url ?? '–'}`)
  print(`unknown projects  ${body.unknown_projects}`)
  print(`same session      ${body.same_session}`)
  print(`approval required ${body.approval_required ? 'yes' : 'no'}`)
  print(`api tokens        ${body.api_tokens ? 'yes' : 'no'}`)
  print(`share links       ${body.share_links ? 'yes' : 'no'}`)
  print(`lead rules        ${body.lead_rules ? 'yes' : 'no'}`)
  print(`telemetry by mail ${body.telemetry_by_email ? 'yes' : 'no'}`)
  print(`sheet entries need ${body.sheet_required_fields.join(', ') || '–'}`)
  const months = (number: number | null) => (number === null ? 'forever' : counted(number, 'month'))
  print(`keep texts        ${months(body.retention_texts)}`)
  print(`keep session ids  ${months(body.retention_session_ids)}`)
  print(`keep history      ${months(body.retention_history)}`)
  print(`keep audit log    ${months(body.retention_audit)}`)
  print(`keep events       ${months(body.retention_events)}`)
  const lines = (text: string | null | undefined) => text?.replaceAll('\n', `\n${' '.repeat(18)}`) ?? '–'
  print(`e-mail            ${lines(body.email)}`)
  print(`address           ${lines(body.address)}`)
  print(`tax id            ${lines(body.tax_id)}`)
  print(`markup            ${percentText(body.markup)}`)
  print(`due days          ${body.due_days}`)
  print(`reminder days     ${body.reminder_days ?? '–'}`)
  print(`bill numbers      ${body.bill_number_format}`)
  print(`bill footer       ${lines(body.bill_footer)}`)
  print(`logo              ${lines(body.logo)}`)
}
