/** The demo data, which take seconds to make: once for each process of tests, which work on copies. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/database/open.ts'
import { CommandLine } from './command-line.ts'

interface Demo {
  file: Uint8Array
  /** What `tally demo` printed, the random password among it. */
  printed: string
}

let made: Promise<Demo> | undefined

/** Creates the default database of a command line, and returns what `tally demo` printed when it was made. */
export async function copyDemo({ dataDir }: CommandLine): Promise<string> {
  made ??= make()
  const { file, printed } = await made
  mkdirSync(dataDir, { mode: 0o700 })
  writeFileSync(join(dataDir, DATABASE_FILE), file, { mode: 0o600 })
  return printed
}

async function make(): Promise<Demo> {
  const tally = await CommandLine.make()
  try {
    const { stdout } = await tally.done(['demo'])
    return { printed: stdout, file: readFileSync(join(tally.dataDir, DATABASE_FILE)) }
  } finally {
    await tally.remove()
  }
}
