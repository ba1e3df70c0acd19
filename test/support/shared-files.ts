/** Files that take seconds to make and are the same for every test: made once, also for processes that run side by side. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The environment variable with the folder of files that several processes of tests share. */
export const SHARED_FILES = 'TALLY_TEST_SHARED_FILES'

/** A process that has not made its file by then has been killed. */
const MAKING_DEADLINE_MS = 300_000

const known = new Map<string, Promise<Uint8Array>>()

/** The content of the file of this name, which `make` returns to the first that asks for it. */
export function sharedFile(name: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const folder = process.env[SHARED_FILES]
  const content = known.get(name) ?? (folder === undefined ? make() : madeIn(folder, name, make))
  known.set(name, content)
  return content
}

async function madeIn(folder: string, name: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const path = join(folder, name)
  const making = `${path}.making`
  const deadline = performance.now() + MAKING_DEADLINE_MS
  while (!existsSync(path)) {
    if (isFirst(making)) {
      try {
        writeFileSync(`${path}.unfinished`, await make())
        // Whole at once, for those that wait for it.
        renameSync(`${path}.unfinished`, path)
      } finally {
        rmdirSync(making)
      }
    } else if (performance.now() > deadline) {
      throw new Error(`Another process has not made ${path}.`)
    } else {
      await Bun.sleep(50)
    }
  }
  return readFileSync(path)
}

/** Whether the folder was not there: only one of several processes makes it. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
