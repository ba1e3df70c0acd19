/**
 * Every option of the program, once: its flag, its variable, its default and what it means. The only reader of the
 * environment, and every fault is told at once.
 */

import { isIP } from 'node:net'

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
  trustedProxies: {
    flag: '--trusted-proxies <addresses>',
    variable: 'TALLY_TRUSTED_PROXIES',
    default: '',
    doc: 'addresses or networks (10.0.0.0/8), separated by commas, of the proxies whose X-Forwarded-For is believed',
  },
  logLevel: {
    flag: '--log-level <level>',
    variable: 'TALLY_LOG_LEVEL',
    default: 'info',
    doc: 'debug, info, warn, error or silent',
  },
  url: {
    flag: '--url <url>',
    variable: 'TALLY_URL',
    default: 'http://127.0.0.1:4747',
    doc: 'address of the server to report to',
  },
  token: {
    flag: '--token <token>',
    variable: 'TALLY_TOKEN',
    default: '',
    doc: 'the service token to report with; the variable keeps it out of the list of processes',
  },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS

export interface Config {
  dataDir: string
  databaseUrl: string | undefined
  host: string
  port: number
  publicUrl: string | undefined
  trustedProxies: string[]
  logLevel: (typeof LOG_LEVELS)[number]
}

/** What a command that talks to a server needs. */
export interface ClientConfig {
  url: string
  token: string
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** All faults of the configuration, one a line. */
export class ConfigError extends Error {}

type Flags = Partial<Record<OptionName, string | undefined>>
type Environment = Record<string, string | undefined>

/** Reads options and collects their faults, so that a person mends all of them at once. */
class Reading {
  readonly #faults: string[] = []

  constructor(
    readonly flags: Flags,
    readonly environment: Environment,
  ) {}

  /** What the flag says, else the variable, else the default. */
  text(name: OptionName): string {
    return this.flags[name] ?? (this.environment[OPTIONS[name].variable] || OPTIONS[name].default)
  }

  /** An address without a slash at its end; empty where there is none. */
  httpUrl(name: OptionName): string {
    const url = this.text(name).replace(/\/+$/, '')
    if (url && (!/^https?:\/\//.test(url) || !URL.canParse(url))) {
      this.fault(name, `'${url}' is no address; it must begin with http:// or https://`)
    }
    return url
  }

  fault(name: OptionName, message: string): void {
    this.#faults.push(`${OPTIONS[name].flag.split(' ')[0]} (${OPTIONS[name].variable}): ${message}`)
  }

  finish(): void {
    if (this.#faults.length > 0) throw new ConfigError(this.#faults.join('\n'))
  }
}

/** The options in force: what the flag says, else the variable, else the default. Throws {@link ConfigError}. */
export function readConfig(flags: Flags, environment: Environment = process.env): Config {
  const reading = new Reading(flags, environment)
  const text = (name: OptionName) => reading.text(name)

  const port = Number(text('port'))
  if (!/^\d{1,5}$/.test(text('port')) || port > 65_535) {
    reading.fault('port', `'${text('port')}' is no port; use 0 to 65535`)
  }
  const logLevel = LOG_LEVELS.find((level) => level === text('logLevel'))
  if (!logLevel) reading.fault('logLevel', `'${text('logLevel')}' is no level; use ${LOG_LEVELS.join(', ')}`)
  const databaseUrl = text('databaseUrl') || undefined
  // Not repeated in the message: it may hold a password.
  if (databaseUrl && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    reading.fault('databaseUrl', 'must begin with postgres://')
  }
  const publicUrl = reading.httpUrl('publicUrl') || undefined
  const trustedProxies = text('trustedProxies')
    .split(',')
    .map((proxy) => proxy.trim())
    .filter(Boolean)
  for (const proxy of trustedProxies.filter((each) => !isAddressOrNetwork(each))) {
    reading.fault('trustedProxies', `'${proxy}' is no address and no network such as 10.0.0.0/8`)
  }
  reading.finish()
  return {
    dataDir: text('data'),
    databaseUrl,
    host: text('host'),
    port,
    publicUrl,
    trustedProxies,
    logLevel: logLevel!,
  }
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32))
}

/** As {@link readConfig}, for commands that talk to a server. */
export function readClientConfig(flags: Flags, environment: Environment = process.env): ClientConfig {
  const reading = new Reading(flags, environment)
  const url = reading.httpUrl('url')
  const token = reading.text('token')
  if (token === '') {
    reading.fault('token', 'no token is set; `tally tokens create --kind svc --user … --name …` makes one')
  } else if (/[^\x21-\x7e]/.test(token)) {
    reading.fault('token', 'has characters that no token has; copy it again')
  }
  reading.finish()
  return { url, token }
}
