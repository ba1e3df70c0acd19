import type { Purpose } from './ledger.ts'
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName, type Step } from './scenarios.ts'

/**
 * The agents under test: how to configure the address of their model, which only this script needs, and where they send
 * telemetry, which is the configuration in the manual.
 */

export interface Setting {
  /** An empty folder for this agent. */
  home: string
  /** Address of its model. */
  model: string
  /** Tally's address, without a path. */
  tally: string
  token: string
  encoding: 'json' | 'protobuf'
}

export interface Configuration {
  /** Variables that configure telemetry. */
  telemetry: Record<string, string>
  /** Files in the home folder; `telemetry` is the part that configures telemetry. */
  files?: { path: string; text: string; telemetry?: string }[]
  /** Variables that only this script needs. */
  mock: Record<string, string>
}

interface AnyAgent {
  name: string
  package: string
  program: string
  /** Set if the agent supports only one. */
  encodings: Setting['encoding'][]
  /** The scenarios that it has nothing for, such as forks. */
  lacks?: ScenarioName[]
  /** Whether Tally has a hook for it. */
  hasHook: boolean
  /** It sends no telemetry, in any encoding. */
  hasNoTelemetry?: true
  /** Requests that its session files, and so hooks, do not contain. */
  unrecorded?: Purpose[]
  /** Requests that its telemetry does not contain. */
  untraced?: Purpose[]
  /** Whether its session files contain a request only after the tools that it asked for have run. */
  recordsAfterTools?: boolean
  /** Its session files if it is a static executable: its clock cannot be moved, so the times that it wrote are. */
  shiftedFiles?: string
  configure(setting: Setting): Configuration
}

/** A process for each question. */
export interface AskedAgent extends AnyAgent {
  /** The command line of a step, for an agent with this home folder. */
  ask(step: Step, home: string): string[]
}

/** A process that keeps running, with questions over HTTP. */
export interface ServingAgent extends AnyAgent {
  serve(port: number): string[]
  /** What it prints when it is ready. */
  ready: string
  /** Returns the session's id. */
  talk(url: string, session: string, step: Step): Promise<string>
}

export type TriedAgent = AskedAgent | ServingAgent

const endpoint = ({ tally }: Setting) => `${tally}/api/v1/telemetry`

const authorization = ({ token }: Setting) => `Authorization=Bearer ${token}`

const PROJECT = { OTEL_RESOURCE_ATTRIBUTES: 'project=acme-web,team=core' }

