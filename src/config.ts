/**
 * Every option of the program, defined once: flag, variable, default and description. This is the only module that reads the
 * environment. All configuration issues are reported together.
 *
 * A new option is an item of `OPTIONS`, is checked in `readConfig`, and is a flag of a command by `optionOf('…')`. A secret is
 * also in `SECRETS`, with an option that names its file, and is read with `reading.secret`.
 */

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { parseDuration } from './lib/duration.ts'
import { isNetwork, withoutBrackets } from './lib/network.ts'
import { isAddress, isSafeAddress, LOOPBACK } from './lib/outgoing/safe-address.ts'
import { readPublicUrl } from './lib/public-url.ts'
import { parseS3Place, type S3Place } from './lib/s3-place.ts'

interface Option {
  /** Empty if there is only the variable, which other programs read as well. */
  flag: string
  variable: string
  default: string
  doc: string
}

const option = (flag: string, variable: string, doc: string, usual = ''): Option => ({
  flag,
  variable,
  default: usual,
  doc,
})

export const OPTIONS = {
  data: option('--data <dir>', 'TALLY_DATA', 'folder of the embedded database', './tally-data'),
  databaseUrl: option(
    '--database-url <url>',
    'TALLY_DATABASE_URL',
    'postgres://… to use PostgreSQL instead of the embedded database; must not contain a password on the command line',
  ),
  databaseUrlFile: option(
    '--database-url-file <path>',
    'TALLY_DATABASE_URL_FILE',
    'file that contains the database URL',
  ),
  databaseReadUrl: option(
    '--database-read-url <url>',
    'TALLY_DATABASE_READ_URL',
    'postgres://… of a replica of that database, which answers reports, lists and exports; must not contain a password on the command line',
  ),
  databaseReadUrlFile: option(
    '--database-read-url-file <path>',
    'TALLY_DATABASE_READ_URL_FILE',
    'file that contains the URL of the replica',
  ),
  databaseReadWait: option(
    '--database-read-wait <ms>',
    'TALLY_DATABASE_READ_WAIT',
    'milliseconds that a read waits for a replica that lags behind; the primary answers it then',
    '500',
  ),
  as: option('--as <user>', 'TALLY_AS', 'e-mail address or id of the person to record as the actor in the audit log'),
  host: option(
    '--host <address>',
    'TALLY_HOST',
    'address to listen on; 0.0.0.0 to accept connections from the network',
    '127.0.0.1',
  ),
  port: option('--port <number>', 'TALLY_PORT', 'port to listen on; 0 picks a free one', '4747'),
  publicUrl: option(
    '--public-url <url>',
    'TALLY_PUBLIC_URL',
    'URL at which people and agents reach this server, used in links; defaults to the setting public_url, or else http://<host>:<port>',
  ),
  trustedProxies: option(
    '--trusted-proxies <addresses>',
    'TALLY_TRUSTED_PROXIES',
    'comma-separated addresses or networks (10.0.0.0/8) of the proxies whose X-Forwarded-For header is trusted',
  ),
  rateLimit: option(
    '--rate-limit <number>',
    'TALLY_RATE_LIMIT',
    'requests per minute for each token, above which it gets 429; 0 for no limit',
    '0',
  ),
  smtpUrl: option(
    '--smtp-url <url>',
    'TALLY_SMTP_URL',
    'smtp://user:password@host:587 or smtps://… of the mail server that sends bills and notices; must not contain a password on the command line',
  ),
  smtpUrlFile: option('--smtp-url-file <path>', 'TALLY_SMTP_URL_FILE', 'file that contains the mail server URL'),
  smtpFrom: option(
    '--smtp-from <address>',
    'TALLY_SMTP_FROM',
    'sender address of bills; defaults to the e-mail address of the organization',
  ),
  logLevel: option('--log-level <level>', 'TALLY_LOG_LEVEL', 'debug, info, warn, error or silent', 'info'),
  drain: option(
    '--drain <seconds>',
    'TALLY_DRAIN',
    'how long a server that is stopping still answers while /ready fails, so that a load balancer sends requests elsewhere first',
    '0',
  ),
  backupEvery: option(
    '--backup-every <duration>',
    'TALLY_BACKUP_EVERY',
    'how often the server backs up its embedded database, such as 24h; off by default',
  ),
  backupKeep: option(
    '--backup-keep <number>',
    'TALLY_BACKUP_KEEP',
    'how many of the newest backups to keep, in the folder and in S3',
    '14',
  ),
  backupKeepDaily: option(
    '--backup-keep-daily <number>',
    'TALLY_BACKUP_KEEP_DAILY',
    'of how many days to keep the last backup as well',
    '0',
  ),
  backupKeepWeekly: option(
    '--backup-keep-weekly <number>',
    'TALLY_BACKUP_KEEP_WEEKLY',
    'of how many weeks to keep the last backup as well',
    '0',
  ),
  backupKeepMonthly: option(
    '--backup-keep-monthly <number>',
    'TALLY_BACKUP_KEEP_MONTHLY',
    'of how many months to keep the last backup as well',
    '0',
  ),
  backupDir: option(
    '--backup-dir <dir>',
    'TALLY_BACKUP_DIR',
    'folder for backups, ideally on another disk; defaults to backups in the data folder',
  ),
  backupS3: option(
    '--backup-s3 <place>',
    'TALLY_BACKUP_S3',
    's3://bucket/prefix/ to which the server also uploads each backup, encrypted; none by default',
  ),
  backupRecipients: option(
    '--backup-recipients <keys>',
    'TALLY_BACKUP_RECIPIENTS',
    'comma-separated public keys of age (age1…) that backups in S3 are encrypted for',
  ),
  identity: option(
    '--identity <path>',
    'TALLY_BACKUP_IDENTITY_FILE',
    'file with a private key of age that decrypts backups in S3',
  ),
  backupVerifyEvery: option(
    '--backup-verify-every <duration>',
    'TALLY_BACKUP_VERIFY_EVERY',
    'how often the server downloads and verifies the newest backup in S3; off for never',
    '7d',
  ),
  s3AccessKeyId: option('', 'AWS_ACCESS_KEY_ID', 'access key of the S3-compatible storage'),
  s3SecretAccessKey: option('', 'AWS_SECRET_ACCESS_KEY', 'its secret'),
  s3SecretAccessKeyFile: option('', 'AWS_SECRET_ACCESS_KEY_FILE', 'file that contains the secret of the access key'),
  s3SessionToken: option('', 'AWS_SESSION_TOKEN', 'session token of temporary credentials'),
  s3SessionTokenFile: option('', 'AWS_SESSION_TOKEN_FILE', 'file that contains the session token'),
  s3Region: option('', 'AWS_REGION', 'region of the S3-compatible storage', 'us-east-1'),
  s3OwnEndpoint: option(
    '',
    'AWS_ENDPOINT_URL_S3',
    'https:// address of the S3-compatible storage; takes precedence over AWS_ENDPOINT_URL',
  ),
  s3Endpoint: option(
    '',
    'AWS_ENDPOINT_URL',
    'https:// address of the S3-compatible storage; that of Amazon S3 in the region by default',
  ),
  pricesFrom: option(
    '--prices-from <place>',
    'TALLY_PRICES_FROM',
    'https:// address or file of the price table that updates load; none by default',
  ),
  pricesEvery: option(
    '--prices-every <duration>',
    'TALLY_PRICES_EVERY',
    'how often the server updates prices from there, such as 24h; off by default',
  ),
  releases: option(
    '--from <place>',
    'TALLY_RELEASES',
    'folder or https:// address with the files of a release, for tally update; none by default',
  ),
  releasesKey: option(
    '--key <key>',
    'TALLY_RELEASES_KEY',
    'public key of minisign that releases are signed with, or its file; defaults to the one in the executable, if any',
  ),
  moveTo: option(
    '--to <place>',
    'TALLY_MOVE_TO',
    'postgres://… or a folder to move the database to, for tally move; must not contain a password on the command line',
  ),
  moveToFile: option('--to-file <path>', 'TALLY_MOVE_TO_FILE', 'file that contains the database URL to move to'),
  webhookPrivateNetworks: option(
    '--webhook-private-networks <networks>',
    'TALLY_WEBHOOK_PRIVATE_NETWORKS',
    'comma-separated addresses or networks (10.0.0.0/8) to which webhooks may be sent although they are not public; none by default',
  ),
  webhookSecret: option(
    '--secret <secret>',
    'TALLY_WEBHOOK_SECRET',
    'secret of a webhook (whsec_…) to check signatures with; only as a variable, because every user of the machine can see command lines',
  ),
  webhookSecretFile: option(
    '--secret-file <path>',
    'TALLY_WEBHOOK_SECRET_FILE',
    'file that contains the secret of a webhook',
  ),
  url: option('--url <url>', 'TALLY_URL', 'URL of the server to report to', 'http://127.0.0.1:4747'),
  token: option(
    '--token <token>',
    'TALLY_TOKEN',
    'service token to report with; only as a variable, because every user of the machine can see command lines',
  ),
  tokenFile: option('--token-file <path>', 'TALLY_TOKEN_FILE', 'file that contains the service token to report with'),
  readToken: option('', 'TALLY_READ_TOKEN', 'read token with which tally receipt asks the server'),
  readTokenFile: option(
    '--token-file <path>',
    'TALLY_READ_TOKEN_FILE',
    'file that contains the read token to ask with',
  ),
  idToken: option(
    '',
    'TALLY_ID_TOKEN',
    'ID token of a job of GitLab CI/CD, which gets a token for it; GitHub Actions have variables of their own',
  ),
} satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS

