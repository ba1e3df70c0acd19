import { Database as Connection, type Statement } from 'bun:sqlite'
import type { StatementCounts } from '../../statement-counts.ts'

/** Pragmas, such as the numbers of commits, depend on the time and not on what is read or written. */
const isPragma = ([sql]: string[]) => sql!.startsWith('PRAGMA ')

/** A connection that counts what it prepares and executes, without pragmas. */
export class CountedConnection extends Connection {
  constructor(
    path: string,
    options: ConstructorParameters<typeof Connection>[1],
    readonly counts: StatementCounts,
  ) {
    super(path, options)
  }

  override prepare(...args: never[]): never {
    const statement = (super.prepare as (...args: never[]) => Statement)(...args)
    if (isPragma(args)) return statement as never
    this.counts.prepared += 1
    for (const method of ['run', 'values', 'all', 'get'] as const) {
      const run = statement[method].bind(statement) as (...values: never[]) => never
      statement[method] = (...values: never[]) => {
        this.counts.executed += 1
        return run(...values)
      }
    }
    return statement as never
  }

  override run(...args: never[]): never {
    if (!isPragma(args)) {
      this.counts.prepared += 1
      this.counts.executed += 1
    }
    return (super.run as (...args: never[]) => never)(...args)
  }
}
