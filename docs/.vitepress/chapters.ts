/**
 * The table of contents: the pages of the manual by their paths below `docs/`, in the order in which one reads them. A new page
 * is a Markdown file and its path here. Its title is what a newcomer would search for, and its examples run: see
 * `test/docs/examples.ts`. `scripts/manual/reference.ts` makes the pages about commands, options and problems.
 */
export interface Chapter {
  title: string
  pages: string[]
  /** Whether the chapter can be folded, and is at first. */
  isFolded?: boolean
}

/** The title of a page, from its Markdown: plain text. */
export const titleOf = (text: string): string => /^# (.+)$/m.exec(text)![1]!.replaceAll('`', '')

export const CHAPTERS: Chapter[] = [
  {
    title: 'Getting started',
    pages: [
      'getting-started/install',
      'getting-started/up',
      'getting-started/first-entry',
      'getting-started/tour',
      'concepts',
    ],
  },
  {
    title: 'Connect agents',
    pages: [
      'connect/overview',
      'connect/claude-code',
      'connect/cline',
      'connect/codex',
      'connect/gemini-cli',
      'connect/github-copilot',
      'connect/goose',
      'connect/grok',
      'connect/hermes',
      'connect/kilo',
      'connect/kimi-code',
      'connect/opencode',
      'connect/openclaw',
      'connect/openhands',
      'connect/pi',
      'connect/qwen-code',
      'connect/telemetry',
      'connect/ci',
      'connect/http',
      'connect/python',
      'connect/typescript',
    ],
  },
  {
    title: 'Usage and money',
    pages: [
      'projects-and-rules',
      'reports/usage',
      'reports/entries',
      'reports/long-sessions',
      'reports/insights',
      'reports/receipts',
      'approval',
      'billing',
      'spending-limits',
      'plans',
      'model-prices',
    ],
  },
  {
    title: 'People and access',
    pages: [
      'people/roles',
      'people/access-tokens',
      'people/sign-in',
      'people/sharing',
      'people/personal-data',
      'people/organization',
    ],
  },
  {
    title: 'Integrate',
    pages: ['integrate/api', 'integrate/mcp', 'integrate/events', 'integrate/outgoing-webhooks', 'integrate/mail'],
  },
  {
    title: 'Operations',
    pages: [
      'operations/service',
      'operations/container',
      'operations/network-and-tls',
      'operations/backup-and-restore',
      'operations/upgrades',
      'operations/monitoring',
      'operations/postgresql',
      'operations/sizing',
      'operations/moving-data',
      'operations/releases',
      'security',
      'troubleshooting',
    ],
  },
  {
    title: 'Reference',
    pages: [
      'reference/configuration',
      'reference/commands',
      'reference/command-output',
      'reference/problems',
      'export-format',
      'benchmarks',
    ],
  },
  {
    title: 'Architecture',
    isFolded: true,
    pages: [
      'architecture',
      'design/concepts',
      'design/states',
      'design/storage',
      'design/scale',
      'design/api',
      'design/openapi',
      'design/pricing',
      'design/bills',
      'design/budgets',
      'design/plans',
      'design/telemetry',
      'design/session-formats',
      'design/agents-compared',
      'design/webhooks',
      'design/notifications',
      'design/anomalies',
      'design/privacy',
      'design/promises',
    ],
  },
]
