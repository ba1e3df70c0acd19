import type { Command } from 'commander'
import type { TokenEntryDetail, TokenEntryHistory } from '../../features/entries/schema.ts'
import { serviceText, toolsText } from '../../shared/price-texts.ts'
import { examples } from '../flags/options.ts'
import { printCalculation } from '../prices/calculation.ts'
import { effectiveText } from '../prices/text.ts'
import { exactText, shareText } from '../terminal/numbers.ts'
import { minute, print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'

export function addEntriesShowCommand(entries: Command): void {
  entries
    .command('show')
    .description('Show one entry: its fields, the calculation of its list value, and its history')
    .argument('<id>', 'id of the entry (ent_…), see `tally entries list`')
    .option('--json', 'print JSON, as returned by GET /api/v1/token-entries/{id}')
    .addHelpText('after', examples('tally entries show ent_01a1fa172a0277f3983322718874f2ef'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { entry, history, timeZone } = await withServices(flags, async ({ entries, organization }, { viewer }) => ({
        entry: await entries.listing.getEntry(id, viewer),
        history: await entries.listing.getHistory(id, viewer),
        timeZone: (await organization.settings()).timeZone,
      }))
      if (flags.json) return printJson(entry)
      printFields(entry)
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
    ['model calls', entry.requests === null ? null : entry.requests.toLocaleString('en')],
    ['tools', toolsText(entry.tools)],
    ['cost', costText(entry)],
    ['part of', entry.division && `${entry.division.entry}, ${shareText(entry.division.share)}`],
    ['corrected', entry.corrected.join(', ') || null],
  ]
  for (const [name, value] of fields) if (value !== null) print(`${name.padEnd(12)} ${value}`)
}

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

function printHistory({ data }: TokenEntryHistory): void {
  printTable(
    [
      { title: 'WHEN (UTC)', of: ({ at }) => minute(at) },
      { title: 'ACTION', of: ({ action }) => action },
      {
        title: 'ACTOR',
        of: ({ actor }) => (actor ? [actor.user.name, actor.token?.name].filter(Boolean).join(', ') : 'Tally'),
      },
      { title: 'DETAILS', flows: true, of: ({ details }) => detailsText(details) },
    ],
    data,
  )
}

/** `source: report`, and `list value: 0.002 → 0.004` of what has changed. */
function detailsText(details: Record<string, unknown>): string {
  const fields = Object.entries(details).map(([name, value]) => {
    const { from, to } = Object(value) as { from?: unknown; to?: unknown }
    const text = from === undefined || to === undefined ? valueText(value) : `${valueText(from)} → ${valueText(to)}`
    return `${name.replaceAll('_', ' ')}: ${text}`
  })
  return fields.join(', ')
}

const valueText = (value: unknown): string =>
  value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)
