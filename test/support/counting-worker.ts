/** A thread that answers with how many jobs it has done, and as its message asks: `hang`, `exit`, `throw`, `parts`. */
import { answerJobs } from '../../src/lib/job-thread.ts'

let done = 0

answerJobs<string, { part: string } | { done: number }>((question, post) => {
  if (question === 'hang') return
  if (question === 'exit') process.exit(1)
  if (question === 'throw') throw new Error('It threw.')
  if (question === 'parts') for (const part of ['a', 'b']) post({ part })
  done += 1
  post({ done })
})
