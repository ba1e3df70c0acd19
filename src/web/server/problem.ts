/** One value that was refused, and where it stands in what was sent. */
export interface Issue {
  /** A JSON pointer, `/tokens/input`. */
  pointer: string
  code: string
  message: string
}

const ENDED =
  'The session had ended, and nothing was changed. What you typed is still here: try again when you are signed in.'

/** A refusal of the API (RFC 9457), with what a person can do about it. */
export class Problem extends Error {
  override readonly name = 'Problem'

  private constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    detail: string,
    readonly issues: readonly Issue[],
    readonly requestId: string | null,
  ) {
    super(detail)
  }

  static of(response: Response, body: unknown): Problem {
    const told = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
    const text = (key: string, otherwise: string) => (typeof told[key] === 'string' ? (told[key] as string) : otherwise)
    const code = text('code', 'unknown')
    // The API tells programs to send a token.
    if (code === 'unauthenticated') return new Problem(response.status, code, 'The session has ended', ENDED, [], null)
    return new Problem(
      response.status,
      code,
      text('title', `The server answered ${response.status}`),
      text('detail', 'It gave no reason. Try again, and look into its log where it stays so.'),
      Array.isArray(told.errors) ? (told.errors as Issue[]) : [],
      response.headers.get('x-request-id'),
    )
  }

  static unreachable(): Problem {
    const advice = 'Tally does not answer. What you typed is still here: try again when the server runs.'
    return new Problem(0, 'unreachable', 'No connection to the server', advice, [], null)
  }
}

export const unreachable = () => Problem.unreachable()

/** Whatever was thrown, as something that can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

/** The API's message says what a value must be; before it stands a label that says which one is meant. */
export const sentence = (message: string) =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`
