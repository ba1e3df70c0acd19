import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Where Debian keeps the server's programs, outside of PATH, a folder for each version. */
const DEBIAN = '/usr/lib/postgresql'

/** The folder of the newest PostgreSQL server's programs on this machine; undefined where there is none. */
export function postgresPrograms(): string | undefined {
  // Not a glob: Bun's throws where the folder that it begins with is missing, as it is on a new machine.
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : []
  const newest = versions
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'postgres')))
  if (newest) return newest
  const found = Bun.which('postgres')
  return found ? dirname(realpathSync(found)) : undefined
}
