/** The optional fields of sheet entries that an organization can require. Pure data: the web application uses it as well. */

/** By their names in the API; `label:<name>` names a label. */
export const REQUIRABLE_FIELDS = {
  project: 'Project',
  ticket: 'Ticket',
  summary: 'Summary',
  provider: 'Provider',
  requests: 'Model calls',
  reported_cost: 'Cost',
} as const

/** More would make people type what nobody reads. */
export const REQUIRED_LIMIT = 3

/** One of them, or a label by its name, as in reports. */
export const REQUIRABLE = `^(${Object.keys(REQUIRABLE_FIELDS).join('|')}|label:[a-z0-9_.-]{1,64})$`
const PATTERN = new RegExp(REQUIRABLE)

export function isRequirable(field: string): boolean {
  return PATTERN.test(field)
}
