/**
 * Tests Tally with the real agents: installs them from npm, asks each questions through a mock of its vendor's server,
 * which records the true usage, and compares that with the entries that Tally has from telemetry, hooks and session
 * files, to the token and to the billionth of a dollar. Also prints the configuration that makes each agent push, as in
 * the manual. Run it by hand, because it installs a gigabyte.
 *
 *   scripts/agents/try                        all agents and scenarios
 *   scripts/agents/try --agents codex,claude-code --scenarios resumed,killed
 *   scripts/agents/try --folder ~/agents      installs there once and keeps the folder
 */
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../test/support/binary.ts'
import { AGENTS, type Configuration, type Setting, type TriedAgent } from './agents.ts'
import { COUNTS, type ServedRequest, type Sums, sumsOf } from './ledger.ts'
import { ModelServer } from './model-server.ts'
import { SCENARIOS, type ScenarioName, type Step } from './scenarios.ts'
import { Tally } from './tallies.ts'

const { values: options } = parseArgs({
  options: { agents: { type: 'string' }, scenarios: { type: 'string' }, folder: { type: 'string' } },
})

/** Time limit for one answer; an agent that waits for a login or the Internet would hang. */
const ANSWER_TIMEOUT_MS = 120_000

/** Agents send their last telemetry as they exit, and some exit before it has arrived. */
const ARRIVAL_TIMEOUT_MS = 15_000

/** A little longer than the export interval of an agent that keeps running. */
const EXPORT_INTERVAL_MS = 8_000

/** Until the tool runs that a killed agent was asked for. */
const TOOL_START_MS = 3_000

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

const SOURCES = ['telemetry', 'hooks', 'session files'] as const
type Source = (typeof SOURCES)[number]

interface Outcome {
  agent: string
  scenario: string
  requests: number
  /** By source: how it compares with what was served. */
  sources: Record<Source, string>
  isRight: boolean
}

/** One scenario of one agent, in a home folder of its own. */
class Run {
  readonly #home: string
  readonly #name: string
  readonly #configuration: Configuration
  /** An agent that keeps running, and its current session. */
  #serving: { child: Child; url: string } | undefined
  #session = ''

