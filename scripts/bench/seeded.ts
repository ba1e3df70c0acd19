/** Databases of `scripts/bench/seed` that comparisons create once, and keep in dist/. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { printProgress, UsageError } from './clean-up.ts'

const ROOT = join(import.meta.dir, '../..')

/**
 * The folder of a database with so many entries, and with the schema of a checkout: an executable can't open one of a
 * later version.
 */
export async function seededDatabase(entries: number, stack: AsyncDisposableStack, checkout = ROOT): Promise<string> {
  const migrations = await readdir(join(checkout, 'migrations/sqlite'))
  const schema = migrations
    .filter((name) => /^\d/.test(name))
    .sort()
    .at(-1)!
  const data = join(ROOT, `dist/seeded-${entries}-${schema.replace('.sql', '')}`)
  if (await Bun.file(join(data, 'tally.db')).exists()) return data
  printProgress(`creating ${data}`)
  const seed = [process.execPath, join(checkout, 'scripts/bench/seed.ts'), '--entries', `${entries}`, '--data', data]
  const seeding = Bun.spawn(seed, { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] })
  stack.defer(() => seeding.kill())
  if ((await seeding.exited) !== 0) throw new UsageError(`${seed.slice(1).join(' ')} failed.`)
  return data
}
