import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { freePort } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { until } from '../support/processes.ts'

let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make()
})
afterEach(() => tally.remove())

const me = (url: string, token: string) => fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })

/** A connection on which a test decides when which bytes are sent. */
async function openSocket(url: string): Promise<{ socket: Socket; received(): string; closed: Promise<void> }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
  })
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  await new Promise<void>((resolve) => socket.on('connect', () => resolve()))
  return { socket, received: () => received, closed }
}

test('one line of JSON reports that the server is ready, with its address', async () => {
  await tally.addUser()
  const server = await tally.serve()
  const lines = server.output().trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 30, msg: `tally is ready on ${server.url}` })
  expect((await fetch(`${server.url}/ready`)).status).toBe(200)
})

describe('on an empty database', () => {
  test('the command that is printed creates an admin when pasted', async () => {
    const server = await tally.serve()
    const line = await server.untilPrinted(/\n {2}(\S.* users add .*)\n/)
    const shell = Bun.spawn(['sh', '-euc', line], {
      cwd: tally.folder,
      env: tally.env,
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const [errors, code] = await Promise.all([shell.stderr.text(), shell.exited])
    expect([code, code === 0 ? '' : errors]).toEqual([0, ''])
    expect((await tally.json(['users', 'list'])).data).toMatchObject([{ email: 'you@example.com', role: 'admin' }])
    expect(server.output()).toMatch(/\n {2}http:\S+\/setup#\w+\n/)
  })

  test('the set-up link leads to a page and works once; after it nothing is printed any more', async () => {
    const server = await tally.serve()
    const link = new URL(await server.untilPrinted(/http:\S+\/setup#\w+(?=\n)/))
    expect((await fetch(link)).headers.get('content-type')).toStartWith('text/html')
    const setUp = () =>
      fetch(`${server.url}/api/v1/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          link_token: link.hash.slice(1),
          organization: { name: 'Acme', time_zone: 'UTC', currency: 'EUR' },
          admin: { email: 'ada@example.com', name: 'Ada', password: 'correct horse' },
        }),
      })
    expect((await setUp()).status).toBe(201)
    expect((await setUp()).status).toBe(409)
    await server.stop()
    const again = await tally.serve()
    expect(again.output().trimEnd().split('\n')).toHaveLength(1)
  })

  test('the link names the public address where one is set', async () => {
    const server = await tally.serve(['--public-url', 'https://tally.example.com/'])
    expect(await server.untilPrinted(/https\S+\/setup#/)).toBe('https://tally.example.com/setup#')
    await server.stop()
    await tally.done(['settings', 'set', '--public-url', 'https://tally.example.org'])
    const again = await tally.serve()
    expect(await again.untilPrinted(/https\S+\/setup#/)).toBe('https://tally.example.org/setup#')
  })
})

test('a port in use is reported in one line', async () => {
  const server = await tally.serve()
  const { port } = new URL(server.url)
  const { code, stdout, stderr } = await tally.run(['serve', '--port', port, '--data', 'other'])
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toMatch(new RegExp(`^tally: Port ${port} on 127.0.0.1 is already in use[^\\n]*--port[^\\n]*\\n$`))
})

test('a change on the command line takes effect in the running server at once', async () => {
  await tally.addUser('ada@example.com')
  const server = await tally.serve()
  const { id, token } = await tally.createToken()
  expect((await me(server.url, token)).status).toBe(200)

  await tally.done(['tokens', 'revoke', id, '--yes'])
  const refused = await me(server.url, token)
  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({ code: 'unauthenticated', detail: expect.stringContaining('revoked') })

  await tally.addUser('grace@example.com')
  const { token: read } = await tally.createToken('read', 'grace@example.com')
  expect(await (await me(server.url, read)).json()).toMatchObject({ person: { role: 'admin' } })
  await tally.done(['users', 'set-role', 'grace@example.com', 'member'])
  expect(await (await me(server.url, read)).json()).toMatchObject({ person: { role: 'member' } })
  await tally.done(['users', 'disable', 'grace@example.com'])
  expect((await me(server.url, read)).status).toBe(401)
  await tally.done(['users', 'enable', 'grace@example.com'])
  expect((await me(server.url, read)).status).toBe(200)
})

describe('at SIGTERM', () => {
  const half = '{"link_token":'
  const whole = `${half} "none"}`
  const post = (length: number) =>
    `POST /api/v1/setup HTTP/1.1\r\nHost: tally\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

  /** A connection with half of a request, which the server has read: it has answered the one that was sent with it. */
  async function inTheMiddle(url: string) {
    const client = await openSocket(url)
    client.socket.write(post(whole.length) + whole + post(whole.length) + half)
    expect(await until(() => client.received().includes('validation_failed'))).toBe(true)
    return client
  }

  test('an idle server ends at once, with 0, whatever clients keep open', async () => {
    await tally.addUser()
    const { token } = await tally.createToken()
    const server = await tally.serve()
    await me(server.url, token)
    const idle = await openSocket(server.url)
    // It does not wait for them until its time is over, after which it would end with another code.
    expect(await server.stop()).toBe(0)
    idle.socket.destroy()
    // A use of that very minute was not lost with the process.
    expect((await tally.json(['tokens', 'list'])).data[0].last_used_at).not.toBeNull()
  })

  test('a request in the middle is finished, and no new connection is taken', async () => {
    const server = await tally.serve()
    const client = await inTheMiddle(server.url)
    const stopped = server.stop()
    await server.untilPrinted(/finishing open requests/)
    expect(server.process.exitCode).toBeNull()
    await expect(fetch(`${server.url}/health`)).rejects.toThrow()
    client.socket.write(whole.slice(half.length))
    expect(await stopped).toBe(0)
    await client.closed
    expect(client.received().match(/"code":"validation_failed"/g)).toHaveLength(2)
  })

  test('a refused request whose body still comes is answered at once', async () => {
    const server = await tally.serve()
    const client = await openSocket(server.url)
    // Its log line precedes the wait for the body.
    client.socket.write('POST /api/v1/token-entries HTTP/1.1\r\nHost: tally\r\nContent-Length: 1000\r\n\r\n')
    await server.untilPrinted(/"code":"unauthenticated"/)
    expect(await server.stop()).toBe(0)
    await client.closed
    expect(client.received()).toContain('/problems/unauthenticated')
    expect(server.output()).not.toContain('aborted')
  })

  test('with --drain, it is not ready any more, and answers until that is over', async () => {
    const server = await tally.serve(['--drain', '5'])
    const stopped = server.stop()
    await server.untilPrinted(/not ready any more, and answering for 5 s/)
    const ready = await fetch(`${server.url}/ready`)
    expect([ready.status, ((await ready.json()) as { code: string }).code]).toEqual([503, 'shutting_down'])
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    expect(await stopped).toBe(0)
  })

  test('a second signal ends it in the middle', async () => {
    const server = await tally.serve()
    const client = await inTheMiddle(server.url)
    server.process.kill('SIGINT')
    await server.untilPrinted(/finishing open requests/)
    expect(server.process.exitCode).toBeNull()
    server.process.kill('SIGINT')
    expect(await server.process.exited).toBe(130)
    client.socket.destroy()
  })
})

test('the log holds a line per refusal and no secret', async () => {
  await tally.addUser()
  const { id, token } = await tally.createToken()
  await tally.done(['tokens', 'revoke', id, '--yes'])
  const server = await tally.serve()
  await me(server.url, token)
  await server.stop()
  const lines = server
    .output()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'request rejected', path: '/api/v1/me', status: 401 }))
  expect(server.output()).not.toContain(token.slice(-20))
})

test('--log-level silent leaves standard output empty but for the first steps', async () => {
  await tally.addUser()
  const port = freePort()
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/../../src/main.ts`, 'serve', '--port', `${port}`], {
    cwd: tally.folder,
    env: { ...tally.env, TALLY_LOG_LEVEL: 'silent' },
    stdout: 'pipe',
  })
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (child.exitCode === null && !(await isReady())) await Bun.sleep(20)
  child.kill('SIGTERM')
  expect([await child.exited, await child.stdout.text()]).toEqual([0, ''])
})
