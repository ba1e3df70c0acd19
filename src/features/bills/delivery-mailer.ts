/** Sends one e-mail through a mail server and reports the outcome. */
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

/** Responses are shown to people, but some servers send pages. */
const ANSWER_LIMIT = 500

export function createMailer(
  { host, port, isSecure, requiresTls, user, password }: MailServer,
  { sendTimeoutMs = SEND_TIMEOUT_MS }: { sendTimeoutMs?: number } = {},
): Mailer {
  const transport = async () => {
    // Imported here, since most commands and many servers never send an e-mail.
    const { createTransport } = await import('nodemailer')
    return createTransport({
      host,
      port,
      secure: isSecure,
      requireTLS: requiresTls,
      ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: sendTimeoutMs,
      // The content of a bill must never make nodemailer read a file or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  return {
    async send({ from, to, ...mail }) {
      try {
        const { response } = await (await transport()).sendMail({
          ...mail,
          from,
          to: { name: '', address: to },
          envelope: { from: from.address, to: [to] },
          signal: AbortSignal.timeout(sendTimeoutMs),
        })
        return { result: 'sent', answer: answerText(response) }
      } catch (error) {
        return outcomeOf(error as MailError, sendTimeoutMs)
      }
    },

    async check() {
      try {
        await (await transport()).verify()
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
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, ANSWER_LIMIT)
}
