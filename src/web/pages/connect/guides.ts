/** How to configure each agent to report its usage: the same template for all, by their ways (`shared/agents.ts`). */
import {
  AGENT_NAMES,
  AGENTS,
  type AgentFacts,
  type AgentName,
  UNREAD_AGENTS,
  type UnreadAgent,
  type Way,
} from '../../../shared/agents.ts'

/** The server and token that agents report with. */
export interface Target {
  /** The server's URL, as agents reach it. */
  url: string
  /** The secret, or a placeholder until there is one. */
  token: string
  now: Date
}

export interface Step {
  /** Where to put the lines, and what they do. */
  instruction: string
  lines: (target: Target) => string
}

export interface WayGuide {
  way: Way | 'http'
  lead: string
  steps: Step[]
  /** When the first entry arrives, and what to check if it does not. */
  waits: string
  /** What is not counted; empty if nothing is known to be missing, absent if it depends on the program. */
  misses?: string | undefined
}

export interface Guide {
  key: string
  title: string
  /** What else it is found by. */
  also?: string | undefined
  /** The one to begin with first. */
  ways: WayGuide[]
}

/** For which an organization token works too. */
export const isTelemetry = ({ way }: WayGuide) => way === 'telemetry'

const endpoint = ({ url }: Target) => `${url}/api/v1/telemetry`

const exporter = (target: Target) =>
  [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint(target)}`,
    'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer ${target.token}"`,
  ].join('\n')

const withoutMilliseconds = (moment: Date) => `${moment.toISOString().slice(0, 19)}Z`

const PLACE: Step = {
  instruction:
    'Optional: name the project or ticket. Otherwise placement rules assign the entry, or it stays unattributed.',
  lines: () => 'export OTEL_RESOURCE_ATTRIBUTES="project=acme-web,ticket=ACME-42"',
}

/** Gemini CLI and Qwen Code read the same settings. */
const geminiSettings = (target: Target) =>
  JSON.stringify(
    {
      telemetry: {
        enabled: true,
        target: 'local',
        otlpEndpoint: endpoint(target),
        otlpProtocol: 'http',
        logPrompts: false,
      },
    },
    null,
    2,
  )

const headers: Step = {
  instruction: 'In the shell that starts it, because the settings file does not support headers:',
  lines: ({ token }) => `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer ${token}"`,
}

interface TelemetryGuide {
  steps: Step[]
  /** When it sends what it has. */
  sends: string
}

const TELEMETRY: Partial<Record<AgentName, TelemetryGuide>> = {
  'claude-code': {
    steps: [
      {
        instruction: 'In the shell that starts Claude Code, or under "env" in ~/.claude/settings.json:',
        lines: (target) =>
          [
            'export CLAUDE_CODE_ENABLE_TELEMETRY=1',
            'export OTEL_METRICS_EXPORTER=otlp',
            'export OTEL_LOGS_EXPORTER=otlp',
            exporter(target),
          ].join('\n'),
      },
      PLACE,
    ],
    sends: 'five seconds after the model’s first response. Restart sessions that are already running.',
  },
  codex: {
    steps: [
      {
        instruction: 'In ~/.codex/config.toml:',
        lines: (target) =>
          [
            '[otel.exporter.otlp-http]',
            `endpoint = "${endpoint(target)}/v1/logs"`,
            'protocol = "binary"',
            `headers = { Authorization = "Bearer ${target.token}" }`,
          ].join('\n'),
      },
    ],
    sends: 'when a turn completes. Restart sessions that are already running.',
  },
  'gemini-cli': {
    steps: [{ instruction: 'In ~/.gemini/settings.json:', lines: geminiSettings }, headers, PLACE],
    sends: 'a few seconds after the model’s first response, and when it exits.',
  },
  'qwen-code': {
    steps: [{ instruction: 'In ~/.qwen/settings.json:', lines: geminiSettings }, headers, PLACE],
    sends: 'a few seconds after the model’s first response, and when it exits.',
  },
  'github-copilot': {
    steps: [
      {
        instruction: 'In the shell that starts it:',
        lines: (target) => `export COPILOT_OTEL_ENABLED=true\n${exporter(target)}`,
      },
      PLACE,
    ],
    sends: 'a few seconds after each response of the model. Compactions are only in its session files.',
  },
  opencode: {
    steps: [
      {
        instruction: 'In ~/.config/opencode/opencode.json:',
        lines: () => JSON.stringify({ experimental: { openTelemetry: true } }, null, 2),
      },
      { instruction: 'In the shell that starts it:', lines: exporter },
      PLACE,
    ],
    sends:
      'a few seconds after each response of the model. “opencode run” exits before it sends its last spans, so some usage is missing; “opencode serve” sends them.',
  },
}

const LOGIN: Step = {
  instruction: 'Once for all agents, on the machine where they run (asks for the token):',
  lines: ({ url }) => `tally agents login --url ${url}`,
}

const PAST = 'Report what it has used before. Running this again does not count anything twice.'

