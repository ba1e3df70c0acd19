/**
 * Tests Tally with the real agents: installs them from npm, asks each questions through a mock of its vendor's server,
 * which records the true usage, and compares that with the entries that Tally has from telemetry, hooks and session
 * files, alone and together, by day, branch and ticket, to the token and to the billionth of a dollar. Also prints the
 * configuration that makes each agent push, as in the manual. Run it by hand, because it installs a gigabyte. It needs a
 * C compiler, for the clock of agents that work on another day.
 *
 *   scripts/agents/try                        all agents and scenarios
 *   scripts/agents/try --agents codex,claude-code --scenarios resumed,killed
 *   scripts/agents/try --folder ~/agents      installs there once and keeps the folder
 *   scripts/agents/try --folder ~/agents --keep   keeps the homes of the runs in it, for scripts/agents/compare
 */
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../test/support/binary.ts'
import { AGENTS, type Configuration, type Setting, type TriedAgent } from './agents.ts'
import { COUNTS, SERVED, type ServedRequest, type Sums, sumsOf } from './ledger.ts'
import { ModelServer } from './model-server.ts'
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName, type Step } from './scenarios.ts'
import { shiftedTimes, Tally } from './tallies.ts'

const { values: options } = parseArgs({
  options: {
    ...{ agents: { type: 'string' }, scenarios: { type: 'string' }, folder: { type: 'string' } },
    keep: { type: 'boolean', default: false },
  },
})
if (options.keep && options.folder === undefined) throw new Error('Add --folder to --keep.')

/** Time limit for one answer; an agent that waits for a login or the Internet would hang. */
const ANSWER_TIMEOUT_MS = 120_000

/** Agents send their last telemetry as they exit, and some exit before it has arrived. */
const ARRIVAL_TIMEOUT_MS = 15_000

/** A little longer than the export interval of an agent that keeps running. */
const EXPORT_INTERVAL_MS = 8_000

/** Until the tool runs that a killed agent was asked for. */
const TOOL_START_MS = 3_000

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

const DAY_MS = 24 * 60 * 60_000

const SERVERS = ['telemetry', 'hooks', 'session files'] as const
const SOURCES = [...SERVERS, 'telemetry, then files', 'files, then telemetry'] as const
type Source = (typeof SOURCES)[number]

