/** A receipt as text for a terminal, as Markdown for a comment, and as JSON. Pure. */
import type { Receipt } from '../../features/receipts/schema.ts'
import type { UsageResult } from '../../features/reports/schema.ts'
import { firstCharacters, hasMoreCharacters } from '../../lib/characters.ts'
import { BASIS_TITLES } from '../../shared/cost-basis.ts'
import { amountText, stateText } from '../budgets/budget.ts'
import { costTitle, UNKNOWN_COST } from '../flags/cost-basis.ts'
import { counted, countText, dollars, durationText, inDollars } from '../terminal/numbers.ts'
import { type Column, tableOf } from '../terminal/print.ts'
import type { ReceiptFormat } from './flags.ts'

/** One from the session files of this machine has no lists. */
export type ShownReceipt = Omit<Receipt, 'list' | 'page'> & { list: string | null; page: string | null }

interface Source {
  /** The server's; undefined if the receipt is from session files. */
  url: string | undefined
  since: { ref: string } | undefined
  /** Key of the project that the token of a job is limited to. */
  project: string | undefined
}

export function receiptText(receipt: ShownReceipt, format: ReceiptFormat, source: Source): string {
  if (format === 'json') return JSON.stringify({ source: source.url ? 'server' : 'local', ...receipt }, null, 2)
  return format === 'markdown' ? markdownOf(receipt, source) : plainOf(receipt, source)
}

function plainOf(receipt: ShownReceipt, source: Source): string {
  const { url, since } = source
  const [subject, cost] = [subjectOf(receipt, visible, since), costOf(receipt)]
  const title = `${subject}${' '.repeat(Math.max(2, TITLE_WIDTH - Bun.stringWidth(subject) - cost.length))}${cost}`
  const { page, people } = receipt
  return [
    title,
    ...(receipt.totals.entries === 0
      ? ['No entries.']
      : [summaryOf(receipt), '', ...tableOf(modelColumns(receipt, visible), receipt.models).lines]),
    ...(people?.length ? ['', ...tableOf(personColumns(receipt, visible), people).lines] : []),
    ...withGap(notesOf(receipt, visible, source)),
    ...(page === null ? [] : ['', `${url}${page}`]),
  ].join('\n')
}

function markdownOf(receipt: ShownReceipt, source: Source): string {
  const { url, since } = source
  const { repository, branch, ticket, page, people } = receipt
  const mark = new Bun.CryptoHasher('sha256').update(JSON.stringify([repository, branch, ticket])).digest('hex')
  const isEmpty = receipt.totals.entries === 0
  return [
    // Without a name: a branch may be called `-->`.
    `<!-- tally-receipt:${mark.slice(0, 16)} -->`,
    `### Tally: ${costOf(receipt)} for this ${ticket === null ? 'branch' : 'ticket'}`,
    '',
    `${subjectOf(receipt, inCode, since)}: ${isEmpty ? 'no entries.' : `${summaryOf(receipt)}.`}`,
    ...(isEmpty ? [] : ['', ...markdownTable(modelColumns(receipt, inCode), receipt.models)]),
    ...(people?.length ? ['', ...markdownTable(personColumns(receipt, inCode), people)] : []),
    ...notesOf(receipt, inCode, source).flatMap((line) => ['', line]),
    ...(page === null ? [] : ['', `[All entries](${url}${page})`]),
  ].join('\n')
}

/** As wide as most tables of models are. */
const TITLE_WIDTH = 72

/** What others have named: names of branches, models, people and budgets. */
type Named = (name: string) => string

/** Longer names say nothing more. */
const NAME_LENGTH = 100

/** On one line, without characters that are not seen, which could reorder the others. */
function visible(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return hasMoreCharacters(line, NAME_LENGTH) ? `${firstCharacters(line, NAME_LENGTH - 1)}…` : line
}

/** In a code span, where no mention, link, tag or entity acts. */
const inCode = (name: string): string => `\`${visible(name).replaceAll('`', "'") || ' '}\``

function subjectOf(
  { repository, branch, ticket, starting_at, ending_at }: ShownReceipt,
  named: Named,
  since: Source['since'],
) {
  const parts = [
    ...(repository === null ? [] : [named(repository)]),
    ...(branch === null ? [] : [`branch ${named(branch)}`]),
    ...(ticket === null ? [] : [`ticket ${named(ticket)}`]),
    ...(starting_at === null ? [] : [`since ${starting_at.slice(0, 10)}${since ? ` (left ${named(since.ref)})` : ''}`]),
    ...(ending_at === null ? [] : [`until ${ending_at.slice(0, 10)}`]),
  ]
  return parts.join(', ')
}

const costOf = ({ totals: { entries, cost }, basis }: ShownReceipt): string =>
  entries === 0 ? '$0.00' : cost === null ? UNKNOWN_COST[basis] : inDollars(cost)

