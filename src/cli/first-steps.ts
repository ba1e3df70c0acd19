/** What `tally serve` prints for a new database, and how this program is called in what it prints. */
import { basename, isAbsolute, join, relative, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { isShortLived } from './agents/self.ts'

const ROOT = join(import.meta.dir, '../..')

/**
 * How this program is called, and where its data is if nothing is said.
 * @param from the folder in which a shell is: this one, or any
 */
export function calledAs(from: 'here' | 'anywhere' = 'here'): { command: string; dataDir: string } {
  const pathOf = from === 'here' ? pathFromHere : (path: string) => path
  if (Bun.isStandaloneExecutable) {
    if (isShortLived()) return { command: 'npx tally-agents', dataDir: './tally-data' }
    const name = basename(process.execPath)
    const command = Bun.which(name) === process.execPath ? name : pathOf(process.execPath)
    return { command: quoted(command), dataDir: './tally-data' }
  }
  if (process.platform === 'win32') {
    return { command: `bun ${quoted(pathOf(join(ROOT, 'src/main.ts')))}`, dataDir: './tally-data' }
  }
  return { command: quoted(pathOf(join(ROOT, 'scripts/tally'))), dataDir: join(ROOT, 'tally-data') }
}

/** From the working folder where it lies below it, else absolute: a shell finds both. */
function pathFromHere(path: string): string {
  const below = relative(process.cwd(), path)
  return below.startsWith('..') || isAbsolute(below) ? path : `./${below}`
}

/** For a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A server for the whole network does not know by which name others reach it. */
function fromElsewhere({ host, publicUrl }: Config): string {
  if (publicUrl || (host !== '0.0.0.0' && host !== '::')) return ''
  return '(From another machine: replace 127.0.0.1 with the name of this machine, or start with --public-url.)\n'
}

/** @param link the one-time set-up link */
export function firstSteps({ link, config }: { link: string; config: Config }): string {
  const { command, dataDir } = calledAs()
  const isElsewhere = !config.databaseUrl && resolve(config.dataDir) !== resolve(dataDir)
  const tally = isElsewhere ? `${command} --data ${quoted(resolve(config.dataDir))}` : command
  const at = config.databaseUrl ? ', with the same TALLY_DATABASE_URL as this server' : ''
  return `
This database is new. Set up Tally with this link, which works once and expires in 24 hours:

  ${link}
${fromElsewhere(config)}
Or create the first person on this machine${at}:

  ${tally} users add --email you@example.com --name You --role admin
`
}