  constructor(
    readonly trial: Trial,
    readonly agent: TriedAgent,
    readonly encoding: Setting['encoding'],
    readonly scenario: ScenarioName,
  ) {
    this.#name = `${agent.name}-${encoding}-${scenario.replaceAll(' ', '-')}`
    this.#home = join(trial.folder, 'homes', this.#name)
    const { telemetry } = trial.tallies
    this.#configuration = agent.configure({
      ...{ home: this.#home, model: trial.models.url(this.#name), tally: telemetry.url },
      ...{ token: telemetry.tokens.org, encoding },
    })
  }

  async outcome(): Promise<Outcome> {
    const { models, tallies } = this.trial
    await this.#prepare()
    for (const [index, step] of stepsOf(this.scenario).entries()) {
      models.steps[this.#name] = index
      await this.#setReachable(!step.isOffline)
      await this.#take(step)
      await this.#setReachable(true)
    }
    await this.#end()
    if (this.agent.hasHook) await tallies.hooks.run(this.#home, ['agents', 'flush'])
    const { url, tokens } = tallies['session files']
    const target = { TALLY_URL: url, TALLY_TOKEN: tokens.svc }
    await tallies['session files'].run(this.#home, ['agents', 'scan', '--agent', this.agent.name, '--report'], target)
    const served = models.served.filter(({ run }) => run === this.#name)
    const compared = await Promise.all(SOURCES.map((source) => this.#compare(source, served)))
    const sources = Object.fromEntries(SOURCES.map((source, index) => [source, compared[index]!.text]))
    const isRight = served.length > 0 && compared.every((each) => each.isRight) && haveSameSessions(compared)
    if (!haveSameSessions(compared))
      console.log(
        `\nWRONG  ${this.#name}: sessions`,
        compared.map(({ sessions }) => sessions),
      )
    if (isRight && this.scenario === 'resumed') printConfiguration(this.#configuration, tallies.telemetry.tokens.org)
    const { name } = this.agent
    const requests = served.length
    return { agent: `${name} (${this.encoding})`, scenario: this.scenario, requests, isRight, sources } as Outcome
  }

  async #prepare(): Promise<void> {
    const { hooks } = this.trial.tallies
    await mkdir(join(this.#home, 'work'), { recursive: true })
    for (const { path, text } of this.#configuration.files ?? []) {
      await mkdir(dirname(join(this.#home, path)), { recursive: true })
      await Bun.write(join(this.#home, path), text)
    }
    if (!this.agent.hasHook) return
    await hooks.run(this.#home, ['agents', 'login', '--url', hooks.url, '--token-stdin'], { input: hooks.tokens.svc })
    await hooks.run(this.#home, ['agents', 'install', this.agent.name, '--yes'])
  }

  async #setReachable(isReachable: boolean): Promise<void> {
    for (const source of SOURCES) await this.trial.tallies[source].setReachable(isReachable)
  }

  async #take(step: Step): Promise<void> {
    const { agent } = this
    if ('serve' in agent) {
      this.#serving ??= await this.#serve(agent.serve, agent.ready)
      const { child, url } = this.#serving
      const talk = agent.talk(url, this.#session, step).then((session) => {
        this.#session = session
      })
      if (!step.isKilled) return talk
      talk.catch(() => {})
      await this.#kill(child)
      this.#serving = undefined
      return
    }
    const child = this.#start(agent.ask(step, this.#home))
    if (step.isKilled) return this.#kill(child)
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0) console.log(`${this.#name} exited with ${code}:\n${stdout}${stderr}`)
  }

  async #serve(args: (port: number) => string[], ready: string): Promise<{ child: Child; url: string }> {
    const port = freePort()
    const child = this.#start(args(port))
    let stdout = ''
    for await (const chunk of child.stdout) {
      stdout += new TextDecoder().decode(chunk)
      if (stdout.includes(ready)) break
    }
    return { child, url: `http://127.0.0.1:${port}` }
  }

  #start(args: string[]): Child {
    const { telemetry, mock } = this.#configuration
    // As a process group of its own, so that its tools are killed with it.
    return Bun.spawn(['setsid', join(this.trial.folder, 'node_modules/.bin', this.agent.program), ...args], {
      cwd: join(this.#home, 'work'),
      // Nothing from the environment of the person who runs this: neither accounts nor telemetry.
      env: { PATH: process.env.PATH!, HOME: this.#home, TERM: 'xterm-256color', ...telemetry, ...mock },
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: ANSWER_TIMEOUT_MS },
    })
  }

  /** When the model has asked for the tool, and the tool is running. */
  async #kill(child: Child): Promise<void> {
    const { served, steps } = this.trial.models
    const isAsked = () => served.some(({ run, step }) => run === this.#name && step === steps[run])
    for (const deadline = Date.now() + ANSWER_TIMEOUT_MS; !isAsked() && Date.now() < deadline; ) await Bun.sleep(50)
    await Bun.sleep(TOOL_START_MS)
    process.kill(-child.pid, 'SIGKILL')
    await child.exited
  }

  async #end(): Promise<void> {
    if (!this.#serving) return
    await Bun.sleep(EXPORT_INTERVAL_MS)
    this.#serving.child.kill()
    await this.#serving.child.exited
  }

  async #compare(source: Source, served: readonly ServedRequest[]): Promise<Compared> {
    if (source === 'hooks' && !this.agent.hasHook) return { text: '–', isRight: true, sessions: new Set() }
    const tally = this.trial.tallies[source]
    let counted: Sums = {}
    for (const deadline = Date.now() + ARRIVAL_TIMEOUT_MS; Date.now() < deadline; await Bun.sleep(200)) {
      counted = await tally.sums()
      if (isSame(counted, sumsOf(served))) break
      // Telemetry may still arrive; what hooks and scans report is there.
      if (source !== 'telemetry' && this.#missing(source, served, counted)) break
    }
    const sessions = await tally.forget()
    const missing = this.#missing(source, served, counted)
    if (missing) return { text: textOf(missing), isRight: true, sessions }
    console.log(`\nWRONG  ${this.#name}, ${source}`)
    console.log('  served ', JSON.stringify(sumsOf(served)))
    console.log('  counted', JSON.stringify(counted))
    console.log('  requests', JSON.stringify(served.map(({ step, purpose, model }) => [step, purpose, model])))
    return { text: 'WRONG', isRight: false, sessions }
  }

  /** What is not counted, if it is something that the source cannot contain; undefined if the sums are wrong. */
  #missing(source: Source, served: readonly ServedRequest[], counted: Sums): Missing[] | undefined {
    const missing = served.map((request) => ({ request, reason: this.#reasonToMiss(source, request) }))
    const optional = missing.filter((each): each is Missing => each.reason !== undefined)
    return subsetsOf(optional).find((left) => {
      const lost = new Set(left.map(({ request }) => request))
      return isSame(counted, sumsOf(served.filter((request) => !lost.has(request))))
    })
  }

  #reasonToMiss(source: Source, { purpose, step }: ServedRequest): string | undefined {
    const { unrecorded = [], recordsAfterTools = false } = this.agent
    const steps = stepsOf(this.scenario)
    if (source !== 'telemetry') {
      if (unrecorded.includes(purpose)) return purpose
      return recordsAfterTools && steps[step]!.isKilled ? 'killed' : undefined
    }
    if (steps[step]!.isOffline) return 'offline'
    // What an agent that keeps running did before, it may not have sent yet.
    return steps.some(({ isKilled }, index) => isKilled && index >= step) ? 'killed' : undefined
  }
}

interface Compared {
  text: string
  isRight: boolean
  sessions: Set<string>
}

/** If they had different ids, the same usage would count twice. */
function haveSameSessions(compared: readonly Compared[]): boolean {
  const whole = compared.filter(({ text }) => text === 'exact')
  return whole.every(({ sessions }) => Bun.deepEquals(sessions, whole[0]!.sessions))
}

interface Missing {
  request: ServedRequest
  reason: string
}

function textOf(missing: readonly Missing[]): string {
  if (missing.length === 0) return 'exact'
  const counts = [...Map.groupBy(missing, ({ reason }) => reason)].map(([reason, alike]) => `${alike.length} ${reason}`)
  return `exact without ${counts.join(', ')}`
}

/** The empty one first. */
function subsetsOf<Item>(items: readonly Item[]): Item[][] {
  const subsets: Item[][] = [[]]
  for (const item of items) subsets.push(...subsets.map((subset) => [...subset, item]))
  return subsets
}

function stepsOf(scenario: ScenarioName): readonly Step[] {
  return SCENARIOS[scenario]
}

/** Tokens, and the cost if it is known. Session files do not always show how many requests there were. */
function isSame(counted: Sums, served: Sums): boolean {
  const models = Object.keys(served)
  return (
    models.length === Object.keys(counted).length &&
    models.every((model) => {
      const [one, other] = [counted[model], served[model]!]
      return one && COUNTS.every((count) => one[count] === other[count]) && (other.nanos ?? one.nanos) === one.nanos
    })
  )
}

interface Trial {
  folder: string
  models: ModelServer
  tallies: Record<Source, Tally>
}

function printConfiguration({ telemetry, files = [] }: Configuration, token: string): void {
  const shown = (text: string) => text.replaceAll(token, 'tally_org_…')
  for (const [name, value] of Object.entries(telemetry)) console.log(`    ${name}="${shown(value)}"`)
  for (const { path, telemetry: part } of files) {
    if (part) console.log(`    ~/${path}: ${shown(part).trim().replaceAll('\n', '\n      ')}`)
  }
}

function printOutcomes(outcomes: readonly Outcome[]): void {
  const rows = outcomes.map(({ agent, scenario, requests, sources }) => [
    ...[agent, scenario, String(requests)],
    ...SOURCES.map((source) => sources[source]),
  ])
  const head = ['agent', 'scenario', 'requests', ...SOURCES]
  console.log(`\n${[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}`)
}

/** Leaves an earlier installation in the folder as it is. */
async function install(folder: string, agents: TriedAgent[]): Promise<void> {
  const missing: TriedAgent[] = []
  for (const agent of agents) {
    await access(join(folder, 'node_modules/.bin', agent.program)).catch(() => missing.push(agent))
  }
  if (missing.length === 0) return
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'package.json'), '{ "private": true }')
  // By name: otherwise npm picks an older version if the newest requires another Node.js.
  const packages = agents.map((agent) => `${agent.package}@latest`)
  console.log(`Installing ${packages.join(', ')} …`)
  await Bun.$`npm install --no-audit --no-fund ${packages}`.cwd(folder).quiet()
}

function chosen<Name extends string>(flag: string, wanted: string | undefined, names: readonly Name[]): Name[] {
  const unknown = wanted?.split(',').filter((name) => !names.includes(name as Name)) ?? []
  if (unknown.length > 0) throw new Error(`Unknown name in --${flag}. Choose from: ${names.join(', ')}.`)
  return names.filter((name) => wanted === undefined || wanted.split(',').includes(name))
}

const names = chosen(
  'agents',
  options.agents,
  AGENTS.map(({ name }) => name),
)
const agents = AGENTS.filter(({ name }) => names.includes(name))
const scenarios = chosen('scenarios', options.scenarios, Object.keys(SCENARIOS) as ScenarioName[])

const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tally-agents-')))
await install(folder, agents)
const models = new ModelServer()
const tallies = { telemetry: await Tally.start(), hooks: await Tally.start(), 'session files': await Tally.start() }
const outcomes: Outcome[] = []
try {
  for (const agent of agents) {
    for (const [index, encoding] of agent.encodings.entries()) {
      // Another encoding changes nothing but telemetry.
      const wanted = scenarios.filter((name) => agent.scenarios.includes(name) && (index === 0 || name === 'resumed'))
      for (const scenario of wanted) {
        outcomes.push(await new Run({ folder, models, tallies }, agent, encoding, scenario).outcome())
      }
    }
  }
} finally {
  models.stop()
  await rm(join(folder, 'homes'), { recursive: true, force: true })
  if (options.folder === undefined) await rm(folder, { recursive: true })
  for (const tally of Object.values(tallies)) await tally.stop()
}
printOutcomes(outcomes)
const right = outcomes.filter(({ isRight }) => isRight).length
console.log(`\n${right} of ${outcomes.length} runs were counted correctly.`)
process.exit(right === outcomes.length ? 0 : 1)
