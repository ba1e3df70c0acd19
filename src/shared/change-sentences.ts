/**
 * A sentence for each change in the audit log, and for each event: “sent bill 2026-0001 for €30.86”, after the name of who
 * did it. One without a sentence does not compile. Pure.
 */
import type { EventType } from './event-types.ts'
import {
  countedOf,
  differencesOf,
  type Fields,
  type Formats,
  isFields,
  type Named,
  namedIn,
  numberOf,
  type Part,
  quoted,
  reasonOf,
  say,
  shortValue,
  textIn,
} from './sentences.ts'

export interface RecordedChange {
  action: string
  object: { id: string; name: string | null } | null
  before: Fields | null
  after: Fields | null
  /** Ids of things that were removed since. */
  removed?: readonly string[]
}

interface Context {
  object: Part[]
  before: Fields
  after: Fields
  formats: Formats
  /** The value of a field after the change, or else before it. */
  value: (field: string) => Part[]
}
type Sentence = (context: Context) => Part[]

const ENTRY = ['entry', 'entries'] as const
const CORRECTION = ['correction', 'corrections'] as const
const ISO_TIME = /^(.+), (\d{4}-\d{2}-\d{2}T[\d:.]+Z)$/s
const ISO_PERIOD = /^(.+), (\d{4}-\d{2}-\d{2}) to (\d{4}-\d{2}-\d{2})$/s

/** What happened to something, whose kind comes before its name. */
const did =
  (verb: string, kind = '', end = ''): Sentence =>
  ({ object, after }) =>
    say`${verb} ${kind && `${kind} `}${object}${end}${reasonOf(after)}`

const changed =
  (kind: string): Sentence =>
  (context) =>
    differencesOf(context, say`${kind && `${kind} `}${context.object}`)

/** Of many entries, with their cost: “approved 12 entries ($3.40)”. */
const many =
  (verb: string, end = ''): Sentence =>
  ({ after, formats }) => {
    const cost = numberOf(after.cost)
    const costs = cost === undefined ? '' : ` (${formats.money(cost, 'USD')})`
    return say`${verb} ${countedOf(after.entries, ENTRY, formats)}${costs}${end}${reasonOf(after)}`
  }

/** The number of entries, unless there are none. */
const some = (words: string, things: unknown, formats: Formats, called: readonly [string, string] = ENTRY): string =>
  numberOf(things) ? `${words} ${countedOf(things, called, formats)}` : ''

/** Of a token sheet, with what is on it. */
const sheet =
  (verb: string): Sentence =>
  ({ object, before, after, formats }) => {
    const { entries, cost } = { ...before, ...after }
    const amount = numberOf(cost)
    const costs = amount === undefined ? '' : `, ${formats.money(amount, 'USD')}`
    const content = entries === undefined ? '' : ` (${countedOf(entries, ENTRY, formats)}${costs})`
    return say`${verb} the token sheet of ${object}${content}${reasonOf(after)}`
  }

/** Older records have no currency. */
function moneyIn({ before, after, formats }: Context, amount: unknown): string {
  const currency = after.currency ?? before.currency
  const value = numberOf(amount) ?? 0
  return typeof currency === 'string' ? formats.money(value, currency) : formats.count(value)
}

const sent =
  (kind: string): Sentence =>
  (context) => {
    const { object, after, formats } = context
    return say`sent ${kind} ${object} for ${moneyIn(context, after.total)}${some(', with', after.entries, formats)}`
  }

/** Sums of floats have digits that no currency has. */
const PAYMENT_DIGITS = 4

const paid =
  (kind: string, end: string): Sentence =>
  (context) => {
    const { object, before, after } = context
    const amount = (numberOf(after.amount_paid) ?? 0) - (numberOf(before.amount_paid) ?? 0)
    return say`recorded a payment of ${moneyIn(context, Number(Math.abs(amount).toFixed(PAYMENT_DIGITS)))} for ${kind} ${object}${end}`
  }

