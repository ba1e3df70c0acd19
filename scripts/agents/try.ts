/**
 * Tests telemetry with the real agents: installs them from npm, asks each two questions through a mock of its vendor's
 * server, which records the true usage, and compares that with the entries in Tally. Also prints the configuration that
 * makes each agent push, as in the README. Run it by hand, because it installs a gigabyte.
 *
 *   scripts/agents/try                        all agents, in each encoding that they support
 *   scripts/agents/try --agents codex,claude-code
 *   scripts/agents/try --folder ~/agents      installs there once and keeps the folder
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort, Installation, type Server } from '../../test/support/binary.ts'
import { AGENTS, type Configuration, type ServingAgent, type Setting, type TriedAgent } from './agents.ts'
import { ModelServer, type Served } from './model-server.ts'

const { values: options } = parseArgs({ options: { agents: { type: 'string' }, folder: { type: 'string' } } })

/** Time limit for one answer; an agent that waits for a login or the Internet would hang. */
const ANSWER_TIMEOUT_MS = 120_000

/** Agents send their last telemetry as they exit, and some exit before it has arrived. */
const ARRIVAL_TIMEOUT_MS = 15_000

/** A little longer than the export interval of an agent that keeps running. */
const EXPORT_INTERVAL_MS = 8_000

const QUESTIONS: [string, string] = ['What is new?', 'And what else?']

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

const COUNTS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const

interface Entry {
  model: string
  session_id: string
  tokens: Record<(typeof COUNTS)[number], number>
  project: { key: string } | null
  labels: Record<string, string> | null
}

type Totals = Record<string, Omit<Served, 'requests'>>

class Trial {
  readonly models = new ModelServer()

  constructor(
    readonly folder: string,
    readonly server: Server,
    readonly push: string,
    readonly read: string,
  ) {}

  /** Returns whether the entries match the usage that was served. */
  async run(agent: TriedAgent, encoding: Setting['encoding']): Promise<boolean> {
    const name = `${agent.name}-${encoding}`
    const home = join(this.folder, 'homes', name)
    const before = await this.entries(agent)
    const configuration = agent.configure({
      home,
      model: this.models.url(name),
      tally: this.server.url,
      token: this.push,
      encoding,
    })
    if ('serve' in agent) await this.talk(agent, home, configuration)
    else {
      const [first, second] = QUESTIONS
      await this.ended(agent, await this.start(agent, home, configuration, agent.ask(first, false)))
      await this.ended(agent, await this.start(agent, home, configuration, agent.ask(second, agent.resumes)))
    }
    const served = withoutRequests(this.models.served[name] ?? {})
    const counted = await this.counted(agent, before, served)
    const isRight = Bun.deepEquals(served, counted) && Object.keys(served).length > 0
    console.log(`\n${isRight ? 'right' : 'WRONG'}  ${agent.name} (${encoding})`)
    console.log('  served ', JSON.stringify(this.models.served[name] ?? {}))
    console.log('  counted', JSON.stringify(counted))
    const places = (await this.entries(agent)).map(({ project, labels }) => [
      project?.key ?? null,
      labels?.team ?? null,
    ])
    console.log('  project and team', JSON.stringify(places))
    if (isRight) printConfiguration(configuration, this.push)
    return isRight
  }

  private async start(agent: TriedAgent, home: string, configuration: Configuration, args: string[]): Promise<Child> {
    const work = join(home, 'work')
    await mkdir(work, { recursive: true })
    for (const { path, text } of configuration.files ?? []) {
      await mkdir(dirname(join(home, path)), { recursive: true })
      await Bun.write(join(home, path), text)
    }
    return Bun.spawn([join(this.folder, 'node_modules/.bin', agent.program), ...args], {
      cwd: work,
      // Nothing from the environment of the person who runs this: neither accounts nor telemetry.
      env: {
        PATH: process.env.PATH!,
        HOME: home,
        TERM: 'xterm-256color',
        ...configuration.telemetry,
        ...configuration.mock,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: ANSWER_TIMEOUT_MS,
    })
  }

  private async ended(agent: TriedAgent, child: Child): Promise<void> {
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0) console.log(`${agent.name} exited with ${code}:\n${stdout}${stderr}`)
  }

