/** The commands that clients, projects and tickets share. */
import type { Command } from 'commander'
import type { Party } from '../access/actor.ts'
import type { Services } from '../services.ts'
import { examples } from './flags/options.ts'
import { print, printJson } from './terminal/print.ts'
import { withServices } from './with-services.ts'
import type { WorkFlags } from './work-text.ts'

/** A kind of record: how the command line refers to it and prints it. */
export interface Kind<View, Body> {
  /** `project`. */
  word: string
  /** What may stand for one. */
  argument: string
  /** One, as the examples of its commands name it. */
  example: string
  bodyOf: (view: View) => Promise<Body>
  /** What people call it. */
  calledBy: (body: Body) => string
}

type Change<Answer> = (services: Services, self: Party, named: string) => Promise<Answer>

/** Changes one record and prints the result. */
export async function act<View, Body>(
  command: Command,
  { bodyOf }: Pick<Kind<View, Body>, 'bodyOf'>,
  does: (services: Services, self: Party) => Promise<View>,
  said: (body: Body) => string,
): Promise<void> {
  const flags = command.optsWithGlobals<WorkFlags>()
  const body = await bodyOf(await withServices(flags, does))
  if (flags.json) printJson(body)
  else print(said(body))
}

/** `archive`, `restore` and `remove`. */
export function addKeepingCommands<View, Body>(
  commands: Command,
  kind: Kind<View, Body>,
  {
    archive,
    restore,
    remove,
  }: {
    archive: { description: string; does: Change<View> }
    restore: Change<View>
    remove: { description: string; does: Change<unknown> }
  },
): void {
  const { word, argument, example, calledBy } = kind
  const add = (name: string, description: string) =>
    commands
      .command(name)
      .description(description)
      .argument(`<${word}>`, argument)
      .addHelpText('after', examples(`tally ${word}s ${name} ${example}`))

  add('archive', archive.description)
    .option('--json', 'print JSON')
    .action((named: string, _flags, command: Command) =>
      act(
        command,
        kind,
        (services, self) => archive.does(services, self, named),
        (body) => `Archived ${calledBy(body)}.`,
      ),
    )
  add('restore', `Restore an archived ${word}`)
    .option('--json', 'print JSON')
    .action((named: string, _flags, command: Command) =>
      act(
        command,
        kind,
        (services, self) => restore(services, self, named),
        (body) => `Restored ${calledBy(body)}.`,
      ),
    )
  add('remove', remove.description).action(async (named: string, _flags, command: Command) => {
    await withServices(command.optsWithGlobals<WorkFlags>(), (services, self) => remove.does(services, self, named))
    print(`Removed '${named}'.`)
  })
}
