/** Busy loops beside the tests: what passes only on a quiet machine fails with them. */
import { availableParallelism } from 'node:os'

/** Ends with the process that started it, even if that was killed. */
const BUSY_LOOP = `
while kill -0 "$1" 2>/dev/null; do
  count=0
  while [ $count -lt 200000 ]; do count=$((count + 1)); done
done
`

/** Starts a busy loop for each core. Returns a function that stops them. */
export function startBusyLoops(): () => void {
  const loops = Array.from({ length: availableParallelism() }, () =>
    Bun.spawn(['sh', '-c', BUSY_LOOP, 'sh', `${process.pid}`], { stdio: ['ignore', 'ignore', 'ignore'] }),
  )
  return () => {
    for (const loop of loops) loop.kill()
  }
}