  private async talk(agent: ServingAgent, home: string, configuration: Configuration): Promise<void> {
    const port = freePort()
    const child = await this.start(agent, home, configuration, agent.serve(port))
    let stdout = ''
    for await (const chunk of child.stdout) {
      stdout += new TextDecoder().decode(chunk)
      if (stdout.includes(agent.ready)) break
    }
    await agent.talk(`http://127.0.0.1:${port}`, QUESTIONS)
    await Bun.sleep(EXPORT_INTERVAL_MS)
    child.kill()
    await child.exited
  }

  private async entries(agent: TriedAgent): Promise<Entry[]> {
    const answer = await this.server.call('GET', `/api/v1/token-entries?limit=200&agent_harness=${agent.name}`, {
      token: this.read,
    })
    return ((await answer.json()) as { data: Entry[] }).data
  }

  /** What was counted since the start, as soon as it matches what was served. */
  private async counted(agent: TriedAgent, before: Entry[], served: Totals): Promise<Totals> {
    const deadline = Date.now() + ARRIVAL_TIMEOUT_MS
    const known = new Set(before.map(({ session_id }) => session_id))
    for (;;) {
      const counted = totalsOf((await this.entries(agent)).filter(({ session_id }) => !known.has(session_id)))
      if (Bun.deepEquals(counted, served) || Date.now() > deadline) return counted
      await Bun.sleep(200)
    }
  }
}

function withoutRequests(served: Record<string, Served>): Totals {
  return Object.fromEntries(Object.entries(served).map(([model, { requests: _, ...counts }]) => [model, counts]))
}

function totalsOf(entries: Entry[]): Totals {
  const totals: Totals = {}
  for (const { model, tokens } of entries) {
    totals[model] ??= { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0 }
    for (const count of COUNTS) totals[model][count] += tokens[count]
  }
  return totals
}

function printConfiguration({ telemetry, files = [] }: Configuration, token: string): void {
  const shown = (text: string) => text.replaceAll(token, 'tally_org_…')
  for (const [name, value] of Object.entries(telemetry)) console.log(`    ${name}="${shown(value)}"`)
  for (const { path, telemetry: part } of files) {
    if (part) console.log(`    ~/${path}: ${shown(part).trim().replaceAll('\n', '\n      ')}`)
  }
}

async function install(folder: string, agents: TriedAgent[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'package.json'), '{ "private": true }')
  // By name: otherwise npm picks an older version if the newest requires another Node.js.
  const packages = agents.map((agent) => `${agent.package}@latest`)
  console.log(`Installing ${packages.join(', ')} …`)
  await Bun.$`npm install --no-audit --no-fund ${packages}`.cwd(folder).quiet()
}

const wanted = options.agents?.split(',') ?? AGENTS.map(({ name }) => name)
const agents = AGENTS.filter(({ name }) => wanted.includes(name))
if (agents.length < wanted.length)
  throw new Error(`Unknown agent in --agents. Choose from: ${AGENTS.map(({ name }) => name).join(', ')}.`)

const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tally-agents-')))
await install(folder, agents)
const tally = await Installation.make()
const server = await tally.serve()
const runs: boolean[] = []
try {
  await tally.addUser('boss@example.com', 'admin')
  const { token: push } = await tally.createToken('org', 'boss@example.com')
  const { token: read } = await tally.createToken('read', 'boss@example.com')
  const trial = new Trial(folder, server, push, read)
  for (const agent of agents) {
    for (const encoding of agent.encodings) runs.push(await trial.run(agent, encoding))
  }
  trial.models.stop()
} finally {
  await rm(join(folder, 'homes'), { recursive: true, force: true })
  if (options.folder === undefined) await rm(folder, { recursive: true })
  await server.stop()
  await tally.remove()
}
const right = runs.filter(Boolean).length
console.log(`\n${right} of ${runs.length} runs were counted correctly.`)
process.exit(right === runs.length ? 0 : 1)