export interface Config {
  dataDir: string
  databaseUrl: string | undefined
  /** What answers reports, lists and exports; undefined for the database itself. */
  replica: { url: string; waitMs: number } | undefined
  host: string
  port: number
  /** Undefined where the setting of the organization counts. */
  publicUrl: string | undefined
  trustedProxies: string[]
  /** Requests per minute for each token; 0 for no limit. */
  rateLimit: number
  mail: MailConfig | undefined
  backups: BackupsConfig
  priceUpdates: PriceUpdatesConfig
  /** How long a server that is stopping still answers. */
  drainSeconds: number
  /** Networks to which webhooks may be sent although they are private. */
  webhookPrivateNetworks: string[]
  logLevel: (typeof LOG_LEVELS)[number]
}

/** Where backups go, and how often the server makes one. */
export interface BackupsConfig {
  folder: string
  /** Undefined if scheduled backups are off. */
  everyMs: number | undefined
  keep: KeepConfig
  /** Undefined if backups stay on the machine. */
  remote: RemoteBackupsConfig | undefined
}

/** How many backups are kept: the newest, and the last of each day, week and month. */
export interface KeepConfig {
  last: number
  daily: number
  weekly: number
  monthly: number
}

/** Where backups are uploaded to, and how they are encrypted and verified. */
export interface RemoteBackupsConfig {
  place: S3Place
  access: S3Config
  recipients: string[]
  identityFile: string | undefined
  /** Undefined if they are not verified. */
  verifyEveryMs: number | undefined
}

/** How to reach S3-compatible storage. */
export interface S3Config {
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
}

/** Where price updates come from, and how often the server makes one; undefined if off. */
export interface PriceUpdatesConfig {
  from: string | undefined
  everyMs: number | undefined
}

