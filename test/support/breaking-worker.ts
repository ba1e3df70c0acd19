/** A thread that reads bodies as badly as each asks: `crash`, `throw`, `hang`, `fail`; any other is read. */
import type { FromDecoding } from '../../src/features/telemetry/decoding-worker.ts'
import type { Body } from '../../src/features/telemetry/otlp/decode.ts'
import { answerJobs } from '../../src/lib/job-thread.ts'

answerJobs<Body, FromDecoding>(({ bytes }, post) => {
  const text = new TextDecoder().decode(bytes)
  if (text === 'crash') process.exit(1)
  if (text === 'throw') throw new Error('It threw.')
  if (text === 'hang') return
  if (text === 'fail') return post({ error: 'TypeError' })
  post({
    read: {
      observations: [],
      rejections: new Map(),
      records: text.length,
      ignored: new Map(),
      rejected: 0,
      rejectionReason: null,
    },
  })
})
