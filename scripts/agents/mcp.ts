/**
 * Asks Tally's tools with real programs: Claude Code, Codex and Gemini CLI, which are installed from npm and get their answers
 * from a mock of their vendor's server, and the inspector of the protocol. Each is configured as in docs/integrate/mcp.md, with a
 * question that makes the model call the tool `usage` and repeat its answer. Prints what was called and what each said; ends
 * with 1 if one of them did not arrive at the amount. Run it by hand, because it installs half a gigabyte.
 *
 *   scripts/agents/mcp                     all of them
 *   scripts/agents/mcp --agents codex      some of them
 *   scripts/agents/mcp --folder ~/agents   installs there once and keeps the folder
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { AGENTS, type AskedAgent } from './agents.ts'
import { ModelServer, WORDS } from './model-server.ts'
import { Tally } from './tallies.ts'

const { values: options } = parseArgs({ options: { agents: { type: 'string' }, folder: { type: 'string' } } })

const INSPECTOR = 'inspector'

/** Versions that were tried; later ones may differ. */
const PACKAGES: Record<string, string> = {
  'claude-code': '@anthropic-ai/claude-code@2.1.332',
  codex: '@openai/codex@0.171.0',
  'gemini-cli': '@google/gemini-cli@0.61.0',
  [INSPECTOR]: '@modelcontextprotocol/inspector@2.12.0',
}

const COST = '$1,552.78'
const QUESTION = `${WORDS.spent}: what did we spend in November?`

/** Time limit for one answer. */
const ANSWER_TIMEOUT_MS = 120_000

interface Address {
  url: string
  home: string
}

/** The settings of the manual, as a file in the home folder, and arguments for them. */
const CONFIGURED: Record<
  string,
  (address: Address) => { path: string; text: string; args?: string[]; env?: Record<string, string> }
> = {
  'claude-code': ({ url, home }) => {
    const headers = { Authorization: `Bearer \${TALLY_TOKEN}` }
    const text = JSON.stringify({ mcpServers: { tally: { type: 'http', url, headers } } })
    return {
      path: 'work/.mcp.json',
      text,
      args: ['--mcp-config', join(home, 'work/.mcp.json')],
      // It shows models a search for tools first, which the mock has no use for.
      env: { ENABLE_TOOL_SEARCH: 'false' },
    }
  },
  codex: ({ url }) => ({
    path: '.codex/config.toml',
    text: `[mcp_servers.tally]\nurl = "${url}"\nbearer_token_env_var = "TALLY_TOKEN"\n`,
  }),
  'gemini-cli': ({ url }) => ({
    path: '.gemini/settings.json',
    text: JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      mcpServers: { tally: { httpUrl: url, headers: { Authorization: 'Bearer $TALLY_TOKEN' } } },
    }),
  }),
}

async function run(command: string[], home: string, env: Record<string, string>) {
  const child = Bun.spawn(command, {
    cwd: join(home, 'work'),
    // Nothing from the environment of the person who runs this.
    env: { PATH: process.env.PATH!, HOME: home, TERM: 'xterm-256color', ...env },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: ANSWER_TIMEOUT_MS },
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, code }
}

const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tally-mcp-')))
const chosen = options.agents?.split(',') ?? Object.keys(PACKAGES)
await mkdir(folder, { recursive: true })
await Bun.$`npm install --no-audit --no-fund --loglevel=error --prefix ${folder} ${chosen.map((name) => PACKAGES[name]!)}`.cwd(
  folder,
)
const tally = await Tally.start()
const models = new ModelServer()
/** What arrived at /mcp, by program. */
const calls: string[] = []
const door = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const body = await request.text()
    const answer = await fetch(`${tally.server.url}/mcp`, {
      method: request.method,
      headers: new Headers([...request.headers].filter(([name]) => name !== 'content-length')),
      ...(body && { body }),
    })
    const { method, params } = body ? JSON.parse(body) : { method: '–', params: undefined }
    const version = request.headers.get('mcp-protocol-version') ?? params?.protocolVersion ?? 'no version'
    calls.push(`${request.method} ${method} ${params?.name ?? ''} (${version}) ${answer.status}`)
    return answer
  },
})
const url = `http://127.0.0.1:${door.port}/mcp`
let areRight = true
try {
  const report = {
    ...{ agent_harness: 'claude-code', agent_name: 'reviewer', model: 'claude-sonnet-4-5', project: 'ACME' },
    ...{ started_at: '2026-11-20T10:00:00Z', ended_at: '2026-11-20T11:00:00Z', tokens: { input: 1, output: 1 } },
    ...{ reported_cost: 1552.784 },
  }
  const headers = { authorization: `Bearer ${tally.tokens.svc}`, 'content-type': 'application/json' }
  const body = JSON.stringify(report)
  const reported = await fetch(`${tally.server.url}/api/v1/token-entries`, { method: 'POST', headers, body })
  if (!reported.ok) throw new Error(await reported.text())
  const env = { TALLY_TOKEN: tally.tokens.read }
  for (const name of chosen) {
    calls.length = 0
    const home = join(folder, 'homes', `mcp-${name}`)
    await rm(home, { recursive: true, force: true })
    await mkdir(join(home, 'work'), { recursive: true })
    const bin = (program: string) => join(folder, 'node_modules/.bin', program)
    let said: Awaited<ReturnType<typeof run>>
    if (name === INSPECTOR) {
      const target = ['--cli', url, '--transport', 'http', '--header', `Authorization: Bearer ${env.TALLY_TOKEN}`]
      const tool = ['--method', 'tools/call', '--tool-name', 'usage', '--tool-arg', 'starting_at=2026-11-01']
      const listed = await run([bin('mcp-inspector'), ...target, '--method', 'tools/list'], home, {})
      console.log(
        `\n## ${name}: ${[...listed.stdout.matchAll(/^ {6}"name": "(\w+)"/gm)].map(([, one]) => one).join(', ')}`,
      )
      said = await run([bin('mcp-inspector'), ...target, ...tool], home, {})
    } else {
      console.log(`\n## ${name}`)
      const agent = AGENTS.find((one) => one.name === name) as AskedAgent
      const setting = { home, model: models.url(name), tally: tally.url, token: '', encoding: 'json' } as const
      const { mock, files = [] } = agent.configure(setting)
      const { path, text, args = [], env: own } = CONFIGURED[name]!({ url, home })
      const given = files.find((file) => file.path === path)
      // The agent's own file has the address of its model, and the part about telemetry, which is not for here.
      const whole = given && path.endsWith('.toml') ? given.text.replace(given.telemetry ?? '', '') + text : text
      await mkdir(dirname(join(home, path)), { recursive: true })
      await Bun.write(join(home, path), whole)
      await Bun.$`git init --quiet`.cwd(join(home, 'work'))
      const step = { session: 'new', question: QUESTION } as Parameters<typeof agent.ask>[0]
      said = await run([bin(agent.program), ...args, ...agent.ask(step, home)], home, { ...mock, ...own, ...env })
    }
    for (const call of calls) console.log(`  ${call}`)
    const isRight = said.code === 0 && said.stdout.includes(COST)
    areRight &&= isRight
    console.log(
      isRight
        ? `  said: ${said.stdout.trim().slice(0, 300)}`
        : `  WRONG (${said.code}): ${said.stdout}\n${said.stderr}`,
    )
  }
} finally {
  door.stop(true)
  models.stop()
  await tally.stop()
  if (options.folder === undefined) await rm(folder, { recursive: true })
}
process.exit(areRight ? 0 : 1)
