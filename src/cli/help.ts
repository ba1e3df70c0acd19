import type { Command } from 'commander'
import { findManual, type Manual } from '../embedded/manual.ts'
import { CommandError } from './failures.ts'
import { examples } from './flags/options.ts'
import { print } from './terminal/print.ts'

/** What lists the pages. */
const PAGES = 'pages'

/** @param createProgram makes the program with all commands, or those that a command line calls */
export function addHelpCommand(program: Command, createProgram: (args?: readonly string[]) => Promise<Command>): void {
  program
    .command('help')
    .description('Show the help of a command, or a page of the manual, which the server has at /docs')
    .argument('[name...]', `a command such as \`bills send\`, a page such as \`billing\`, or \`${PAGES}\` to list them`)
    .addHelpText('after', examples('tally help pages', 'tally help billing', 'tally help bills send'))
    .action(async (names: string[]) => {
      const command = commandOf(names, await createProgram(names))
      if (command) return command.outputHelp()
      print(await manualText(names.join(' ')))
    })
}

/** The command of these words; undefined if there is none. */
function commandOf(names: readonly string[], program: Command): Command | undefined {
  return names.reduce<Command | undefined>(
    (command, name) => command?.commands.find((each) => each.name() === name || each.aliases().includes(name)),
    program,
  )
}

async function manualText(name: string): Promise<string> {
  const manual = await findManual()
  if (!manual) {
    throw new CommandError(
      'The manual is not built. Build it with `bun scripts/manual.ts`, or read the files in docs/.',
    )
  }
  if (name === PAGES) return listOf(manual)
  const page = await manual.page(pathOf(name, manual))
  if (page === undefined) {
    throw new CommandError(`No command or page is named '${name}'. \`tally help ${PAGES}\` lists the pages.`, 2)
  }
  return page.trimEnd()
}

/** A page may be named without its chapter. */
const pathOf = (name: string, { contents }: Manual) =>
  contents.find(({ page }) => page === name || page.endsWith(`/${name}`))?.page ?? name

function listOf({ contents }: Manual): string {
  const width = Math.max(...contents.map(({ page }) => page.length))
  return contents.map(({ page, title }) => `${page.padEnd(width)}  ${title}`).join('\n')
}
