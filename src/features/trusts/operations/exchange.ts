import type { Logger } from 'pino'
import { Problem } from '../../../errors.ts'
import { endpoint } from '../../../operations/operation.ts'
import { EXAMPLE_EXCHANGED_TOKENS, EXAMPLE_ID_TOKEN } from '../examples.ts'
import { ExchangedTokens, TokenExchange } from '../schema.ts'
import type { TrustsService } from '../service.ts'

interface Needs {
  trusts: TrustsService
  logger: Pick<Logger, 'info'>
  figures: { exchange(outcome: 'exchanged' | 'refused' | 'failed'): void }
}

export const exchangeToken = endpoint({
  id: 'exchangeToken',
  tag: 'Tokens',
  method: 'POST',
  path: '/tokens/exchange',
  summary: 'Exchange an ID token',
  description:
    'A job of GitHub Actions or GitLab CI/CD sends its ID token, whose audience is the public URL of this server, and gets short-lived tokens. They can only report entries of the trust’s project, or read its receipts.',
  allow: 'anyone',
  body: TokenExchange,
  example: { token: EXAMPLE_ID_TOKEN, kinds: ['svc'] },
  answer: {
    status: 201,
    isAddressed: false,
    description: 'The tokens.',
    schema: ExchangedTokens,
    example: EXAMPLE_EXCHANGED_TOKENS,
  },
  problems: ['id_token_refused', 'issuer_unreachable'],
  run: async (
    { trusts, logger, figures }: Needs,
    { body: { token, kinds = ['svc' as const] }, served: { requestId } },
  ) => {
    const { body, trust, run } = await trusts.exchange(token, kinds).catch((error) => {
      figures.exchange(error instanceof Problem && error.code === 'id_token_refused' ? 'refused' : 'failed')
      throw error
    })
    figures.exchange('exchanged')
    logger.info({ id: requestId, trust, run, kinds }, 'exchanged an ID token of a job')
    return body
  },
})