const WAYS: Record<Way, (name: AgentName, facts: AgentFacts) => Omit<WayGuide, 'way' | 'misses'>> = {
  telemetry: (name, { title }) => ({
    lead: `${title} sends the usage of its requests while it works. No software is needed on the machine.`,
    steps: TELEMETRY[name]!.steps,
    waits: `${title} sends data ${TELEMETRY[name]!.sends}`,
  }),
  hook: (name, { title }) => ({
    lead: `${title} starts the tally executable after each turn, which reads its session files and also reports what was used while the server was unreachable.`,
    steps: [
      LOGIN,
      {
        instruction: 'Install the hook (shows the change of the settings first):',
        lines: () => `tally agents install ${name}`,
      },
      { instruction: PAST, lines: () => `tally agents scan --agent ${name} --report` },
    ],
    waits: `A session is reported after ${title} responds. “tally agents status” shows pending sessions and the reason.`,
  }),
  files: (name, { title, ways }) => ({
    lead: `The tally executable reads the session files that ${title} keeps, including those of the past.`,
    steps: [
      LOGIN,
      { instruction: PAST, lines: () => `tally agents scan --agent ${name} --report` },
      ...('hook' in ways
        ? []
        : [
            {
              instruction:
                'Report new sessions while they grow (as a service of the system that runs in the background):',
              lines: () => 'tally agents watch --install',
            },
          ]),
    ],
    waits: 'A session appears when the scan has reported it. “tally agents status” shows what is missing.',
  }),
}

/** The easiest first. They can be used together: nothing is counted twice. */
const WAY_ORDER: readonly Way[] = ['telemetry', 'hook', 'files']

function guideOf(name: AgentName): Guide {
  const facts: AgentFacts = AGENTS[name]
  const ways = WAY_ORDER.filter((way) => way in facts.ways)
  return {
    key: name,
    title: facts.title,
    also: facts.fork,
    ways: ways.map((way) => ({ way, misses: facts.ways[way], ...WAYS[way](name, facts) })),
  }
}

export const GUIDES: readonly Guide[] = [
  {
    key: 'curl',
    title: 'Any HTTP client',
    also: 'curl script CI',
    ways: [
      {
        way: 'http',
        lead: 'A script, a CI job or your own agent reports one token entry per session.',
        steps: [
          { instruction: 'Set the token in your shell:', lines: ({ token }) => `export TALLY_TOKEN=${token}` },
          {
            instruction: 'Report a session:',
            lines: ({ url, now }) => `curl ${url}/api/v1/token-entries \\
  -H "Authorization: Bearer $TALLY_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
    "agent_harness": "curl",
    "agent_name": "first-steps",
    "model": "claude-sonnet-4-5",
    "started_at": "${withoutMilliseconds(new Date(now.getTime() - 600_000))}",
    "ended_at": "${withoutMilliseconds(now)}",
    "tokens": { "input": 1200, "output": 340, "cache_read": 15000 },
    "summary": "A first token entry"
  }'`,
          },
        ],
        waits: 'The entry appears immediately. If the request is rejected, the response explains what to change.',
      },
    ],
  },
  ...AGENT_NAMES.map(guideOf),
  {
    key: 'otlp',
    title: 'Any OTLP exporter',
    also: 'OpenTelemetry OpenLLMetry LangChain LiteLLM Vercel',
    ways: [
      {
        way: 'telemetry',
        lead: 'Any program that follows the OpenTelemetry conventions for generative AI. Tally reads its events and spans for model calls.',
        steps: [{ instruction: 'In the program’s environment:', lines: exporter }, PLACE],
        waits: 'Exporters send a batch every few seconds. Use OTLP over HTTP; gRPC is not supported.',
      },
    ],
  },
  {
    key: 'files',
    title: 'All agents on a machine',
    also: 'session files hooks scan',
    ways: [
      {
        way: 'files',
        lead: 'The tally executable finds the session files of all agents on a machine, and installs the hooks of those that have one.',
        steps: [
          LOGIN,
          {
            instruction: 'Preview past usage, then report it. Running this again does not count anything twice.',
            lines: () => 'tally agents scan\ntally agents scan --report',
          },
          {
            instruction: 'Report new sessions automatically (shows the changes of settings first):',
            lines: () => `tally agents install ${AGENT_NAMES.filter((name) => 'hook' in AGENTS[name].ways).join(' ')}`,
          },
          {
            instruction: 'Or, for all agents and without a change of their settings, as their session files grow:',
            lines: () => 'tally agents watch --install',
          },
        ],
        waits:
          'A session is reported after the agent responds. “tally agents status” shows pending sessions and the reason.',
      },
    ],
  },
]

/** The guides whose names contain all words of the text, and the agents that are not read, which are only found by name. */
export function findAgents(text: string): { guides: Guide[]; unread: UnreadAgent[] } {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const isFound = (...names: (string | undefined)[]) => {
    const all = names.join(' ').toLowerCase()
    return words.every((word) => all.includes(word))
  }
  return {
    guides: GUIDES.filter(({ key, title, also }) => isFound(key, title, also)),
    unread: words.length === 0 ? [] : Object.values(UNREAD_AGENTS).filter((each) => isFound(each.title, each.program)),
  }
}
