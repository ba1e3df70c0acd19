/** The commands that clients, projects and tickets have in common. */
import type { Command } from 'commander'
import type { Party } from '../access/actor.ts'
import { eachPage } from '../lists.ts'
import type { Services } from '../services.ts'
import { act } from './act.ts'
import { asksFirst } from './flags/confirmation.ts'
import { examples } from './flags/options.ts'
import type { ColumnFlags } from './terminal/columns.ts'
import { confirm } from './terminal/confirm.ts'
import { type Column, note, print, printFields, printJsonList, printTable } from './terminal/print.ts'
import { type CommandFlags, withServices } from './with-services.ts'

/** How the command line refers to a client, a project or a ticket, and prints it. */
export interface Kind<Row, Body> {
  /** `project`. */
  word: string
  /** What identifies one. */
  argument: string
  /** One, as the examples of its commands name it. */
  example: string
  bodyOf: (row: Row) => Promise<Body>
  /** The name under which it is listed and reported. */
  nameOf: (body: Body) => string
  /** Lists ACME-9 before ACME-10. */
  isNumbered?: boolean
}

/** The service, loaded with the database and not before: `--help` does without it. */
export const projectService = () => import('../features/projects/service.ts')

export interface ListFlags extends CommandFlags, ColumnFlags {
  search?: string
  archived?: boolean
  all?: boolean
}

/** Whether a list shows archived rows. */
export function archivedOf({ archived, all }: ListFlags): 'true' | 'all' | undefined {
  return all ? 'all' : archived ? 'true' : undefined
}

/** What such a list is of: `active clients` if it leaves out archived ones. */
export function listedText({ archived, all }: ListFlags, many: string): string {
  return archived || all ? many : `active ${many}`
}

export function archivedText(archivedAt: string | null): string | null {
  return archivedAt && `archived ${archivedAt.slice(0, 10)}`
}

/** Prints all pages of a list, sorted by name. */
export async function printList<Row, Body>(
  flags: CommandFlags & ColumnFlags,
  { bodyOf, nameOf, isNumbered = false }: Kind<Row, Body>,
  {
    page,
    idOf,
    columns,
    empty,
    check,
  }: {
    page: (services: Services, self: Party, at: { after: number | undefined; limit: number }) => Promise<Row[]>
    idOf: (row: Row) => number
    columns: Column<Body>[]
    empty: string
    /** Throws for names in the filters that do not exist. */
    check?: (services: Services) => Promise<void>
  },
): Promise<void> {
  const rows = await withServices(flags, async (services, self) => {
    await check?.(services)
    return (await Array.fromAsync(eachPage((at) => page(services, self, at), idOf))).flat()
  })
  const bodies = await Promise.all(rows.map(bodyOf))
  if (flags.json) return printJsonList(bodies)
  bodies.sort((one, other) => nameOf(one).localeCompare(nameOf(other), 'en', { numeric: isNumbered }))
  printTable(columns, bodies, flags)
  if (bodies.length === 0) note(empty)
}

/** `show`. */
export function addShowCommand<Row, Body>(
  commands: Command,
  { word, argument, example, bodyOf }: Kind<Row, Body>,
  get: (services: Services, named: string) => Promise<Row>,
  fieldsOf: (body: Body) => Parameters<typeof printFields>[0],
): void {
  commands
    .command('show')
    .description(`Show a ${word}`)
    .argument(`<${word}>`, argument)
    .option('--json', 'print JSON')
    .addHelpText('after', examples(`tally ${word}s show ${example}`))
    .action((named: string, _flags, command: Command) =>
      act(
        command,
        (services) => get(services, named),
        bodyOf,
        (body) => printFields(fieldsOf(body)),
      ),
    )
}

type Change<Result> = (services: Services, self: Party, named: string) => Promise<Result>

/** `archive`, `restore` and `remove`. */
export function addArchiveCommands<Row, Body>(
  commands: Command,
  { word, argument, example, bodyOf, nameOf }: Kind<Row, Body>,
  does: { archive: Change<Row>; restore: Change<Row>; remove: Change<unknown> },
  descriptions: { archive: string; remove: string },
): void {
  const add = (name: string, description: string, command = commands.command(name)) =>
    command
      .description(description)
      .argument(`<${word}>`, argument)
      .addHelpText('after', examples(`tally ${word}s ${name} ${example}`))
  const addReversible = (name: 'archive' | 'restore', description: string, done: string) =>
    add(name, description)
      .option('--json', 'print JSON')
      .action((named: string, _flags, command: Command) =>
        act(
          command,
          (services, self) => does[name](services, self, named),
          bodyOf,
          (body) => print(`${done} ${nameOf(body)}.`),
        ),
      )

  addReversible('archive', descriptions.archive, 'Archived')
  addReversible('restore', `Restore an archived ${word}`, 'Restored')
  const remove = asksFirst(commands.command('remove'))
  add('remove', descriptions.remove, remove).action(async (named: string, _flags, command: Command) => {
    const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
    await confirm(`Permanently remove the ${word} '${named}'?`, flags)
    await withServices(flags, (services, self) => does.remove(services, self, named))
    print(`Removed '${named}'.`)
  })
}
