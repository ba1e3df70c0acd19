/**
 * A real mail server on the loopback address that stores accepted messages, and behaves as the recipient's name
 * requests.
 */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { MailServer } from '../../src/features/bills/delivery-mailer.ts'

export interface Letter {
  from: string
  to: string[]
  headers: Map<string, string>
  text: string
  attachments: { name: string; type: string; bytes: Buffer }[]
  /** The exact message. */
  raw: string
}

export interface TestMailServer {
  /** Its URL, without a password. */
  address: MailServer
  letters: Letter[]
  /** User names and passwords that were sent to it. */
  passwords: string[]
  close(): Promise<void>
}

const refusal = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

/**
 * `unknown@…` is refused for good, `later@…` for now, `spam@…` once its message is there; at `stall@…` nothing is
 * answered any more, and at `drop@…` the connection ends. `user` with `password` may be demanded.
 */
export async function startMailServer({ password }: { password?: string } = {}): Promise<TestMailServer> {
  const letters: Letter[] = []
  const passwords: string[] = []
  const hangUp = (id: string) => [...server.connections].find(({ session }) => session.id === id)?._socket.destroy()
  const server = new SMTPServer({
    authOptional: password === undefined,
    disabledCommands: password === undefined ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
    allowInsecureAuth: true,
    closeTimeout: 100,
    onAuth(auth, _session, answer) {
      passwords.push(auth.password ?? '')
      if (auth.password === password) answer(null, { user: auth.username })
      else answer(refusal(535, '5.7.8 Authentication failed'))
    },
    onRcptTo({ address }, session, answer) {
      if (address.startsWith('unknown@')) answer(refusal(550, '5.1.1 There is nobody of that name'))
      else if (address.startsWith('later@')) answer(refusal(451, '4.3.0 Try again later'))
      else if (address.startsWith('drop@')) hangUp(session.id)
      else if (!address.startsWith('stall@')) answer()
    },
    onData(stream, session, answer) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        if (to.some((address) => address.startsWith('spam@'))) {
          answer(refusal(554, '5.7.1 Looks like spam'))
          return
        }
        const { mailFrom } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        letters.push({ from, to, ...readMessage(Buffer.concat(chunks).toString('latin1')) })
        answer(null, `Queued as ${letters.length}`)
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: {
      host: '127.0.0.1',
      port: (server.server.address() as AddressInfo).port,
      isSecure: false,
      requiresTls: false,
      user: undefined,
      password: undefined,
    },
    letters,
    passwords,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** A message of one text, perhaps with attachments, as RFC 2045 writes it. */
function readMessage(raw: string): Omit<Letter, 'from' | 'to'> {
  const { headers, body } = readPart(raw)
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type')!)?.[1]
  const parts =
    boundary === undefined
      ? [{ headers, body }]
      : body
          .split(`--${boundary}`)
          .slice(1, -1)
          .map((part) => readPart(part.replace(/^\r\n/, '')))
  const [text, ...attachments] = parts.map(({ headers: head, body: content }) => ({
    name: /filename="?([^";]+)/.exec(head.get('content-disposition') ?? '')?.[1] ?? '',
    type: head.get('content-type')!.split(';')[0]!,
    bytes: decoded(content, head.get('content-transfer-encoding')),
  }))
  return { headers, text: text!.bytes.toString('utf8').replaceAll('\r\n', '\n'), attachments, raw }
}

function readPart(raw: string): { headers: Map<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { headers, body: raw.slice(end + 4) }
}

function decoded(body: string, encoding = '7bit'): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64')
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1')
  const text = body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}
