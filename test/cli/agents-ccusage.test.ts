import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeCorpus } from '../../scripts/bench/agents-corpus.ts'
import { AgentHome } from '../support/agent-home.ts'
import { CCUSAGE_VERSION, Ccusage, type CcusageSession } from '../support/ccusage.ts'
import { CommandLine } from '../support/command-line.ts'

const ccusage = await Ccusage.install()
if (!ccusage) console.warn(`Not compared with ccusage ${CCUSAGE_VERSION}, which cannot be installed here.`)

let tally: CommandLine
const homes: AgentHome[] = []
beforeAll(async () => {
  tally = await CommandLine.make()
})
afterAll(async () => {
  for (const home of homes) home.remove()
  await tally.remove()
  await ccusage?.remove()
})

function newHome(): AgentHome {
  const home = new AgentHome()
  homes.push(home)
  return home
}

interface Figures {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  /** Millionths of a dollar: ccusage adds binary fractions. */
  cost: number
}

const micros = (dollars: number) => Math.round(dollars * 1e6)

/** Tally's figures by session and model. */
async function tallied(home: AgentHome, agent: string): Promise<Record<string, Figures>> {
  const { data } = await tally.json(['agents', 'scan', '--agent', agent], { env: { HOME: home.folder } })
  return Object.fromEntries(
    data.map(({ report: { session_id, model, tokens }, cost }: (typeof data)[number]) => [
      `${session_id} ${model}`,
      {
        ...{ input: tokens.input, output: tokens.output, cacheRead: tokens.cache_read },
        ...{ cacheWrite: tokens.cache_write + tokens.cache_write_1h, cost: micros(cost) },
      },
    ]),
  )
}

/** Those of ccusage for Claude Code. */
async function counted(home: AgentHome): Promise<Record<string, Figures>> {
  const { sessions } = (await ccusage!.sessions('claude', home.folder)) as { sessions: CcusageSession[] }
  return Object.fromEntries(
    sessions.flatMap(({ sessionId, modelBreakdowns }) =>
      modelBreakdowns.map((model) => [
        `${sessionId} ${model.modelName}`,
        {
          ...{ input: model.inputTokens, output: model.outputTokens, cacheRead: model.cacheReadTokens },
          ...{ cacheWrite: model.cacheCreationTokens, cost: micros(model.cost) },
        },
      ]),
    ),
  )
}

function sumOf(figures: Record<string, Figures>): Figures {
  const sum = (name: keyof Figures) => Object.values(figures).reduce((total, each) => total + each[name], 0)
  return {
    ...{ input: sum('input'), output: sum('output'), cacheRead: sum('cacheRead') },
    ...{ cacheWrite: sum('cacheWrite'), cost: sum('cost') },
  }
}

describe.skipIf(!ccusage)(`on the same files ccusage ${CCUSAGE_VERSION} counts as much`, () => {
  test('of Claude Code, per session and model, and at the same cost', async () => {
    const home = newHome()
    home.copy('agents/claude-code/transcripts', '.claude/projects')
    const session = '5471ecff-bc32-4b73-b4ff-d30268a35a61'
    home.copy('cases/claude-code-subagent/run3-main-with-subagent.jsonl', `.claude/projects/p/${session}.jsonl`)
    const agent = 'agent-a8b646202984886b8.jsonl'
    home.copy(`cases/claude-code-subagent/${agent}`, `.claude/projects/p/${session}/subagents/${agent}`)
    const figures = await tallied(home, 'claude-code')
    expect(Object.keys(figures)).toHaveLength(4)
    expect(figures).toEqual(await counted(home))
  })

  test('of forks of Claude Code, though it gives the copies to whichever file it reads first', async () => {
    const home = newHome()
    for (const [path, name] of [
      ['claude-code-tool/run1-tool', '03972874-e855-4118-acc5-97716d8242aa'],
      ['claude-code-fork/run4-fork', '84ccdd11-9477-43e3-939c-15f566b18ba9'],
    ]) {
      home.copy(`cases/${path}.jsonl`, `.claude/projects/p/${name}.jsonl`)
    }
    expect(sumOf(await tallied(home, 'claude-code'))).toEqual(sumOf(await counted(home)))
  })

  test('of a year of Claude Code: sub-agents, forks, content blocks', async () => {
    const home = newHome()
    await writeCorpus(`${home.folder}/.claude/projects`, 20_000)
    const [figures, theirs] = [sumOf(await tallied(home, 'claude-code')), sumOf(await counted(home))]
    // Each of its sums is rounded to a millionth here, and there are hundreds of them.
    expect(Math.abs(figures.cost - theirs.cost)).toBeLessThan(1_000)
    expect({ ...figures, cost: 0 }).toEqual({ ...theirs, cost: 0 })
    expect(figures.input).toBeGreaterThan(100_000)
  })

  test('of Codex, per session and model', async () => {
    const home = newHome()
    home.copy('agents/codex/transcripts', '.codex/sessions')
    const resumed = 'rollout-2026-11-20T17-54-15-01a1fa18-3e35-7d51-80d0-978a660e9e1f.jsonl'
    home.copy('cases/codex-hooks/codex-0.169.0-run2-resumed.jsonl', `.codex/sessions/2026/11/20/${resumed}`)
    const { sessions } = await ccusage!.sessions('codex', home.folder)
    const theirs = Object.fromEntries<number[]>(
      sessions.flatMap(({ sessionFile, models }) =>
        Object.entries(models as Record<string, Record<string, number>>).map(([model, each]) => [
          `${sessionFile.slice(-36)} ${model}`,
          [each.inputTokens!, each.outputTokens!, each.cacheReadTokens!],
        ]),
      ),
    )
    const ours = Object.entries(await tallied(home, 'codex'))
    expect(Object.fromEntries(ours.map(([name, each]) => [name, [each.input, each.output, each.cacheRead]]))).toEqual(
      theirs,
    )
    expect(ours).toHaveLength(4)
  })

  test('of Gemini CLI, whose thoughts it only adds to the total', async () => {
    const home = newHome()
    home.copy('agents/gemini-cli/transcripts', '.gemini/tmp')
    home.copy('cases/gemini-cli-tool/session-2026-11-20T17-55-98d86c96.jsonl', '.gemini/tmp/p/chats/session-1.jsonl')
    const { sessions } = await ccusage!.sessions('gemini', home.folder)
    const theirs = Object.fromEntries(
      sessions.map(({ sessionId, modelBreakdowns: [{ modelName, cost }], ...each }) => [
        `${sessionId} ${modelName}`,
        [each.inputTokens, each.cacheReadTokens, each.totalTokens, micros(cost)],
      ]),
    )
    const ours = Object.entries(await tallied(home, 'gemini-cli')).map(([name, { input, output, cacheRead, cost }]) => [
      name,
      [input, cacheRead, input + cacheRead + output, cost],
    ])
    expect(Object.fromEntries(ours)).toEqual(theirs)
    expect(ours).toHaveLength(3)
  })
})
