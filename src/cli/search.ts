import type { Command } from 'commander'
import type { SearchHit } from '../features/search/schema.ts'
import { examples } from './flags/options.ts'
import { note, printJson, printTable } from './terminal/print.ts'
import { type CommandFlags, withServices } from './with-services.ts'

interface Flags extends CommandFlags {
  limit?: string
}

/** `tally search`. */
export function addSearchCommand(program: Command): void {
  program
    .command('search')
    .description(
      'Find projects, tickets, clients, bills, people and models by a part of a name, key, number, title or address; sessions and entries by the beginning of their id; and the newest entries by a part of their summary',
    )
    .summary('Find projects, tickets, people, bills, models, sessions and entries')
    .argument('<text>', 'text to search for, at most 200 characters')
    .option('--limit <number>', 'results of each type, 1 to 20 (default 5)')
    .option('--json', 'print JSON, as returned by GET /api/v1/search')
    .addHelpText(
      'after',
      examples('tally search checkout', 'tally search SHOP-17 --json', "tally search 'claude-opus' --limit 20"),
    )
    .action(async (text: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const [{ readSearchQuery }, { SEARCH_TYPES }] = await Promise.all([
        import('../features/search/service.ts'),
        import('../features/search/schema.ts'),
      ])
      const query = readSearchQuery({ q: text, limit: flags.limit })
      const found = await withServices(flags, ({ search }, { viewer }) =>
        search.search({ viewer, types: SEARCH_TYPES }, query),
      )
      if (flags.json) return printJson(found)
      if (found.data.length === 0) note('Nothing found.')
      else {
        printTable<SearchHit>(
          [
            { title: 'TYPE', of: ({ type }) => type },
            { title: 'NAME', of: ({ name, archived }) => (archived ? `${name} (inactive)` : name) },
            { title: 'DETAIL', flows: true, of: ({ detail }) => detail ?? '' },
            { title: 'ID', of: ({ id }) => id },
          ],
          found.data,
        )
      }
      if (found.searched_to !== null) {
        note(
          `Summaries of entries before ${found.searched_to} were not searched. To search them: tally entries list --q <text>`,
        )
      }
    })
}
