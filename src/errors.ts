/**
 * Every error a caller can receive. Services throw a `Problem`; `http/problems.ts` turns it into RFC 9457
 * `application/problem+json`, and the command line prints it as one line. The catalog below feeds the OpenAPI
 * document and the pages under `/problems/`, so only codes that are explained here can be thrown. A named factory next to the
 * rule throws it, with a detail that says what to do, and the operations that return it name it under `problems`.
 */

interface ProblemKind {
  status: number
  title: string
  /** What it means and what to do, for the page `/problems/<code>`. */
  help: string
  /** The page of the manual that helps further, below `/docs/`. */
  page: string
}

export const PROBLEMS = {
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    help: 'The body is not a single valid JSON document in UTF-8. NaN, Infinity, trailing commas and invalid UTF-8 are not allowed, and neither is nesting deeper than 100 levels.',
    page: 'connect/http',
  },
  bad_request: {
    status: 400,
    title: 'Bad request',
    help: 'The request is malformed or ambiguous, for example because it has two Host headers. The detail names the part.',
    page: 'integrate/api',
  },
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    help: 'The request needs a bearer token (`Authorization: Bearer tally_svc_…`) or the session of a signed-in person. The detail states what is wrong with the credential: missing, mistyped, unknown, expired, revoked or signed out.',
    page: 'people/access-tokens',
  },
  id_token_refused: {
    status: 401,
    title: 'ID token refused',
    help: 'The ID token cannot be exchanged: it is invalid, is not for this server, comes from an issuer, repository, branch or environment that no trust names, or was already exchanged. The detail states which. `tally trusts test` compares an ID token with the trusts.',
    page: 'connect/ci',
  },
  sign_in_failed: {
    status: 401,
    title: 'Sign-in failed',
    help: 'The e-mail address or the password is wrong; Tally does not reveal which. An admin can create a password reset link with `tally users reset-password`.',
    page: 'people/sign-in',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    help: 'The credential is valid but lacks permission. The detail names the kind of token or the role that is required.',
    page: 'people/roles',
  },
  fees_hidden: {
    status: 403,
    title: 'Fees not visible',
    help: 'Allocated cost contains the fees of plans, which only people with the role billing or admin see, and leads if the organization allows it. Use `basis=marginal`, which leaves fees out, or another basis.',
    page: 'plans',
  },
  outside_of_project: {
    status: 403,
    title: 'Outside of the project',
    help: 'A token of a trust reports entries of its own project only: it cannot name another project, a ticket of another project, or a session that has entries elsewhere.',
    page: 'connect/ci',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    help: 'Nothing exists at this address, or this credential has no access to it.',
    page: 'integrate/api',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    help: 'The address exists but does not support this HTTP method.',
    page: 'integrate/api',
  },
  already_set_up: {
    status: 409,
    title: 'Already set up',
    help: 'The first-run setup is already complete. Sign in, or add people on the command line with `tally users add`.',
    page: 'getting-started/first-entry',
  },
  already_exists: {
    status: 409,
    title: 'Already exists',
    help: 'Something with this name already exists. The detail names it.',
    page: 'projects-and-rules',
  },
  in_use: {
    status: 409,
    title: 'In use',
    help: 'It cannot be removed because something else refers to it. Archive it instead: it disappears from lists, and everything that refers to it keeps working.',
    page: 'projects-and-rules',
  },
  project_merged: {
    status: 409,
    title: 'Project merged',
    help: 'The project was merged into another one, and its names now refer to that one. Change the other project instead; the detail names it.',
    page: 'projects-and-rules',
  },
  rules_changed: {
    status: 409,
    title: 'Rules changed',
    help: 'A new order must name every placement rule exactly once, and the rules have changed since you listed them. List them again and retry.',
    page: 'projects-and-rules',
  },
  proposal_decided: {
    status: 409,
    title: 'Proposal decided',
    help: 'Somebody has accepted, declined or withdrawn the proposed rule meanwhile. List the proposals again.',
    page: 'projects-and-rules',
  },
  proposal_outdated: {
    status: 409,
    title: 'Proposal outdated',
    help: 'The person who proposed the rule no longer leads the project, or the project no longer has the repository. Decline the proposal, or add the rule yourself.',
    page: 'projects-and-rules',
  },
  has_duties: {
    status: 409,
    title: 'Has duties',
    help: 'Somebody with the role viewer only looks at what is shared with them, so they can have no tokens, share links, unapproved token sheets or deputies, and lead or approve nothing. The detail names what to remove before the role changes.',
    page: 'people/roles',
  },
  last_admin: {
    status: 409,
    title: 'Last admin',
    help: 'Tally needs at least one active admin. Make another person an admin first.',
    page: 'people/roles',
  },
  person_erased: {
    status: 409,
    title: 'Person erased',
    help: 'The personal data of this person was erased. A pseudonym remains for their usage, and it can no longer be changed or given access.',
    page: 'people/personal-data',
  },
  events_expired: {
    status: 410,
    title: 'Events expired',
    help: 'Events after the one that you have were removed, because they are older than the retention period of events (`retention_events` in the settings). Read what you missed from the lists, such as `GET /api/v1/token-entries?updated_since=…`, and continue with the position that the detail names.',
    page: 'integrate/events',
  },
  changed_meanwhile: {
    status: 412,
    title: 'Changed meanwhile',
    help: 'Somebody has changed the object since you read the version in If-Match; `changed` names who and when. Nothing was written. Read it again, and repeat your change if it is still right, with the new ETag.',
    page: 'integrate/api',
  },
  entry_locked: {
    status: 409,
    title: 'Entry locked',
    help: 'The entry is approved, on a submitted token sheet or on a bill, so its numbers and its placement are fixed. The detail states what to undo first.',
    page: 'approval',
  },
  session_shrunk: {
    status: 409,
    title: 'Session shrunk',
    help: 'The reported totals are lower than the amounts that are already approved or billed for the session. A session reports its totals so far, and these must not fall below approved or billed amounts. Nothing was changed.',
    page: 'connect/http',
  },
  session_too_large: {
    status: 409,
    title: 'Session too large',
    help: 'A session that is reported by several sources, such as an agent and its telemetry, has at most 20 models, counting each service tier, speed and region of a model. Use a session id for each run. Nothing was changed.',
    page: 'connect/http',
  },
  wrong_status: {
    status: 409,
    title: 'Wrong status',
    help: 'The entry, token sheet, bill or token has a status that does not allow this. The detail names its status and what to do instead. Nothing was changed.',
    page: 'approval',
  },
  on_a_sheet: {
    status: 409,
    title: 'On a token sheet',
    help: 'Manual entries are approved, returned and changed with their token sheet, not individually. The detail names the sheet.',
    page: 'approval',
  },
  entry_divided: {
    status: 409,
    title: 'Divided entry',
    help: 'The entry is a part of a divided entry. Undo the division before you divide it again or correct its figures.',
    page: 'reports/entries',
  },
  not_divided: {
    status: 409,
    title: 'Not divided',
    help: 'The entry is not a part of a divided entry, or no longer is.',
    page: 'reports/entries',
  },
  empty_sheet: {
    status: 409,
    title: 'Empty token sheet',
    help: 'A token sheet without entries cannot be submitted. Add entries, or remove the sheet.',
    page: 'approval',
  },
  incomplete_entries: {
    status: 409,
    title: 'Incomplete entries',
    help: 'Entries on the sheet lack fields that the organization requires of sheet entries (`sheet_required_fields` of the settings). `errors` names them. Edit these entries, then submit the sheet again.',
    page: 'approval',
  },
  overlapping_entries: {
    status: 409,
    title: 'Overlapping entries',
    help: 'Entries on the sheet overlap in time with reported entries of the same person and harness, so usage may be counted twice. `errors` lists the pairs. Remove the duplicates, or submit with `confirm_overlaps: true`.',
    page: 'approval',
  },
  nothing_to_bill: {
    status: 409,
    title: 'Nothing to bill',
    help: 'No entries in this scope and period can be billed. `left_out` in the preview lists the excluded entries and why. No bill number was used.',
    page: 'billing',
  },
  unpriced_entries: {
    status: 409,
    title: 'Entries without a price',
    help: 'Some entries in this scope and period have no known cost. Load prices for their models, or send the bill with `leave_unpriced`.',
    page: 'billing',
  },
  period_closed: {
    status: 409,
    title: 'Period of a plan closed',
    help: 'The change would alter the fee, the seats or the days of a period whose shares are final. Reopen it first, or let the new terms begin after it.',
    page: 'plans',
  },
  period_not_closed: {
    status: 409,
    title: 'Plan period not closed',
    help: 'The bill would contain shares of the fee of a period that is not closed, or charges beyond its allowance, which may still change. Close the period, or bill it with `provisional`.',
    page: 'billing',
  },
  earlier_entries: {
    status: 409,
    title: 'Earlier entries were never billed',
    help: 'The scope has unbilled entries from before the period. Set `include_earlier` to include them in a separate section of this bill, or to leave them out.',
    page: 'billing',
  },
  bill_too_large: {
    status: 409,
    title: 'The bill is too large',
    help: 'A total on the bill exceeds the largest amount Tally can store, possibly because of a wrong reported cost. Reject such entries, or split the bill. Nothing was sent.',
    page: 'billing',
  },
  draft_gone: {
    status: 409,
    title: 'Draft is gone',
    help: 'The draft of the bill was already sent or deleted, by you or by somebody else. Nothing was sent. Look for its bill in the list of bills; without one, send the bill again without `draft`.',
    page: 'billing',
  },
  preview_changed: {
    status: 409,
    title: 'Preview out of date',
    help: 'Entries, prices, names or settings have changed since the preview, so the bill, or what would be placed, would differ from it. Nothing was done; preview it again.',
    page: 'billing',
  },
  mail_not_set_up: {
    status: 409,
    title: 'E-mail not configured',
    help: 'Tally has no mail server (`TALLY_SMTP_URL`) or no sender address (`TALLY_SMTP_FROM`, or else the organization’s e-mail address). You can still send bills and download them.',
    page: 'integrate/mail',
  },
  webhook_suspended: {
    status: 409,
    title: 'Webhook suspended',
    help: 'The events of the webhook wait, because its owner or their API token may not read them any more. Check its address and its types, and take it over: then they are sent with your rights.',
    page: 'integrate/outgoing-webhooks',
  },
  webhook_disabled: {
    status: 409,
    title: 'Webhook disabled',
    help: 'The webhook is disabled, so no events are sent to it. Enable it first; then you can send the events again that it missed.',
    page: 'integrate/outgoing-webhooks',
  },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    help: 'The body or its contents exceed the limit for one request; the detail names the limit. Limits: reports 1 MiB and 30,000 names and values; batches 8 MiB and 120,000; price tables and CSV files 8 MiB; telemetry 16 MiB (also after decompression) and 50,000 records; requests without a credential 16 KiB. Send a report with many slices in a batch, and split other bodies into several requests.',
    page: 'operations/sizing',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    help: 'Send `Content-Type: application/json`. A batch may also be `application/x-ndjson`; telemetry may be `application/x-protobuf` and may use `Content-Encoding: gzip`.',
    page: 'integrate/api',
  },
  validation_failed: {
    status: 422,
    title: 'Validation failed',
    help: 'The request is well-formed, but some fields are invalid. `errors` lists every issue with a JSON pointer. Nothing was written.',
    page: 'connect/http',
  },
  too_many_entries: {
    status: 422,
    title: 'Too many entries',
    help: 'A request can change up to 10,000 entries, in one transaction, and a dry run of reports can show as many. Narrow the filters, for example with `starting_at` and `ending_at`, or send fewer reports. Nothing was changed.',
    page: 'connect/http',
  },
  unreadable_price_table: {
    status: 422,
    title: 'Unreadable price table',
    help: 'The file is not a price table in a supported format (tally, litellm, models-dev, genai-prices), or not in the format you named. Individual invalid rows do not cause this error: they are rejected by name and the rest is loaded.',
    page: 'model-prices',
  },
  implausible_price_update: {
    status: 422,
    title: 'Implausible price update',
    help: 'The source of the price update looks broken: it lost more than half of its models, or too many prices would at least double or halve. Nothing was loaded. Check the source; if it is right, load it once with `tally prices load`.',
    page: 'model-prices',
  },
  price_source_not_set: {
    status: 409,
    title: 'No price source',
    help: 'No source of price updates is configured. Set TALLY_PRICES_FROM to an https:// address or a file and restart Tally, or name one with `tally prices update --from`.',
    page: 'model-prices',
  },
  price_load_in_use: {
    status: 409,
    title: 'Price load in use',
    help: 'The load of a price table can be undone only until an entry has a list value from it, and later loads of the same format must be undone first. The detail says which applies. Load the correct prices instead, then reprice the entries.',
    page: 'model-prices',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency key reused',
    help: 'This Idempotency-Key was already used with a different body. A key identifies one request; use a new key for a new one.',
    page: 'integrate/api',
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many attempts',
    help: 'Ten sign-in attempts from this address or for this account failed, or too many passwords are being checked at once. Wait for the number of seconds in Retry-After; each further failure extends the wait. A browser in which you have signed in before waits only for its own failures, and sessions and tokens are not affected. `tally users unlock` ends the wait.',
    page: 'people/sign-in',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'The token made more requests in a minute than TALLY_RATE_LIMIT allows, or there were more requests without a valid credential than Tally answers per second (100 per address, 250 in total). Nothing was written. Retry after the number of seconds in Retry-After, and report large numbers of entries as a batch.',
    page: 'operations/sizing',
  },
  too_many_waiting: {
    status: 429,
    title: 'Too many waiting requests',
    help: 'At most 8 requests per person and 128 in total can wait for events at once. Let one program follow the events for all others, or retry after the number of seconds in Retry-After.',
    page: 'operations/sizing',
  },
  too_many_exports: {
    status: 429,
    title: 'Too many exports',
    help: 'At most 4 exports (CSV files and documents) per person and 16 in total can run at once, and an export that is not read for 20 seconds is aborted. Finish reading one export before you start the next, or retry after the number of seconds in Retry-After.',
    page: 'operations/sizing',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    help: 'Something went wrong in Tally. The server log has the cause under the request id. The change may or may not have been written; reports with a session_id or an Idempotency-Key are safe to retry.',
    page: 'troubleshooting',
  },
  price_source_failed: {
    status: 502,
    title: 'Price source failed',
    help: 'The price table could not be read from its source: the file or the address is wrong, does not respond, is too large, or is incomplete. Nothing was loaded. The detail states the cause.',
    page: 'model-prices',
  },
  database_busy: {
    status: 503,
    title: 'Database busy',
    help: 'The database was locked for too long. Nothing was written; retry after the number of seconds in Retry-After.',
    page: 'troubleshooting',
  },
  database_full: {
    status: 503,
    title: 'Disk full',
    help: 'The disk that holds the database is full. Nothing was written. Reads still work, and writes resume automatically when space is available.',
    page: 'troubleshooting',
  },
  database_unreachable: {
    status: 503,
    title: 'Database unreachable',
    help: 'The database server does not respond or closed the connection. Nothing was written; retry after the number of seconds in Retry-After.',
    page: 'troubleshooting',
  },
  database_failed: {
    status: 503,
    title: 'Database failed',
    help: 'The database could not be read or written: the disk failed, or the file is corrupt. The change may or may not have been written; reports with a session_id or an Idempotency-Key are safe to retry. The server log has the cause.',
    page: 'troubleshooting',
  },
  database_moved: {
    status: 503,
    title: 'Database moved',
    help: 'An operator moves the database to another one with `tally move`, or has moved it. Nothing was written; retry after the number of seconds in Retry-After. The operator starts the server with the new database.',
    page: 'troubleshooting',
  },
  issuer_unreachable: {
    status: 503,
    title: 'Issuer unreachable',
    help: 'The keys with which GitHub, GitLab or another issuer signs ID tokens could not be read. Nothing was exchanged; retry after the number of seconds in Retry-After.',
    page: 'connect/ci',
  },
  shutting_down: {
    status: 503,
    title: 'Shutting down',
    help: 'The server is stopping and still answers for a while, so that load balancers send requests elsewhere first. Only the check of readiness returns this.',
    page: 'troubleshooting',
  },
  database_upgraded: {
    status: 503,
    title: 'Database upgraded',
    help: 'A newer version of Tally has upgraded the database while this server was running, and this version cannot use it any more. Nothing was written; retry after the number of seconds in Retry-After. The operator replaces this server by the newer version.',
    page: 'troubleshooting',
  },
  database_deadline: {
    status: 503,
    title: 'Query timed out',
    help: 'The query exceeded the time limit for interactive requests. Narrow the period or the filters.',
    page: 'troubleshooting',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    help: 'Too many requests are pending. Nothing was written; retry after the number of seconds in Retry-After.',
    page: 'troubleshooting',
  },
} as const satisfies Record<string, ProblemKind>

