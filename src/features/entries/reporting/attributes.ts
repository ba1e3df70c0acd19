/**
 * What the sources of a session say besides its usage, and how that is merged (docs/design/concepts.md, "Merging
 * sources"). Pure: the result does not depend on the order in which the sources arrive.
 */
import type { SessionAttributes } from '../../../database/schema/records.ts'
import type { CorrectedField } from '../../../database/schema/values.ts'
import { totalTokens } from '../../../shared/usage.ts'
import { saidOfEntry } from '../funding/decided.ts'
import type { Statement } from '../rows.ts'
import type { EntryView } from '../store.ts'
import { SOURCE_ORDER } from '../totals.ts'
import type { Report } from './report.ts'
import { mergeLabels } from './report-fields.ts'
import type { SourceStatement } from './source-slices.ts'

/** The attributes that a report contains. */
export function attributesOf(report: Report): SessionAttributes {
  const { agent, provider, project, ticket, summary, labels, funding } = report
  return present({
    agent: namesAgent(report) ? agent : undefined,
    provider,
    place: project === undefined && ticket === undefined ? undefined : { project, ticket },
    summary,
    labels,
    funding,
  })
}

/** A report must contain a name for the agent; one that only repeats the harness says nothing. */
export function namesAgent({ agent, harness }: { agent: string; harness: string }): boolean {
  return agent !== harness
}

/** The attributes that the only source of a session has given to an entry. A rule or a person is not a source. */
export function attributesOfEntry(view: EntryView): SessionAttributes {
  const { entry, agent, provider, project, ticket, labels } = view
  const { placedBy, namedProject, namedTicket } = entry
  const names =
    placedBy === 'named'
      ? // A ticket leads to its project, which the report need not have named.
        { ticket: ticket?.key, project: ticket ? undefined : project?.key }
      : { ticket: undefined, project: undefined }
  const place = { project: namedProject ?? names.project, ticket: namedTicket ?? names.ticket }
  const isNamed = placedBy !== 'manual' && (place.project !== undefined || place.ticket !== undefined)
  const isReported = (field: CorrectedField) => !entry.corrected?.includes(field)
  return present({
    agent: namesAgent(view) ? agent : undefined,
    provider: provider ?? undefined,
    place: isNamed ? place : undefined,
    summary: isReported('summary') ? (entry.summary ?? undefined) : undefined,
    labels: isReported('labels') ? (labels ?? undefined) : undefined,
    funding: saidOfEntry(view) ?? undefined,
  })
}

/** The report with these attributes instead of its own. */
export function withAttributes(report: Report, attributes: SessionAttributes): Report {
  const { agent, provider, place, summary, labels, funding } = attributes
  const { harness } = report
  const { project, ticket } = place ?? {}
  return { ...report, agent: agent ?? harness, provider, project, ticket, summary, labels, funding }
}

/** The attributes that `added` has and `known` lacks; undefined if there are none. */
export function missingAttributes(known: SessionAttributes, added: SessionAttributes): SessionAttributes | undefined {
  const missing = Object.entries(added).filter(([name]) => !(name in known))
  return missing.length === 0 ? undefined : Object.fromEntries(missing)
}

/**
 * The attributes of each model of a session that each source knows, the source with the highest precedence first: what
 * the source says of the model, and otherwise of the session's other models, the latest first. Whoever names the project
 * of a session with several sources names it for all of it.
 */
export function rankAttributes(statements: readonly SourceStatement[]): (chainModelId: number) => SessionAttributes[] {
  const sources = SOURCE_ORDER.flatMap((source) => {
    const said = statements.filter((each) => each.source === source)
    return said.length > 0 ? [attributesFrom(said)] : []
  })
  return (chainModelId) => sources.map((attributes) => attributes(chainModelId))
}

/** Sorted once for all models, of which a session may have thousands. */
function attributesFrom(said: readonly SourceStatement[]): (chainModelId: number) => SessionAttributes {
  const own = new Map(said.map(({ chainModelId, attributes }) => [chainModelId, attributes]))
  const ofAny: SessionAttributes = Object.assign({}, ...said.toSorted(byAge).map(({ attributes }) => attributes))
  return (chainModelId) => ({ ...ofAny, ...own.get(chainModelId) })
}

/** The oldest first; of two of the same age always the same one, whatever arrived first. */
function byAge(a: Statement, b: Statement): number {
  return (
    a.totals.endedAt - b.totals.endedAt ||
    totalTokens(a.totals.counts) - totalTokens(b.totals.counts) ||
    (JSON.stringify(a.attributes) < JSON.stringify(b.attributes) ? -1 : 1)
  )
}

/** Each attribute as the first source that has it says it; labels are merged one by one, by their name. */
export function mergeAttributes(ranked: readonly SessionAttributes[]): SessionAttributes {
  const merged: SessionAttributes = Object.assign({}, ...ranked.toReversed())
  return present({ ...merged, labels: mergeLabels(ranked.map(({ labels }) => labels ?? {})) })
}

/** Without the attributes that are undefined, so that the others can be laid over it. */
export function present(attributes: SessionAttributes): SessionAttributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
