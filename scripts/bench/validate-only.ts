/**
 * The baseline for Tally's reporting: the same framework, schema and body, and nothing else. It shows the maximum that
 * the machine can handle, so that the ratio is more meaningful than entries per second.
 */
import { Elysia } from 'elysia'
import { TokenEntryReport } from '../../src/features/entries/schema.ts'

new Elysia({ normalize: false })
  .get('/ready', () => 'ready')
  .post('/validate', ({ body }) => ({ model: body.model }), { body: TokenEntryReport })
  .listen({ hostname: '127.0.0.1', port: Number(process.argv[2]) })
