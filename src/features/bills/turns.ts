/** Runs work of this process one at a time, in the order of the calls. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = last.then(work, work)
    last = turn.catch(() => undefined)
    return turn
  }
}

export type InTurn = ReturnType<typeof createTurns>