/** Where `tally update` finds releases, and the key that they must be signed with. */
export interface ReleasesConfig {
  from: string | undefined
  /** A public key, or the path of its file. */
  key: string | undefined
}

/** How bills are delivered by e-mail. */
export interface MailConfig {
  host: string
  port: number
  /** TLS from the first byte, instead of after STARTTLS. */
  isSecure: boolean
  /** Fails if the server does not offer STARTTLS. */
  requiresTls: boolean
  user: string | undefined
  password: string | undefined
  /** Undefined for the organization's address. */
  from: string | undefined
}

/** What a command that talks to a server needs. */
export interface ClientConfig {
  url: string
  token: string
  /** Of a server of `tally up`: the file by which it proves that it is the one, before it is sent anything. */
  announcement?: string | undefined
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** Something wrong with an option. */
export interface ConfigIssue {
  option: OptionName
  message: string
}

/** All configuration issues, one per line. */
export class ConfigError extends Error {}

type Flags = Partial<Record<OptionName, string | undefined>>
type Environment = Record<string, string | undefined>

/** Options that hold a secret, each with the option that names a file to read it from. */
const SECRETS = {
  databaseUrl: 'databaseUrlFile',
  databaseReadUrl: 'databaseReadUrlFile',
  moveTo: 'moveToFile',
  s3SecretAccessKey: 's3SecretAccessKeyFile',
  s3SessionToken: 's3SessionTokenFile',
  smtpUrl: 'smtpUrlFile',
  token: 'tokenFile',
  readToken: 'readTokenFile',
  webhookSecret: 'webhookSecretFile',
} as const satisfies Partial<Record<OptionName, OptionName>>

type SecretName = keyof typeof SECRETS

/** URLs and tokens have some hundred bytes. What is longer is another file. */
const SECRET_LIMIT_BYTES = 16_384

/** Where containers mount secrets: readable by everything in the container, which is one program. */
const CONTAINER_SECRETS = '/run/secrets/'

/** Where systemd puts the files of `LoadCredential=`. */
const SYSTEMD_CREDENTIALS = '/run/credentials/'

const POSTGRES_URL = /^postgres(ql)?:\/\//

/** A password in a URL, between user and host or as a parameter. */
const URL_PASSWORD = /:\/\/[^/]*:[^@]+@|[?&](password|pass)=./i

/** Not imported above: that takes time, for which an agent would wait at each of its hooks. */
const files = () => process.getBuiltinModule('node:fs')

/** Reads options and collects their issues, so that a person can fix all of them at once. */
class Reading {
  readonly issues: ConfigIssue[] = []
  readonly #secrets = new Map<SecretName, string>()

  constructor(
    readonly flags: Flags,
    readonly environment: Environment,
  ) {}

  /** The value of the flag, or else of the variable, or else the default. */
  text(name: OptionName): string {
    return this.flags[name] ?? (this.environment[OPTIONS[name].variable] || OPTIONS[name].default)
  }

  /**
   * As {@link text}, of an option that may be read from a file as well. Of flag and variable the flag wins, whichever of
   * the two options it sets; that both options are set in the same way is a mistake.
   */
  secret(name: SecretName): string {
    const known = this.#secrets.get(name)
    if (known !== undefined) return known
    const secret = this.#readSecret(name)
    this.#secrets.set(name, secret)
    return secret
  }

  #readSecret(name: SecretName): string {
    const file = SECRETS[name]
    const ways = [
      { plain: this.flags[name], path: this.flags[file] },
      { plain: this.environment[OPTIONS[name].variable], path: this.environment[OPTIONS[file].variable] },
    ]
    for (const [at, { plain, path }] of ways.entries()) {
      if (plain && path) {
        this.issue(file, `cannot be combined with ${titleOf(name)}. Remove one of them`)
        return ''
      }
      if (plain && at === 0) this.#refuseVisible(name, plain)
      if (plain) return plain
      if (path) return this.#contentOf(file, path)
    }
    return ''
  }

