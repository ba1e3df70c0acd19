/** Receivers of webhooks: well-behaved ones that remember what they got, and all kinds of bad ones. */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'

export interface Received {
  headers: Record<string, string>
  body: string
}

export interface Receiver {
  url: string
  port: number
  received: Received[]
  /** Resolves once what it has received is as expected. */
  until(isExpected: (received: Received[]) => boolean): Promise<Received[]>
  close(): Promise<void>
}

type Answer = (request: IncomingMessage, response: ServerResponse, received: Received) => void

const OK: Answer = (_request, response) => response.end('ok')

/** Records each message, and responds as configured; with 200 by default. */
export async function startReceiver(
  answer: Answer = OK,
  { tls }: { tls?: { key: string; cert: string } } = {},
): Promise<Receiver> {
  const received: Received[] = []
  const waiting: { isExpected: (received: Received[]) => boolean; resolve: () => void }[] = []
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const message = { headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() }
      received.push(message)
      answer(request, response, message)
      for (const { resolve } of waiting.filter(({ isExpected }) => isExpected(received))) resolve()
    })
  }
  const server = tls ? createHttpsServer(tls, handle) : createHttpServer(handle)
  const port = await listen(server)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    received,
    async until(isExpected) {
      if (!isExpected(received)) await new Promise<void>((resolve) => waiting.push({ isExpected, resolve }))
      return received
    },
    close: () => closed(server),
  }
}

/** A server below HTTP, which gets the socket of each connection. */
export async function startSocketServer(
  handle: (socket: Socket) => void,
): Promise<{ url: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    handle(socket)
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await closed(server)
    },
  }
}

async function listen(server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return (server.address() as AddressInfo).port
}

async function closed(server: Server | TcpServer): Promise<void> {
  if ('closeAllConnections' in server) server.closeAllConnections()
  await new Promise<void>((resolve) => server.close(() => resolve()))
}
