/**
 * The optional fields that the organization requires of entries on token sheets. Pure.
 *
 * They are checked when an entry is added or imported, when a change would clear one, and when a sheet is submitted.
 * Entries from before the setting was changed stay readable and can be edited.
 */

import { type Issue, Problem, validationFailed } from '../../errors.ts'
import { counted } from '../../lib/counted.ts'
import type { TokenEntry, TokenEntryDraftChange } from '../entries/schema.ts'

const LABEL = 'label:'

type Checked = Pick<
  TokenEntry,
  'project' | 'ticket' | 'summary' | 'provider' | 'requests' | 'reported_cost' | 'labels' | 'placement'
>

/** A name in a report that is held counts: its project or ticket is decided later. */
const HAS: Record<string, (entry: Checked) => boolean> = {
  project: ({ project, placement }) => project !== null || placement.named_project !== null,
  ticket: ({ ticket, placement }) => ticket !== null || placement.named_ticket !== null,
  summary: ({ summary }) => summary !== null,
  provider: ({ provider }) => provider !== null,
  requests: ({ requests }) => requests !== null,
  reported_cost: ({ reported_cost }) => reported_cost !== null,
}

/** The fields that the entry lacks, as they are named in the setting. */
function missingFields(entry: Checked, required: readonly string[]): string[] {
  return required.filter((field) => {
    if (field.startsWith(LABEL)) return !Object.hasOwn(entry.labels, field.slice(LABEL.length))
    return !HAS[field]!(entry)
  })
}

function pointerOf(field: string): string {
  return field.startsWith(LABEL) ? `/labels/${field.slice(LABEL.length)}` : `/${field}`
}

/** An issue for each field that the entry lacks. */
export function issuesOfRequired(entry: Checked, required: readonly string[]): Issue[] {
  return missingFields(entry, required).map((field) => ({
    pointer: pointerOf(field),
    code: 'required',
    message: 'is required for entries on token sheets, by a setting of the organization',
  }))
}

/** Throws `validation_failed` if an added entry lacks a required field. */
export function requireFields(entry: Checked, required: readonly string[]): void {
  const issues = issuesOfRequired(entry, required)
  if (issues.length > 0) throw validationFailed(issues)
}

/** Throws `validation_failed` if a change clears a required field; one that was missing before may stay so. */
export function requireKept(entry: Checked, change: TokenEntryDraftChange, required: readonly string[]): void {
  const named = required.filter((field) => (field.startsWith(LABEL) ? 'labels' : field) in change)
  requireFields(entry, named)
}

/** Incomplete entries in an error message. */
const SHOWN = 20

/** Throws `incomplete_entries` (409) if entries of a sheet that is submitted lack required fields. */
export function requireComplete(entries: (Checked & { id: string })[], required: readonly string[]): void {
  const incomplete = entries.filter((entry) => missingFields(entry, required).length > 0)
  if (incomplete.length === 0) return
  const count = counted(incomplete.length, 'entry lacks', 'entries lack')
  throw new Problem(
    'incomplete_entries',
    `${count} a field that the organization requires (${required.join(', ')}). Edit the entries, then submit the sheet.`,
    {
      issues: incomplete.slice(0, SHOWN).map((entry) => ({
        pointer: `/entries/${entry.id}`,
        code: 'required',
        message: `has no ${missingFields(entry, required).join(' and no ')}`,
      })),
    },
  )
}
