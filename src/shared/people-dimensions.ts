/** Which groups of a report may name people: the rule of share links, viewers and the web application. Pure. */

/** The labels whose values Tally gives a meaning: work, and no person. */
const LABELS_OF_WORK = ['label:repository']

/** A label contains what whoever reports writes into it, such as an author, and a plan may be called after its holder. */
export function namesPeople(dimension: string): boolean {
  return (
    dimension === 'agent_manager' ||
    dimension === 'plan' ||
    (dimension.startsWith('label:') && !LABELS_OF_WORK.includes(dimension))
  )
}