  /** A command line can be read by every user of the machine, as long as the command runs. */
  #refuseVisible(name: SecretName, text: string): void {
    const isSecret = name === 'token' || name === 'webhookSecret'
    if (!isSecret && !URL_PASSWORD.test(text)) return
    const what = isSecret ? 'is a secret' : 'contains a password'
    const instead = `Set ${OPTIONS[name].variable}, or put it in a file and pass its path with ${flagOf(SECRETS[name])}`
    this.issue(name, `${what}, which every user of this machine can see in the process list. ${instead}`)
  }

  /** What a file holds, without line breaks at its end. No message repeats it. */
  #contentOf(name: OptionName, path: string): string {
    try {
      const text = files()
        .readFileSync(path, 'utf8')
        .replace(/[\r\n]+$/, '')
      if (text === '') this.issue(name, `${path} is empty`)
      else if (Buffer.byteLength(text) > SECRET_LIMIT_BYTES) this.issue(name, `${path} is too large to be a secret`)
      else if (/[\r\n]/.test(text)) this.issue(name, `${path} has more than one line. It must contain only the secret`)
      else return text
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const advice = path.startsWith(SYSTEMD_CREDENTIALS)
        ? 'systemd shows it to the service’s user while the service runs: start it, and run this command as that user'
        : 'Check the path and its permissions'
      this.issue(name, `${path} cannot be read (${code ?? message}). ${advice}`)
    }
    return ''
  }

  /** An address without a slash at its end; empty where there is none. */
  httpUrl(name: OptionName): string {
    const url = this.text(name).replace(/\/+$/, '')
    // Not repeated: a message must not show it either.
    if (URL_PASSWORD.test(url)) {
      this.issue(name, 'contains a password, which Tally does not send. Remove it from the URL')
      return ''
    }
    if (url && (!/^https?:\/\//.test(url) || !URL.canParse(url))) {
      this.issue(name, `'${url}' is not a valid URL. It must start with http:// or https://`)
    }
    return url
  }

  /** Whether a flag or the environment names the server. */
  get namesServer(): boolean {
    return Boolean(this.flags.url ?? this.environment[OPTIONS.url.variable])
  }

  publicUrl(): string | undefined {
    const text = this.text('publicUrl').trim()
    if (text === '') return undefined
    const read = readPublicUrl(text)
    if ('url' in read) return read.url
    this.issue('publicUrl', read.issue)
    return undefined
  }

  /** A file or folder, or an address; undefined if it is empty. */
  place(name: OptionName, kind: 'file' | 'folder'): string | undefined {
    const place = this.text(name)
    // Not repeated in the message: it may hold a password.
    if (isAddress(place) && (!isSafeAddress(place) || URL_PASSWORD.test(place))) {
      this.issue(name, `must be a ${kind} or an https:// address without a password; http:// only on this machine`)
    }
    return place || undefined
  }

  /** Comma-separated addresses and networks. */
  networks(name: OptionName): string[] {
    const networks = this.text(name)
      .split(',')
      .map((network) => network.trim())
      .filter(Boolean)
    for (const network of networks.filter((each) => !isNetwork(each))) {
      this.issue(name, `'${network}' is not a valid IP address or network such as 10.0.0.0/8`)
    }
    return networks.filter(isNetwork)
  }

  /** A whole number in a range; the default if it is none. */
  integer(name: OptionName, what: string, least: number, most: number): number {
    const text = this.text(name)
    const number = Number(text)
    if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number
    const range = most === Number.POSITIVE_INFINITY ? `${least} or more` : `a number from ${least} to ${most}`
    this.issue(name, `'${text}' is not a valid ${what}. Use ${range}`)
    return Number(OPTIONS[name].default)
  }

  /** In milliseconds; undefined if it is not set, or not valid. */
  interval(name: OptionName, shortestMs: number, advice: string): number | undefined {
    const text = this.text(name)
    if (text === '') return undefined
    const ms = parseDuration(text)
    if (ms !== undefined && ms >= shortestMs) return ms
    this.issue(name, `'${text}' is not a valid interval. ${advice}`)
    return undefined
  }

  /** Those that a header may have. */
  requireTokenCharacters(name: OptionName, token = ''): void {
    if (/[^\x21-\x7e]/.test(token)) this.issue(name, 'contains invalid characters. Copy the token again')
  }

  issue(option: OptionName, message: string): void {
    this.issues.push({ option, message: `${titleOf(option)}: ${message}` })
  }

  /** What `read` returns; undefined if it finds an issue. */
  valid<Value>(read: () => Value): Value | undefined {
    const before = this.issues.length
    const value = read()
    return this.issues.length === before ? value : undefined
  }

  finish(): void {
    if (this.issues.length > 0) throw new ConfigError(this.issues.map(({ message }) => message).join('\n'))
  }
}

function flagOf(name: OptionName): string {
  return OPTIONS[name].flag.split(' ')[0]!
}

function titleOf(name: OptionName): string {
  const { flag, variable } = OPTIONS[name]
  return flag === '' ? variable : `${flagOf(name)} (${variable})`
}

/** The secret files in use that every user of the machine can read, each with how to fix it. */
export function exposedSecrets(flags: Flags, environment: Environment = process.env): string[] {
  const reading = new Reading(flags, environment)
  return [...Object.values(SECRETS), 'identity' as const].flatMap((name) => {
    const path = reading.text(name)
    if (path === '' || path.startsWith(CONTAINER_SECRETS)) return []
    if ((modeOf(path) & 0o004) === 0 || process.platform === 'win32') return []
    return [`Every user of this machine can read ${path} (${OPTIONS[name].variable}). To fix it: chmod 600 ${path}`]
  })
}

/** 0 if it cannot be found out. */
function modeOf(path: string): number {
  try {
    return files().statSync(path).mode
  } catch {
    return 0
  }
}

/**
 * Adds the variables that the environment does not have, as those of a file: what is set for one command counts more.
 */
export function extendEnvironment(
  variables: Readonly<Record<string, string>>,
  environment: Environment = process.env,
): void {
  for (const [name, value] of Object.entries(variables)) environment[name] ??= value
}

/** Who runs a command, as far as flags and the environment say. */
export interface Operator {
  /** The person in Tally. */
  as: string | undefined
  /** The operating system's user who called sudo. */
  sudoUser: string | undefined
}

/** Names of users on Linux, macOS and in directories; anything else does not come from sudo. */
const USER_NAME = /^[\w.@\\-]{1,64}\$?$/

export function readOperator(flags: Flags, environment: Environment = process.env): Operator {
  const { SUDO_USER: sudoUser } = environment
  return {
    as: new Reading(flags, environment).text('as') || undefined,
    sudoUser: sudoUser !== undefined && USER_NAME.test(sudoUser) ? sudoUser : undefined,
  }
}

/** The effective options: the flag, or else the variable, or else the default. Throws {@link ConfigError}. */
export function readConfig(flags: Flags, environment: Environment = process.env): Config {
  const reading = new Reading(flags, environment)
  const config = configOf(reading)
  reading.finish()
  return config
}

/** As {@link readConfig}, for a command that goes on with what is valid: everything else is as if it were not set. */
export function examineConfig(
  flags: Flags,
  environment: Environment = process.env,
): { config: Config; issues: readonly ConfigIssue[] } {
  const reading = new Reading(flags, environment)
  return { config: configOf(reading), issues: reading.issues }
}

