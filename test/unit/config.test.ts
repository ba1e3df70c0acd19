import { describe, expect, test } from 'bun:test'
import { ConfigError, namedServer, readAgentsServer, readClientConfig, readConfig } from '../../src/config.ts'

describe('the configuration', () => {
  test('without anything said serves its own folder on the loopback address', () => {
    expect(readConfig({}, {})).toEqual({
      dataDir: './tally-data',
      databaseUrl: undefined,
      host: '127.0.0.1',
      port: 4747,
      publicUrl: undefined,
      trustedProxies: [],
      rateLimit: 0,
      mail: undefined,
      backups: { folder: 'tally-data/backups', everyMs: undefined, keep: 14 },
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

  test('drops a slash at the end of an address', () => {
    expect(readConfig({ publicUrl: 'https://tally.example.com/' }, {}).publicUrl).toBe('https://tally.example.com')
  })

  test('tells every fault at once, by flag and variable', () => {
    const read = () =>
      readConfig({ port: '65536' }, { TALLY_LOG_LEVEL: 'loud', TALLY_DATABASE_URL: 'mysql://u:secret@host/db' })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(/--port \(TALLY_PORT\).*\n.*TALLY_LOG_LEVEL.*\n.*TALLY_DATABASE_URL/)
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
      expect(() => readConfig({ trustedProxies: proxy }, {})).toThrow(/is no address/)
    },
  )

  test.each(['abc', '-1', '1e3', ' ', '123456'])('takes %p for no port', (port) => {
    expect(() => readConfig({ port }, {})).toThrow(/is no port/)
  })

  test.each(['tally.lan', 'ftp://tally.lan', 'http://'])('takes %p for no address of a server', (url) => {
    expect(() => readClientConfig({ url, token: 'tally_svc_x' }, {})).toThrow(/--url \(TALLY_URL\)/)
  })

  test('says how to come to a token where none is set', () => {
    expect(() => readClientConfig({}, {})).toThrow(/tally tokens create/)
  })

  test('takes no token with characters that a header could not carry', () => {
    expect(() => readClientConfig({ token: 'tally_svc_\nx' }, {})).toThrow(/copy it again/)
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
    expect(read).toThrow('no token is set for http://other.lan, only for http://tally.lan:4747')
    expect(() => readAgentsServer({ url: 'http://other.lan' }, stored, {})).toThrow(ConfigError)
    expect(read).not.toThrow('tally_svc_stored')
  })

  test('is named by the environment or not at all', () => {
    expect(namedServer({ TALLY_URL: 'http://other.lan/' })).toBe('http://other.lan')
    expect([namedServer({ TALLY_URL: '' }), namedServer({})]).toEqual([null, null])
  })
})