const reversed =
  (kind: string): Sentence =>
  (context) => {
    const { object, before, after } = context
    return say`reversed a payment of ${moneyIn(context, before.amount)} for ${kind} ${object}${reasonOf(after)}`
  }

const delivered =
  (kind: string): Sentence =>
  ({ object, value }) =>
    say`sent the e-mail with ${kind} ${object} again to ${value('to')}`

const voided =
  (kind: string): Sentence =>
  ({ object, after, formats }) =>
    say`voided ${kind} ${object}${some(', which released', after.entries_released, formats)}${reasonOf(after)}`

/** A project or ticket, with its own name: “project ACME”. */
function placeIn({ project, ticket }: Fields): Part[] {
  const onTicket: Named | undefined = typeof ticket === 'string' ? { name: ticket } : namedIn(ticket)
  const inProject: Named | undefined =
    typeof project === 'string' ? { name: project, isProject: true } : namedIn(project)
  if (onTicket) return say`ticket ${onTicket}${inProject ? say` in project ${inProject}` : []}`
  return inProject ? say`project ${inProject}` : []
}

const assigned: Sentence = ({ object, before, after, formats }) => {
  const [from, to] = [placeIn(before), placeIn(after)]
  const others = Object.keys(after).filter((field) => ['summary', 'labels'].includes(field))
  const too = others.length === 0 ? '' : `, and changed its ${others.join(' and ')}`
  const of = object.length > 0 ? object : [countedOf(after.entries, ENTRY, formats)]
  if (to.length === 0) return say`removed the assignment of ${of}${from.length > 0 ? say` to ${from}` : []}${too}`
  return say`assigned ${of}${from.length > 0 ? say` from ${from}` : []} to ${to}${too}`
}

const ACCESS: Readonly<Record<string, string>> = { cost: 'the cost', amounts: 'billed amounts', none: 'no amounts' }

/** What a viewer may see: “client Globex, with the cost and people”. */
function accessIn({ client, project, money, people, bills }: Fields): Part[] {
  const what = client !== undefined ? say`client ${textIn(client)}` : say`project ${textIn(project)}`
  const seen = [ACCESS[String(money)] ?? 'amounts', people && 'people', bills && 'bills'].filter(Boolean)
  return say`${what}, with ${seen.join(', ')}`
}

const ofAliases: Sentence = ({ before, after }) => {
  const { alias, model } = { ...before, ...after }
  return say`${textIn(alias)} with the prices of ${textIn(model)}`
}

const token: Sentence = ({ object, after, before }) => {
  const { user } = { ...before, ...after }
  return say`token ${object}${typeof user === 'string' ? say` of ${{ name: user }}` : []}`
}

/** A bill or a credit note. */
const ofBills = <Kind extends 'bill' | 'credit_note'>(kind: Kind, name: string) =>
  ({
    [`${kind}.sent`]: sent(name),
    [`${kind}.delivered`]: delivered(name),
    [`${kind}.paid`]: paid(name, ', which is paid now'),
    [`${kind}.payment_recorded`]: paid(name, ''),
    [`${kind}.payment_reversed`]: reversed(name),
    [`${kind}.voided`]: voided(name),
  }) as Record<
    `${Kind}.${'sent' | 'delivered' | 'paid' | 'payment_recorded' | 'payment_reversed' | 'voided'}`,
    Sentence
  >

/** What can be added, changed and archived. */
const ofThings = <Kind extends string>(kind: Kind, name: string) =>
  ({
    [`${kind}.added`]: did('added', name),
    [`${kind}.changed`]: changed(name),
    [`${kind}.archived`]: did('archived', name),
    [`${kind}.restored`]: did('restored', name),
    [`${kind}.removed`]: did('removed', name),
  }) as Record<`${Kind}.${'added' | 'changed' | 'archived' | 'restored' | 'removed'}`, Sentence>

