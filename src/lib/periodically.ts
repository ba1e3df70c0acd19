/** A job that a server does at once and again from time to time, one run after the other. */
export interface PeriodicJob {
  /** Ends it once the current run has ended. */
  stop(): Promise<void>
}

/** `onError` gets what a run throws; the next one comes nevertheless. A run that takes longer than the time skips the others. */
export function periodically(
  run: () => Promise<unknown>,
  everyMs: number,
  onError: (error: unknown) => void,
): PeriodicJob {
  let running: Promise<unknown> | undefined
  const next = () => {
    running ??= Promise.resolve()
      .then(run)
      .catch(onError)
      .finally(() => {
        running = undefined
      })
  }
  next()
  const timer = setInterval(next, everyMs)
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
