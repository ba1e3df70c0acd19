/** What each agent has to be told, so that what it uses arrives here. */

/** Where agents report to, and with what. */
export interface Target {
  /** Of this server, as agents reach it. */
  url: string
  /** The secret, or words that stand for it until there is one. */
  token: string
  now: Date
}

export interface Step {
  /** Where the lines go, and what for. */
  says: string
  lines: (target: Target) => string
}

export interface Guide {
  key: string
  title: string
  /** In two words, below the title. */
  by: string
  lead: string
  /** Whether it sends OpenTelemetry, for which an organization token does as well. */
  isTelemetry: boolean
  steps: Step[]
  /** How long it takes until something arrives, and what to look at where nothing does. */
  waits: string
}

const endpoint = ({ url }: Target) => `${url}/api/v1/telemetry`

const exporter = (target: Target) =>
  [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint(target)}`,
    'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer ${target.token}"`,
  ].join('\n')

const withoutMilliseconds = (moment: Date) => `${moment.toISOString().slice(0, 19)}Z`

const PLACE: Step = {
  says: 'Optional: name the work. Without it, placement rules decide, or the entry waits in Unattributed.',
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
  says: 'In the shell that starts it, as the settings have no place for headers:',
  lines: ({ token }) => `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer ${token}"`,
}

export const GUIDES: readonly Guide[] = [
  {
    key: 'curl',
    title: 'Anything with HTTP',
    by: 'one call',
    lead: 'A script, a CI job or an agent of your own reports one token entry per session.',
    isTelemetry: false,
    steps: [
      { says: 'In the shell, the token:', lines: ({ token }) => `export TALLY_TOKEN=${token}` },
      {
        says: 'Report a session:',
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
    waits: 'It is here at once; a refusal says in its answer what to change.',
  },
  {
    key: 'claude-code',
    title: 'Claude Code',
    by: 'telemetry',
    lead: 'It pushes what every request used, while it works.',
    isTelemetry: true,
    steps: [
      {
        says: 'In the shell that starts it, or as "env" in ~/.claude/settings.json:',
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
    waits:
      'It sends five seconds after the first answer of the model. A session that runs already has to be started again.',
  },
  {
    key: 'codex',
    title: 'Codex',
    by: 'telemetry',
    lead: 'It pushes what every turn used, while it works.',
    isTelemetry: true,
    steps: [
      {
        says: 'In ~/.codex/config.toml:',
        lines: (target) =>
          [
            '[otel.exporter.otlp-http]',
            `endpoint = "${endpoint(target)}/v1/logs"`,
            'protocol = "binary"',
            `headers = { Authorization = "Bearer ${target.token}" }`,
          ].join('\n'),
      },
    ],
    waits: 'It sends when a turn is complete. A session that runs already has to be started again.',
  },
  {
    key: 'gemini-cli',
    title: 'Gemini CLI',
    by: 'telemetry',
    lead: 'It pushes what every request used, while it works.',
    isTelemetry: true,
    steps: [{ says: 'In ~/.gemini/settings.json:', lines: geminiSettings }, headers, PLACE],
    waits: 'It sends a few seconds after the first answer of the model, and when it ends.',
  },
  {
    key: 'qwen-code',
    title: 'Qwen Code',
    by: 'telemetry',
    lead: 'It pushes what every request used, while it works.',
    isTelemetry: true,
    steps: [{ says: 'In ~/.qwen/settings.json:', lines: geminiSettings }, headers, PLACE],
    waits: 'It sends a few seconds after the first answer of the model, and when it ends.',
  },
  {
    key: 'opencode',
    title: 'opencode',
    by: 'telemetry',
    lead: 'It pushes what every call of a model used, while it works.',
    isTelemetry: true,
    steps: [
      {
        says: 'In ~/.config/opencode/opencode.json:',
        lines: () => JSON.stringify({ experimental: { openTelemetry: true } }, null, 2),
      },
      { says: 'In the shell that starts it:', lines: exporter },
      PLACE,
    ],
    waits:
      'It sends a few seconds after an answer of the model. “opencode run” ends before its last spans are sent, so some use is missing; “opencode serve” sends them.',
  },
  {
    key: 'otlp',
    title: 'Any OTLP exporter',
    by: 'telemetry',
    lead: 'A program with the OpenTelemetry conventions for generative AI: its events and spans of model calls count.',
    isTelemetry: true,
    steps: [{ says: 'In its environment:', lines: exporter }, PLACE],
    waits: 'Exporters send what they gathered every few seconds. gRPC is not taken: the protocol is HTTP.',
  },
  {
    key: 'files',
    title: 'Agents’ own files',
    by: 'tally agents',
    lead: 'Agents keep sessions in files of their own. Tally’s executable reads them, also those of the past.',
    isTelemetry: false,
    steps: [
      {
        says: 'On the machine of the agents, once; it asks for the token:',
        lines: ({ url }) => `tally agents login --url ${url}`,
      },
      {
        says: 'What was used so far: look first, then report. Doing it again doubles nothing.',
        lines: () => 'tally agents scan\ntally agents scan --report',
      },
      {
        says: 'From now on, as they work; it shows the change of their settings first:',
        lines: () => 'tally agents install claude-code codex gemini-cli opencode',
      },
    ],
    waits: 'A session is reported when the agent has answered; “tally agents status” says what waits and why.',
  },
]