function summaryOf({ totals, basis }: ShownReceipt): string {
  const { entries, tokens, sessions = 0, active_seconds: active = null, untimed_entries: untimed = 0 } = totals
  const known = untimed > 0 ? ` (known of ${counted(entries - untimed, 'entry', 'entries')})` : ''
  return [
    counted(sessions, 'session'),
    ...(active === null ? [] : [`${durationText(active * 1_000)} active${known}`]),
    counted(tokens.total, 'token'),
    counted(entries, 'entry', 'entries'),
    `basis: ${basis}`,
  ].join(' · ')
}

const figureColumns = ({ basis }: ShownReceipt): Column<UsageResult>[] => [
  { title: 'SESSIONS', align: 'right', of: ({ sessions = 0 }) => countText(sessions) },
  { title: 'TOKENS', align: 'right', of: ({ tokens }) => countText(tokens.total) },
  {
    title: costTitle(basis),
    align: 'right',
    of: ({ cost }) => (cost === null ? UNKNOWN_COST[basis] : dollars(cost)),
  },
]

const modelColumns = (receipt: ShownReceipt, named: Named): Column<UsageResult>[] => [
  { title: 'MODEL', of: ({ model }) => named(model ?? '(none)') },
  ...figureColumns(receipt),
]

const personColumns = (receipt: ShownReceipt, named: Named): Column<UsageResult>[] => [
  { title: 'AGENT MANAGER', of: ({ agent_manager: person }) => named(person?.name ?? '(none)') },
  ...figureColumns(receipt),
]

function markdownTable<Row>(columns: Column<Row>[], rows: readonly Row[]): string[] {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [
    line(columns.map(({ title }) => title.charAt(0) + title.slice(1).toLowerCase().replace('usd', 'USD'))),
    line(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...rows.map((row) => line(columns.map(({ of }) => of(row)))),
  ]
}

const withGap = (lines: string[]): string[] => (lines.length === 0 ? [] : ['', ...lines])

/** More of the models without a price make the note too long. */
const MODELS_NAMED = 5

function notesOf(receipt: ShownReceipt, named: Named, { url, project }: Source): string[] {
  const { totals, models, basis, provisional, unattributed, budgets } = receipt
  const { unpriced_entries: unpriced, rejected_entries: rejected, rejected_cost } = totals
  const amount = (cost: number | null) => (cost === null ? '' : ` (${inDollars(cost)})`)
  const are = (count: number) => (count === 1 ? 'is' : 'are')
  const notes: string[] = []
  if (unpriced > 0) {
    const lacking = models.filter((result) => result.unpriced_entries > 0)
    const names = lacking.slice(0, MODELS_NAMED).map(({ model }) => named(model ?? '(none)'))
    if (lacking.length > names.length) names.push(`${countText(lacking.length - names.length)} more`)
    const reason =
      basis === 'cost' || basis === 'list' ? 'without a price' : `of unknown ${BASIS_TITLES[basis].toLowerCase()}`
    notes.push(
      `${counted(unpriced, 'entry', 'entries')} ${reason} ${are(unpriced)} not included (${names.join(', ')}).`,
    )
  }
  if (provisional) notes.push('A period of a plan is not closed yet: amounts may change.')
  if (rejected > 0)
    notes.push(
      `Of these, ${counted(rejected, 'entry', 'entries')}${amount(rejected_cost)} ${are(rejected)} rejected and will not be billed.`,
    )
  if (unattributed && unattributed.entries > 0) {
    const { entries, cost } = unattributed
    notes.push(
      `Of these, ${counted(entries, 'entry', 'entries')}${amount(cost)} ${are(entries)} not assigned to a project.`,
    )
  }
  if (budgets && budgets.budgets.length > 0) notes.push(`Budgets: ${budgetsText(budgets.budgets, named)}`)
  if (project !== undefined)
    notes.push(`Only entries of the project ${named(project)} are included, without people and budgets.`)
  if (url === undefined)
    notes.push(
      'From the session files of this machine, at the prices built into Tally. Sessions on other machines are not included.',
    )
  return notes
}

type Checked = NonNullable<Receipt['budgets']>['budgets'][number]

function budgetsText(budgets: readonly Checked[], named: Named): string {
  const seen = budgets.filter(({ id }) => id !== null)
  const unseen = Map.groupBy(
    budgets.filter(({ id }) => id === null),
    ({ state }) => state,
  )
  return [
    ...seen.map((budget) => {
      const [spent, available] = [budget.spent, budget.available].map((units) => Number(JSON.stringify(units)))
      const used = available! > 0 ? `${Math.floor((spent! / available!) * 100)}% used` : 'used up'
      const left = amountText(budget, budget.remaining!)
      const isOver = budget.state === 'exceeded'
      return `${named(budget.name!)} ${used}, ${isOver ? `exceeded by ${left.replace('-', '')}` : `${left} left`}`
    }),
    ...[...unseen].map(
      ([state, { length }]) => `${length} more that you cannot see: ${stateText({ state, complete: true })}`,
    ),
  ].join(' · ')
}
