/**
 * A sentence for each change in the history of an entry: “changed the project from ACME to LUMEN”, after the name of who
 * did it. One without a sentence does not compile. Pure.
 */
import { actorOf } from './change-sentences.ts'
import {
  countedOf,
  differencesOf,
  type Fields,
  type Formats,
  isFields,
  type Named,
  namedIn,
  type Part,
  quoted,
  reasonOf,
  say,
  shortValue,
  textIn,
} from './sentences.ts'

/** The names of things that details refer to by id; those that do not exist any more have none. */
export type Names = ReadonlyMap<string, string>

interface Context {
  details: Fields
  formats: Formats
  /** What an id refers to. */
  named: (id: unknown, otherwise: string) => Part
}
type Sentence = (context: Context) => Part[]

/** A manual change needs no explanation. */
const BECAUSE: Readonly<Record<string, string>> = {
  bill_credited: 'because its bill was credited',
  bill_voided: 'because its bill was voided',
  bill_not_sent: 'because its bill was not sent',
  by_hand: '',
  corrected: 'because its summary or labels were edited',
  named_in_report: 'because a report named it',
  project_merged: 'because the project was merged',
  reported_with_a_service_token: 'because the session was reported with a service token',
  rule: 'by a rule',
  rules_applied: 'because the rules were applied to existing entries',
  same_session: 'because another person has reported the same session',
  session_owner: 'because its session has had another owner since it was locked',
  telemetry_email: 'because of the e-mail address in its telemetry',
  ticket_found_project: 'because its ticket was assigned to a project',
  ticket_moved: 'because its ticket moved to another project',
}

function becauseOf({ because }: Fields): string {
  if (typeof because !== 'string') return ''
  const words = Object.hasOwn(BECAUSE, because) ? BECAUSE[because]! : `because of ${because.replaceAll('_', ' ')}`
  return words && `${words.startsWith('by') ? '' : ','} ${words}`
}

/** `it` is the entry, whose history it is. */
const did =
  (words: string): Sentence =>
  ({ details }) =>
    say`${words}${becauseOf(details)}${reasonOf(details)}`

interface Place {
  kind: 'project' | 'ticket'
  of: Part
}

const wholeOf = ({ kind, of }: Place): Part[] => (typeof of === 'string' ? [of] : say`${kind} ${of}`)

/** Some details have the whole place, others the id of the project alone. */
function placeIn(value: unknown, { named }: Context): Place | undefined {
  if (typeof value === 'string') return { kind: 'project', of: named(value, 'a removed project') }
  if (!isFields(value)) return undefined
  const ticket = namedIn(value.ticket)
  const project = namedIn(value.project)
  if (ticket) return { kind: 'ticket', of: ticket }
  return project && { kind: 'project', of: project }
}

const EDITED = ['summary', 'labels']

const placed: Sentence = (context) => {
  const { details } = context
  const to = placeIn(details.to ?? details.project, context)
  const from = placeIn(details.from, context)
  const also = EDITED.filter((field) => Object.hasOwn(details, field))
  const end = `${also.length === 0 ? '' : `, and changed its ${also.join(' and ')}`}${becauseOf(details)}`
  if (from && to && from.kind === to.kind) return say`changed the ${to.kind} from ${from.of} to ${to.of}${end}`
  if (from && to) return say`moved it from ${wholeOf(from)} to ${wholeOf(to)}${end}`
  if (to) return say`assigned it to ${wholeOf(to)}${end}`
  return from ? say`removed it from ${wholeOf(from)}${end}` : say`assigned it${end}`
}

/** Fields of the form `{ from, to }`. */
function changesIn(details: Fields): { before: Fields; after: Fields } {
  const changes = Object.entries(details).flatMap(([name, value]) =>
    isFields(value) && 'from' in value && 'to' in value ? [{ name, value }] : [],
  )
  const of = (side: 'from' | 'to') => Object.fromEntries(changes.map(({ name, value }) => [name, value[side]]))
  return { before: of('from'), after: of('to') }
}

function fundingIn({ funding, plan }: Fields): Part[] {
  const named = namedIn(plan)
  if (!named) return [textIn(funding)]
  return funding === 'credits' ? say`credits of plan ${named}` : say`plan ${named}`
}

