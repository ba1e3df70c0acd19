/** The HTTP server of the process, from when it listens until it has answered what it accepted. */
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { localUrl } from '../address.ts'
import { CommandError } from '../failures.ts'

/** How long what was accepted may take to finish after SIGTERM. */
const FINISH_MS = 8_000

/**
 * Each route has its own limit, and responds with a problem that names it, which Bun's bare 413 does not. Bun stores
 * nothing that a route does not read. This is the limit for a route that forgets to have one.
 */
const REQUEST_LIMIT_BYTES = 1_024 * 1_048_576

/** A client that sends or takes nothing for this long is cut off, so that slow ones cannot hold connections. */
const IDLE_TIMEOUT_SECONDS = 20

interface ListenOptions {
  hostname: string
  port: number
  reusePort: boolean
  development: boolean
  maxRequestBodySize: number
  idleTimeout: number
}

/** What is needed here of Bun's server. */
interface Server {
  port?: number | undefined
  stop(closeActiveConnections?: boolean): Promise<void>
}

export class Listener {
  #server: Server | undefined

  constructor(readonly config: Pick<Config, 'host' | 'port'>) {}

  /** Its address on this machine: before it listens, as far as it is known. */
  get url(): string {
    return localUrl(this.config.host, this.#server?.port ?? this.config.port)
  }

  /** Throws a {@link CommandError} if it cannot listen on the address. */
  listen(start: (options: ListenOptions) => Server): void {
    const { host, port } = this.config
    try {
      this.#server = start({
        hostname: host,
        port,
        // Elysia's default would let two servers share a port and take turns in answering.
        reusePort: false,
        development: false,
        maxRequestBodySize: REQUEST_LIMIT_BYTES,
        idleTimeout: IDLE_TIMEOUT_SECONDS,
      })
    } catch (error) {
      throw cannotListen(this.config, error)
    }
  }

  /** Accepts nothing more and waits for what runs; a stream that never ends is cut off. */
  async finish(logger: Logger): Promise<void> {
    const finished = await Promise.race([this.#server!.stop().then(() => true), Bun.sleep(FINISH_MS).then(() => false)])
    if (finished) return
    logger.warn(`some requests did not finish within ${FINISH_MS / 1000} s and were aborted`)
    await this.close()
  }

  async close(): Promise<void> {
    await this.#server?.stop(true)
  }
}

function cannotListen({ host, port }: Pick<Config, 'host' | 'port'>, error: unknown): CommandError {
  const { code, message } = error as { code?: unknown; message: string }
  return new CommandError(
    code === 'EADDRINUSE'
      ? `Port ${port} on ${host} is already in use, perhaps by another Tally. Stop it, or choose another port with --port (TALLY_PORT).`
      : `Cannot listen on ${host}, port ${port}: ${message}. Choose another address with --host and --port.`,
  )
}