/** What it finds issues with is not in the result. */
function configOf(reading: Reading): Config {
  const logLevel = LOG_LEVELS.find((level) => level === reading.text('logLevel'))
  if (!logLevel)
    reading.issue(
      'logLevel',
      `'${reading.text('logLevel')}' is not a valid log level. Use one of ${LOG_LEVELS.join(', ')}`,
    )
  const databaseUrl = reading.secret('databaseUrl')
  const isPostgres = POSTGRES_URL.test(databaseUrl)
  // Not repeated in the message: it may hold a password.
  if (databaseUrl !== '' && !isPostgres) reading.issue('databaseUrl', 'must start with postgres://')
  return {
    dataDir: reading.text('data'),
    databaseUrl: isPostgres ? databaseUrl : undefined,
    replica: reading.valid(() => readReplica(reading)),
    // As in URLs.
    host: withoutBrackets(reading.text('host')),
    port: reading.integer('port', 'port', 0, 65_535),
    publicUrl: reading.publicUrl(),
    trustedProxies: reading.networks('trustedProxies'),
    rateLimit: reading.integer('rateLimit', 'number of requests', 0, Number.POSITIVE_INFINITY),
    drainSeconds: reading.integer('drain', 'number of seconds', 0, DRAIN_LIMIT_SECONDS),
    mail: reading.valid(() => readMail(reading)),
    backups: readBackups(reading),
    priceUpdates: readPriceUpdates(reading),
    webhookPrivateNetworks: reading.networks('webhookPrivateNetworks'),
    logLevel: logLevel ?? 'info',
  }
}

/** Service managers kill a server that takes longer to stop. */
const DRAIN_LIMIT_SECONDS = 300

/** A person does not wait for longer, and reports have their own limit. */
const LONGEST_READ_WAIT_MS = 5_000

function readReplica(reading: Reading): Config['replica'] {
  const url = reading.secret('databaseReadUrl')
  const waitMs = reading.integer('databaseReadWait', 'number of milliseconds', 0, LONGEST_READ_WAIT_MS)
  if (url === '') return undefined
  if (!POSTGRES_URL.test(url)) reading.issue('databaseReadUrl', 'must start with postgres://')
  if (!reading.secret('databaseUrl')) {
    reading.issue('databaseReadUrl', `needs a primary. Set ${OPTIONS.databaseUrl.variable}`)
  }
  return { url, waitMs }
}

/** A copy takes minutes where the database is large, and a disk that is always copied to is no backup. */
const SHORTEST_BACKUP_MS = 10 * 60_000

/** A year of daily ones. */
const BACKUP_KEEP_LIMIT = 366

function readBackups(reading: Reading): BackupsConfig {
  const everyMs = reading.interval('backupEvery', SHORTEST_BACKUP_MS, 'Use 10min or longer, such as 12h, 1d or 1w')
  const keepOf = (name: OptionName, least: number) =>
    reading.integer(name, 'number of backups', least, BACKUP_KEEP_LIMIT)
  const keep = {
    last: keepOf('backupKeep', 1),
    daily: keepOf('backupKeepDaily', 0),
    weekly: keepOf('backupKeepWeekly', 0),
    monthly: keepOf('backupKeepMonthly', 0),
  }
  const isPostgres = reading.secret('databaseUrl') !== ''
  for (const name of ['backupEvery', 'backupS3'] as const) {
    if (!isPostgres || reading.text(name) === '') continue
    reading.issue(name, 'works only with the embedded database. Back up PostgreSQL with its own tools')
  }
  return { folder: backupsFolder(reading), everyMs, keep, remote: reading.valid(() => readRemoteBackups(reading)) }
}

/** Downloads cost money where the storage is somebody else's. */
const SHORTEST_VERIFY_MS = 3_600_000

function readRemoteBackups(reading: Reading): RemoteBackupsConfig | undefined {
  const text = reading.text('backupS3')
  if (text === '') return undefined
  const place = parseS3Place(text)
  if (!place) {
    reading.issue('backupS3', `'${text}' is not a valid place. Use s3://bucket/prefix/ with lowercase bucket names`)
  }
  const verifyEveryMs =
    reading.text('backupVerifyEvery') === 'off'
      ? undefined
      : reading.interval('backupVerifyEvery', SHORTEST_VERIFY_MS, 'Use 1h or longer, such as 1d or 1w, or off')
  return {
    place: place!,
    access: readS3(reading),
    recipients: readRecipients(reading),
    identityFile: reading.text('identity') || undefined,
    verifyEveryMs,
  }
}

function readRecipients(reading: Reading): string[] {
  const recipients = reading
    .text('backupRecipients')
    .split(',')
    .map((recipient) => recipient.trim())
    .filter(Boolean)
  for (const recipient of recipients) {
    // Not repeated: it may be the private key.
    if (!/^age1[a-z\d]+$/.test(recipient)) {
      reading.issue('backupRecipients', 'must be public keys of age, which begin with age1, separated by commas')
    }
  }
  return recipients
}

function readS3(reading: Reading): S3Config {
  const region = reading.text('s3Region')
  const named = (['s3OwnEndpoint', 's3Endpoint'] as const).find((name) => reading.text(name) !== '')
  const endpoint = named === undefined ? `https://s3.${region}.amazonaws.com` : reading.httpUrl(named)
  if (!/^[a-z\d-]+$/.test(region)) reading.issue('s3Region', `'${region}' is not a valid region`)
  const accessKeyId = reading.text('s3AccessKeyId')
  const secretAccessKey = reading.secret('s3SecretAccessKey')
  if (accessKeyId === '') reading.issue('s3AccessKeyId', 'is not set. Set it to an access key of the storage')
  if (secretAccessKey === '') {
    const file = OPTIONS.s3SecretAccessKeyFile.variable
    reading.issue('s3SecretAccessKey', `is not set. Set it, or put it in a file and set ${file}`)
  }
  return { endpoint, region, accessKeyId, secretAccessKey, sessionToken: reading.secret('s3SessionToken') || undefined }
}

