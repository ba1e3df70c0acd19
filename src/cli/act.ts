import type { Command } from 'commander'
import type { Party } from '../access/actor.ts'
import type { Services } from '../services.ts'
import { printJson } from './terminal/print.ts'
import { type CommandFlags, withServices } from './with-services.ts'

/** Reads or changes one object and prints the result: its body with `--json`, else with `show`. */
export async function act<Row, Body>(
  command: Command,
  work: (services: Services, self: Party) => Promise<Row>,
  bodyOf: (row: Row) => Body | Promise<Body>,
  show: (body: Body) => void,
): Promise<void> {
  const flags = command.optsWithGlobals<CommandFlags>()
  const body = await bodyOf(await withServices(flags, work))
  if (flags.json) printJson(body)
  else show(body)
}
