import type { Command } from 'commander'
import { searchEverything } from '../features/search/operations/search.ts'
import type { SearchAnswer } from '../features/search/schema.ts'
import { addAction } from './operations.ts'
import { note, printTable } from './terminal/print.ts'

/** `tally search`. */
export function addSearchCommand(program: Command): void {
  addAction(program, searchEverything, {
    name: 'search',
    description:
      'Find projects, tickets, clients, bills, people and models by a part of a name, key, number, title or address; sessions and entries by the beginning of their id; and the newest entries by a part of their summary',
    summary: 'Find projects, tickets, people, bills, models, sessions and entries',
    subject: 'text',
    positional: ['q'],
    flags: { limit: { flag: '--limit <number>', doc: 'results of each type, 1 to 20 (default 5)' } },
    examples: ['tally search checkout', 'tally search SHOP-17 --json', "tally search 'claude-opus' --limit 20"],
    show: printFound,
  })
}

function printFound({ data, searched_to }: SearchAnswer): undefined {
  if (data.length === 0) note('Nothing found.')
  else {
    printTable(
      [
        { title: 'TYPE', of: ({ type }) => type },
        { title: 'NAME', of: ({ name, archived }) => (archived ? `${name} (inactive)` : name) },
        { title: 'DETAIL', flows: true, of: ({ detail }) => detail ?? '' },
        { title: 'ID', of: ({ id }) => id },
      ],
      data,
    )
  }
  if (searched_to === null) return
  note(`Summaries of entries before ${searched_to} were not searched. To search them: tally entries list --q <text>`)
}
