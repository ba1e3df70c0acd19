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
  /** How the command line of Tally is started on the agents' machine. */
  program: string
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
  /** The first one has the token, and is all that most agents need. */
  steps: [Step, ...Step[]]
  /** Whether the steps start the command line of Tally. */
  usesProgram?: boolean
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

const exporter = (target: Target, ...more: string[]) =>
  [
    'export',
    ...more,
    `OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint(target)}`,
    'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    `OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer ${target.token}"`,
  ].join(' ')

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
  steps: WayGuide['steps']
  /** When it sends what it has. */
  sends: string
}

const TELEMETRY: Partial<Record<AgentName, TelemetryGuide>> = {
  'claude-code': {
    steps: [
      {
        instruction: 'In the shell that starts Claude Code, or under "env" in ~/.claude/settings.json:',
        lines: (target) =>
          exporter(target, 'CLAUDE_CODE_ENABLE_TELEMETRY=1', 'OTEL_METRICS_EXPORTER=otlp', 'OTEL_LOGS_EXPORTER=otlp'),
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
    steps: [headers, { instruction: 'In ~/.gemini/settings.json:', lines: geminiSettings }, PLACE],
    sends: 'a few seconds after the model’s first response, and when it exits.',
  },
  'qwen-code': {
    steps: [headers, { instruction: 'In ~/.qwen/settings.json:', lines: geminiSettings }, PLACE],
    sends: 'a few seconds after the model’s first response, and when it exits.',
  },
  'github-copilot': {
    steps: [
      {
        instruction: 'In the shell that starts it:',
        lines: (target) => exporter(target, 'COPILOT_OTEL_ENABLED=true'),
      },
      PLACE,
    ],
    sends: 'a few seconds after each response of the model. Compactions are only in its session files.',
  },
  opencode: {
    steps: [
      { instruction: 'In the shell that starts it:', lines: (target) => exporter(target) },
      {
        instruction: 'In ~/.config/opencode/opencode.json:',
        lines: () => JSON.stringify({ experimental: { openTelemetry: true } }, null, 2),
      },
      PLACE,
    ],
    sends:
      'a few seconds after each response of the model. “opencode run” exits before it sends its last spans, so some usage is missing; “opencode serve” sends them.',
  },
}

/** The token comes from standard input, so that it is in no process list; in the command prompt of Windows, it works alike. */
const login = ({ url, token, program }: Target) => `echo ${token} | ${program} agents login --url ${url} --token-stdin`

const ON_MACHINE = 'In a terminal on the machine where it runs:'

const WAYS: Record<Way, (name: AgentName, facts: AgentFacts) => Omit<WayGuide, 'way' | 'misses'>> = {
  telemetry: (name, { title }) => ({
    lead: `${title} sends the usage of its requests while it works. No software is needed on the machine.`,
    steps: TELEMETRY[name]!.steps,
    waits: `${title} sends data ${TELEMETRY[name]!.sends}`,
  }),
  hook: (name, { title }) => ({
    lead: `After each turn, ${title} starts Tally, which reads the session files and also reports usage from while the server was unreachable. The line stores the token, adds the hook to the settings of ${title}, and reports past sessions. Running it again does not count anything twice.`,
    steps: [{ instruction: ON_MACHINE, lines: (target) => `${login(target)} --install ${name} --report` }],
    usesProgram: true,
    waits: `Past sessions appear at once, new ones after ${title} responds. “tally agents status” shows pending sessions and the reason.`,
  }),
  files: (name, { title, ways }) => ({
    lead: `Tally reads the session files of ${title}, including past sessions. Running the line again does not count anything twice.`,
    steps: [
      {
        instruction: ON_MACHINE,
        lines: (target) => `${login(target)} && ${target.program} agents scan --agent ${name} --report`,
      },
      ...('hook' in ways
        ? []
        : [
            {
              instruction: 'Report new sessions as they grow, with a service in the background:',
              lines: () => 'tally agents watch --install',
            },
          ]),
    ],
    usesProgram: true,
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
          {
            instruction: 'In a shell, set the token and report a session:',
            lines: ({ url, token, now }) => `export TALLY_TOKEN=${token}
curl ${url}/api/v1/token-entries \\
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
        steps: [{ instruction: 'In the program’s environment:', lines: (target) => exporter(target) }, PLACE],
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
        lead: 'Tally finds the session files of all agents on a machine and reports past sessions. Running the line again does not count anything twice.',
        steps: [
          {
            instruction: 'In a terminal on the machine where they run:',
            lines: (target) => `${login(target)} --report`,
          },
          {
            instruction: 'Report new sessions automatically (shows the changes to settings first):',
            lines: () => `tally agents install ${AGENT_NAMES.filter((name) => 'hook' in AGENTS[name].ways).join(' ')}`,
          },
          {
            instruction: 'Or, for all agents and without changing their settings, as their session files grow:',
            lines: () => 'tally agents watch --install',
          },
        ],
        usesProgram: true,
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
