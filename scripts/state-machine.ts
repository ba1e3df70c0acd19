/**
 * Draws the states of entries and sheets into docs/design/states.md, from the tables that the program uses. A test compares
 * the two: run `bun scripts/state-machine.ts` after you change the tables.
 */
import { join } from 'node:path'
import { ENTRY_TRANSITIONS, SHEET_TRANSITIONS } from '../src/features/entries/approval/states.ts'

const FILE = join(import.meta.dir, '../docs/design/states.md')
const BEGIN = '<!-- states: made by scripts/state-machine.ts -->'
const END = '<!-- end of states -->'

interface Drawn {
  from: string | null
  to: string | null
  action: string
  who: string
}

/** A Mermaid diagram; `[*]` is the start and the end. */
function diagram(transitions: readonly Drawn[]): string {
  const lines = transitions.map(
    ({ from, to, action, who }) => `    ${from ?? '[*]'} --> ${to ?? '[*]'}: ${action.replaceAll('_', ' ')} (${who})`,
  )
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}

/** The transitions of entries that follow their sheet. */
const ON_SHEETS = SHEET_TRANSITIONS.flatMap(({ action, who, entries }) =>
  entries ? [{ ...entries, action: `sheet – ${action}`, who }] : [],
).filter(
  ({ from, to, action }, index, all) =>
    all.findIndex((other) => other.from === from && other.to === to && other.action === action) === index,
)

/** Both diagrams, as they are in the page between the markers. */
const DRAWN = [
  BEGIN,
  'An entry:',
  '',
  diagram([
    ...ENTRY_TRANSITIONS,
    { from: null, to: 'draft', action: 'sheet – add', who: 'owner' },
    ...ON_SHEETS,
    { from: 'draft', to: null, action: 'sheet – remove', who: 'owner' },
  ]),
  '',
  'A token sheet:',
  '',
  diagram(SHEET_TRANSITIONS),
  END,
].join('\n')

/** The text with the current diagrams. */
export function withStates(text: string): string {
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error(`${FILE} does not contain ${BEGIN} … ${END}`)
  return before + DRAWN + after
}

if (import.meta.main) await Bun.write(FILE, withStates(await Bun.file(FILE).text()))
