/**
 * Follows the page about backups to the letter: every command, on an installation as it describes, with its folders, its file
 * of variables, and a service. Only what other machines and programs do stands for something else: `sudo`, `systemctl`, the
 * bucket, and Litestream, which is not installed here.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { precompiledExecutable, SHORT_RUN } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { startStorage, type TestStorage } from '../support/s3-server.ts'
import { blocksOf } from './manual-pages.ts'

const page = await Bun.file(join(import.meta.dir, '../../docs/operations/backup-and-restore.md')).text()
const blocks = blocksOf(page)
/** Commands in the text, such as `tally backup list`. */
const inline = [...page.matchAll(/`(tally [a-z][^`…]*)`/g)].map(([, command]) => command!)

let tally: CommandLine
let storage: TestStorage
let server: Bun.Subprocess | undefined
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
  storage = await startStorage()
  for (const folder of ['bin', 'var/lib/tally', 'mnt/backups', 'etc']) mkdirSync(file(folder), { recursive: true })
  program('tally', `exec ${await precompiledExecutable()} "$@"`)
  program('sudo', 'if [ "$1" = -u ]; then shift 2; fi\nexec "$@"')
  // Asks the test to start or stop the service, and waits until it has.
  program('systemctl', `echo "$1" > ${file('asked')}\nwhile [ -e ${file('asked')} ]; do sleep 0.05; done`)
})
afterEach(async () => {
  server?.kill('SIGKILL')
  await tally.remove()
  await storage.close()
})

const file = (name: string) => join(tally.folder, name)
const program = (name: string, text: string) =>
  writeFileSync(file(`bin/${name}`), `#!/bin/sh\n${text}\n`, { mode: 0o755 })

const env = (more: Record<string, string> = {}) => ({
  ...{ PATH: `${file('bin')}:${process.env.PATH}`, HOME: tally.folder, TALLY_DATA: file('var/lib/tally') },
  ...{ TALLY_PORT: '0', ...SHORT_RUN, ...more },
})

/** What the examples name, as it is here. */
function located(text: string, name?: string): string {
  const here = text
    .replaceAll('/mnt/backups', file('mnt/backups'))
    .replaceAll('/var/lib/tally', file('var/lib/tally'))
    .replaceAll('s3://my-backups/tally/', storage.place)
  return name === undefined ? here : here.replaceAll('tally-20261121T201500Z-5f0c2a9b', name)
}

const block = (begin: string) => {
  const found = blocks.find(({ text }) => text.startsWith(begin))
  if (!found) throw new Error(`The page has no example that begins with ${begin}`)
  return found.text
}

