import { type Command, InvalidArgumentError } from 'commander'
import { readWebhookSecret } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { note, print } from '../terminal/print.ts'

interface ListenFlags {
  port: number
  secret?: string
  secretFile?: string
  json?: boolean
}

/** Next to that of the server, so that both run on one machine. */
const PORT = 4750

/** Fifty times as much as Tally sends. */
const BODY_LIMIT_BYTES = 1_048_576

export function addWebhooksListenCommand(webhooks: Command): void {
  webhooks
    .command('listen')
    .description('Receive events on this machine and print them, for development; nothing is stored or registered')
    .option('--port <number>', 'port to listen on, on 127.0.0.1; 0 picks a free one', parsePort, PORT)
    .addOption(optionOf('webhookSecret'))
    .addOption(optionOf('webhookSecretFile'))
    .option('--json', 'print each message as one line of JSON')
    .addHelpText('after', examples('tally webhooks listen', 'TALLY_WEBHOOK_SECRET=whsec_… tally webhooks listen'))
    .action(async (_flags, command: Command) => listen(command.optsWithGlobals<ListenFlags>()))
}

async function listen({ port, secret, secretFile, json = false }: ListenFlags): Promise<void> {
  const { parseSecret, signatureIssue } = await import('../../features/webhooks/service.ts')
  const text = readWebhookSecret({ webhookSecret: secret, webhookSecretFile: secretFile })
  const bytes = text === undefined ? undefined : parseSecret(text)
  if (text !== undefined && !bytes) {
    throw new CommandError(
      'The secret (TALLY_WEBHOOK_SECRET) is not valid. It must begin with whsec_, as `tally webhooks add` prints it.',
    )
  }
  const verify = (headers: Headers, body: string) =>
    bytes === undefined ? undefined : (signatureIssue(headers, body, { secret: bytes, now: Date.now() }) ?? 'valid')
  let server: Bun.Server<undefined>
  try {
    server = Bun.serve({
      hostname: '127.0.0.1',
      port,
      maxRequestBodySize: BODY_LIMIT_BYTES,
      async fetch(request) {
        const body = await request.text()
        const signature = verify(request.headers, body)
        show({ headers: request.headers, body, signature }, json)
        return signature === undefined || signature === 'valid'
          ? new Response(null, { status: 204 })
          : new Response('The signature is not valid.\n', { status: 401 })
      },
    })
  } catch (error) {
    throw new CommandError(
      `Cannot listen on port ${port}: ${(error as Error).message}. Choose another one with --port.`,
    )
  }
  const url = `http://127.0.0.1:${server.port}/`
  note(`Listening on ${url} until Ctrl-C. To have events sent here, start the server with`)
  note('  TALLY_WEBHOOK_PRIVATE_NETWORKS=127.0.0.1 tally serve')
  note('and add this webhook:')
  note(`  tally webhooks add --name listen --url ${url} --type '*'`)
  await stopped()
  await server.stop(true)
}

interface Message {
  headers: Headers
  body: string
  /** Undefined if it was not checked. */
  signature: string | undefined
}

function show({ headers, body, signature }: Message, json: boolean): void {
  const signed = [...headers].filter(([name]) => name.startsWith('webhook-') || name === 'content-type')
  if (json) {
    print(JSON.stringify({ headers: Object.fromEntries(signed), body: parsed(body), signature: signature ?? null }))
    return
  }
  for (const [name, value] of signed) print(`${name}: ${value}`)
  print(`signature: ${signature ?? 'not checked, because TALLY_WEBHOOK_SECRET is not set'}`)
  const content = parsed(body)
  print(typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  print('')
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new InvalidArgumentError('Use a number from 0 to 65535.')
  return port
}
