import { describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import {
  newSecret,
  parseSecret,
  secretText,
  signatureIssue,
  signatureOf,
  signedHeaders,
} from '../../../src/features/webhooks/signature.ts'

const NOW = Date.now()
const body = '{"type":"bill.sent","name":"Größe"}'
const message = { id: 'evt_184467', sentAtSeconds: Math.floor(NOW / 1_000), body }

describe('A signature', () => {
  test('is the one that Standard Webhooks gives as its example', () => {
    const secret = parseSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')!
    const example = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      sentAtSeconds: 1_614_265_330,
      body: '{"test": 2432232314}',
    }
    expect(signatureOf(example, secret)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  test('is accepted by the library of receivers', () => {
    const secret = newSecret()
    const verified = new Webhook(secretText(secret)).verify(body, signedHeaders(message, [secret]))
    expect(verified).toEqual(JSON.parse(body))
  })

  test('is accepted with the old and with the new secret during a rotation, and with no other', () => {
    const [old, recent, other] = [newSecret(), newSecret(), newSecret()]
    const headers = signedHeaders(message, [recent, old])
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    for (const secret of [old, recent]) {
      expect(new Webhook(secretText(secret)).verify(body, headers)).toEqual(JSON.parse(body))
    }
    expect(() => new Webhook(secretText(other)).verify(body, headers)).toThrow()
  })

  test('is checked by the receiver on the command line: secret, body and time', () => {
    const secret = newSecret()
    const headers = new Headers(signedHeaders(message, [newSecret(), secret]))
    expect(signatureIssue(headers, body, { secret, now: NOW })).toBeUndefined()
    expect(signatureIssue(headers, body, { secret: newSecret(), now: NOW })).toContain('another secret')
    expect(signatureIssue(headers, `${body} `, { secret, now: NOW })).toContain('the body was changed')
    expect(signatureIssue(headers, body, { secret, now: NOW + 301_000 })).toContain('five minutes')
    expect(signatureIssue(new Headers(), body, { secret, now: NOW })).toContain('not signed')
  })
})

test('A secret has 32 random bytes, and is read back from its text', () => {
  const secret = newSecret()
  expect(secret).toHaveLength(32)
  expect(secretText(secret)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(Buffer.from(parseSecret(secretText(secret))!).equals(Buffer.from(secret))).toBe(true)
  expect(parseSecret('whsec_*')).toBeUndefined()
  expect(parseSecret('')).toBeUndefined()
})
