/** A rejected value and its position in the request body. */
export interface Issue {
  /** A JSON pointer, `/tokens/input`. */
  pointer: string
  code: string
  message: string
}

export interface LastChange {
  at: string | null
  by: { id: string; name: string } | null
}

interface OpenPlanPeriod {
  plan: { id: string; name: string }
  first_day: string
  last_day: string | null
  entries: number
}

const ENDED = 'Your session had ended, and nothing was changed. What you typed is still here: sign in, then try again.'

/** An API error (RFC 9457) and what to do about it. */
export class Problem extends Error {
  override readonly name = 'Problem'

  private constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    detail: string,
    readonly issues: readonly Issue[],
    readonly requestId: string | null,
    /** What somebody else has changed meanwhile: when, and who. */
    readonly changed: LastChange | null = null,
    /** The periods of plans that are to be closed first. */
    readonly periods: readonly OpenPlanPeriod[] = [],
  ) {
    super(detail)
  }

  static of(response: Response, body: unknown): Problem {
    const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
    const text = (key: string, otherwise: string) =>
      typeof fields[key] === 'string' ? (fields[key] as string) : otherwise
    const code = text('code', 'unknown')
    // The API's own message is meant for programs: it asks for a token.
    if (code === 'unauthenticated') return new Problem(response.status, code, 'Your session has ended', ENDED, [], null)
    return new Problem(
      response.status,
      code,
      text('title', `The server answered ${response.status}`),
      text('detail', 'It gave no reason. Try again. If the error persists, check the server log.'),
      Array.isArray(fields.errors) ? (fields.errors as Issue[]) : [],
      response.headers.get('x-request-id'),
      (fields.changed as LastChange | undefined) ?? null,
      Array.isArray(fields.periods) ? (fields.periods as OpenPlanPeriod[]) : [],
    )
  }

  static unreachable(): Problem {
    const advice = 'Tally is not responding. What you typed is still here: try again once the server is running.'
    return new Problem(0, 'unreachable', 'Can’t reach the server', advice, [], null)
  }
}

export const unreachable = () => Problem.unreachable()

/** Returns the error as a Problem, or rethrows it. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

/** Turns an API message, such as "must be a number", into a sentence to show under a labeled field. */
export const sentence = (message: string) =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`
