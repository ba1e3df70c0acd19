/** Whether an agent is set up to push telemetry to Tally. */
import { join } from 'node:path'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'
import { settingsPath } from './install.ts'
import { readSettingsFile } from './settings-file.ts'

/** The path of Tally's endpoint, by which its address is recognized. */
const ENDPOINT = '/api/v1/telemetry'

interface Channel {
  settings?(environment: AgentsEnvironment): string
  /** The variable that names the endpoint. */
  variable?: string
}

const CHANNELS: Partial<Record<AgentName, Channel>> = {
  'claude-code': {
    settings: (environment) => settingsPath('claude-code', environment),
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  },
  codex: { settings: (environment) => settingsPath('codex', environment) },
  'gemini-cli': {
    settings: (environment) => settingsPath('gemini-cli', environment),
    variable: 'GEMINI_TELEMETRY_OTLP_ENDPOINT',
  },
  'github-copilot': { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  opencode: { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  'qwen-code': {
    settings: ({ home }) => join(home, '.qwen', 'settings.json'),
    variable: 'QWEN_TELEMETRY_OTLP_ENDPOINT',
  },
}

/**
 * In its settings, or in the environment, which only agents that are started there have.
 *
 * @param endpointIn returns the value of a variable
 */
export function hasTelemetry(
  agent: AgentName,
  environment: AgentsEnvironment,
  endpointIn: (variable: string) => string | undefined,
): boolean {
  const { settings, variable } = CHANNELS[agent] ?? {}
  if (variable && endpointIn(variable)?.includes(ENDPOINT)) return true
  return settings !== undefined && namesEndpoint(settings(environment))
}

/** Not if the settings cannot be read, which is said of the hook in them. */
function namesEndpoint(path: string): boolean {
  try {
    const text = readSettingsFile(path)
    // Read instead of searched, since it may be in a comment.
    return text?.includes(ENDPOINT) === true && hasEndpoint(contentOf(path, text))
  } catch {
    return false
  }
}

const contentOf = (path: string, text: string): unknown =>
  path.endsWith('.toml') ? parseToml(text, { integersAsBigInt: true }) : parseJson(text)

function hasEndpoint(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(ENDPOINT)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasEndpoint)
}