async function run(script: string, more: Record<string, string> = {}): Promise<string> {
  const shell = Bun.spawn(['sh', '-eu'], {
    cwd: tally.folder,
    env: env(more),
    stdin: Buffer.from(script),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  expect({ script, code, stderr: code === 0 ? '' : stderr }).toEqual({ script, code: 0, stderr: '' })
  return stdout
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await Bun.sleep(50)
}

/** Starts the server as an example does, and returns once it has made a backup, and uploaded it if it is to. */
async function serve(script: string, more: Record<string, string>, printed: RegExp): Promise<void> {
  // What the server before it printed says nothing of this one.
  writeFileSync(file('log'), '')
  server = Bun.spawn(['sh', '-c', `exec env ${script}`], {
    cwd: tally.folder,
    env: env(more),
    stdin: 'ignore',
    stdout: Bun.file(file('log')),
    stderr: Bun.file(file('errors')),
  })
  await until(() => printed.test(readFileSync(file('log'), 'utf8')) || server!.exitCode !== null)
  expect([server.exitCode, readFileSync(file('errors'), 'utf8')]).toEqual([null, ''])
}

async function stop(): Promise<void> {
  server?.kill('SIGTERM')
  expect(await server?.exited).toBe(0)
  server = undefined
}

/** Does what `systemctl` is asked while a script runs. */
async function runWithService(script: string, variables: Record<string, string>): Promise<void> {
  const running = run(script, variables)
  let isRunning = true
  running.finally(() => {
    isRunning = false
  })
  while (isRunning) {
    if (existsSync(file('asked'))) {
      if (readFileSync(file('asked'), 'utf8').trim() === 'stop') await stop()
      else await serve('tally serve', variables, /is ready/)
      await Bun.file(file('asked')).delete()
    }
    await Bun.sleep(20)
  }
  await running
}

const emails = async () => JSON.parse(await run('tally users list --json')).data.map(({ email }: never) => email)

test('the commands of the page do what it says', async () => {
  await run('tally users add --email ada@example.com --name Ada --role admin')
  // Schedule backups.
  const schedule = block('TALLY_BACKUP_EVERY=24h TALLY_BACKUP_DIR=')
  await serve(located(schedule), {}, /created a backup/)
  const [first] = readdirSync(file('mnt/backups'))
  expect(first).toMatch(/^tally-\d{8}T\d{6}Z-[\da-f]{8}\.db$/)
  await stop()

  // Upload backups to S3.
  const recipient = (await run(block('tally backup keygen'))).trim()
  expect(recipient).toStartWith('age1')
  writeFileSync(file('etc/secret'), storage.env.AWS_SECRET_ACCESS_KEY!)
  const variables = Object.fromEntries(
    block('TALLY_BACKUP_EVERY=24h\n')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s) as [string, string]),
  )
  expect(Object.keys(variables)).toHaveLength(7)
  Object.assign(variables, {
    TALLY_BACKUP_DIR: file('mnt/backups'),
    TALLY_BACKUP_S3: located(variables.TALLY_BACKUP_S3!),
    TALLY_BACKUP_RECIPIENTS: recipient,
    AWS_ENDPOINT_URL: storage.env.AWS_ENDPOINT_URL!,
    AWS_ACCESS_KEY_ID: storage.env.AWS_ACCESS_KEY_ID!,
    AWS_SECRET_ACCESS_KEY_FILE: file('etc/secret'),
  })
  await serve('tally serve', variables, /"extent":"compared"/)
  expect(await storage.names()).toContain(`${first}.zst.age`)
  const checked = await run('tally doctor --json || true', variables)
  const levels = JSON.parse(checked).findings.map(({ what, level }: never) => `${what} ${level}`)
  expect(levels).toContain('stored backups ok')
  expect(levels).toContain('verification ok')

  // Back up now, and what the text says besides.
  const listed = await run(located(block('mkdir -p backups')), variables)
  expect(listed).toMatch(/tally-\d{8}T\d{6}Z-[\da-f]{8}\.db\n$/)
  expect(await run(block('tally backup verify "$(ls'), variables)).toContain('intact')
  for (const command of inline.filter((each) => /^tally (backup|doctor|verify|sql|compact)\b/.test(each))) {
    if (/^tally sql$|doctor/.test(command)) continue
    await run(located(command), variables)
  }
  expect(await storage.names()).toHaveLength(3)
  await run(block('tally compact'), variables)

  // The format.
  const name = first!.replace(/\.db$/, '')
  await storage.client
    .file(`${storage.prefix}${first}.zst.age`)
    .arrayBuffer()
    .then((bytes) => Bun.write(file(`${first}.zst.age`), bytes))
  await run(located(block('age --decrypt'), name))
  expect(readFileSync(file('tally.db')).equals(readFileSync(file(`mnt/backups/${first}`)))).toBe(true)

  // Restore a backup: from the folder, and from S3.
  await run('tally users add --email eve@example.com --name Eve --role member')
  const restore = (begin: string) =>
    located(blocks.find(({ text }) => text.includes(begin))!.text, name).replaceAll(' --replace', ' --replace --yes')
  await runWithService(restore('tally restore /mnt/backups/'), variables)
  expect(await emails()).toEqual(['ada@example.com'])
  await run('tally users add --email eve@example.com --name Eve --role member')
  await stop()
  await run(restore('tally restore s3://'), variables)
  expect(await emails()).toEqual(['ada@example.com'])
  // Nothing else is an example.
  const known = /keygen|^TALLY_BACKUP|^age |^mkdir|systemctl|tally restore s3|backup verify|compact|^litestream/m
  expect(blocks.filter(({ text }) => !known.test(text))).toEqual([])
}, 300_000)

test('a key with a passphrase restores by way of the standard input', async () => {
  await run('tally users add --email ada@example.com --name Ada --role admin')
  const recipient = (await run(block('tally backup keygen'))).trim()
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL } = storage.env as Record<string, string>
  const variables = { AWS_ACCESS_KEY_ID: AWS_ACCESS_KEY_ID!, AWS_SECRET_ACCESS_KEY: AWS_SECRET_ACCESS_KEY! }
  const all = { ...variables, AWS_ENDPOINT_URL: AWS_ENDPOINT_URL!, TALLY_BACKUP_RECIPIENTS: recipient }
  await run(`tally backup ${storage.place}`, all)
  // age asks for a passphrase on a terminal only; what it prints is the key.
  await run(
    `cat tally-backups.key | tally restore ${storage.place} --identity /dev/stdin --data ${file('restored')}`,
    all,
  )
  expect(existsSync(file('restored/tally.db'))).toBe(true)
}, 60_000)
