import type { Config } from '../config.ts'

/** The address to call on this machine, where the one to listen on may mean any of the machine's. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** What links for people begin with. */
export function linkBase({ publicUrl, host, port }: Config): string {
  return publicUrl ?? localUrl(host, port)
}