export const AGENTS: TriedAgent[] = [
  {
    name: 'claude-code',
    package: '@anthropic-ai/claude-code',
    program: 'claude',
    encodings: ['protobuf', 'json'],
    hasHook: true,
    configure: (setting) => ({
      telemetry: {
        CLAUDE_CODE_ENABLE_TELEMETRY: '1',
        OTEL_LOGS_EXPORTER: 'otlp',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_PROTOCOL: `http/${setting.encoding}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(setting),
        OTEL_EXPORTER_OTLP_HEADERS: authorization(setting),
        ...PROJECT,
      },
      mock: {
        ANTHROPIC_BASE_URL: setting.model,
        ANTHROPIC_API_KEY: 'mock',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        // Otherwise it asks its vendor whether the account may use it.
        CLAUDE_CODE_SKIP_FAST_MODE_NETWORK_ERRORS: '1',
        CLAUDE_CODE_SKIP_FAST_MODE_ORG_CHECK: '1',
        DISABLE_AUTOUPDATER: '1',
        // It refuses to run tools unasked for root.
        IS_SANDBOX: '1',
      },
    }),
    ask: ({ session, question, compacts, isFast }) => [
      ...(session === 'new' ? [] : ['--continue']),
      ...(session === 'forked' ? ['--fork-session'] : []),
      ...(isFast ? ['--settings', '{"fastMode":true}'] : []),
      '--dangerously-skip-permissions',
      ...['--model', isFast ? 'claude-opus-4-8' : 'claude-sonnet-4-5', '--print', compacts ? '/compact' : question],
    ],
  },
  {
    name: 'codex',
    package: '@openai/codex',
    program: 'codex',
    encodings: ['protobuf', 'json'],
    lacks: ['moved worktree'],
    hasHook: true,
    shiftedFiles: '.codex/sessions/**/rollout-*.jsonl',
    configure: (setting) => {
      const protocol = setting.encoding === 'json' ? 'json' : 'binary'
      const telemetry = `[otel]
exporter = { otlp-http = { endpoint = "${endpoint(setting)}/v1/logs", protocol = "${protocol}", headers = { "Authorization" = "Bearer ${setting.token}" } } }
`
      const model = `model = "gpt-5.4"
model_provider = "mock"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "${setting.model}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"

`
      return {
        telemetry: PROJECT,
        files: [{ path: '.codex/config.toml', text: model + telemetry, telemetry }],
        mock: { MOCK_KEY: 'mock' },
      }
    },
    ask: ({ session, question, compacts, isFast }, home) => [
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
      ...(compacts ? ['-c', 'model_auto_compact_token_limit=1000'] : []),
      ...(isFast ? ['-c', 'service_tier="priority"'] : []),
      ...(session === 'new' ? [] : session === 'forked' ? ['fork', codexThread(home)] : ['resume', codexThread(home)]),
      question,
    ],
  },
  {
    name: 'gemini-cli',
    package: '@google/gemini-cli',
    program: 'gemini',
    encodings: ['json'],
    lacks: ['forked', 'fast', 'moved forked', 'moved worktree'],
    hasHook: true,
    unrecorded: ['router', 'compaction'],
    configure: (setting) => ({
      telemetry: {
        GEMINI_TELEMETRY_ENABLED: 'true',
        GEMINI_TELEMETRY_TARGET: 'local',
        GEMINI_TELEMETRY_OTLP_PROTOCOL: 'http',
        GEMINI_TELEMETRY_OTLP_ENDPOINT: endpoint(setting),
        GEMINI_TELEMETRY_LOG_PROMPTS: 'false',
        OTEL_EXPORTER_OTLP_HEADERS: authorization(setting),
        ...PROJECT,
      },
      files: [
        {
          path: '.gemini/settings.json',
          text: JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
        },
      ],
      mock: { GOOGLE_GEMINI_BASE_URL: setting.model, GEMINI_API_KEY: 'mock' },
    }),
    ask: ({ session, question, compacts }) => [
      ...['--skip-trust', '--yolo', '--model', 'gemini-2.5-pro'],
      ...(session === 'new' ? [] : ['--resume', 'latest']),
      ...['--prompt', compacts ? '/compress' : question],
    ],
  },
  {
    name: 'qwen-code',
    package: '@qwen-code/qwen-code',
    program: 'qwen',
    encodings: ['json'],
    lacks: ['forked', 'fast', 'moved forked'],
    hasHook: false,
    configure: (setting) => ({
      telemetry: {
        QWEN_TELEMETRY_ENABLED: 'true',
        QWEN_TELEMETRY_TARGET: 'local',
        QWEN_TELEMETRY_OTLP_PROTOCOL: 'http',
        QWEN_TELEMETRY_OTLP_ENDPOINT: endpoint(setting),
        QWEN_TELEMETRY_LOG_PROMPTS: 'false',
        OTEL_EXPORTER_OTLP_HEADERS: authorization(setting),
        ...PROJECT,
      },
      mock: { OPENAI_BASE_URL: `${setting.model}/v1`, OPENAI_API_KEY: 'mock', OPENAI_MODEL: 'qwen3-coder-plus' },
    }),
    ask: ({ session, question, compacts }) => [
      ...['--auth-type', 'openai', '--yolo', ...(session === 'new' ? [] : ['--continue'])],
      ...['--prompt', compacts ? '/compress' : question],
    ],
  },
  {
    name: 'github-copilot',
    package: '@github/copilot',
    program: 'copilot',
    encodings: ['protobuf', 'json'],
    lacks: ['forked', 'fast', 'moved forked', 'moved worktree'],
    hasHook: true,
    untraced: ['compaction'],
    configure: (setting) => ({
      telemetry: {
        COPILOT_OTEL_ENABLED: 'true',
        OTEL_EXPORTER_OTLP_PROTOCOL: `http/${setting.encoding}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(setting),
        OTEL_EXPORTER_OTLP_HEADERS: authorization(setting),
        ...PROJECT,
      },
      mock: {
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: `${setting.model}/v1`,
        COPILOT_PROVIDER_API_KEY: 'mock',
        COPILOT_PROVIDER_WIRE_API: 'responses',
        COPILOT_MODEL: 'gpt-5.4',
      },
    }),
    ask: ({ session, question, compacts }) => [
      ...['--allow-all-tools', ...(session === 'new' ? [] : ['--continue'])],
      ...['--prompt', compacts ? '/compact' : question],
    ],
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    program: 'opencode',
    encodings: ['json'],
    lacks: ['fast', 'moved worktree'],
    hasHook: true,
    unrecorded: ['title'],
    recordsAfterTools: true,
    configure: (setting) => {
      const telemetry = { experimental: { openTelemetry: true } }
      const mock = {
        npm: '@ai-sdk/openai-compatible',
        name: 'mock',
        options: { baseURL: `${setting.model}/v1`, apiKey: 'mock' },
        models: { 'gpt-5.4': { name: 'gpt-5.4' } },
      }
      return {
        telemetry: {
          OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(setting),
          OTEL_EXPORTER_OTLP_HEADERS: authorization(setting),
          ...PROJECT,
        },
        files: [
          {
            path: '.config/opencode/opencode.json',
            text: JSON.stringify({ ...telemetry, share: 'disabled', autoupdate: false, provider: { mock } }),
            telemetry: JSON.stringify(telemetry),
          },
        ],
        mock: {},
      }
    },
    // `opencode run` exits before it sends the spans of its last seconds.
    serve: (port) => ['serve', '--hostname', '127.0.0.1', '--port', String(port)],
    ready: 'listening on',
    talk: async (url, session, step) => {
      const id = await sessionFor(url, session, step)
      if (step.compacts) await post(`${url}/session/${id}/summarize`, OPENCODE_MODEL)
      const parts = [{ type: 'text', text: step.question }]
      await post(`${url}/session/${id}/message`, { model: OPENCODE_MODEL, parts })
      return id
    },
  },
  {
    name: 'goose',
    package: '@aaif/goose-binary-linux-x64',
    program: 'goose-binary-linux-x64',
    encodings: ['json'],
    // After it was killed, it runs the tool again.
    lacks: ['forked', 'killed', 'fast', 'moved named', 'moved forked', 'moved worktree'],
    hasHook: false,
    hasNoTelemetry: true,
    unrecorded: ['title'],
    configure: ({ model }) => {
      const { origin, pathname } = new URL(model)
      const extension = { enabled: true, type: 'platform', name: 'summon' }
      const settings = { GOOSE_MODE: 'auto', extensions: { summon: extension } }
      return {
        telemetry: {},
        files: [{ path: '.config/goose/config.yaml', text: JSON.stringify(settings) }],
        mock: {
          ...{ GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'gpt-5.4', GOOSE_DISABLE_KEYRING: '1' },
          ...{
            OPENAI_HOST: origin,
            OPENAI_BASE_PATH: `${pathname.slice(1)}/v1/chat/completions`,
            OPENAI_API_KEY: 'mock',
          },
        },
      }
    },
    ask: ({ session, question, compacts }) => [
      ...['run', ...(session === 'new' ? [] : ['--resume']), '--text', compacts ? '/compact' : question],
    ],
  },
  {
    name: 'grok',
    package: '@xai-official/grok',
    program: 'grok',
    encodings: ['json'],
    // A turn counts where it ends. Its clock cannot be moved, and its files have times as numbers.
    lacks: [
      ...(['compacted', 'fast', 'branched', 'moved', 'moved named', 'moved forked', 'moved compacted'] as const),
      ...(['moved sub-agent', 'moved worktree'] as const),
    ],
    hasHook: true,
    hasNoTelemetry: true,
    unrecorded: ['title', 'summary'],
    recordsAfterTools: true,
    configure: ({ model }) => ({
      telemetry: {},
      files: [
        {
          path: '.grok/config.toml',
          text: `[models]
default = "mock"

[model.mock]
model = "gpt-5.4"
base_url = "${model}/v1"
name = "mock"
env_key = "MOCK_KEY"
api_backend = "chat_completions"
context_window = 400000
`,
        },
      ],
      mock: { MOCK_KEY: 'mock', XAI_API_KEY: 'mock', GROK_DISABLE_AUTOUPDATER: '1' },
    }),
    ask: ({ session, question }) => [
      ...['--model', 'mock', '--always-approve', ...(session === 'new' ? [] : ['--continue'])],
      ...(session === 'forked' ? ['--fork-session'] : []),
      ...['--print', question],
    ],
  },
  {
    name: 'kilo',
    package: '@kilocode/cli',
    program: 'kilo',
    encodings: ['json'],
    lacks: ['forked', 'compacted', 'fast', 'moved named', 'moved forked', 'moved compacted', 'moved worktree'],
    hasHook: true,
    hasNoTelemetry: true,
    unrecorded: ['title'],
    recordsAfterTools: true,
    configure: ({ model }) => {
      const mock = {
        npm: '@ai-sdk/openai-compatible',
        name: 'mock',
        options: { baseURL: `${model}/v1`, apiKey: 'mock' },
        models: { 'gpt-5.4': { name: 'gpt-5.4' } },
      }
      return {
        telemetry: {},
        files: [
          {
            path: '.config/kilo/kilo.json',
            text: JSON.stringify({ share: 'disabled', autoupdate: false, provider: { mock } }),
          },
        ],
        mock: {},
      }
    },
    ask: ({ session, question }) => [
      ...['run', '--model', 'mock/gpt-5.4', ...(session === 'new' ? [] : ['--continue'])],
      question,
    ],
  },
  {
    name: 'pi',
    package: '@earendil-works/pi-coding-agent',
    program: 'pi',
    encodings: ['json'],
    lacks: ['sub-agent', 'fast', 'moved named', 'moved sub-agent', 'moved worktree'],
    hasHook: true,
    hasNoTelemetry: true,
    configure: ({ model }) => {
      const provider = { baseUrl: `${model}/v1`, apiKey: 'mock', api: 'openai-responses' }
      const models = { mock: 400_000, small: 6_000 }
      const providers = Object.entries(models).map(([name, contextWindow]) => [
        name,
        { ...provider, models: [{ id: 'gpt-5.4', contextWindow, maxTokens: 1_000 }] },
      ])
      // So that every conversation is long enough to be compacted, once its model is the small one.
      const compaction = { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 }
      return {
        telemetry: {},
        files: [
          { path: '.pi/agent/models.json', text: JSON.stringify({ providers: Object.fromEntries(providers) }) },
          { path: '.pi/agent/settings.json', text: JSON.stringify({ compaction }) },
        ],
        mock: { PI_OFFLINE: '1' },
      }
    },
    ask: ({ session, question, compacts }, home) => [
      ...['--model', compacts ? 'small/gpt-5.4' : 'mock/gpt-5.4', '--print'],
      ...(session === 'new' ? [] : session === 'forked' ? ['--fork', piSession(home)] : ['--continue']),
      question,
    ],
  },
  {
    name: 'openclaw',
    package: 'openclaw',
    program: 'openclaw',
    encodings: ['json'],
    // Only its gateway forks and summarizes sessions, and starts sub-agents.
    lacks: [
      ...(['forked', 'compacted', 'sub-agent', 'fast', 'moved named', 'moved forked', 'moved compacted'] as const),
      ...(['moved sub-agent', 'moved worktree'] as const),
    ],
    hasHook: false,
    hasNoTelemetry: true,
    configure: ({ home, model }) => {
      const models = [{ id: 'gpt-5.4', name: 'gpt-5.4', contextWindow: 400_000, maxTokens: 1_000 }]
      const mock = { baseUrl: `${model}/v1`, apiKey: 'mock', api: 'openai-responses', models }
      const defaults = { model: { primary: 'mock/gpt-5.4' }, workspace: `${home}/work` }
      // Otherwise the model would have to search for most tools.
      const settings = { models: { providers: { mock } }, tools: { toolSearch: false }, agents: { defaults } }
      return {
        telemetry: {},
        files: [{ path: '.openclaw/openclaw.json', text: JSON.stringify(settings) }],
        mock: {},
      }
    },
    ask: ({ question }) => ['agent', '--local', '--agent', 'main', '--message', question],
  },
  {
    name: 'cline',
    package: 'cline',
    program: 'cline',
    encodings: ['json'],
    // It resumes a session only on a terminal.
    lacks: SCENARIO_NAMES.filter((name) => SCENARIOS[name].length > 1),
    hasHook: false,
    hasNoTelemetry: true,
    configure: ({ model }) => {
      const settings = { provider: 'openai-compatible', apiKey: 'mock', model: 'gpt-5.4', baseUrl: `${model}/v1` }
      const provider = { settings, updatedAt: new Date().toISOString(), tokenSource: 'manual' }
      const providers = {
        ...{ version: 1, lastUsedProvider: settings.provider },
        providers: { [settings.provider]: provider },
      }
      return {
        telemetry: {},
        files: [{ path: '.cline/data/settings/providers.json', text: JSON.stringify(providers) }],
        mock: {},
      }
    },
    ask: ({ question }) => [question],
  },
  {
    name: 'kimi-code',
    package: '@moonshot-ai/kimi-code',
    program: 'kimi',
    encodings: ['json'],
    lacks: ['forked', 'compacted', 'fast', 'moved named', 'moved forked', 'moved compacted', 'moved worktree'],
    hasHook: true,
    hasNoTelemetry: true,
    configure: ({ model }) => ({
      telemetry: {},
      files: [
        {
          path: '.kimi-code/config.toml',
          text: `default_model = "fast"

[providers.mock]
type = "openai"
base_url = "${model}/v1"
api_key = "mock"

[models.fast]
provider = "mock"
model = "gpt-5.4"
max_context_size = 400000
`,
        },
      ],
      mock: {},
    }),
    ask: ({ session, question }) => [...(session === 'new' ? [] : ['--continue']), '--prompt', question],
  },
]

/** The path of the first session. */
function piSession(home: string): string {
  const options = { cwd: home, dot: true, absolute: true }
  const [path = ''] = [...new Bun.Glob('.pi/agent/sessions/*/*.jsonl').scanSync(options)].sort()
  return path
}

/** The id of the first thread, whose sub-agents have later ones. */
function codexThread(home: string): string {
  const paths = [...new Bun.Glob('.codex/sessions/**/rollout-*.jsonl').scanSync({ cwd: home, dot: true })]
  const [path = ''] = paths.sort()
  return path.slice(-42, -6)
}

const OPENCODE_MODEL = { providerID: 'mock', modelID: 'gpt-5.4' }

async function sessionFor(url: string, current: string, { session }: Step): Promise<string> {
  if (session === 'continued') return current
  const { id } = await post(session === 'new' ? `${url}/session` : `${url}/session/${current}/fork`, {})
  return id
}

async function post(url: string, body: object): Promise<{ id: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${url} returned ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { id: string }
}
