/**
 * Stores a database of a released version, from which tests of later versions upgrade.
 * `bun scripts/upgrade-fixture.ts dist/tally` uses that executable as people and agents do, and writes
 * `test/fixtures/upgrades/<version>.db.zst` with the executable's responses next to it. Run it once for each release,
 * before the next migration is written.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'

const FIXTURES = join(import.meta.dir, '../test/fixtures/upgrades')

/** Commands whose output must be the same in every later version. The end is a timestamp: days were once excluded. */
export const QUESTIONS: Record<string, string[]> = {
  usage: ['usage', '--by', 'project,model,status', '--from', '2026-01-01', '--to', '2026-12-31T00:00:00Z', '--json'],
  bills: ['bills', 'list', '--json'],
  entries: ['entries', 'list', '--limit', '20', '--json'],
  projects: ['projects', 'list', '--json'],
  rules: ['rules', 'list', '--json'],
}

class Driven {
  constructor(
    readonly command: string[],
    readonly dataDir: string,
  ) {}

  async run(args: string[], input = ''): Promise<string> {
    const child = Bun.spawn([...this.command, ...args, '--data', this.dataDir], {
      stdin: Buffer.from(input),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${stderr}`)
    return stdout.trim()
  }

  /** Starts the server, and returns its address and a function that stops it. */
  async serve(): Promise<{ url: string; stop(): Promise<unknown> }> {
    const child = Bun.spawn([...this.command, 'serve', '--port', '0', '--data', this.dataDir], {
      stdout: 'pipe',
      stderr: 'ignore',
    })
    let output = ''
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += text
      const url = /tally is ready on (http:[^"]+)"/.exec(output)?.[1]
      if (url) {
        return {
          url,
          stop() {
            child.kill('SIGTERM')
            return child.exited
          },
        }
      }
    }
    throw new Error(`The server did not start: ${output}`)
  }
}

const MODELS = ['claude-sonnet-4-5', 'claude-opus-4-8', 'gpt-5-codex', 'a-model-without-a-price']

function reportOf(number: number) {
  const day = `2026-${String(8 + (number % 3)).padStart(2, '0')}-${String(1 + (number % 27)).padStart(2, '0')}`
  return {
    agent_harness: number % 2 ? 'claude-code' : 'codex',
    agent_name: `agent-${number % 5}`,
    model: MODELS[number % MODELS.length],
    started_at: `${day}T10:00:00Z`,
    ended_at: `${day}T10:30:00Z`,
    tokens: { input: 1_000 + number, output: 300 + number, cache_read: 20_000, cache_write: 50 },
    ...(number % 4 === 0 ? { session_id: `session-${number}` } : {}),
    ...(number % 6 === 0 ? { reported_cost: 0.123456789 } : {}),
    ...(number % 5 === 0
      ? { labels: { repository: 'acme/web', branch: `ACME-${number}-fix` } }
      : { project: ['SHOP', 'SITE'][number % 2] }),
    summary: `Session ${number}, with “quotes” and 设计`,
  }
}

async function fill(tally: Driven): Promise<void> {
  await tally.run(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'admin'])
  await tally.run(['users', 'add', '--email', 'ben@example.com', '--name', 'Ben', '--role', 'member'])
  const token = JSON.parse(
    await tally.run(['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'ci', '--json']),
  ).token
  await tally.run(['clients', 'add', 'Acme Ltd', '--currency', 'EUR', '--markup', '12.5'])
  await tally.run(['projects', 'add', 'SHOP', '--client', 'Acme Ltd', '--lead', 'ben@example.com'])
  await tally.run(['projects', 'add', 'SITE', '--client', 'Acme Ltd', '--budget', '100'])
  const branch = 'labels.branch=/(?<ticket>ACME-[0-9]+)/'
  await tally.run([
    'rules',
    'add',
    '--name',
    'By branch',
    '--when',
    branch,
    '--project',
    'SHOP',
    '--ticket',
    '{ticket}',
  ])
  const server = await tally.serve()
  const answer = await fetch(`${server.url}/api/v1/token-entries/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(Array.from({ length: 200 }, (_, number) => reportOf(number))),
  })
  if (!answer.ok) throw new Error(await answer.text())
  await server.stop()
  const bill = [
    '--client',
    'Acme Ltd',
    '--exchange-rate',
    '0.9',
    '--leave-unpriced',
    '--include-earlier',
    'false',
    '--yes',
  ]
  await tally.run(['bills', 'send', '--month', '2026-08', '--yes', ...bill])
  await tally.run(['bills', 'send', '--month', '2026-09', '--yes', ...bill])
  const [newest] = JSON.parse(await tally.run(['bills', 'list', '--json'])).data
  await tally.run(['bills', 'void', newest.id, '--reason', 'a mistake', '--yes'])
}

async function keep(command: string[]): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tally-fixture-'))
  try {
    const tally = new Driven(command, dataDir)
    await fill(tally)
    const answers: Record<string, unknown> = {}
    for (const [name, question] of Object.entries(QUESTIONS)) answers[name] = JSON.parse(await tally.run(question))
    const { version } = JSON.parse(await tally.run(['version', '--json'])) as { version: string }
    await Bun.write(
      join(FIXTURES, `${version}.db.zst`),
      zstdCompressSync(await Bun.file(join(dataDir, 'tally.db')).bytes()),
    )
    await Bun.write(join(FIXTURES, `${version}.json`), `${JSON.stringify(answers, null, 1)}\n`)
    console.log(`test/fixtures/upgrades/${version}.db.zst`)
  } finally {
    await rm(dataDir, { recursive: true })
  }
}

if (import.meta.main) await keep(process.argv.slice(2))
