/**
 * Compares what Tally counts in agents' session files with what ccusage, codeburn and agentsview count in the same files,
 * and with what the model servers sent. The files are the captures of test/fixtures, or the homes that
 * `scripts/agents/try --keep` left, in which nothing is left out. It installs nothing: to install the others,
 *
 *   npm install --prefix peers ccusage@20.0.24 codeburn node@22
 *   python3 -m venv peers/venv && peers/venv/bin/pip install agentsview
 *
 * and then
 *
 *   scripts/agents/compare --peers peers
 *   scripts/agents/compare --peers peers --homes ~/agents/homes
 *
 * All counts are disjoint, as Tally's are: the input without the cache, the output with the reasoning. Costs are those of
 * each program at the prices that it contains.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { AGENT_NAMES, AGENTS, type AgentName } from '../../src/shared/agents.ts'
import { AgentHome } from '../../test/support/agent-home.ts'
import { layOutCaptures, SERVED as SERVED_OF_CAPTURES, type Totals } from '../../test/support/captures.ts'
import { AGENTS as TRIED } from './agents.ts'
import { SERVED, type ServedRequest } from './ledger.ts'

const { values: options } = parseArgs({ options: { peers: { type: 'string' }, homes: { type: 'string' } } })
if (options.peers === undefined) throw new Error('Add --peers with the folder where the others are installed.')
const PEERS = resolve(options.peers)

/** What a program counts of an agent, with its cost in dollars. */
interface Counted extends Totals {
  cost?: number
}

type ByAgent = Partial<Record<AgentName, Counted>>

interface Program {
  title: string
  count(home: string, agents: readonly AgentName[]): Promise<ByAgent>
}

async function run(home: string, command: string[], accepted = [0]): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: home,
    env: {
      ...{ HOME: home, PATH: `${join(PEERS, 'node_modules/.bin')}:${process.env.PATH}`, NO_COLOR: '1', TZ: 'UTC' },
      AGENTSVIEW_TELEMETRY_ENABLED: '0',
    },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (!accepted.includes(code)) throw new Error(`${command.join(' ')} exited with ${code}: ${stdout}${stderr}`)
  return stdout
}

function added(sums: ByAgent, agent: AgentName, { input, output, cacheRead, cacheWrite, cost = 0 }: Counted): void {
  sums[agent] ??= { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 }
  const sum = sums[agent]
  sum.input += input
  sum.output += output
  sum.cacheRead += cacheRead
  sum.cacheWrite += cacheWrite
  sum.cost! += cost
}

const TALLY: Program = {
  title: 'Tally',
  async count(home) {
    // A file that cannot be read in full is an exit code of its own.
    const text = await run(home, [join(import.meta.dir, '../tally'), 'agents', 'scan', '--json'], [0, 4])
    const sums: ByAgent = {}
    for (const { report, cost } of JSON.parse(text).data) {
      const { input, output, cache_read: cacheRead, cache_write, cache_write_1h } = report.tokens
      added(sums, report.agent_harness, { input, output, cacheRead, cacheWrite: cache_write + cache_write_1h, cost })
    }
    return sums
  },
}

/** Those that it reads, by their names there. */
const OF_CCUSAGE: Partial<Record<AgentName, string>> = {
  ...{ 'claude-code': 'claude', codex: 'codex', 'gemini-cli': 'gemini', 'github-copilot': 'copilot', goose: 'goose' },
  ...{ grok: 'grok', hermes: 'hermes', kilo: 'kilo', 'kimi-code': 'kimi', openclaw: 'openclaw' },
  ...{ opencode: 'opencode', pi: 'pi', 'qwen-code': 'qwen' },
}

const CCUSAGE: Program = {
  title: 'ccusage',
  async count(home, agents) {
    const sums: ByAgent = {}
    for (const agent of agents) {
      const name = OF_CCUSAGE[agent]
      if (name === undefined) continue
      const text = await run(home, [join(PEERS, 'node_modules/.bin/ccusage'), name, 'session', '--json', '--offline'])
      const { totals, sessions = [] } = JSON.parse(text)
      if (!totals || sessions.length === 0) continue
      const { inputTokens: input, cacheReadTokens: cacheRead, cacheCreationTokens: cacheWrite } = totals
      // The reasoning that its output lacks is in its total.
      const output = totals.totalTokens - input - cacheRead - cacheWrite
      added(sums, agent, { input, output, cacheRead, cacheWrite, cost: totals.totalCost ?? totals.costUSD })
    }
    return sums
  },
}

const OF_CODEBURN: Partial<Record<AgentName, string>> = { ...OF_CCUSAGE, cline: 'cline', kilo: 'kilo-code' }

const CODEBURN: Program = {
  title: 'codeburn',
  async count(home) {
    const text = await run(home, [
      join(PEERS, 'node_modules/.bin/codeburn'),
      ...'audit -p all --format json'.split(' '),
    ])
    const sums: ByAgent = {}
    for (const { provider, displayed, attributedCostUSD: cost } of JSON.parse(text)) {
      const agent = AGENT_NAMES.find((name) => OF_CODEBURN[name] === provider)
      const { inputTokens: input, outputTokens: output } = displayed
      const { cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite } = displayed
      if (agent) added(sums, agent, { input, output, cacheRead, cacheWrite, cost })
    }
    return sums
  },
}

