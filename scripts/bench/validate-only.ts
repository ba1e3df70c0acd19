/**
 * What Tally's reporting is compared with: the same framework, the same schema, the same body, and nothing else. It
 * shows what the machine can take at all, so that the ratio says more than entries per second do.
 */
import { Elysia } from 'elysia'
import { TokenEntryReport } from '../../src/features/entries/schema.ts'

new Elysia({ normalize: false })
  .get('/ready', () => 'ready')
  .post('/validate', ({ body }) => ({ model: body.model }), { body: TokenEntryReport })
  .listen({ hostname: '127.0.0.1', port: Number(process.argv[2]) })
