/** The types of events. Pure data for the API, the command line and the web application. */

/**
 * Who can read events of a type: whoever can see the entry or the sheet (`entries`, `sheets`); the roles billing and
 * admin (`billing`), with the leads of the project for budgets (`budgets`) and with the person whose usage it is for anomalies
 * (`usage`); or admins only. Viewers read none.
 */
export type Audience = 'entries' | 'sheets' | 'budgets' | 'usage' | 'billing' | 'admins'

interface EventTypeDefinition {
  description: string
  audience: Audience
}

const typesFor = <Name extends string>(
  audience: Audience,
  descriptions: Record<Name, string>,
): Record<Name, EventTypeDefinition> =>
  Object.fromEntries(
    Object.entries<string>(descriptions).map(([name, description]) => [name, { description, audience }]),
  ) as Record<Name, EventTypeDefinition>

export const EVENT_TYPES = {
  ...typesFor('entries', {
    'entry.created': 'An entry was reported.',
    'entry.updated': 'A later report of its session changed an entry.',
    'entry.placed': 'An entry was assigned to another project or ticket.',
    'entry.assigned': 'An entry got another owner.',
    'entry.approved': 'An entry was approved.',
    'entry.approval_withdrawn': 'The approval of an entry was withdrawn.',
    'entry.rejected': 'An entry was rejected.',
    'entry.reopened': 'A rejected entry was reopened.',
    'entry.voided': 'An entry was voided.',
    'entry.restored': 'A voided entry was restored.',
    'entry.billed': 'An entry was put on a bill.',
    'entry.unbilled': 'An entry was released from a bill.',
    'entry.corrected': 'A person corrected an entry.',
    'entry.divided': 'An entry was divided among several projects or tickets.',
    'entry.division_undone': 'The parts of a divided entry were put together again.',
    'entry.held': 'An entry was held as a possible duplicate.',
    'entry.released': 'An entry that was held as a possible duplicate was released.',
    'entry.discarded': 'An entry was discarded as a duplicate.',
    'entry.repriced': 'An entry was valued again.',
    'entry.removed': 'A draft was removed from its token sheet, and no longer exists.',
  }),
  ...typesFor('sheets', {
    'sheet.submitted': 'A token sheet was submitted.',
    'sheet.returned': 'A token sheet was returned to its owner.',
    'sheet.approved': 'A token sheet was approved.',
    'sheet.approval_withdrawn': 'The approval of a token sheet was withdrawn.',
  }),
  ...typesFor('budgets', {
    'budget.threshold_crossed': 'A threshold of a budget was crossed.',
    'budget.forecast_exceeded': 'The forecast for the end of a period reached a threshold of its budget.',
    'budget.added': 'A budget was added.',
    'budget.changed': 'A budget was changed.',
    'budget.archived': 'A budget was archived.',
    'budget.restored': 'An archived budget was restored.',
  }),
  ...typesFor('usage', {
    'usage.anomaly_found': 'A day, the day of a person, or a session cost far more than usual.',
  }),
  ...typesFor('billing', {
    'bill.sent': 'A bill was sent.',
    'bill.paid': 'A bill was paid completely.',
    'bill.payment_recorded': 'A part of a bill was paid.',
    'bill.unpaid': 'A payment of a bill was reversed.',
    'bill.voided': 'A bill or credit note was voided.',
    'bill.credited': 'A credit note was sent.',
    'bill.reminded': 'The client was reminded of an overdue bill.',
    'bill.delivery_failed': 'A bill could not be delivered by e-mail.',
    'prices.loaded': 'Prices were loaded.',
    'prices.load_undone': 'Loaded prices were removed again.',
    'price.set': 'A price was set.',
    'price.withdrawn': 'A price was withdrawn.',
    'price_alias.set': 'A model got the price of another one.',
    'price_alias.removed': 'A model no longer has the price of another one.',
    'plan.added': 'A plan was added.',
    'plan.changed': 'A plan was changed.',
    'plan.ended': 'A plan got a last day.',
    'plan_period.closed': 'A period of a plan was closed.',
    'plan_period.reopened': 'A period of a plan was reopened.',
    'client.added': 'A client was added.',
    'client.changed': 'A client was changed.',
    'client.archived': 'A client was archived.',
    'client.restored': 'An archived client was restored.',
    'client.removed': 'A client was removed.',
    'project.added': 'A project was added.',
    'project.changed': 'A project was changed.',
    'project.archived': 'A project was archived.',
    'project.restored': 'An archived project was restored.',
    'project.merged': 'A project was merged into another one.',
    'project.removed': 'A project was removed.',
    'ticket.added': 'A ticket was added.',
    'ticket.changed': 'A ticket was changed.',
    'ticket.archived': 'A ticket was archived.',
    'ticket.restored': 'An archived ticket was restored.',
    'ticket.removed': 'A ticket was removed.',
    'placement_rule.added': 'A placement rule was added.',
    'placement_rule.changed': 'A placement rule was changed.',
    'placement_rule.removed': 'A placement rule was removed.',
    'placement_rules.ordered': 'The placement rules got another order.',
    'placement_rules.applied': 'The placement rules were applied to entries.',
    'funding_rule.added': 'A funding rule was added.',
    'funding_rule.changed': 'A funding rule was changed.',
    'funding_rule.removed': 'A funding rule was removed.',
    'funding_rules.ordered': 'The funding rules got another order.',
    'entries.imported': 'Entries of another Tally were imported.',
    'digest.unattributed': 'Entries of the day before are not assigned to a project.',
    'digest.unpriced': 'Entries of the day before have no price.',
  }),
  ...typesFor('admins', {
    'token.created': 'A token was created.',
    'token.expiring': 'A token expires within seven days.',
    'token.rotated': 'A token was replaced by a new one.',
    'token.revoked': 'A token was revoked.',
    'trust.added': 'A trust was added, by which jobs of a repository get tokens.',
    'trust.changed': 'A trust was changed.',
    'trust.removed': 'A trust was removed.',
    'user.added': 'A person was added.',
    'user.changed': 'The name, e-mail address, role or notifications of a person were changed.',
    'user.emails_changed': 'The e-mail addresses of the telemetry of a person were changed.',
    'user.disabled': 'A person was disabled.',
    'user.enabled': 'A person was enabled.',
    'user.erased': 'A person was erased.',
    'user.sign_ins_slowed': 'Sign-in attempts for an account failed repeatedly.',
    'user.grant_added': 'A viewer got access to a client or project.',
    'user.grant_changed': 'The access of a viewer was changed.',
    'user.grant_removed': 'The access of a viewer was removed.',
    'deputy.named': 'A person got a deputy.',
    'deputy.removed': 'A deputy was removed.',
    'share_link.created': 'A share link was created.',
    'share_link.revoked': 'A share link was revoked.',
    'organization.changed': 'The settings were changed.',
    'organization.logo_changed': 'The logo was changed.',
    'organization.imported': 'Everything was imported from another Tally.',
    'retention.applied': 'Data that was older than its retention period was removed.',
    'backup.failed': 'A scheduled backup, its upload, or the verification of an uploaded one failed.',
    'agent.silent': 'The agents of a person, which reported regularly, no longer report.',
    'webhook.added': 'A webhook was added.',
    'webhook.changed': 'A webhook was changed.',
    'webhook.enabled': 'A disabled webhook was enabled.',
    'webhook.disabled': 'A webhook was disabled, by a person or because its events could not be delivered.',
    'webhook.removed': 'A webhook was removed.',
    'webhook.suspended':
      'The events of a webhook wait, because its owner or their API token may not read them any more.',
    'webhook.resumed': 'A webhook is no longer suspended: its owner has their rights again.',
    'webhook.taken_over': 'An admin took over a webhook, which is sent events with their rights now.',
  }),
}

export type EventType = keyof typeof EVENT_TYPES
export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as EventType[]

/** Alerts of budgets, which are also sent to the webhooks that these name, whatever types those select. */
export const ALERT_TYPES: readonly EventType[] = ['budget.threshold_crossed', 'budget.forecast_exceeded']

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENT_TYPES, text)
}

/** The types that a pattern selects: a type, or all of an area, such as `entry.*`. Empty if there are none. */
export function eventTypesOf(pattern: string): EventType[] {
  if (!pattern.endsWith('.*')) return isEventType(pattern) ? [pattern] : []
  return EVENT_TYPE_NAMES.filter((type) => type.startsWith(pattern.slice(0, -1)))
}
