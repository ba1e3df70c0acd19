/** Sends one e-mail through a mail server and reports the outcome. */
import type { Mail } from './delivery-mail.ts'

/** The mail server that `TALLY_SMTP_URL` names. */
export interface MailServer {
  host: string
  port: number
  /** TLS from the first byte, instead of after STARTTLS. */
  isSecure: boolean
  /** Refuses to go on where the server offers no STARTTLS. */
  requiresTls: boolean
  user: string | undefined
  password: string | undefined
}

/**
 * What the server answered. `refused` is for good: it does not know the recipient or does not want the message, and
 * would say so again. Everything else may be otherwise in an hour, also a password that is corrected meanwhile.
 */
export interface Outcome {
  result: 'sent' | 'refused' | 'failed'
  answer: string
}

export interface Mailer {
  send(mail: Mail): Promise<Outcome>
  /** Connects and signs in, and sends nothing. Answers what is wrong, undefined where nothing is. */
  greet(): Promise<string | undefined>
}

/** A mail server that is there answers at once; longer waiting only keeps those back that wait behind. */
const CONNECT_TIMEOUT_MS = 10_000

/** For all of it. A bill of thousands of lines is a megabyte, which the slowest line takes in half of that. */
const SEND_TIMEOUT_MS = 60_000

/** An answer is read by a person; some servers send pages. */
const ANSWER_LIMIT = 500

export function createMailer(
  { host, port, isSecure, requiresTls, user, password }: MailServer,
  { sendTimeoutMs = SEND_TIMEOUT_MS }: { sendTimeoutMs?: number } = {},
): Mailer {
  const transport = async () => {
    // Only now: most commands and many servers never send an e-mail.
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
      // What a bill says never names a file or an address to be read.
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

    async greet() {
      try {
        await (await transport()).verify()
        return undefined
      } catch (error) {
        return outcomeOf(error as MailError, sendTimeoutMs).answer
      }
    },
  }
}

/** What nodemailer throws: with the server's answer where there was one. */
interface MailError extends Error {
  responseCode?: number
  response?: string
  command?: string
  /** By recipient, where each was refused. */
  rejectedErrors?: MailError[]
}

/** Refusals at other commands (AUTH, MAIL FROM) are about Tally's settings, not about this recipient or message. */
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