/** Of the repository that agents work in. */
const REMOTE = 'https://github.com/acme/web.git'

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
  #branch = 'main'
  #daysAgo = 0
  /** By path, the size of each shifted file after the latest step. */
  readonly #written = new Map<string, number>()

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
      await this.#checkOut(step)
      await this.#setReachable(!step.isOffline)
      if (this.#isShifted(step)) await tallies.hooks.setReachable(false)
      await this.#take(step)
      await this.#shiftFiles(step)
      await this.#setReachable(true)
    }
    await this.#end()
    if (this.agent.hasHook) await tallies.hooks.run(this.#home, ['agents', 'flush'])
    await this.#scan('session files')
    const served = models.served.filter(({ run }) => run === this.#name)
    if (options.keep) await Bun.write(join(this.#home, SERVED), JSON.stringify(served))
    const compared = await Promise.all(SERVERS.map((source) => this.#compare(source, source, served)))
    await this.#scan('telemetry')
    await tallies['session files'].pushAgain(tallies)
    compared.push(await this.#compare('telemetry, then files', 'telemetry', served))
    compared.push(await this.#compare('files, then telemetry', 'session files', served))
    const areCombined = await this.#areCombined(compared)
    for (const tally of Object.values(tallies)) await tally.forget()
    const sources = Object.fromEntries(SOURCES.map((source, index) => [source, compared[index]!.text]))
    const areRight = compared.every((each) => each.isRight) && haveSameSessions(compared)
    const isRight = served.length > 0 && areRight && areCombined
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

  /** The order of two sources makes no difference, and nothing is estimated if they agree. */
  async #areCombined([telemetry, , files]: readonly Compared[]): Promise<boolean> {
    const { tallies } = this.trial
    const orders = await Promise.all([tallies.telemetry.lines(), tallies['session files'].lines()])
    const doAgree = telemetry?.text === 'exact' && files?.text === 'exact'
    const isEstimated = orders.flat().some((line) => line.endsWith(' estimated'))
    const isRight = Bun.deepEquals(orders[0], orders[1]) && !(doAgree && isEstimated)
    if (!isRight) console.log(`\nWRONG  ${this.#name}: both sources`, orders)
    return isRight
  }

  async #prepare(): Promise<void> {
    const { hooks } = this.trial.tallies
    await rm(this.#home, { recursive: true, force: true })
    await mkdir(join(this.#home, 'work'), { recursive: true })
    await this.#git(0, ['init', '--quiet', '--initial-branch=main'])
    await this.#git(0, ['remote', 'add', 'origin', REMOTE])
    await this.#git(7, ['commit', '--quiet', '--allow-empty', '--message=First'])
    for (const { path, text } of this.#configuration.files ?? []) {
      await mkdir(dirname(join(this.#home, path)), { recursive: true })
      await Bun.write(join(this.#home, path), text)
    }
    if (!this.agent.hasHook) return
    await hooks.run(this.#home, ['agents', 'login', '--url', hooks.url, '--token-stdin'], { input: hooks.tokens.svc })
    await hooks.run(this.#home, ['agents', 'install', this.agent.name, '--yes'])
  }

  async #git(daysAgo: number, args: string[]): Promise<void> {
    const at = `@${Math.floor((Date.now() - daysAgo * DAY_MS) / 1_000)} +0000`
    const env = { PATH: process.env.PATH!, HOME: this.#home, GIT_COMMITTER_DATE: at }
    const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
    await Bun.$`git ${person} ${args}`.cwd(join(this.#home, 'work')).env(env).quiet()
  }

  /** An agent that keeps running has one clock and names one branch, so it starts anew. */
  async #checkOut({ branch = 'main', daysAgo = 0 }: Step): Promise<void> {
    if (branch === this.#branch && daysAgo === this.#daysAgo) return
    await this.#end()
    // Git records whole seconds, and the requests before and after it must not be of the same one.
    await Bun.sleep(1_000)
    await this.#git(daysAgo, ['checkout', '--quiet', '-B', branch])
    await Bun.sleep(1_000)
    this.#branch = branch
    this.#daysAgo = daysAgo
  }

  #isShifted({ daysAgo = 0 }: Step): boolean {
    return daysAgo > 0 && this.agent.shiftedFiles !== undefined
  }

  /** The times that were written in this step. Hooks report them afterwards. */
  async #shiftFiles(step: Step): Promise<void> {
    const { shiftedFiles } = this.agent
    if (shiftedFiles === undefined) return
    for await (const path of new Bun.Glob(shiftedFiles).scan({ cwd: this.#home, dot: true, absolute: true })) {
      const bytes = await Bun.file(path).bytes()
      const before = this.#written.get(path) ?? 0
      const own = shiftedTimes(new TextDecoder().decode(bytes.subarray(before)), -daysAgoOf(step) * DAY_MS)
      if (daysAgoOf(step) > 0) await Bun.write(path, [bytes.subarray(0, before), own])
      this.#written.set(path, bytes.length)
    }
  }

  async #scan(server: 'telemetry' | 'session files'): Promise<void> {
    const tally = this.trial.tallies[server]
    const target = { TALLY_URL: tally.url, TALLY_TOKEN: tally.tokens.svc }
    await tally.run(this.#home, ['agents', 'scan', '--agent', this.agent.name, '--report'], target)
  }

  async #setReachable(isReachable: boolean): Promise<void> {
    for (const source of SERVERS) await this.trial.tallies[source].setReachable(isReachable)
  }

  async #take(step: Step): Promise<void> {
    const { agent } = this
    if ('serve' in agent) {
      this.#serving ??= await this.#serve(agent.serve, agent.ready, step)
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
    const child = this.#start(agent.ask(step, this.#home), step)
    if (step.isKilled) return this.#kill(child)
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0) console.log(`${this.#name} exited with ${code}:\n${stdout}${stderr}`)
  }

  async #serve(args: (port: number) => string[], ready: string, step: Step): Promise<{ child: Child; url: string }> {
    const port = freePort()
    const child = this.#start(args(port), step)
    let stdout = ''
    for await (const chunk of child.stdout) {
      stdout += new TextDecoder().decode(chunk)
      if (stdout.includes(ready)) break
    }
    return { child, url: `http://127.0.0.1:${port}` }
  }

  #start(args: string[], step: Step): Child {
    const { isNamed, branch } = step
    const { telemetry, mock } = this.#configuration
    const { folder, tallies } = this.trial
    const offsetMs = -daysAgoOf(step) * DAY_MS
    const isShifted = this.#isShifted(step)
    const hasMovedClock = offsetMs !== 0 && !isShifted
    const clock = { LD_PRELOAD: join(folder, CLOCK), CLOCK_OFFSET: String(offsetMs / 1_000) }
    const named = { OTEL_RESOURCE_ATTRIBUTES: `repository=acme/web,branch=${branch}` }
    tallies.telemetry.shiftMs = isShifted ? offsetMs : 0
    // As a process group of its own, so that its tools are killed with it.
    return Bun.spawn(['setsid', join(this.trial.folder, 'node_modules/.bin', this.agent.program), ...args], {
      cwd: join(this.#home, 'work'),
      // Nothing from the environment of the person who runs this: neither accounts nor telemetry.
      env: {
        ...{ PATH: process.env.PATH!, HOME: this.#home, TERM: 'xterm-256color' },
        ...{ ...telemetry, ...mock, ...(isNamed ? named : {}), ...(hasMovedClock ? clock : {}) },
      },
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
    this.#serving = undefined
  }

  async #compare(
    source: Source,
    server: (typeof SERVERS)[number],
    served: readonly ServedRequest[],
  ): Promise<Compared> {
    const { hasHook, hasNoTelemetry } = this.agent
    if ((source === 'hooks' && !hasHook) || (source === 'telemetry' && hasNoTelemetry)) {
      return { text: '–', isRight: true, sessions: new Set() }
    }
    const tally = this.trial.tallies[server]
    const placeOf = (request: ServedRequest) => this.#placeOf(source, request)
    let counted: Sums = {}
    for (const deadline = Date.now() + ARRIVAL_TIMEOUT_MS; Date.now() < deadline; await Bun.sleep(200)) {
      counted = await tally.sums()
      if (isSame(counted, sumsOf(served, placeOf))) break
      // Telemetry may still arrive; what hooks and scans report is there.
      if (source !== 'telemetry' && this.#missing(source, served, counted)) break
    }
    const sessions = await tally.sessions()
    const missing = this.#missing(source, served, counted)
    if (missing) return { text: textOf(missing), isRight: true, sessions }
    console.log(`\nWRONG  ${this.#name}, ${source}`)
    console.log('  served ', JSON.stringify(sumsOf(served, placeOf)))
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
      return isSame(
        counted,
        sumsOf(
          served.filter((request) => !lost.has(request)),
          (request) => this.#placeOf(source, request),
        ),
      )
    })
  }

  /** Where a request should be counted, as far as the source can know. */
  #placeOf(source: Source, request: ServedRequest): string {
    const steps = stepsOf(this.scenario)
    const own = steps[request.step]!
    const { isNamed = false } = own
    const day = new Date(request.at - daysAgoOf(own) * DAY_MS).toISOString().slice(0, 10)
    if (source === 'telemetry') return [day, ...(isNamed ? placesIn(own).slice(0, 1) : [])].join(' ')
    const isOne = this.agent.hasNoTelemetry || SERVERS.some((each) => each === source)
    // What files lack is counted at the latest place of the day.
    const isLacking = !isOne && this.agent.unrecorded?.includes(request.purpose)
    const last = steps.findLast((step) => daysAgoOf(step) === daysAgoOf(own))!
    const branch = isLacking ? placesIn(last).at(-1)! : placesIn(own).at(request.isOfResult ? -1 : 0)!
    // The project that telemetry names takes precedence over rules.
    const isRuled = isOne || isNamed || this.agent.hasNoTelemetry
    return [day, isRuled ? branch : branch.split(' ')[0]].join(' ')
  }

  #reasonToMiss(source: Source, request: ServedRequest): string | undefined {
    const { purpose, step } = request
    const { unrecorded = [], untraced = [], recordsAfterTools = false } = this.agent
    const steps = stepsOf(this.scenario)
    if (source !== 'telemetry') {
      // What both have is counted by one of the two.
      const inTelemetry = SERVERS.some((each) => each === source) ? undefined : this.#reasonToMiss('telemetry', request)
      if (unrecorded.includes(purpose)) return purpose
      return recordsAfterTools && steps[step]!.isKilled ? 'killed' : inTelemetry
    }
    if (untraced.includes(purpose)) return purpose
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

/** Another one changes nothing but telemetry. Only times in JSON can be moved. */
function encodingsFor({ encodings, shiftedFiles }: TriedAgent, scenario: ScenarioName): Setting['encoding'][] {
  if (scenario === 'resumed') return encodings
  const isMoved = stepsOf(scenario).some((step) => daysAgoOf(step) > 0)
  return isMoved && shiftedFiles !== undefined ? ['json'] : encodings.slice(0, 1)
}

/** The branches of a step, each with its ticket. */
function placesIn({ branch = 'main', changesTo = branch }: Step): string[] {
  return [branch, changesTo].map((each) => [each, ...(/ACME-\d+/.exec(each) ?? [])].join(' '))
}

function daysAgoOf(step: Step | undefined): number {
  return step?.daysAgo ?? 0
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
      return (
        one &&
        one.requests === other.requests &&
        COUNTS.every((count) => one[count] === other[count]) &&
        (other.nanos ?? one.nanos) === one.nanos
      )
    })
  )
}

interface Trial {
  folder: string
  models: ModelServer
  tallies: Record<(typeof SERVERS)[number], Tally>
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

/** Moves the clock of a program that is started with it. */
const CLOCK = 'clock.so'

/** Leaves an earlier installation in the folder as it is. */
async function install(folder: string, agents: TriedAgent[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  await Bun.$`cc -shared -fPIC -O2 -o ${join(folder, CLOCK)} ${join(import.meta.dir, 'clock.c')}`
  const missing: TriedAgent[] = []
  for (const agent of agents) {
    await access(join(folder, 'node_modules/.bin', agent.program)).catch(() => missing.push(agent))
  }
  if (missing.length === 0) return
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
const scenarios = chosen('scenarios', options.scenarios, SCENARIO_NAMES)

const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tally-agents-')))
await install(folder, agents)
const models = new ModelServer()
const tallies = { telemetry: await Tally.start(), hooks: await Tally.start(), 'session files': await Tally.start() }
const outcomes: Outcome[] = []
try {
  for (const agent of agents) {
    for (const encoding of agent.encodings) {
      const wanted = scenarios.filter(
        (name) => !agent.lacks?.includes(name) && encodingsFor(agent, name).includes(encoding),
      )
      for (const scenario of wanted) {
        outcomes.push(await new Run({ folder, models, tallies }, agent, encoding, scenario).outcome())
      }
    }
  }
} finally {
  models.stop()
  if (!options.keep) await rm(join(folder, 'homes'), { recursive: true, force: true })
  if (options.folder === undefined) await rm(folder, { recursive: true })
  for (const tally of Object.values(tallies)) await tally.stop()
}
printOutcomes(outcomes)
const right = outcomes.filter(({ isRight }) => isRight).length
console.log(`\n${right} of ${outcomes.length} runs were counted correctly.`)
process.exit(right === outcomes.length ? 0 : 1)
