/** Sends one e-mail through a mail server and reports the outcome. */

import type { Socket } from 'node:net'
import type { SMTPSentMessageInfo, Transporter } from 'nodemailer'
import { firstCharacters } from '../../lib/characters.ts'
import type { Connection } from '../../lib/outgoing/connection.ts'
import type { Mail } from './delivery-mail.ts'

/** The mail server in `TALLY_SMTP_URL`. */
export interface MailServer {
  host: string
  port: number
  /** TLS from the first byte, instead of after STARTTLS. */
  isSecure: boolean
  /** Aborts if the server does not offer STARTTLS. */
  requiresTls: boolean
  user: string | undefined
  password: string | undefined
}

/**
 * The server's response. `refused` is permanent: the server does not know the recipient or rejects the message. All
 * other failures may be temporary, including a wrong password, which may be corrected meanwhile.
 */
export interface Outcome {
  result: 'sent' | 'refused' | 'failed'
  answer: string
}

export interface Mailer {
  send(mail: Mail): Promise<Outcome>
  /** Connects and signs in without sending anything. Returns the error, or undefined if there is none. */
  check(): Promise<string | undefined>
}

/** A running mail server responds at once; a longer timeout only delays the queued mails. */
const CONNECT_TIMEOUT_MS = 10_000

/**
 * For the whole mail. A bill of thousands of lines is a megabyte, which the slowest connection transfers in half that
 * time.
 */
const SEND_TIMEOUT_MS = 60_000

/** All responses for an e-mail have some hundred bytes, and certificates a few thousand. What is more is read no further. */
const RESPONSE_BYTES = 131_072

/** Responses are shown to people, but some servers send pages. */
const ANSWER_LIMIT = 500

export function createMailer(
  { host, port, isSecure, requiresTls, user, password }: MailServer,
  { sendTimeoutMs = SEND_TIMEOUT_MS }: { sendTimeoutMs?: number } = {},
): Mailer {
  /** Does something with the mail server over one connection, within the time and the bytes that it may take. */
  async function connected<Result>(
    work: (transport: Transporter<SMTPSentMessageInfo>, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    // Imported here, since most commands and many servers never send an e-mail.
    const [{ createTransport }, { connectToFirst, systemAddresses }] = await Promise.all([
      import('nodemailer'),
      import('../../lib/outgoing/connection.ts'),
    ])
    const signal = AbortSignal.timeout(sendTimeoutMs)
    const url = new URL(`smtp://${host.includes(':') ? `[${host}]` : host}:${port}`)
    let connection: Connection | undefined
    const open = async () => {
      const limits = { budgetBytes: RESPONSE_BYTES, connectTimeoutMs: CONNECT_TIMEOUT_MS, signal }
      connection = await connectToFirst(await systemAddresses(host), url, limits)
      return { connection: connection.stream as Socket }
    }
    const transport = createTransport({
      host,
      port,
      secure: isSecure,
      requireTLS: requiresTls,
      ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: sendTimeoutMs,
      getSocket: (_options, callback) => void open().then((socket) => callback(null, socket), callback),
      // The content of a bill must never make nodemailer read a file or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    try {
      return await work(transport, signal)
    } catch (error) {
      throw connection?.failure() ?? error
    } finally {
      connection?.stream.destroy()
    }
  }

  return {
    async send({ from, to, ...mail }) {
      try {
        const { response } = await connected((transport, signal) =>
          transport.sendMail({
            ...mail,
            from,
            to: { name: '', address: to },
            envelope: { from: from.address, to: [to] },
            signal,
          }),
        )
        return { result: 'sent', answer: answerText(response) }
      } catch (error) {
        return outcomeOf(error as MailError, sendTimeoutMs)
      }
    },

    async check() {
      try {
        await connected((transport) => transport.verify())
        return undefined
      } catch (error) {
        return outcomeOf(error as MailError, sendTimeoutMs).answer
      }
    },
  }
}

/** An error of nodemailer, with the server's response if there was one. */
interface MailError extends Error {
  responseCode?: number
  response?: string
  command?: string
  /** The errors of refused recipients. */
  rejectedErrors?: MailError[]
}

/** Refusals of other commands (AUTH, MAIL FROM) concern Tally's settings, not this recipient or message. */
const ABOUT_THE_MESSAGE = /^(RCPT TO|DATA)/

function outcomeOf(error: MailError, sendTimeoutMs: number): Outcome {
  const { responseCode, response, command, message, name } = error.rejectedErrors?.[0] ?? error
  if (name === 'AbortError' || name === 'TimeoutError') {
    return { result: 'failed', answer: `The mail server did not accept the e-mail within ${sendTimeoutMs / 1_000} s.` }
  }
  const isForGood = responseCode !== undefined && responseCode >= 500 && ABOUT_THE_MESSAGE.test(command ?? '')
  return { result: isForGood ? 'refused' : 'failed', answer: answerText(response ?? message) }
}

function answerText(text: string): string {
  return firstCharacters(text.replaceAll(/\s+/g, ' ').trim(), ANSWER_LIMIT)
}
