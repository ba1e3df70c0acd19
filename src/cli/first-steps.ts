/** What `tally serve` prints for a new database: commands to paste, adapted to how the server was started. */
import { basename, isAbsolute, join, relative, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { SHORT_LIVED } from './agents/self.ts'

const ROOT = join(import.meta.dir, '../..')

const SESSION_MS = 10 * 60_000

interface FirstSteps {
  url: string
  /** The one-time set-up link. */
  link: string
  config: Config
  now: number
}

/** How this program is called from the folder in which it was started, and where its data is if nothing is said. */
export function calledAs(): { command: string; dataDir: string } {
  if (Bun.isStandaloneExecutable) {
    if (SHORT_LIVED.test(process.execPath)) return { command: 'npx tally-agents', dataDir: './tally-data' }
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
function pathOf(path: string): string {
  const below = relative(process.cwd(), path)
  return below.startsWith('..') || isAbsolute(below) ? path : `./${below}`
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A server for the whole network does not know by which name others reach it. */
function fromElsewhere({ host, publicUrl }: Config): string {
  if (publicUrl || (host !== '0.0.0.0' && host !== '::')) return ''
  return '(From another machine: replace 127.0.0.1 with the name of this machine, or start with --public-url.)\n'
}

export function firstSteps({ url, link, config, now }: FirstSteps): string {
  const { command, dataDir } = calledAs()
  const elsewhere = !config.databaseUrl && resolve(config.dataDir) !== resolve(dataDir)
  const tally = elsewhere ? `${command} --data ${quoted(resolve(config.dataDir))}` : command
  const entry = {
    agent_harness: 'curl',
    agent_name: 'first-steps',
    model: 'claude-sonnet-4-5',
    started_at: new Date(now - SESSION_MS).toISOString(),
    ended_at: new Date(now).toISOString(),
    tokens: { input: 1200, output: 340, cache_read: 15000 },
    project: 'first-steps',
    summary: 'A first token entry',
  }
  return `
This database is new. Set up Tally with this link, which works once and expires in 24 hours:

  ${link}
${fromElsewhere(config)}
Or create a person and a service token on this machine${config.databaseUrl ? ', with the same TALLY_DATABASE_URL as this server' : ''}:

  ${tally} users add --email you@example.com --name You --role admin
  TALLY_TOKEN=$(${tally} tokens create --kind svc --user you@example.com --name first)

Then report a first token entry:

  curl -sS ${url}/api/v1/token-entries -H "Authorization: Bearer $TALLY_TOKEN" -H 'Content-Type: application/json' -d '${JSON.stringify(entry)}'
`
}
