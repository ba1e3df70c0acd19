/**
 * Tests the executable with requests that Schemathesis derives from the OpenAPI document: valid and invalid ones, and
 * sequences of them. Each kind of credential gets a new database and server. Run it by hand, after
 * `scripts/test bundle build`: it takes minutes, and installs Schemathesis into `dist/schemathesis` with Python's pip.
 *
 *   scripts/schemathesis/run                            every kind of credential, with one seed
 *   scripts/schemathesis/run --as api,admin --seeds 1,2,3 --examples 100
 *   scripts/schemathesis/run --database-url postgres://tally@127.0.0.1/fuzz     on an empty database, with one credential
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../test/support/binary.ts'

/** Pinned, as its checks differ between versions. */
const PACKAGE = 'schemathesis==4.32.5'

const ROOT = join(import.meta.dir, '../..')
const FOLDER = join(ROOT, 'dist/schemathesis')

/** Names of the security schemes in the document. Of sessions there is one for each of these roles. */
const SCHEMES = {
  api: 'apiToken',
  admin: 'session',
  member: 'session',
  viewer: 'session',
  read: 'readToken',
  svc: 'serviceToken',
  org: 'organizationToken',
} as const
type Credential = keyof typeof SCHEMES

const { values: options } = parseArgs({
  options: {
    as: { type: 'string', default: Object.keys(SCHEMES).join() },
    seeds: { type: 'string', default: '1' },
    examples: { type: 'string', default: '30' },
    executable: { type: 'string', default: join(ROOT, 'dist/tally') },
    'database-url': { type: 'string' },
  },
})

const EMAIL = 'ada@example.com'
const OTHERS = { member: 'grace@example.com', viewer: 'vera@example.com' }
const PASSWORD = 'correct horse battery'

/** A new database with an admin, and what is off by default turned on. */
class Tally {
  constructor(readonly folder: string) {}

  async run(...args: string[]): Promise<string> {
    const child = this.#start(args)
    const [out, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code !== 0) throw new Error(`tally ${args.join(' ')}: ${out}${errors}`)
    return out.trim()
  }

  async setUp(): Promise<void> {
    await this.run('users', 'add', '--email', EMAIL, '--name', 'Ada', '--role', 'admin')
    await this.run('settings', 'set', '--api-tokens', 'yes', '--share-links', 'yes')
    await this.run('clients', 'add', 'Acme Ltd')
    for (const key of ['ACME', 'OTHER']) await this.run('projects', 'add', key, '--client', 'Acme Ltd')
    for (const [role, email] of Object.entries(OTHERS)) {
      await this.run('users', 'add', '--email', email, '--name', role, '--role', role)
    }
    await this.run('users', 'grant', OTHERS.viewer, '--client', 'Acme Ltd', '--money', 'amounts', '--bills')
  }