export type ProblemCode = keyof typeof PROBLEMS

/** One validation issue of a request: where it is, what kind it is, and what to do. */
export interface Issue {
  /** JSON pointer (RFC 6901) into the body, or into `/query` or `/path` for parameters. */
  pointer: string
  code: string
  message: string
}

/** The last change of an object: when, and who made it; null for an agent, the command line and Tally itself. */
export interface LastChange {
  at: string | null
  by: { id: string; name: string } | null
}

/** A period of a plan that `period_not_closed` is about. */
export interface OpenPlanPeriod {
  plan: { id: string; name: string }
  first_day: string
  last_day: string | null
  entries: number
}

export class Problem extends Error {
  readonly status: number
  readonly title: string

  constructor(
    readonly code: ProblemCode,
    /** What happened here and what to do next; shown to the caller. */
    readonly detail: string,
    readonly more: {
      issues?: Issue[]
      headers?: Record<string, string>
      changed?: LastChange
      periods?: OpenPlanPeriod[]
    } = {},
  ) {
    super(detail)
    this.name = 'Problem'
    this.status = PROBLEMS[code].status
    this.title = PROBLEMS[code].title
  }
}

/** 422 with every issue. The detail repeats the first one for readers who see nothing else. */
export function validationFailed(issues: Issue[]): Problem {
  const [first] = issues
  const others = issues.length > 1 ? ` (and ${issues.length - 1} more, see errors)` : ''
  return new Problem(
    'validation_failed',
    first ? `${first.pointer || 'The body'}: ${first.message}${others}` : 'The request is invalid.',
    {
      issues,
    },
  )
}

/** {@link validationFailed} with one issue. */
export const refusal = (pointer: string, code: string, message: string): Problem =>
  validationFailed([{ pointer, code, message }])

export function notFound(what: string): Problem {
  return new Problem('not_found', `${what} was not found.`)
}
