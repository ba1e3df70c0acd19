import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Debian's folder of the server's programs, outside of PATH, with a subfolder for each version. */
const DEBIAN = '/usr/lib/postgresql'

/** The folder of the newest PostgreSQL server's programs on this machine; undefined if there is none. */
export function postgresPrograms(): string | undefined {
  // Not a glob: Bun throws if its base folder is missing.
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : []
  const newest = versions
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'postgres')))
  if (newest) return newest
  const found = Bun.which('postgres')
  return found ? dirname(realpathSync(found)) : undefined
}