/** How to reach the storage, for a command that was given a place there. Throws {@link ConfigError}. */
export function readS3Config(flags: Flags, environment: Environment = process.env): S3Config {
  const reading = new Reading(flags, environment)
  const access = readS3(reading)
  reading.finish()
  return access
}

/** The public keys that backups are encrypted for, and the file with a private key. Throws {@link ConfigError}. */
export function readBackupKeys(
  flags: Flags,
  environment: Environment = process.env,
): { recipients: string[]; identityFile: string | undefined } {
  const reading = new Reading(flags, environment)
  const recipients = readRecipients(reading)
  reading.finish()
  return { recipients, identityFile: reading.text('identity') || undefined }
}

const backupsFolder = (reading: Reading) => reading.text('backupDir') || join(reading.text('data'), 'backups')

/** Published tables change a few times a day; anything more often is a burden for whoever serves them. */
const SHORTEST_PRICES_MS = 3_600_000

function readPriceUpdates(reading: Reading): PriceUpdatesConfig {
  const from = reading.place('pricesFrom', 'file')
  const everyMs = reading.interval('pricesEvery', SHORTEST_PRICES_MS, 'Use 1h or longer, such as 12h, 1d or 1w')
  if (everyMs !== undefined && from === undefined) {
    reading.issue('pricesEvery', `needs a source. Set ${OPTIONS.pricesFrom.variable} to an https:// address or a file`)
  }
  return { from, everyMs }
}

/** Where the database of an installation is. */
export type DatabasePlace = { kind: 'postgresql' } | { kind: 'file'; dataDir: string; backups: string }

/** What decides it. */
const PLACE_OPTIONS = ['data', 'databaseUrl', 'databaseUrlFile'] as const satisfies OptionName[]

/**
 * The database that flags and variables name, or else the service, or else the usual one. No other option is read: what is
 * wrong with them must not keep a program as old as it is. Throws {@link ConfigError}.
 *
 * @param service the variables of the server that the executable runs as
 */
export function readDatabasePlace(
  flags: Flags,
  service: Environment,
  environment: Environment = process.env,
): DatabasePlace {
  const isGiven = PLACE_OPTIONS.some((name) => flags[name] ?? environment[OPTIONS[name].variable])
  const reading = new Reading(isGiven ? flags : {}, isGiven ? environment : service)
  // The path of a secret's file is often one that only the server can read.
  const isPostgres = ['databaseUrl', 'databaseUrlFile'].some((name) => reading.text(name as OptionName) !== '')
  if (isPostgres) return { kind: 'postgresql' }
  return { kind: 'file', dataDir: reading.text('data'), backups: backupsFolder(reading) }
}

/** A database: in PostgreSQL if it has a URL, otherwise in a folder. */
export interface DatabaseLocation {
  dataDir: string
  databaseUrl: string | undefined
}

/** Where to move the database; undefined if nothing says so. Throws {@link ConfigError}. */
export function readMoveTarget(flags: Flags, environment: Environment = process.env): DatabaseLocation | undefined {
  const reading = new Reading(flags, environment)
  const place = reading.secret('moveTo')
  const isUrl = isAddress(place)
  if (isUrl && !POSTGRES_URL.test(place)) reading.issue('moveTo', 'must be a folder or start with postgres://')
  reading.finish()
  if (place === '') return undefined
  return isUrl ? { dataDir: '', databaseUrl: place } : { dataDir: place, databaseUrl: undefined }
}

/** Throws {@link ConfigError}. */
export function readReleases(flags: Flags, environment: Environment = process.env): ReleasesConfig {
  const reading = new Reading(flags, environment)
  const from = reading.place('releases', 'folder')?.replace(/(?<=.)\/+$/, '')
  reading.finish()
  return { from, key: reading.text('releasesKey') || undefined }
}

/** Of submission (RFC 6409) and of submission over TLS (RFC 8314), which is what a mail server expects of programs. */
const SMTP_PORTS: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 }

/** Undefined where no mail server is named. No message repeats the address: it may hold a password. */
function readMail(reading: Reading): MailConfig | undefined {
  const from = reading.text('smtpFrom') || undefined
  if (from && !/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(from)) {
    reading.issue(
      'smtpFrom',
      `'${from}' is not a valid e-mail address. Use an address without a name, such as bills@example.com`,
    )
  }
  const text = reading.secret('smtpUrl')
  if (!text) return undefined
  const issue = (message: string) => void reading.issue('smtpUrl', message)
  const url = URL.canParse(text) ? new URL(text) : undefined
  const usualPort = url && SMTP_PORTS[url.protocol]
  if (!url || usualPort === undefined) return issue('must be smtp://user:password@host:587 or smtps://…')
  const requireTls = url.searchParams.get('requireTLS')
  const others = [...url.searchParams.keys()].filter((name) => name !== 'requireTLS')
  if (url.hostname === '') issue('has no host')
  if (url.port === '0') issue('has port 0. Use a port from 1 to 65535')
  if (!['', '/'].includes(url.pathname)) issue('has a path after the host. Remove it')
  if (url.hash !== '') issue('contains a #. In a password, write it as %23')
  if (others.length > 0)
    issue(`has an unknown parameter '${others[0]}'. Only requireTLS=true or requireTLS=false is supported`)
  if (requireTls !== null && !['true', 'false'].includes(requireTls))
    issue('has an invalid requireTLS. Use true or false')
  const user = decoded(url.username)
  const password = decoded(url.password)
  if (user === undefined || password === undefined)
    return issue('contains a % in the user or password. Write it as %25')
  if (password && !user) issue('has a password but no user')
  return {
    host: withoutBrackets(url.hostname),
    port: Number(url.port) || usualPort,
    isSecure: url.protocol === 'smtps:',
    // A password does not leave the machine in the clear unless that is asked for.
    requiresTls: requireTls === null ? password !== '' && !LOOPBACK.test(url.hostname) : requireTls === 'true',
    user: user || undefined,
    password: password || undefined,
    from,
  }
}

