import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ConfigError,
  exposedSecrets,
  namedServer,
  readAgentsServer,
  readClientConfig,
  readConfig,
} from '../src/config.ts'

describe('the configuration', () => {
  test('serves its own folder on the loopback address by default', () => {
    expect(readConfig({}, {})).toEqual({
      dataDir: './tally-data',
      databaseUrl: undefined,
      replica: undefined,
      host: '127.0.0.1',
      port: 4747,
      publicUrl: undefined,
      trustedProxies: [],
      webhookPrivateNetworks: [],
      rateLimit: 0,
      drainSeconds: 0,
      mail: undefined,
      backups: {
        folder: 'tally-data/backups',
        everyMs: undefined,
        keep: { last: 14, daily: 0, weekly: 0, monthly: 0 },
        remote: undefined,
      },
      priceUpdates: { from: undefined, everyMs: undefined },
      logLevel: 'info',
    })
  })

  test('takes a flag before a variable before the default', () => {
    const environment = { TALLY_PORT: '8080', TALLY_DATA: '/srv/tally' }
    expect(readConfig({ port: '9090' }, environment)).toMatchObject({ port: 9090, dataDir: '/srv/tally' })
  })

  test('takes an empty variable for one that is not set', () => {
    expect(readConfig({}, { TALLY_DATA: '' }).dataDir).toBe('./tally-data')
  })

  test('takes an IPv6 address as in URLs', () => {
    expect(readConfig({ host: '[::1]' }, {}).host).toBe('::1')
  })

  test('drops a slash at the end of an address', () => {
    expect(readConfig({ publicUrl: 'https://tally.example.com/' }, {}).publicUrl).toBe('https://tally.example.com')
  })

  test('takes no public URL that links could not begin with, and repeats none', () => {
    const read = (publicUrl: string) => () => readConfig({ publicUrl }, {})
    for (const wrong of ['tally.lan', 'https://tally.lan/secret', 'https://ada:secret@tally.lan']) {
      expect(read(wrong)).toThrow(/^--public-url \(TALLY_PUBLIC_URL\): must /)
      expect(read(wrong)).not.toThrow(/secret/)
    }
  })

  test('reports all issues at once, by flag and variable', () => {
    const read = () =>
      readConfig({ port: '65536' }, { TALLY_LOG_LEVEL: 'loud', TALLY_DATABASE_URL: 'mysql://u:secret@host/db' })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(/TALLY_LOG_LEVEL.*\n.*TALLY_DATABASE_URL.*\n--port \(TALLY_PORT\)/)
    // An address of a database may hold a password.
    expect(read).not.toThrow(/secret/)
  })

  test('reads a mail server from one address, and keeps its password from the wire and from messages', () => {
    const mail = (url: string, from = '') => readConfig({}, { TALLY_SMTP_URL: url, TALLY_SMTP_FROM: from }).mail
    expect(mail('smtp://ada:p%40ss%23@mail.example.com', 'bills@example.com')).toEqual({
      host: 'mail.example.com',
      port: 587,
      isSecure: false,
      requiresTls: true,
      user: 'ada',
      password: 'p@ss#',
      from: 'bills@example.com',
    })
    expect(mail('smtps://mail.example.com')).toMatchObject({ port: 465, isSecure: true, user: undefined })
    expect(mail('smtp://ada:pass@[::1]:2525')).toMatchObject({ host: '::1', port: 2525, requiresTls: false })
    expect(mail('smtp://ada:pass@10.0.0.1?requireTLS=false')).toMatchObject({ requiresTls: false })
    expect(mail('smtp://10.0.0.1?requireTLS=true')).toMatchObject({ requiresTls: true })
    for (const wrong of [
      'mail.example.com',
      'http://mail.example.com',
      'smtp://',
      'smtp://ada:secret@mail.example.com:0',
      'smtp://ada:secret@mail.example.com/x',
      'smtp://ada:se%zzcret@mail.example.com',
      'smtp://ada#secret@mail.example.com',
      'smtp://:secret@mail.example.com',
      'smtp://mail.example.com?requireTLS=secret',
      'smtp://mail.example.com?pool=true',
    ]) {
      expect(() => mail(wrong)).toThrow(/^--smtp-url \(TALLY_SMTP_URL\): /)
      expect(() => mail(wrong)).not.toThrow(/secret/)
    }
    expect(() => mail('', 'Ada <ada@example.com>')).toThrow(/TALLY_SMTP_FROM/)
  })

  test('takes addresses and networks of proxies', () => {
    const { trustedProxies } = readConfig({}, { TALLY_TRUSTED_PROXIES: '127.0.0.1, fd00::/8,10.0.0.0/8' })
    expect(trustedProxies).toEqual(['127.0.0.1', 'fd00::/8', '10.0.0.0/8'])
  })

  test.each(['proxy', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0.0/8/8', '10.0.0'])(
    'takes %p for no proxy',
    (proxy) => {
      expect(() => readConfig({ trustedProxies: proxy }, {})).toThrow(/is not a valid IP address/)
    },
  )

  test.each(['abc', '-1', '1e3', ' ', '123456'])('takes %p for no port', (port) => {
    expect(() => readConfig({ port }, {})).toThrow(/is not a valid port/)
  })

  test.each(['tally.lan', 'ftp://tally.lan', 'http://'])('takes %p for no address of a server', (url) => {
    expect(() => readClientConfig({ url, token: 'tally_svc_x' }, {})).toThrow(/--url \(TALLY_URL\)/)
  })

  test('explains how to get a token if none is set', () => {
    expect(() => readClientConfig({}, {})).toThrow(/tally tokens create/)
  })

  test('takes no token with characters that a header could not carry', () => {
    expect(() => readClientConfig({ token: 'tally_svc_\nx' }, {})).toThrow(/Copy the token again/)
  })
})

describe('the server that agents report to', () => {
  const stored = { url: 'http://tally.lan:4747', token: 'tally_svc_stored' }

  test('is the stored one where nothing else is said, with its token', () => {
    expect(readAgentsServer({}, stored, {})).toEqual(stored)
    expect(readAgentsServer({}, stored, { TALLY_TOKEN: 'tally_svc_other' })).toEqual({
      ...stored,
      token: 'tally_svc_other',
    })
    expect(readAgentsServer({}, stored, { TALLY_URL: 'http://tally.lan:4747/' })).toEqual(stored)
  })

  test('is never sent the token of another one', () => {
    const read = () => readAgentsServer({}, stored, { TALLY_URL: 'http://other.lan' })
    expect(read).toThrow('no token is set for http://other.lan; the stored token is for http://tally.lan:4747')
    expect(() => readAgentsServer({ url: 'http://other.lan' }, stored, {})).toThrow(ConfigError)
    expect(read).not.toThrow('tally_svc_stored')
  })

  test('is named by the environment or not at all', () => {
    expect(namedServer({ TALLY_URL: 'http://other.lan/' })).toBe('http://other.lan')
    expect([namedServer({ TALLY_URL: '' }), namedServer({})]).toEqual([null, null])
  })
})

describe('a secret', () => {
  const SMTP = 'smtp://ada:pass@mail.example.com'
  const DATABASE = 'postgres://tally:s3cret@db/tally'
  let folder: string
  const write = async (name: string, text: string, mode = 0o600) => {
    const path = join(folder, name)
    await Bun.write(path, text)
    await chmod(path, mode)
    return path
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tally-secrets-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test.each(['', '\n', '\r\n'])('is read from the file that a variable or a flag names, ended by %j', async (end) => {
    const [smtp, database, token] = [
      await write('smtp', SMTP + end),
      await write('database', DATABASE + end),
      await write('token', `tally_svc_x${end}`),
    ]
    const environment = { TALLY_SMTP_URL_FILE: smtp, TALLY_DATABASE_URL_FILE: database, TALLY_TOKEN_FILE: token }
    for (const read of [
      readConfig({}, environment),
      readConfig({ smtpUrlFile: smtp, databaseUrlFile: database }, {}),
      // A flag goes before a variable, also where one names a file and the other does not.
      readConfig(
        { smtpUrlFile: smtp, databaseUrlFile: database },
        { TALLY_SMTP_URL: 'smtp://other', TALLY_DATABASE_URL: 'postgres://other' },
      ),
    ]) {
      expect(read.mail).toMatchObject({ host: 'mail.example.com', user: 'ada', password: 'pass' })
      expect(read.databaseUrl).toBe(DATABASE)
    }
    expect(readClientConfig({}, environment).token).toBe('tally_svc_x')
    expect(readClientConfig({ tokenFile: token }, {}).token).toBe('tally_svc_x')
    expect(readAgentsServer({}, undefined, environment).token).toBe('tally_svc_x')
  })

  test('is refused where it is given twice, or its file cannot be used, without saying what it is', async () => {
    const file = await write('twice', SMTP)
    const refusal = (flags: object, environment: Record<string, string>) => {
      try {
        readConfig(flags, environment)
        return 'nothing'
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
        expect((error as Error).message).not.toContain('pass@')
        return (error as Error).message
      }
    }
    expect(refusal({}, { TALLY_SMTP_URL: SMTP, TALLY_SMTP_URL_FILE: file })).toBe(
      '--smtp-url-file (TALLY_SMTP_URL_FILE): cannot be combined with --smtp-url (TALLY_SMTP_URL). Remove one of them',
    )
    expect(refusal({}, { TALLY_SMTP_URL_FILE: '/no/such/file' })).toContain('/no/such/file cannot be read (ENOENT)')
    expect(refusal({}, { TALLY_SMTP_URL_FILE: folder })).toContain('cannot be read (EISDIR)')
    const empty = await write('empty', '\n')
    expect(refusal({}, { TALLY_SMTP_URL_FILE: empty })).toContain(`${empty} is empty`)
    const lines = await write('lines', `${SMTP}\nsmtp://b:pass@c`)
    expect(refusal({}, { TALLY_SMTP_URL_FILE: lines })).toContain('has more than one line')
    const long = await write('long', `smtp://a:pass@${'x'.repeat(20_000)}`)
    expect(refusal({}, { TALLY_SMTP_URL_FILE: long })).toContain('too large')
  })

  test('is refused on the command line, where everyone on the machine can read it', () => {
    const visible = /visible|can see in the process list/
    expect(() => readConfig({ smtpUrl: SMTP }, {})).toThrow(visible)
    expect(() => readConfig({ databaseUrl: DATABASE }, {})).toThrow(visible)
    expect(() => readConfig({ databaseUrl: 'postgres://db/tally?password=s3cret' }, {})).toThrow(visible)
    expect(() => readClientConfig({ token: 'tally_svc_x' }, {})).toThrow(/Set TALLY_TOKEN, or put it in a file/)
    expect(() => readConfig({ smtpUrl: SMTP }, {})).not.toThrow(/pass@/)
    expect(() => readClientConfig({ url: 'http://ada:pass@tally' }, { TALLY_TOKEN: 'x' })).toThrow(
      /Remove it from the URL/,
    )
    // What holds none may be there.
    expect(readConfig({ smtpUrl: 'smtp://mail.example.com' }, {}).mail?.host).toBe('mail.example.com')
    expect(readConfig({ databaseUrl: 'postgres://tally@db:5432/tally' }, {}).databaseUrl).toBeDefined()
  })

  test('in a file that everyone on the machine can read is pointed out', async () => {
    const open = await write('open', SMTP, 0o644)
    const closed = await write('closed', DATABASE, 0o640)
    const environment = { TALLY_SMTP_URL_FILE: open, TALLY_DATABASE_URL_FILE: closed }
    expect(exposedSecrets({}, environment)).toEqual([
      `Every user of this machine can read ${open} (TALLY_SMTP_URL_FILE). To fix it: chmod 600 ${open}`,
    ])
    // As container runtimes mount them.
    expect(exposedSecrets({}, { TALLY_SMTP_URL_FILE: '/run/secrets/smtp-url' })).toEqual([])
  })
})