const SENTENCES = {
  'entry.created': did('reported'),
  'entry.updated': did('reported more usage of'),
  'entry.placed': assigned,
  'entry.assigned': ({ object, value }) => say`made ${value('agent_manager')} the agent manager of ${object}`,
  'entry.approved': did('approved'),
  'entry.approval_withdrawn': did('withdrew the approval of'),
  'entry.rejected': did('rejected'),
  'entry.reopened': did('reopened'),
  'entry.voided': did('voided'),
  'entry.restored': did('restored'),
  'entry.billed': did('billed'),
  'entry.unbilled': did('released', '', ' from its bill'),
  'entry.corrected': ({ object, after: { reason, ...after }, ...context }) =>
    say`${differencesOf({ ...context, after }, object, 'corrected')}${reasonOf({ reason })}`,
  'entry.divided': ({ object, after, formats }) =>
    say`divided ${object}${Array.isArray(after.parts) ? ` into ${countedOf(after.parts.length, ['part', 'parts'], formats)}` : ''}`,
  'entry.division_undone': did('undid the division of'),
  'entry.undivided': did('undid the division of'),
  'entry.held': did('held', '', ' as a possible duplicate'),
  'entry.released': did('released', '', ' held as a possible duplicate'),
  'entry.discarded': did('discarded', '', ' as a duplicate'),
  'entry.repriced': did('repriced'),
  'entry.removed': did('removed', '', ' from its token sheet'),
  'entries.placed': assigned,
  'entries.unplaced': many('removed the assignment of'),
  'entries.approved': many('approved'),
  'entries.approval_withdrawn': many('withdrew the approval of'),
  'entries.rejected': many('rejected'),
  'entries.reopened': many('reopened'),
  'entries.voided': many('voided'),
  'entries.restored': many('restored'),
  'entries.released': many('released', ' held as possible duplicates'),
  'entries.discarded': many('discarded', ' as duplicates'),
  'entries.repriced': ({ after, formats }) => {
    const { before, after: now } = isFields(after.cost) ? after.cost : {}
    const cost = [before, now].map((amount) => formats.money(numberOf(amount) ?? 0, 'USD'))
    return say`repriced ${countedOf(after.entries, ENTRY, formats)}: cost from ${cost[0]!} to ${cost[1]!}`
  },
  'entries.imported': ({ after, formats }) =>
    say`imported ${countedOf(after.entries, ENTRY, formats)} from the Tally of ${textIn(after.organization, 'another organization')}`,

  'sheet.opened': sheet('opened'),
  'sheet.removed': sheet('removed'),
  'sheet.submitted': sheet('submitted'),
  'sheet.returned': sheet('returned'),
  'sheet.approved': sheet('approved'),
  'sheet.approval_withdrawn': sheet('withdrew the approval of'),
  'sheet.entries_added': ({ object, after, formats }) =>
    say`added ${countedOf(after.entries, ENTRY, formats)} to the token sheet of ${object}`,
  'sheet.entry_changed': ({ object, before: { entry: _, ...before }, after: { entry: __, ...after }, formats }) =>
    differencesOf({ before, after, formats }, say`an entry on the token sheet of ${object}`),
  'sheet.entry_removed': ({ object }) => say`removed an entry from the token sheet of ${object}`,

  ...ofThings('budget', 'budget'),
  'budget.changed': (context) => {
    const { before, after, formats, object } = context
    if (typeof after.measure !== 'string' || after.measure === 'tokens' || after.amount === undefined)
      return changed('budget')(context)
    // A field that is written as dollars.
    const [was, is] = [before, after].map(({ amount, ...others }) => ({ ...others, budget: amount }))
    return differencesOf({ before: was!, after: is!, formats }, say`budget ${object}`)
  },
  'budget.threshold_crossed': ({ object, after, formats }) =>
    say`noticed that budget ${object} reached ${formats.count(numberOf(after.percent) ?? 0)}%`,
  'budget.forecast_exceeded': ({ object, after, formats }) =>
    say`forecast that budget ${object} reaches ${formats.count(numberOf(after.percent) ?? 0)}%`,
  'usage.anomaly_found': ({ after, formats }) => {
    const cost = numberOf(after.cost)
    const manager = namedIn(after.agent_manager)
    const costs = cost === undefined ? '' : `: ${formats.money(cost, 'USD')}`
    return say`found unusual usage${manager ? say` of ${manager}` : []}${costs}`
  },

  ...ofBills('bill', 'bill'),
  ...ofBills('credit_note', 'credit note'),
  'bill.unpaid': reversed('bill'),
  'bill.credited': sent('credit note'),
  'bill.entries_released': ({ object, after, formats }) =>
    say`released ${countedOf(after.entries_released, ENTRY, formats)} from bill ${object} with credit note ${textIn(after.credit_note)}`,
  'bill.reminded': (context) =>
    say`reminded ${context.value('to')} of bill ${context.object}: ${moneyIn(context, context.after.balance)} are open`,
  'bill.delivery_failed': did('could not deliver', 'bill'),
  'bill_draft.added': ({ object }) => say`began bill draft “${object}”`,
  'bill_draft.changed': ({ object }) => say`changed bill draft “${object}”`,
  'bill_draft.removed': ({ object }) => say`deleted bill draft “${object}”`,

  'prices.loaded': ({ object, after, formats }) => {
    if (after.prices !== undefined) {
      return say`loaded the default price table with ${countedOf(after.prices, ['price', 'prices'], formats)}`
    }
    const [added, differ] = [after.new, after.changed].map((each) => formats.count(numberOf(each) ?? 0))
    return say`loaded price table ${object}: ${added!} new, ${differ!} changed`
  },
  'prices.load_undone': did('undid the load of', 'price table'),
  'plan.added': did('added', 'plan'),
  'plan.changed': changed('plan'),
  'plan.ended': ({ object, value }) => say`ended plan ${object} on ${value('ends_on')}`,
  'plan_period.closed': (context) =>
    say`closed the period from ${context.value('period')} of plan ${context.object}${some(', with', context.after.corrections, context.formats, CORRECTION)}`,
  'plan_period.reopened': (context) =>
    say`reopened the period from ${context.value('period')} of plan ${context.object}${some(', and voided', context.after.voided_corrections, context.formats, CORRECTION)}${reasonOf(context.after)}`,
  'price.set': did('set the price of'),
  'price.withdrawn': ({ object, value }) => say`withdrew the price of ${object} from ${value('effective_until')} on`,
  'price_alias.set': (context) => say`valued ${ofAliases(context)}`,
  'price_alias.removed': (context) => say`stopped valuing ${ofAliases(context)}`,

  ...ofThings('client', 'client'),
  ...ofThings('project', 'project'),
  ...ofThings('ticket', 'ticket'),
  'ticket.changed': (context) => {
    const { object, after } = context
    if (after.project_decided !== true || Object.hasOwn(after, 'project')) return changed('ticket')(context)
    return say`confirmed the project of ticket ${object}`
  },
  'project.merged': ({ object, value, after, formats }) =>
    say`merged project ${object} into ${value('merged_into')}${some(', with', after.entries, formats)}`,
  'project.merge_continued': ({ object, value, after, formats }) =>
    say`continued to merge project ${object} into ${value('merged_into')}${some(', with', after.entries, formats)}`,

  'placement_rule.added': ({ object, after }) => {
    const to = placeIn({ project: after.project })
    return say`added rule ${object}${to.length > 0 ? say` for ${to}` : []}`
  },
  'placement_rule.changed': changed('rule'),
  'placement_rule.removed': did('removed', 'rule'),
  'placement_rules.ordered': () => ['changed the order of the rules'],
  'placement_rules.applied': many('applied the rules, which moved'),
  'funding_rule.added': did('added', 'funding rule'),
  'funding_rule.changed': changed('funding rule'),
  'funding_rule.removed': did('removed', 'funding rule'),
  'funding_rules.ordered': () => ['changed the order of the funding rules'],
  'rule_proposal.proposed': did('proposed', 'rule'),
  'rule_proposal.accepted': did('accepted', 'proposed rule'),
  'rule_proposal.declined': did('declined', 'proposed rule'),
  'rule_proposal.withdrawn': did('withdrew', 'proposed rule'),
  'digest.unattributed': () => ['reported unattributed entries of the day before'],
  'digest.unpriced': () => ['reported unpriced entries of the day before'],

  'token.created': (context) => say`created ${token(context)}`,
  'token.expiring': (context) => say`noticed that ${token(context)} expires soon`,
  'token.rotated': ({ object }) => say`replaced token ${object} with a new one`,
  'token.revoked': (context) => say`revoked ${token(context)}`,

  'user.added': ({ object, after }) =>
    say`added ${object}${typeof after.role === 'string' ? ` with the role ${after.role}` : ''}`,
  'user.changed': changed(''),
  'user.emails_changed': changed(''),
  'user.disabled': did('disabled'),
  'user.enabled': did('enabled'),
  'user.erased': () => ['erased a person'],
  'user.exported': did('exported the personal data of'),
  'user.invited': did('made an invitation link for'),
  'user.password_link_made': did('made a password link for'),
  'user.sign_in_link_made': did('made a sign-in link for'),
  'user.password_set': did('set the password of'),
  'user.password_changed': () => ['changed their password'],
  'user.password_chosen': () => ['chose their password with a link'],
  'user.sign_ins_slowed': did('slowed down sign-ins of', '', ' after failed attempts'),
  'user.unlocked': did('unlocked sign-ins of'),
  'user.signed_out_everywhere': did('ended all sessions of'),
  'user.grant_added': ({ object, after }) => say`gave ${object} access to ${accessIn(after)}`,
  'user.grant_changed': ({ object, after }) => say`changed the access of ${object} to ${accessIn(after)}`,
  'user.grant_removed': ({ object, before }) => say`removed the access of ${object} to ${accessIn(before)}`,
  'session.begun': () => ['signed in'],
  'deputy.named': ({ object, value }) =>
    say`named ${value('deputy')} as the deputy of ${object} from ${value('from')} to ${value('to')}`,
  'deputy.removed': ({ object, value }) => say`removed ${value('deputy')} as the deputy of ${object}`,
  'telemetry.assigned': ({ object, value, after, formats }) =>
    say`assigned the telemetry of ${value('email')} to ${object}, with ${countedOf(after.entries, ENTRY, formats)}`,

  'share_link.created': did('created a share link to the'),
  'share_link.revoked': did('revoked the share link to the'),
  'report_view.shared': did('shared', 'report view'),
  'report_view.unshared': did('stopped sharing', 'report view'),

  'organization.set_up': ({ after }) => say`set up ${textIn(after.name, 'the organization')}`,
  'organization.changed': (context) => differencesOf(context, []),
  'organization.demo_made': () => ['filled the database with demo data'],
  'organization.logo_changed': ({ after }) => [after.logo ? 'uploaded a logo' : 'removed the logo'],
  'organization.imported': ({ after }) =>
    say`imported everything from the Tally of ${textIn(after.organization, 'another organization')}`,
  'retention.applied': ({ after, formats }) => {
    const rows = Object.values(after).reduce<number>((sum, value) => sum + (numberOf(value) ?? 0), 0)
    return say`removed ${countedOf(rows, ['record', 'records'], formats)} older than the retention periods`
  },
  'backup.failed': () => ['could not finish a backup'],
  'agent.silent': ({ object }) => say`noticed that the agents of ${object} no longer report`,

  'trust.added': did('added', 'the trust in'),
  'trust.changed': changed('the trust in'),
  'trust.removed': did('removed', 'the trust in'),
  'webhook.added': did('added', 'webhook'),
  'webhook.changed': changed('webhook'),
  'webhook.enabled': did('enabled', 'webhook'),
  'webhook.disabled': ({ object, after }) =>
    say`disabled webhook ${object}${after.reason === 'failing' ? ', because it failed' : ''}`,
  'webhook.removed': did('removed', 'webhook'),
  'webhook.suspended': ({ object }) =>
    say`suspended webhook ${object}, because its owner may no longer read its events`,
  'webhook.resumed': did('resumed', 'webhook'),
  'webhook.taken_over': did('took over', 'webhook'),
  'webhook.secret_rotated': did('rotated the secret of', 'webhook'),
  'webhook.resent': did('sent missed events again to', 'webhook'),
} satisfies Record<EventType, Sentence> & Record<string, Sentence>

