/** The next version of Tally: these sources with more migrations, which run from source. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'

const ROOT = join(import.meta.dir, '../..')

/** Makes it in a new folder, and returns the path of the program. The caller removes the folder. */
export function makeNextVersion(migrations: Omit<Migration, 'version'>[]): { folder: string; program: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tally-next-'))
  for (const name of ['src', 'migrations']) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  for (const name of ['package.json', 'tsconfig.json', 'bunfig.toml']) cpSync(join(ROOT, name), join(folder, name))
  for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name))
  const index = join(folder, 'migrations/index.ts')
  const next = migrations.map((migration, at) => ({ ...migration, version: MIGRATIONS.at(-1)!.version + 1 + at }))
  const list = readFileSync(index, 'utf8')
  writeFileSync(
    index,
    list.replace(/\n\]\n$/, `\n${next.map((migration) => `${JSON.stringify(migration)},\n`).join('')}]\n`),
  )
  const program = join(folder, 'bin/tally')
  mkdirSync(join(folder, 'bin'))
  const command = `exec '${process.execPath}' --no-env-file '--config=${folder}/bunfig.toml' '${folder}/src/main.ts' "$@"`
  writeFileSync(program, `#!/bin/sh\n${command}\n`)
  chmodSync(program, 0o755)
  return { folder, program }
}