/** A decoded part of a URL; undefined if its escapes are invalid. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** As {@link readConfig}, for commands that talk to a server. */
export function readClientConfig(flags: Flags, environment: Environment = process.env): ClientConfig {
  return clientConfig(new Reading(flags, environment), { stored: undefined, advice: '' })
}

/** As {@link readClientConfig}, with a token that was just entered, regardless of the environment. */
export function readClientConfigOf(token: string, flags: Flags, environment: Environment = process.env): ClientConfig {
  return readClientConfig(flags, {
    ...environment,
    [OPTIONS.token.variable]: token,
    [OPTIONS.tokenFile.variable]: undefined,
  })
}

/**
 * As {@link readClientConfig}; where nothing is said, what `tally agents login` stored counts. Its token counts only
 * together with its address, so that no server is sent the token of another one.
 */
export function readAgentsServer(
  flags: Flags,
  stored: ClientConfig | undefined,
  environment: Environment = process.env,
): ClientConfig {
  const advice = ' and store it with `tally agents login`'
  return clientConfig(new Reading(flags, environment), { stored, advice })
}

/** The server of a command that reads from one. */
export interface ReaderConfig {
  url: string
  /** Whether a flag or the environment names the server. */
  isNamed: boolean
  /** Undefined if no read token is set. */
  token: string | undefined
  announcement: string | undefined
}

/** `stored` is what `tally agents login` stored, whose address counts where nothing is said. Throws {@link ConfigError}. */
export function readReader(
  flags: Flags,
  stored: ClientConfig | undefined,
  environment: Environment = process.env,
): ReaderConfig {
  const reading = new Reading(flags, environment)
  const url = stored && !reading.namesServer ? stored.url : reading.httpUrl('url')
  const token = reading.secret('readToken') || undefined
  reading.requireTokenCharacters('readToken', token)
  reading.finish()
  return { url, isNamed: reading.namesServer, token, announcement: announcementOf(url, stored) }
}

/** What proves which job of GitHub Actions or GitLab CI/CD this is. */
export interface JobConfig {
  /** Of the server, which is the audience. */
  url: string
  /** An ID token, or what requests one of GitHub. */
  secret: string
  /** Where GitHub issues ID tokens; undefined where there is one already. */
  requestUrl: string | undefined
}

/** Undefined outside of jobs that have an ID token, and where nothing names a server. Throws {@link ConfigError}. */
export function readJob(flags: Flags, environment: Environment = process.env): JobConfig | undefined {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken } = environment
  const reading = new Reading(flags, environment)
  const idToken = reading.text('idToken')
  const secret = idToken || (requestUrl && requestToken)
  if (!secret || !reading.namesServer) return undefined
  const url = reading.httpUrl('url')
  reading.finish()
  return { url, secret, requestUrl: idToken ? undefined : requestUrl }
}

/** The branch that a pipeline of GitHub or GitLab runs for, where a commit is checked out instead; undefined elsewhere. */
export function readPipelineBranch(environment: Environment = process.env): string | undefined {
  const { GITHUB_HEAD_REF, GITHUB_REF_TYPE, GITHUB_REF_NAME } = environment
  return (
    GITHUB_HEAD_REF ||
    environment.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME ||
    environment.CI_COMMIT_BRANCH ||
    (GITHUB_REF_TYPE === 'branch' && GITHUB_REF_NAME) ||
    undefined
  )
}

/** The secret that `tally webhooks listen` checks signatures with; undefined without one. Throws {@link ConfigError}. */
export function readWebhookSecret(flags: Flags, environment: Environment = process.env): string | undefined {
  const reading = new Reading(flags, environment)
  const secret = reading.secret('webhookSecret') || undefined
  reading.finish()
  return secret
}

function clientConfig(
  reading: Reading,
  { stored, advice }: { stored: ClientConfig | undefined; advice: string },
): ClientConfig {
  const url = stored && !reading.namesServer ? stored.url : reading.httpUrl('url')
  const token = reading.secret('token') || (stored?.url === url ? stored.token : '')
  if (token === '') {
    const isOther = stored ? ` for ${url}; the stored token is for ${stored.url}` : ''
    const make = 'Create one with `tally tokens create --kind svc --user … --name …`'
    reading.issue('token', `no token is set${isOther}. ${make}${advice}`)
  }
  reading.requireTokenCharacters('token', token)
  reading.finish()
  return { url, token, announcement: announcementOf(url, stored) }
}

/** Whatever token it is sent. */
const announcementOf = (url: string, stored: ClientConfig | undefined) =>
  stored?.url === url ? stored.announcement : undefined

/** Whether flags or the environment name a token, or a file with one. */
export const namesToken = (flags: Flags, environment: Environment = process.env): boolean =>
  (['token', 'tokenFile'] as const).some((name) => Boolean(flags[name] ?? environment[OPTIONS[name].variable]))

/** The address of the server where the environment names one: what is then noted is for that one alone. */
export function namedServer(environment: Environment = process.env): string | null {
  return environment[OPTIONS.url.variable]?.replace(/\/+$/, '') || null
}

/**
 * Whether a browser that is opened here appears in front of the person: not over SSH, not without a display, and not from
 * the Linux within Windows.
 */