/** What the audit log can record. */
export type ChangeAction = keyof typeof SENTENCES
export const CHANGE_ACTIONS = Object.keys(SENTENCES) as ChangeAction[]

interface Person {
  id: string
  name: string
}

const COMMAND_LINE = /^command line of (.+?)(?: \(sudo by (.+)\))?$/s
/** Where the operating system has no name for who runs it. */
const NAMELESS = /^user \d+$/

/** Who made a change: a person, with their token or as a deputy, the command line, or Tally itself. */
export function actorOf(change: {
  user: Person | null
  for?: Person | null
  token: { name: string } | null
  origin?: string
}): Part[] {
  const { user, token, origin = 'tally' } = change
  const [, runner, sudoer] = COMMAND_LINE.exec(origin) ?? []
  if (user) {
    const person = { name: user.name, id: user.id }
    if (change.for) return say`${person} for ${{ name: change.for.name, id: change.for.id }}`
    if (token) return say`${person} via token ${{ name: token.name }}`
    return runner === undefined ? [person] : say`${person} on the command line`
  }
  if (runner === undefined) return [origin === 'tally' ? 'Tally' : 'Somebody']
  const name = sudoer ?? (NAMELESS.test(runner) ? undefined : runner)
  return name === undefined ? ['The command line on the server'] : say`${{ name }} on the command line`
}

