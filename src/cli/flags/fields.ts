/** Which operation a command is, and which field of the API each of its flags, for the commands of operations. */
import type { Command } from 'commander'
import type { AnyAction, AnyListing } from '../../operations/operation.ts'

export const operationOf = new WeakMap<Command, AnyAction | AnyListing>()

/** By the name under which commander keeps the value. */
export type FieldFlags = Map<string, { name: string; long: string; value?: string | boolean | string[] | undefined }>

export const fieldFlagsOf = new WeakMap<Command, FieldFlags>()

/** The flag of a field, such as `--tax` for `tax_percent`; undefined if this command has none. */
export function flagOfField(command: Command, field: string): string | undefined {
  for (const { name, long } of fieldFlagsOf.get(command)?.values() ?? []) if (name === field) return long
  return undefined
}
