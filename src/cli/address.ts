import { type Config, OPTIONS } from '../config.ts'
import type { Services } from '../services.ts'
import { note } from './terminal/print.ts'

/** The address to call on this machine, where the one to listen on may mean any of the machine's. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/**
 * Where the server listens: as host and port say, or else as the server that runs on the data folder says, or else as
 * usual.
 */
export async function serverUrl({ host, port, dataDir, databaseUrl }: Config): Promise<string> {
  const isUsual = host === OPTIONS.host.default && String(port) === OPTIONS.port.default
  if (!isUsual || databaseUrl) return localUrl(host, port)
  const { findServer } = await import('./running-server.ts')
  return findServer(dataDir) ?? localUrl(host, port)
}

/** What links for people begin with. */
export interface LinkBase {
  url: string
  /** Whether the public URL is set; otherwise, the link may not work for the person who gets it. */
  isPublic: boolean
}

export async function linkBaseOf({ organization }: Pick<Services, 'organization'>, config: Config): Promise<LinkBase> {
  const publicUrl = await organization.publicUrl()
  return { url: publicUrl ?? (await serverUrl(config)), isPublic: publicUrl !== undefined }
}

/** Says that a link may have the wrong address, after it was printed. */
export function noteUnsetPublicUrl({ url, isPublic }: LinkBase): void {
  if (isPublic) return
  note(
    `The public URL is not set, so the link begins with ${url}, where others may not reach the server. Set it once for all links: tally settings set --public-url https://tally.example.com`,
  )
}

/** Whether only this machine reaches a server that listens there. */
export const isLoopback = (host: string): boolean => /^(127\.|localhost$|::1$)/.test(host)