const SENTENCES = {
  created: ({ details: { source } }) =>
    say`reported it${typeof source === 'string' && source !== 'report' ? ` (${source})` : ''}`,
  placed,
  assigned: ({ details, named }) => {
    if (details.to === undefined) return say`changed the agent manager${becauseOf(details)}`
    const [from, to] = [details.from, details.to].map((id) => named(id, 'somebody'))
    return say`changed the agent manager from ${from!} to ${to!}${becauseOf(details)}`
  },
  adopted: did('adopted it from telemetry'),
  corrected: ({ details, formats }) =>
    say`${differencesOf({ ...changesIn(details), formats }, ['this entry'], 'corrected')}${reasonOf(details)}`,
  repriced: ({ details, formats }) => {
    const { list_value: value } = details
    if (!isFields(value)) return ['repriced it']
    const [from, to] = [value.from, value.to].map((amount) => shortValue('list_value', amount, formats)!)
    return say`repriced it: list value from ${from!} to ${to!}`
  },
  approved: did('approved it'),
  approval_withdrawn: did('withdrew the approval'),
  rejected: did('rejected it'),
  reopened: did('reopened it'),
  voided: did('voided it'),
  restored: did('restored it'),
  held: did('held it as a possible duplicate'),
  released: did('released it'),
  discarded: did('discarded it as a duplicate'),
  superseded: did('superseded it with other usage of its session'),
  source_changed: ({ details: { from, to } }) =>
    say`supplied it from another source: ${textIn(to)} instead of ${textIn(from)}`,
  shrunk: ({ details, formats }) =>
    say`reported lower totals: ${countedOf(details.tokens, ['token', 'tokens'], formats)} instead of ${formats.count(Number(details.tokens_before))}`,
  sliced: ({ details: { day }, formats }) =>
    say`split its session by day: this entry is for ${formats.day(String(day))}`,
  divided: ({ details: { parts }, formats }) =>
    Array.isArray(parts)
      ? say`divided it into ${countedOf(parts.length, ['part', 'parts'], formats)}`
      : ['divided another entry, of which this is a part'],
  division_undone: did('undid the division'),
  funding_decided: ({ details: { from, to } }) => {
    if (!isFields(from) || !isFields(to)) return ['decided again how it is paid for']
    const rule = namedIn(to.rule)
    return say`changed how it is paid for from ${fundingIn(from)} to ${fundingIn(to)}${rule ? say` by rule ${rule}` : []}`
  },
  settled: ({ details: { plan, period }, formats }) =>
    say`added it to correct the period from ${formats.day(String(period))} of plan ${namedIn(plan) ?? 'that was closed'}`,
  imported: ({ details: { organization } }) =>
    say`imported it from the Tally of ${textIn(organization, 'another organization')}`,
  sheet_submitted: did('submitted its token sheet'),
  sheet_approved: did('approved its token sheet'),
  sheet_returned: did('returned its token sheet'),
  sheet_approval_withdrawn: did('withdrew the approval of its token sheet'),
} satisfies Record<string, Sentence>

/** What the history of an entry can record. */
export type HistoryAction = keyof typeof SENTENCES
export const HISTORY_ACTIONS = Object.keys(SENTENCES) as HistoryAction[]

/** Who did it: a person, with their token or as a deputy, or Tally itself. */
export function stepActorOf({
  actor,
  details,
}: {
  actor: { user: { id: string; name: string }; token: { name: string } | null } | null
  details: Fields
}): Part[] {
  const represented = namedIn(details.for)
  return actorOf({
    user: actor?.user ?? null,
    token: actor?.token ?? null,
    for: represented?.id === undefined ? null : { id: represented.id, name: represented.name },
  })
}

/** The sentence of a step, without who did it. */
export function historySentenceOf(
  { action, details }: { action: string; details: Fields },
  names: Names,
  formats: Formats,
): Part[] {
  const named = (id: unknown, otherwise: string): Named | string => {
    const name = names.get(String(id))
    return name === undefined ? otherwise : { name, id: String(id) }
  }
  const sentence: Sentence = Object.hasOwn(SENTENCES, action)
    ? SENTENCES[action as HistoryAction]
    : // Of another version of Tally.
      () => say`recorded ${quoted(action.replaceAll('_', ' '))}`
  return sentence({ details, formats, named })
}