export function hasBrowser(environment: Environment = process.env): boolean {
  const { DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME } = environment
  if (isOverSsh(environment)) return false
  return process.platform !== 'linux' || (Boolean(DISPLAY || WAYLAND_DISPLAY) && !WSL_DISTRO_NAME)
}

/** Whether this shell came over SSH. */
export const isOverSsh = (environment: Environment = process.env): boolean =>
  Boolean(environment.SSH_CONNECTION || environment.SSH_TTY)

/** The environment for a server of its own, which no variable for another one may publish or give another database. */
export const withoutOptions = (environment: Environment = process.env): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TALLY_')))

/** Where this person's agents keep their files, and where Tally keeps what it needs on a developer's machine. */
export interface AgentsEnvironment {
  home: string
  /** Folders of Claude Code; several are separated by commas. */
  claudeConfigDir: string | undefined
  codexHome: string | undefined
  /** The folder that holds `.gemini`, where it is not the home folder. */
  geminiHome: string | undefined
  /** The folder that holds all files of Goose, where they are not in the usual ones. */
  gooseRoot: string | undefined
  /** The folder of Grok CLI, where it is not `.grok` in the home folder. */
  grokHome: string | undefined
  /** The folder of Hermes Agent, where it is not `.hermes` in the home folder. */
  hermesHome: string | undefined
  /** The folder of GitHub Copilot CLI, where it is not `.copilot` in the home folder. */
  copilotHome: string | undefined
  /** The folder that holds the sessions of Qwen Code, where it is not `.qwen` in the home folder. */
  qwenHome: string | undefined
  /** The folder of Cline's data, where it is not in `.cline` in the home folder. */
  clineData: string | undefined
  /** The database of Kilo, likewise. */
  kiloDatabase: string | undefined
  /** The folder of Kimi Code, where it is not `.kimi-code` in the home folder. */
  kimiHome: string | undefined
  /** The folder of Pi and Oh My Pi, where it is not the usual one of each in the home folder. */
  piAgentDir: string | undefined
  /** The folder that Pi keeps sessions in, where it is not in that folder. */
  piSessionDir: string | undefined
  /** The database of opencode, where it is not in its folder: absolute, or relative to that folder. */
  opencodeDatabase: string | undefined
  /** The folder that OpenClaw takes for the home folder, where it is another one. */
  openclawHome: string | undefined
  /** The folder of OpenClaw, where it is not `.openclaw` in that folder. */
  openclawState: string | undefined
  /** The folder of OpenHands, where it is not `.openhands` in the home folder. */
  openhandsHome: string | undefined
  /** The folder of its conversations, where it is not in that folder. */
  openhandsConversations: string | undefined
  dataHome: string
  configHome: string
  cacheHome: string
  stateHome: string
  /** Whether it is a job of continuous integration, whose machine is another one every time. */
  isCi?: boolean
}

/** The variables that the agents themselves read, and the folders of the XDG Base Directory Specification. */
export function readAgentsEnvironment(environment: Environment = process.env): AgentsEnvironment {
  const home = environment.HOME || environment.USERPROFILE || homedir()
  // The specification has a relative path ignored.
  const folder = (variable: string, usual: string) => {
    const value = environment[variable]
    return value && isAbsolute(value) ? value : join(home, usual)
  }
  return {
    home,
    claudeConfigDir: environment.CLAUDE_CONFIG_DIR || undefined,
    codexHome: environment.CODEX_HOME || undefined,
    geminiHome: environment.GEMINI_CLI_HOME || undefined,
    gooseRoot: environment.GOOSE_PATH_ROOT || undefined,
    grokHome: environment.GROK_HOME || undefined,
    copilotHome: environment.COPILOT_HOME || undefined,
    qwenHome: environment.QWEN_RUNTIME_DIR || environment.QWEN_HOME || undefined,
    clineData: environment.CLINE_DATA_DIR || (environment.CLINE_DIR ? join(environment.CLINE_DIR, 'data') : undefined),
    kiloDatabase: environment.KILO_DB || undefined,
    hermesHome: environment.HERMES_HOME || undefined,
    kimiHome: environment.KIMI_CODE_HOME || undefined,
    piAgentDir: environment.PI_CODING_AGENT_DIR || undefined,
    piSessionDir: environment.PI_CODING_AGENT_SESSION_DIR || undefined,
    opencodeDatabase: environment.OPENCODE_DB || undefined,
    openclawHome: environment.OPENCLAW_HOME?.replace(/^~(?=$|[/\\])/, home) || undefined,
    openclawState: environment.OPENCLAW_STATE_DIR || undefined,
    openhandsHome: environment.OPENHANDS_PERSISTENCE_DIR || undefined,
    openhandsConversations: environment.OPENHANDS_CONVERSATIONS_DIR || undefined,
    dataHome: folder('XDG_DATA_HOME', '.local/share'),
    configHome: folder('XDG_CONFIG_HOME', '.config'),
    cacheHome: folder('XDG_CACHE_HOME', '.cache'),
    stateHome: folder('XDG_STATE_HOME', '.local/state'),
    ...(environment.CI && environment.CI !== 'false' ? { isCi: true } : {}),
  }
}

/** The variables that say where agents keep their files, as far as they are set: a service gets none from a shell. */
export function agentsVariables(environment: Environment = process.env): Record<string, string> {
  const variables: Record<string, string> = {}
  const noted = new Proxy(environment, {
    get: (all, name: string) => {
      const value = all[name]
      if (value && name !== 'HOME' && name !== 'USERPROFILE') variables[name] = value
      return value
    },
  })
  readAgentsEnvironment(noted)
  return variables
}

/** Where agents that are started in this shell push telemetry to, according to the variable that their SDK reads. */
export function telemetryEndpoint(variable: string, environment: Environment = process.env): string | undefined {
  return environment[variable] || undefined
}
