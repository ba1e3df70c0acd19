/** How to configure each agent to report its usage. */

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

export interface Guide {
  key: string
  title: string
  /** How the agent reports, in two words. */
  by: string
  lead: string
  /** Whether it sends OpenTelemetry data, for which an organization token works too. */
  isTelemetry: boolean
  steps: Step[]
  /** When the first entry arrives, and what to check if it does not. */
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

export const GUIDES: readonly Guide[] = [
  {
    key: 'curl',
    title: 'Any HTTP client',
    by: 'one request',
    lead: 'A script, a CI job or your own agent reports one token entry per session.',
    isTelemetry: false,
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
  {
    key: 'claude-code',
    title: 'Claude Code',
    by: 'telemetry',
    lead: 'Claude Code sends the usage of every request while it works.',
    isTelemetry: true,
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
    waits:
      'Claude Code sends data five seconds after the model’s first response. Restart sessions that are already running.',
  },
  {
    key: 'codex',
    title: 'Codex',
    by: 'telemetry',
    lead: 'Codex sends the usage of every turn while it works.',
    isTelemetry: true,
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
    waits: 'Codex sends data when a turn completes. Restart sessions that are already running.',
  },
  {
    key: 'gemini-cli',
    title: 'Gemini CLI',
    by: 'telemetry',
    lead: 'Gemini CLI sends the usage of every request while it works.',
    isTelemetry: true,
    steps: [{ instruction: 'In ~/.gemini/settings.json:', lines: geminiSettings }, headers, PLACE],
    waits: 'Gemini CLI sends data a few seconds after the model’s first response, and when it exits.',
  },
  {
    key: 'qwen-code',
    title: 'Qwen Code',
    by: 'telemetry',
    lead: 'Qwen Code sends the usage of every request while it works.',
    isTelemetry: true,
    steps: [{ instruction: 'In ~/.qwen/settings.json:', lines: geminiSettings }, headers, PLACE],
    waits: 'Qwen Code sends data a few seconds after the model’s first response, and when it exits.',
  },
  {
    key: 'github-copilot',
    title: 'GitHub Copilot CLI',
    by: 'telemetry',
    lead: 'GitHub Copilot CLI sends the usage of every model call while it works.',
    isTelemetry: true,
    steps: [
      {
        instruction: 'In the shell that starts it:',
        lines: (target) => `export COPILOT_OTEL_ENABLED=true\n${exporter(target)}`,
      },
      PLACE,
    ],
    waits:
      'GitHub Copilot CLI sends data a few seconds after each response of the model. Compactions are only in its session files.',
  },
  {
    key: 'opencode',
    title: 'opencode',
    by: 'telemetry',
    lead: 'opencode sends the usage of every model call while it works.',
    isTelemetry: true,
    steps: [
      {
        instruction: 'In ~/.config/opencode/opencode.json:',
        lines: () => JSON.stringify({ experimental: { openTelemetry: true } }, null, 2),
      },
      { instruction: 'In the shell that starts it:', lines: exporter },
      PLACE,
    ],
    waits:
      'opencode sends data a few seconds after each response of the model. “opencode run” exits before it sends its last spans, so some usage is missing; “opencode serve” sends them.',
  },
  {
    key: 'otlp',
    title: 'Any OTLP exporter',
    by: 'telemetry',
    lead: 'Any program that follows the OpenTelemetry conventions for generative AI. Tally reads its events and spans for model calls.',
    isTelemetry: true,
    steps: [{ instruction: 'In the program’s environment:', lines: exporter }, PLACE],
    waits: 'Exporters send a batch every few seconds. Use OTLP over HTTP; gRPC is not supported.',
  },
  {
    key: 'files',
    title: 'Session files',
    by: 'tally agents',
    lead: 'Agents save their sessions in local files. The tally executable reads them, including past sessions.',
    isTelemetry: false,
    steps: [
      {
        instruction: 'Once, on the machine where the agents run (prompts for the token):',
        lines: ({ url }) => `tally agents login --url ${url}`,
      },
      {
        instruction: 'Preview past usage, then report it. Running this again does not count anything twice.',
        lines: () => 'tally agents scan\ntally agents scan --report',
      },
      {
        instruction: 'Report new sessions automatically (shows the settings changes first):',
        lines: () => 'tally agents install claude-code codex gemini-cli github-copilot kilo kimi-code opencode pi',
      },
    ],
    waits:
      'A session is reported after the agent responds. “tally agents status” shows pending sessions and the reason.',
  },
]
