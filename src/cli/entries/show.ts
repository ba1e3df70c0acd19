import type { Command } from 'commander'
import type { TokenEntry, TokenEntryDetail, TokenEntryHistory } from '../../features/entries/schema.ts'
import { allocatedSentence, fundingSentence, fundingTitle, hidesFees, marginalSentence } from '../../shared/funding.ts'
import { historySentenceOf, stepActorOf } from '../../shared/history-sentences.ts'
import { serviceText, toolsText } from '../../shared/price-texts.ts'
import { say, textOf } from '../../shared/sentences.ts'
import { examples } from '../flags/options.ts'
import { printCalculation } from '../prices/calculation.ts'
import { effectiveText } from '../prices/text.ts'
import { durationText, exactText, shareText } from '../terminal/numbers.ts'
import { minute, note, print, printJson, printTable } from '../terminal/print.ts'
import { FORMATS } from '../terminal/sentences.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { placeOf } from './list.ts'

export function addEntriesShowCommand(entries: Command): void {
  entries
    .command('show')
    .description('Show one entry: its fields, the calculation of its list value, and its history')
    .argument('<id>', 'id of the entry (ent_…), see `tally entries list`')
    .option('--json', 'print JSON, as returned by GET /api/v1/token-entries/{id}')
    .addHelpText('after', examples('tally entries show ent_01a1fa172a0277f3983322718874f2ef'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { readListQuery } = await import('../../features/entries/contract.ts')
      const { entry, session, history, timeZone } = await withServices(flags, async (services, { viewer }) => {
        const { listing } = services.entries
        const entry = await listing.getEntry(id, viewer)
        const { timeZone } = await services.organization.settings()
        const session = !flags.json && entry.slice && readListQuery(sessionOf(entry), timeZone)
        return {
          ...{ entry, timeZone },
          session: session && (await listing.listEntries(viewer, session)),
          history: await listing.getHistory(id, viewer),
        }
      })
      if (flags.json) return printJson(entry)
      printFields(entry)
      if (session) {
        print('')
        printSession(session, entry)
      }
      print('')
      printValue(entry, timeZone)
      print('')
      printHistory(history)
    })
}

function printFields(entry: TokenEntryDetail): void {
  const { project, ticket, placement, tokens } = entry
  const place = [project?.key, ticket && `ticket ${ticket.key}`].filter(Boolean).join(', ') || 'unattributed'
  const labels = Object.entries(entry.labels).map(([name, value]) => `${name}=${value}`)
  const fields: [name: string, value: string | null][] = [
    ['entry', entry.id],
    ['status', entry.bill ? `${entry.status}, bill ${entry.bill.number}` : entry.status],
    ['duplicate', duplicateText(entry)],
    ['person', entry.agent_manager.name],
    ['agent', `${entry.agent_name} (${entry.agent_harness})`],
    ['model', entry.provider === null ? entry.model : `${entry.model} at ${entry.provider}`],
    ['service', serviceText(entry)],
    ['session', `${minute(entry.started_at)} to ${minute(entry.ended_at)} UTC`],
    ['session id', entry.session_id && `${entry.session_id}, part ${entry.part}`],
    ['place', `${place}${placement.note === null ? '' : ` – ${placement.note}`}`],
    ['by rule', ruleText(entry)],
    ['summary', entry.summary],
    ['labels', labels.join(' ') || null],
    ['tokens', tokens.total.toLocaleString('en')],
    ['active time', activeText(entry)],
    ['model calls', entry.requests === null ? null : entry.requests.toLocaleString('en')],
    ['tools', toolsText(entry.tools)],
    ['cost', costText(entry)],
    ['paid by', fundingText(entry)],
    ['marginal', paidText(entry, entry.marginal_cost, marginalSentence(entry))],
    ['allocated', hidesFees(entry) ? null : paidText(entry, entry.allocated_cost, allocatedSentence(entry))],
    ['settled by', entry.settled_by],
    ['part of', entry.division && `${entry.division.entry}, ${shareText(entry.division.share)}`],
    ['corrected', entry.corrected.join(', ') || null],
  ]
  for (const [name, value] of fields) if (value !== null) print(`${name.padEnd(12)} ${value}`)
}

/** Entries of the session that are shown; a longer one has a list of its own. */
const SESSION_LIMIT = '100'

/** The entries of the same person's session. */
const sessionOf = ({ session_id, agent_manager }: TokenEntry) => ({
  session_id: session_id!,
  agent_manager: agent_manager.id,
  superseded: 'false',
  order: 'asc',
  limit: SESSION_LIMIT,
})