  /** What operations can be called for that find nothing in an empty database: their path, and an id for it. */
  async fill(url: string): Promise<Record<string, string>> {
    const token = await this.run('tokens', 'create', '--kind', 'svc', '--user', EMAIL, '--name', 'filling')
    const report = async (project: string): Promise<string> => {
      const at = new Date(Date.now() - 3_600_000).toISOString()
      const names = {
        agent_harness: 'codex',
        agent_name: 'reviewer',
        model: 'gpt-5-codex',
        project,
        reported_cost: 1.25,
      }
      const answer = await fetch(`${url}/api/v1/token-entries`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...names, started_at: at, ended_at: at, tokens: { input: 10_000, output: 2_000 } }),
      })
      if (!answer.ok) throw new Error(await answer.text())
      return ((await answer.json()) as { id: string }).id
    }
    await report('ACME')
    const month = new Date(Date.now() - 3_600_000).toISOString().slice(0, 7)
    await this.run('bills', 'send', '--month', month, '--project', 'ACME', '--yes')
    return {
      '/api/v1/token-entries/\\{id\\}': await report('OTHER'),
      '/api/v1/bills/\\{id\\}': '2026-0001',
      '/api/v1/projects/\\{id\\}/merge': 'OTHER',
    }
  }

  async serve(port: number) {
    const child = this.#start(['serve', '--port', String(port)])
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined)
      if (answer?.ok) return child
      if (child.exitCode !== null) throw new Error(await child.stdout.text())
      await Bun.sleep(100)
    }
  }

  /** The token, or the content of a session's cookie. */
  async credential(kind: Credential, url: string): Promise<string> {
    if (kind === 'admin') return this.#session(EMAIL, url)
    if (kind === 'member' || kind === 'viewer') return this.#session(OTHERS[kind], url)
    const create = ['tokens', 'create', '--kind', kind, '--user', EMAIL, '--name', 'fuzzing']
    if (kind !== 'api') return this.run(...create)
    const scopes: { data: { scope: string }[] } = JSON.parse(await this.run('tokens', 'scopes', '--json'))
    return this.run(...create, '--scope', scopes.data.map(({ scope }) => scope).join())
  }

  async #session(email: string, url: string): Promise<string> {
    const link = await this.run('users', 'invite', email)
    const answer = await fetch(`${url}/api/v1/password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({ link_token: link.split('#').at(-1), password: PASSWORD }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.headers
      .getSetCookie()
      .join()
      .match(/tally_session=([^;]+)/)![1]!
  }

  #start(args: string[]) {
    const url = options['database-url']
    return Bun.spawn([options.executable, ...args], {
      cwd: this.folder,
      env: { HOME: this.folder, PATH: process.env.PATH, ...(url && { TALLY_DATABASE_URL: url }) },
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }
}

async function installed(): Promise<string> {
  const program = join(FOLDER, 'bin/schemathesis')
  const run = async (...command: string[]) => {
    if ((await Bun.spawn(command, { stdout: 'inherit', stderr: 'inherit' }).exited) !== 0) {
      throw new Error(`${command.join(' ')} failed`)
    }
  }
  if (existsSync(program)) return program
  await run('python3', '-m', 'venv', '--clear', FOLDER)
  await run(join(FOLDER, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', PACKAGE)
  return program
}

/** Whether Schemathesis found nothing. */
async function test(program: string, kind: Credential, seed: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'tally-schemathesis-'))
  const tally = new Tally(folder)
  await tally.setUp()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const server = await tally.serve(port)
  try {
    const ids = await tally.fill(url)
    const isSession = SCHEMES[kind] === 'session'
    const auth = { [isSession ? 'api_key' : 'bearer']: await tally.credential(kind, url) }
    const sections = [
      ...Object.entries(auth).map(([name, value]) => `[auth.openapi.${SCHEMES[kind]}]\n${name} = "${value}"\n`),
      ...Object.entries(ids).map(
        ([path, id]) => `[[operations]]\ninclude-path-regex = '^${path}'\nparameters = { id = "${id}" }\n`,
      ),
    ]
    await Bun.write(join(folder, 'schemathesis.toml'), sections.join('\n'))
    // Signing out and changing the password would end the session of all later requests.
    const excluded = isSession ? ['signOut', 'changePassword'] : []
    const report = join(FOLDER, 'reports', `${kind}-${seed}`)
    await mkdir(report, { recursive: true })
    console.log(`\n${kind}, seed ${seed}; report in ${report}`)
    const child = Bun.spawn(
      [
        ...[program, '--config-file', join(folder, 'schemathesis.toml'), 'run', `${url}/api/v1/openapi.json`],
        ...['--seed', seed, '--max-examples', options.examples, '--continue-on-failure'],
        ...['--generation-database', 'none', '--suppress-health-check', 'all', '--no-color'],
        ...['--report', 'junit,ndjson', '--report-dir', report],
        ...(isSession ? ['--header', `Origin: ${url}`] : []),
        ...excluded.flatMap((id) => ['--exclude-operation-id', id]),
      ],
      {
        cwd: folder,
        env: { ...process.env, SCHEMATHESIS_HOOKS: 'hooks', PYTHONPATH: import.meta.dir, PYTHONDONTWRITEBYTECODE: '1' },
        stdout: 'inherit',
        stderr: 'inherit',
      },
    )
    return (await child.exited) === 0
  } finally {
    server.kill()
    await server.exited
    await rm(folder, { recursive: true })
  }
}

const kinds = options.as.split(',') as Credential[]
const program = await installed()
let isClean = true
for (const kind of kinds) {
  for (const seed of options.seeds.split(',')) {
    if (!(await test(program, kind, seed))) isClean = false
  }
}
process.exit(isClean ? 0 : 1)
