/**
 * Every refusal that a caller can meet. Services throw a `Problem`; `http/problems.ts` turns it into RFC 9457
 * `application/problem+json` and the command line into one line of text. The catalogue below feeds the OpenAPI
 * document and the pages under `/problems/`, so a code that is not explained here cannot be thrown.
 */

interface ProblemKind {
  status: number
  title: string
  /** What it means and what to do, for the page `/problems/<code>`. */
  help: string
}

export const PROBLEMS = {
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    help: 'The body is not one valid JSON document in UTF-8. Numbers such as NaN or Infinity, trailing commas and invalid UTF-8 bytes are not JSON, and more than 100 levels are not read.',
  },
  bad_request: {
    status: 400,
    title: 'Bad request',
    help: 'The request as a whole could not be understood, or could be understood in two ways, such as with two Host headers. The detail names the part.',
  },
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    help: 'The call needs a bearer token, `Authorization: Bearer tally_svc_…`, or the session of a signed-in person. The detail says what was wrong with what was sent: nothing, or something mistyped, unknown, expired, revoked or ended.',
  },
  sign_in_failed: {
    status: 401,
    title: 'Sign-in failed',
    help: 'The e-mail address or the password is wrong; nobody is told which. An admin makes a link to choose a new password with `tally users reset-password`.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    help: 'The credential is valid but may not do this. The detail names the kind of token or the role that may.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    help: 'There is nothing at this address, or nothing that this credential may see.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    help: 'The address exists but not with this HTTP method.',
  },
  already_set_up: {
    status: 409,
    title: 'Already set up',
    help: 'The first-run set-up was done before. Sign in, or make people on the command line with `tally users add`.',
  },
  already_exists: {
    status: 409,
    title: 'Already exists',
    help: 'Something with this name is there already. The detail names it.',
  },
  in_use: {
    status: 409,
    title: 'In use',
    help: 'Something else refers to it, so it cannot be removed. Archive it instead: it leaves the lists, and what refers to it stays as it is.',
  },
  project_merged: {
    status: 409,
    title: 'Project merged',
    help: 'The project was merged into another one, which its names lead to now. Change that one instead; the detail names it.',
  },
  rules_changed: {
    status: 409,
    title: 'Rules changed',
    help: 'A new order of the placement rules has to name every rule exactly once, and the ones it names are not the ones that there are now. List them again and repeat.',
  },
  last_admin: {
    status: 409,
    title: 'Last admin',
    help: 'Without an admin nobody could manage Tally. Make another person an admin first.',
  },
  entry_locked: {
    status: 409,
    title: 'Entry locked',
    help: 'The entry is approved, on a submitted sheet or on a bill, so its figures and its place are fixed. The detail says what has to be undone first.',
  },
  session_shrunk: {
    status: 409,
    title: 'Session shrunk',
    help: 'The totals reported for the session are below what its locked (approved or billed) entries already hold. A session reports totals so far, which never become less. Nothing was changed.',
  },
  session_mismatch: {
    status: 409,
    title: 'Session mismatch',
    help: 'The report does not fit the entries that the session already has. The detail says how. Nothing was changed.',
  },
  wrong_status: {
    status: 409,
    title: 'Wrong status',
    help: 'The entry or the token sheet is in a state from which this cannot be done. The detail says in which it is and in which it must be. Nothing was changed.',
  },
  on_a_sheet: {
    status: 409,
    title: 'On a token sheet',
    help: 'Entries that were made by hand are approved, returned and changed with their token sheet, not one by one. The detail names the sheet.',
  },
  empty_sheet: {
    status: 409,
    title: 'Empty token sheet',
    help: 'A token sheet without entries cannot be submitted. Add what is missing, or remove the sheet.',
  },
  overlapping_entries: {
    status: 409,
    title: 'Overlapping entries',
    help: 'Entries of the sheet overlap in time with others of the same person and harness that were reported, so the same use may be counted twice. `errors` lists the pairs. Remove what is double, or submit with `confirm_overlaps: true`.',
  },
  nothing_to_bill: {
    status: 409,
    title: 'Nothing to bill',
    help: 'No entry of the scope and period can be billed. The preview says under `left_out` what is there and why it is not on the bill. No number was used.',
  },
  unpriced_entries: {
    status: 409,
    title: 'Entries without a price',
    help: 'Entries of the scope and period have no known cost. Load a price for their models, or send the bill with `leave_unpriced`.',
  },
  earlier_entries: {
    status: 409,
    title: 'Earlier entries were never billed',
    help: 'Entries of the scope from before the period are on no bill. Say with `include_earlier` whether they are on this one, in a section of their own, or left.',
  },
  bill_too_large: {
    status: 409,
    title: 'The bill is too large',
    help: 'A sum of the bill is larger than any that Tally keeps, which a wrong cost in a report may have caused. Reject such entries, or bill less at a time. Nothing was sent.',
  },
  preview_changed: {
    status: 409,
    title: 'The preview no longer fits',
    help: 'Since the preview, entries, prices, names or settings have changed, so the bill would not be the one that was looked at. Nothing was sent; preview it again.',
  },
  mail_not_set_up: {
    status: 409,
    title: 'Mail is not set up',
    help: 'Tally has no mail server (`TALLY_SMTP_URL`) or no address to send from (`TALLY_SMTP_FROM`, else the organization’s). Bills are sent and downloaded without it.',
  },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    help: 'The body, or what it holds, is more than is taken in one call; the detail names the limit. Reports may have 1 MiB and 30,000 names and values, batches 8 MiB and 120,000, price tables and CSV files 8 MiB, telemetry 16 MiB (also after decompression) and 50,000 records, calls without a credential 16 KiB. Divide it and send the parts.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    help: 'Send `Content-Type: application/json`; a batch may also be `application/x-ndjson`, telemetry `application/x-protobuf` and with `Content-Encoding: gzip`.',
  },
  validation_failed: {
    status: 422,
    title: 'Validation failed',
    help: 'The request is well-formed but some fields are not as the API describes them. `errors` lists every issue with a JSON pointer. Nothing was written.',
  },
  too_many_entries: {
    status: 422,
    title: 'Too many entries',
    help: 'One call acts on up to 10,000 entries, in one transaction. Narrow the filter, by `starting_at` and `ending_at` for example. Nothing was changed.',
  },
  unreadable_price_table: {
    status: 422,
    title: 'Unreadable price table',
    help: 'The file is not a table of prices in a format that Tally knows (tally, litellm, models-dev, genai-prices), or not in the one that was named. Rows that are wrong one by one do not lead here: they are refused by name and the rest is loaded.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency key reused',
    help: 'This Idempotency-Key was used before with a different body. A key stands for one report; use a new key for a new one.',
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many attempts',
    help: 'Ten attempts with a wrong password came from this address or for this account, or more passwords are being checked than Tally checks at once. Try again after the pause that Retry-After names; each further failure makes it longer. A browser in which you signed in before has to wait for its own failures only, and neither sessions nor tokens are affected. `tally users unlock` lifts the pause.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many calls',
    help: 'The token made more calls within a minute than TALLY_RATE_LIMIT allows, or more requests came without a valid credential than Tally answers in a second (100 from one address, 250 in all). Nothing was written; try again after the pause that Retry-After names, and report many entries as a batch.',
  },
  too_many_exports: {
    status: 429,
    title: 'Too many exports',
    help: 'A person may have 4 exports (CSV files and documents) at a time, all people together 16, and one that nobody reads for 20 seconds ends. Read each to its end before the next; try again after the pause that Retry-After names.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    help: 'Tally failed. The log holds the reason under the request id. Whether something was written is unknown; reports with a session_id or an Idempotency-Key can be sent again safely.',
  },
  database_busy: {
    status: 503,
    title: 'Database busy',
    help: 'The database stayed locked for too long. Nothing was written; try again after the pause that Retry-After names.',
  },
  database_full: {
    status: 503,
    title: 'Disk full',
    help: 'The disk of the database is full. Nothing was written. Reading goes on, and writing recovers by itself when there is space again.',
  },
  database_unreachable: {
    status: 503,
    title: 'Database unreachable',
    help: 'The database server does not answer or ended the connection. Nothing was written; try again after the pause that Retry-After names.',
  },
  database_failed: {
    status: 503,
    title: 'Database failed',
    help: 'The database could not be read or written: its disk failed, or the file is damaged. Whether something was written is unknown; reports with a session_id or an Idempotency-Key can be sent again safely. The log of the server holds the reason.',
  },
  database_upgraded: {
    status: 503,
    title: 'Database upgraded',
    help: 'A newer Tally has changed the schema of the database under this server. Stop it and start the newer one.',
  },
  database_deadline: {
    status: 503,
    title: 'Took too long',
    help: 'The question needed more time than an interactive one may take. Narrow the period or the filters.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    help: 'More requests wait than Tally accepts at once. Nothing was written; try again after the pause that Retry-After names.',
  },
} as const satisfies Record<string, ProblemKind>

export type ProblemCode = keyof typeof PROBLEMS

/** One issue of a request: where, what kind, and what to do. */
export interface Issue {
  /** JSON pointer (RFC 6901) into the body, or into `/query` or `/path` for parameters. */
  pointer: string
  code: string
  message: string
}

export class Problem extends Error {
  readonly status: number
  readonly title: string

  constructor(
    readonly code: ProblemCode,
    /** What happened here and what to do next; shown to the caller. */
    readonly detail: string,
    readonly more: { issues?: Issue[]; headers?: Record<string, string> } = {},
  ) {
    super(detail)
    this.name = 'Problem'
    this.status = PROBLEMS[code].status
    this.title = PROBLEMS[code].title
  }
}

/** 422 with every issue. The detail repeats the first, for readers who only see that. */
export function validationFailed(issues: Issue[]): Problem {
  const [first] = issues
  const others = issues.length > 1 ? ` (and ${issues.length - 1} more, see errors)` : ''
  return new Problem(
    'validation_failed',
    first ? `${first.pointer || 'The body'}: ${first.message}${others}` : 'The request is not valid.',
    {
      issues,
    },
  )
}

export function notFound(what: string): Problem {
  return new Problem('not_found', `${what} does not exist or is not yours to see.`)
}