/** The sentence of a change, without who made it. */
export function sentenceOf(change: RecordedChange, formats: Formats): Part[] {
  const { action } = change
  const before = change.before ?? {}
  const after = change.after ?? {}
  const object = change.object ? objectOf(change.object, change.action, formats) : []
  const value = (field: string) => shortValue(field, after[field] ?? before[field], formats) ?? ['something']
  const sentence: Sentence = Object.hasOwn(SENTENCES, action)
    ? SENTENCES[action as ChangeAction]
    : // Of another version of Tally.
      ({ object }) =>
        say`recorded ${quoted(action.replaceAll(/[._]/g, ' '))}${object.length > 0 ? say` of ${object}` : []}`
  const isRemoval = action.endsWith('.removed')
  return sentence({ object, before, after, formats, value }).flatMap((part): Part[] => {
    if (typeof part === 'string' || part.id === undefined || !change.removed?.includes(part.id)) return [part]
    return isRemoval ? [{ name: part.name }] : [{ name: part.name }, ' (removed since)']
  })
}

/** Entries and sheets are named by their time. */
function objectOf({ id, name }: { id: string; name: string | null }, action: string, { day, moment }: Formats): Part[] {
  if (/^entr(y|ies)\./.test(action)) {
    const [, agent, at] = ISO_TIME.exec(name ?? '') ?? []
    return at === undefined ? [{ name: 'an entry', id }] : say`the entry of ${{ name: agent!, id }}, ${moment(at)}`
  }
  const [, person, from, to] = id.startsWith('sht_') ? (ISO_PERIOD.exec(name ?? '') ?? []) : []
  return to === undefined
    ? [{ name: name ?? 'something', id }]
    : [{ name: `${person}, ${day(from!)} – ${day(to)}`, id }]
}
