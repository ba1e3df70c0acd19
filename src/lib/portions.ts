/** Work in steps: code that takes long on the main thread yields after each, so that requests can be served between. */

/** A computation that yields after each of its steps. */
export type Steps<Result> = Generator<void, Result>

/** Short next to what a person notices, and long next to what a turn of the event loop costs. */
const PORTION_MS = 20

/** Runs all steps, and lets waiting requests run every 20 ms. */
export async function inPortions<Result>(steps: Steps<Result>): Promise<Result> {
  let startedAt = performance.now()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    if (performance.now() - startedAt < PORTION_MS) continue
    await yieldTurn()
    startedAt = performance.now()
  }
}

/** Yields to waiting requests. */
export function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Runs all steps without a pause, where nobody waits. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}
