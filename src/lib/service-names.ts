/** What agents and vendors call a tier, speed or region that they do not charge differently for. */
const STANDARD = new Set(['standard', 'normal', 'default', 'auto', 'global', 'not_available'])

/** The names that a report may have, in lower case. */
const NAME = /^[a-z0-9][a-z0-9_.-]{0,39}$/

/** A tier, speed or region as an agent recorded it; undefined if it is the standard one, or no valid name. */
export function recordedService(recorded: string): string | undefined {
  // What most calls have.
  if (recorded === '' || recorded === 'standard') return undefined
  const name = recorded.toLowerCase()
  return NAME.test(name) && !STANDARD.has(name) ? name : undefined
}
