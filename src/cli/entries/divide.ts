import { type Command, InvalidArgumentError } from 'commander'
import { undivideTokenEntry } from '../../features/entries/operations/division.ts'
import type { DividedTokenEntry, EntryDivision } from '../../features/entries/schema.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { CommandError } from '../failures.ts'
import { parseCost } from '../flags/entry.ts'
import { examples } from '../flags/options.ts'
import { addAction } from '../operations.ts'
import { counted, exactText, shareText } from '../terminal/numbers.ts'
import { note, print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { placeOf } from './list.ts'

interface Flags extends CommandFlags {
  keep?: number
  project?: Part[]
  ticket?: Part[]
  amounts?: boolean
  dryRun?: boolean
}

/** A place, and its share or amount; undefined for the rest. */
interface Part {
  place: { project: string } | { ticket: string }
  size: number | undefined
}

/** `tally entries divide` and `undivide`. */
export function addEntriesDivideCommands(entries: Command): void {
  entries
    .command('divide')
    .description('Divide an entry between projects or tickets; the parts sum exactly to what was reported')
    .argument('<id>', 'id of the entry (ent_…)')
    .option('--keep <share>', 'share that stays where the entry is (with --amounts: the rest, unless given)', parseSize)
    .option('--project <project=share>', 'share of a project, such as acme-api=30, repeatable', collect('project'))
    .option('--ticket <ticket=share>', 'share of a ticket, such as ACME-42=30, repeatable', collect('ticket'))
    .option('--amounts', 'the shares are amounts in US dollars')
    .option('--dry-run', 'show the parts, and write nothing')
    .option('--json', 'print the parts as JSON')
    .addHelpText(
      'after',
      examples(
        'tally entries divide ent_01a1fa172a0277f3983322718874f2ef --keep 70 --project acme-api=30',
        'tally entries divide ent_01a1fa172a0277f3983322718874f2ef --amounts --ticket ACME-42=12.50 --dry-run',
      ),
    )
    .action(async (id: string, _flags, command: Command) => {
      const { json, dryRun = false, ...flags } = command.optsWithGlobals<Flags>()
      const division = divisionOf(flags)
      const divided = await withServices(flags, ({ entries }, self) =>
        entries.division.divide(id, division, self, { dryRun }),
      )
      if (json) return printJson(divided)
      printParts(divided)
      if (dryRun) note('Nothing was changed.')
    })
  addAction(entries, undivideTokenEntry, {
    name: 'undivide',
    description: 'Undo the division of an entry: it gets the usage of all parts back, and the other parts are voided',
    summary: 'Undo the division of an entry',
    subject: 'id',
    examples: ['tally entries undivide ent_01a1fa172a0277f3983322718874f2ef'],
    show: (entry) => `Undid the division of ${entry.id}: ${costText(entry.cost)} on ${placeOf(entry)}`,
  })
}

function parseSize(text: string): number {
  if (!/^\d*\.?\d+$/.test(text) || Number(text) === 0) {
    throw new InvalidArgumentError('Use a number above 0, such as 30.')
  }
  return parseCost(text)
}

function collect(kind: 'project' | 'ticket') {
  return (text: string, before: Part[] = []): Part[] => {
    const [, name, size] = /^(.+?)(?:=([^=]*))?$/s.exec(text) ?? []
    if (name === undefined || size === '')
      throw new InvalidArgumentError(`Use ${kind}=share, such as ${EXAMPLE[kind]}.`)
    const place = kind === 'project' ? { project: name } : { ticket: name }
    return [...before, { place, size: size === undefined ? undefined : parseSize(size) }]
  }
}

const EXAMPLE = { project: 'acme-api=30', ticket: 'ACME-42=30' }

/** The part that stays comes first, because the first part is the entry itself. */
function divisionOf({ keep, project = [], ticket = [], amounts = false }: Flags): EntryDivision {
  const field = amounts ? 'amount' : 'share'
  const places = [...project, ...ticket]
  const hasRest = places.some(({ size }) => size === undefined)
  const kept = keep === undefined ? (amounts && !hasRest ? [{}] : []) : [{ [field]: keep }]
  const parts = [
    ...kept,
    ...places.map(({ place, size }) => ({ ...place, ...(size !== undefined && { [field]: size }) })),
  ]
  if (parts.length < 2) {
    throw new CommandError('Nothing to divide. Give at least two parts with --keep, --project and --ticket.', 2)
  }
  // Parsed from text, so that money keeps its exact digits.
  return parseExactJson(JSON.stringify({ parts })) as EntryDivision
}

function printParts({ cost, parts, hidden_parts: hidden }: DividedTokenEntry): void {
  printTable(
    [
      { title: 'ENTRY', of: ({ id }) => id },
      { title: 'PLACE', of: placeOf },
      { title: 'SHARE', of: ({ division }) => shareText(division!.share), align: 'right' },
      { title: 'TOKENS', of: ({ tokens }) => tokens.total.toLocaleString('en'), align: 'right' },
      { title: 'COST', of: (part) => costText(part.cost), align: 'right' },
    ],
    parts,
  )
  print(`Together ${costText(cost)}.`)
  if (hidden > 0) note(`${counted(hidden, 'more part is', 'more parts are')} in projects that you cannot see.`)
}

function costText(cost: number | null): string {
  return cost === null ? 'unpriced' : `$${exactText(cost)}`
}