function printSession({ data, has_more }: { data: TokenEntry[]; has_more: boolean }, entry: TokenEntry): void {
  printTable(
    [
      { title: 'DAY', of: ({ slice, started_at }) => slice?.day ?? minute(started_at) },
      { title: 'BRANCH', of: (row) => row.labels.branch ?? placeOf(row) },
      { title: 'MODEL', rank: 1, of: ({ model }) => model },
      { title: 'PART', rank: 3, of: ({ part }) => String(part), align: 'right' },
      { title: 'ACTIVE', rank: 2, of: (row) => activeText(row) ?? '–', align: 'right' },
      { title: 'TOKENS', rank: 1, of: ({ tokens }) => tokens.total.toLocaleString('en'), align: 'right' },
      { title: 'COST (USD)', of: ({ cost }) => (cost === null ? 'unpriced' : exactText(cost)), align: 'right' },
      { title: 'NOTES', of: (row) => noteText(row, entry) },
    ],
    data,
  )
  if (has_more) note(`More entries: tally entries list --session-id ${entry.session_id}`)
}

const noteText = ({ id, slice, status }: TokenEntry, entry: TokenEntry): string =>
  [id === entry.id && 'this entry', slice?.estimated && 'estimated', status === 'voided' && 'voided']
    .filter(Boolean)
    .join(', ')

const activeText = ({ active_seconds }: TokenEntry): string | null =>
  active_seconds === null ? null : durationText(active_seconds * 1_000)

/** Why the entry may be a duplicate, and how to decide about it if it is held. */
function duplicateText({ id, possible_duplicate_of: other, session_id, status }: TokenEntryDetail): string | null {
  if (other === null) return null
  const reason = session_id === null ? 'identical to' : "another person's session has the same id:"
  const decision = status === 'held' ? `; not counted until you decide: tally entries release ${id}, or discard` : ''
  return `${reason} ${other}${decision}`
}

/** The rule in the version that placed the entry, with its conditions. */
function ruleText({ placement: { rule }, placed_by_rule: said }: TokenEntryDetail): string | null {
  if (!rule) return null
  const conditions = said?.conditions.map(({ field, matches }) => `${field}=${matches}`).join(' and ')
  return `'${rule.name}', version ${rule.version}${conditions ? `: ${conditions}` : ''}`
}

function costText({ cost, reported_cost, cost_mismatch, model }: TokenEntryDetail): string {
  if (cost === null) return `unpriced; to see why: tally prices resolve ${model}`
  if (cost_mismatch) return `$${exactText(cost)} (as reported; far from the list value: check the report and the price)`
  return `$${exactText(cost)} (${reported_cost === null ? 'list value' : 'as reported'})`
}

/** What pays for it, and why; null if nothing is known of it. */
function fundingText({ funding }: TokenEntryDetail): string | null {
  if (funding.kind === 'unknown' && funding.reason === 'none' && funding.note === null) return null
  return `${fundingTitle(funding)}. ${fundingSentence(funding)}`
}

/** What was paid; null where nothing is known of it, and for those who do not see fees. */
function paidText({ funding }: TokenEntryDetail, amount: number | null, sentence: string): string | null {
  if (amount !== null) return `$${exactText(amount)}. ${sentence}`
  return funding.plan === null ? null : sentence
}

/** The arithmetic, a line for each product. */
function printValue({ list_value, valuation, price, division }: TokenEntryDetail, timeZone: string): void {
  if (!valuation || !price) {
    print(list_value === null ? 'No list value.' : `List value $${exactText(list_value)}.`)
    return
  }
  const { price: row } = valuation
  print(
    `List value at the price of '${row.model}' at ${row.provider || 'any provider'} (${row.source}, ${effectiveText(row.effective_from, timeZone)}), found in lookup step ${price.step}:`,
  )
  printCalculation(valuation, price.note)
  if (division)
    print('A share of the value of the whole entry: its lines may differ from the total by parts of a token.')
}

function printHistory({ data, names }: TokenEntryHistory): void {
  const named = new Map(names.map(({ id, name }) => [id, name]))
  printTable(
    [
      { title: 'WHEN (UTC)', of: ({ at }) => minute(at) },
      {
        title: 'CHANGE',
        flows: true,
        of: (step) => textOf(say`${stepActorOf(step)} ${historySentenceOf(step, named, FORMATS)}`),
      },
    ],
    data,
  )
}
