/**
 * Every option of the program, once: its flag, its variable, its default and what it means. The only reader of the
 * environment, and every fault is told at once.
 */

interface Option {
  flag: string
  variable: string
  default: string
  doc: string
}

export const OPTIONS = {
  data: {
    flag: '--data <dir>',
    variable: 'TALLY_DATA',
    default: './tally-data',
    doc: 'folder of the embedded database',
  },
  databaseUrl: {
    flag: '--database-url <url>',
    variable: 'TALLY_DATABASE_URL',
    default: '',
    doc: 'postgres://… to keep everything in PostgreSQL instead of the folder',
  },
  host: {
    flag: '--host <address>',
    variable: 'TALLY_HOST',
    default: '127.0.0.1',
    doc: 'address to listen on; 0.0.0.0 for the whole LAN',
  },
  port: {
    flag: '--port <number>',
    variable: 'TALLY_PORT',
    default: '4747',
    doc: 'port to listen on; 0 takes a free one',
  },
  publicUrl: {
    flag: '--public-url <url>',
    variable: 'TALLY_PUBLIC_URL',
    default: '',
    doc: 'address under which people and agents reach this server, for links; default http://<host>:<port>',
  },
  logLevel: {
    flag: '--log-level <level>',
    variable: 'TALLY_LOG_LEVEL',
    default: 'info',
    doc: 'debug, info, warn, error or silent',
  },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS

export interface Config {
  dataDir: string
  databaseUrl: string | undefined
  host: string
  port: number
  publicUrl: string | undefined
  logLevel: (typeof LOG_LEVELS)[number]
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** All faults of the configuration, one a line. */
export class ConfigError extends Error {}

/** The options in force: what the flag says, else the variable, else the default. Throws {@link ConfigError}. */
export function readConfig(
  flags: Partial<Record<OptionName, string>>,
  environment: Record<string, string | undefined> = process.env,
): Config {
  const faults: string[] = []
  const text = (name: OptionName) => flags[name] ?? (environment[OPTIONS[name].variable] || OPTIONS[name].default)
  const say = (name: OptionName, message: string) =>
    faults.push(`${OPTIONS[name].variable} (${OPTIONS[name].flag}): ${message}`)

  const port = Number(text('port'))
  if (!/^\d{1,5}$/.test(text('port')) || port > 65_535) say('port', `'${text('port')}' is no port; use 0 to 65535`)
  const logLevel = LOG_LEVELS.find((level) => level === text('logLevel'))
  if (!logLevel) say('logLevel', `'${text('logLevel')}' is no level; use ${LOG_LEVELS.join(', ')}`)
  const databaseUrl = text('databaseUrl') || undefined
  if (databaseUrl && !/^postgres(ql)?:\/\//.test(databaseUrl)) say('databaseUrl', 'must begin with postgres://')
  const publicUrl = text('publicUrl').replace(/\/+$/, '') || undefined
  if (publicUrl && !/^https?:\/\//.test(publicUrl)) say('publicUrl', 'must begin with http:// or https://')
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))

  return { dataDir: text('data'), databaseUrl, host: text('host'), port, publicUrl, logLevel: logLevel! }
}