const OF_AGENTSVIEW: Record<AgentName, string> = {
  ...(Object.fromEntries(AGENT_NAMES.map((name) => [name, name])) as Record<AgentName, string>),
  ...(OF_CCUSAGE as Record<AgentName, string>),
}

const AGENTSVIEW: Program = {
  title: 'agentsview',
  async count(home, agents) {
    const program = join(PEERS, 'venv/bin/agentsview')
    const sums: ByAgent = {}
    try {
      // Fails if it cannot read one of the agents; it has the others.
      await run(home, [program, 'sync'], [0, 1])
      for (const agent of agents) {
        const flags = ['--all', '--offline', '--no-sync', '--agent', OF_AGENTSVIEW[agent], '--json']
        const { totals, sessionCounts } = JSON.parse(await run(home, [program, 'usage', 'daily', ...flags]))
        if (sessionCounts.total === 0) continue
        const { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead } = totals
        const cost = totals.totalCost.microdollars / 1e6
        added(sums, agent, { input, output, cacheRead, cacheWrite: totals.cacheCreationTokens, cost })
      }
    } finally {
      await run(home, [program, 'daemon', 'stop'], [0, 1])
    }
    return sums
  },
}

const PROGRAMS = [TALLY, CCUSAGE, CODEBURN, AGENTSVIEW]

/** Whether the program reads files of the agent at all. */
const READ: Record<string, (agent: AgentName) => boolean> = {
  [CCUSAGE.title]: (agent) => OF_CCUSAGE[agent] !== undefined,
  [CODEBURN.title]: (agent) => OF_CODEBURN[agent] !== undefined,
}

interface Stage {
  home: string
  served: ByAgent
}

/** Requests that no file of the agent contains, so that no program can count them. */
const unrecorded: ServedRequest[] = []

/** A home for each run, whose name begins with that of the agent. */
function keptHomes(folder: string): Stage[] {
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, SERVED)))
    .map((name) => {
      const agent = AGENT_NAMES.find((each) => name.startsWith(`${each}-`))!
      const purposes = TRIED.find((tried) => tried.name === agent)?.unrecorded ?? []
      const served: ByAgent = {}
      for (const request of JSON.parse(readFileSync(join(folder, name, SERVED), 'utf8')) as ServedRequest[]) {
        if (purposes.includes(request.purpose)) {
          unrecorded.push(request)
          continue
        }
        const { input, output, cache_read: cacheRead, cache_write, cache_write_1h } = request.counts
        added(served, agent, { input, output, cacheRead, cacheWrite: cache_write + cache_write_1h })
      }
      return { home: join(folder, name), served }
    })
}

const COUNTS = { input: 'input', output: 'output', cacheRead: 'cache read', cacheWrite: 'cache write' } as const

/** Where it differs from what was served, and by how much. */
function textOf(program: Program, agent: AgentName, counted: Counted | undefined, served: Counted): string {
  if (!counted) return READ[program.title]?.(agent) === false ? 'not read' : 'nothing found'
  const differences = (Object.keys(COUNTS) as (keyof Totals)[])
    .filter((name) => counted[name] !== served[name])
    .map((name) => `${COUNTS[name]} ${signed.format(counted[name] - served[name])}`)
  return differences.join(', ') || 'exact'
}

const signed = new Intl.NumberFormat('en', { signDisplay: 'always' })

const row = (cells: readonly string[]) => console.log(`| ${cells.join(' | ')} |`)

const captures = options.homes === undefined ? new AgentHome() : undefined
const served: ByAgent = {}
const counted: Record<string, ByAgent> = {}
try {
  if (captures) layOutCaptures(captures)
  const stages = captures
    ? [{ home: captures.folder, served: SERVED_OF_CAPTURES as ByAgent }]
    : keptHomes(resolve(options.homes!))
  for (const stage of stages) {
    const agents = Object.keys(stage.served) as AgentName[]
    for (const agent of agents) added(served, agent, stage.served[agent]!)
    for (const program of PROGRAMS) {
      counted[program.title] ??= {}
      const found = await program.count(stage.home, agents)
      for (const agent of agents) if (found[agent]) added(counted[program.title]!, agent, found[agent])
    }
  }
} finally {
  captures?.remove()
}
const titles = PROGRAMS.map(({ title }) => title)
const compared = AGENT_NAMES.filter((name) => served[name])
row(['agent', ...Object.values(COUNTS), ...titles])
row(['---', ...Object.keys(COUNTS).map(() => '---:'), ...titles.map(() => '---')])
for (const agent of compared) {
  const sums = (Object.keys(COUNTS) as (keyof Totals)[]).map((name) => served[agent]![name].toLocaleString('en'))
  const texts = PROGRAMS.map((program) => textOf(program, agent, counted[program.title]![agent], served[agent]!))
  row([AGENTS[agent].title, ...sums, ...texts])
}
console.log()
row(['cost', ...titles])
row(['---', ...titles.map(() => '---:')])
for (const agent of compared) {
  const costs = titles.map((title) => counted[title]![agent]?.cost)
  row([AGENTS[agent].title, ...costs.map((cost) => (cost === undefined ? '' : `$${cost.toFixed(4)}`))])
}
const purposes = Map.groupBy(unrecorded, ({ purpose }) => purpose)
for (const [purpose, requests] of purposes) {
  console.log(`\n${requests.length} requests of the kind “${purpose}” are left out, because no file contains them.`)
}
