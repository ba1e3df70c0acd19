/** Reads the bodies of requests that change entries. Pure. */

import { type Issue, validationFailed } from '../../errors.ts'
import { SchemaChecker } from '../../schema/checker.ts'
import { issuesOf } from '../../schema/issues.ts'
import { EntryCorrection, TokenEntryReport } from './schema.ts'

/** Fields of a report that a correction cannot have, so that the error explains why instead of calling them unknown. */
const FIXED = Object.keys(TokenEntryReport.properties).filter((name) => !(name in EntryCorrection.properties))

function explainFixed(issue: Issue): Issue {
  if (!FIXED.includes(issue.pointer.slice(1))) return issue
  const message =
    'cannot be changed because it says which session was reported, and by which agent. Void the entry instead'
  return { ...issue, code: 'fixed', message }
}

const correctionChecker = new SchemaChecker(EntryCorrection)

/** Throws 422 with every issue. */
export function readCorrection(body: unknown): EntryCorrection {
  if (correctionChecker.Check(body)) return body
  throw validationFailed(issuesOf(correctionChecker, body).map(explainFixed))
}
