import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'
import { type Receiver, startReceiver } from '../support/receivers.ts'

let tally: CommandLine
let receiver: Receiver
const env = { TALLY_WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' }

beforeAll(async () => {
  tally = await CommandLine.make()
  receiver = await startReceiver()
  await tally.addUser('ada@example.com', 'admin')
})
afterAll(async () => {
  await tally.remove()
  await receiver.close()
})

const add = (...more: string[]) => ['webhooks', 'add', '--name', 'Hook', '--url', receiver.url, ...more]

test('a webhook is added with its secret on standard output, listed, changed, and removed after a question', async () => {
  expect((await tally.done(['webhooks', 'list'])).stderr).toContain('No webhooks. Add one with `tally webhooks add`.')
  const { stdout, stderr } = await tally.done(add('--type', 'user.*,bill.sent'))
  expect(stdout).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/)
  const [id] = /whk_[0-9a-f]{32}/.exec(stderr)!
  const { data } = await tally.json(['webhooks', 'list'])
  expect(data).toMatchObject([{ id, types: ['user.*', 'bill.sent'], state: 'active', created_by: null }])
  expect(JSON.stringify(data)).not.toContain('whsec_')
  expect((await tally.json(['webhooks', 'change', id, '--type', '*'])).types).toEqual(['*'])
  const changed = await tally.done(['webhooks', 'change', id, '--name', 'Hook', '--as', 'ada@example.com'])
  // Whoever may run commands may do everything: the person that they name decides nothing.
  expect(changed.stdout).toMatch(/owner +command line\n/)
  expect((await tally.done(['webhooks', 'take-over', id])).stdout).toContain("'Hook' belongs to the command line now")
  expect((await tally.json(['webhooks', 'disable', id])).state).toBe('disabled')
  expect((await tally.json(['webhooks', 'enable', id])).state).toBe('active')
  expect((await tally.run(['webhooks', 'remove', id])).stderr).toContain('--yes')
  await tally.done(['webhooks', 'remove', id, '--yes'])
  expect((await tally.json(['webhooks', 'list'])).data).toEqual([])
})

test('a test and a resent event are sent from this machine, and listed with their results', async () => {
  const { id } = await tally.json(add('--type', '*'))
  expect((await tally.run(['webhooks', 'test', id])).stderr).toContain('TALLY_WEBHOOK_PRIVATE_NETWORKS')
  const { stdout } = await tally.done(['webhooks', 'test', id], { env })
  expect(stdout).toMatch(/^The test was delivered \(200, \d+ ms\)\.\n$/)
  const { data } = await tally.json(['webhooks', 'deliveries', id])
  expect(data.map(({ delivered }: { delivered: boolean }) => delivered)).toEqual([true, false])
  const resent = await tally.json(['webhooks', 'resend', id, '--event', 'evt_1'], { env })
  expect(resent).toMatchObject({ event: 'evt_1', kind: 'resend', delivered: true })
  expect((await tally.done(['webhooks', 'resend', id, '--since', '2026-01-01'])).stdout).toContain('again')
  expect((await tally.run(['webhooks', 'resend', id])).code).toBe(2)
})

test('a running server delivers the events of commands', async () => {
  const server = await tally.serve([], env)
  const { id } = await tally.json(add('--type', 'client.*'))
  await tally.done(['clients', 'add', 'Acme'])
  await receiver.until((received) => received.some(({ body }) => JSON.parse(body).object?.name === 'Acme'))
  expect(await server.stop()).toBe(0)
  await tally.done(['webhooks', 'remove', id, '--yes'])
})

test('messages name the flags', async () => {
  const message = async (...args: string[]) => {
    const { code, stderr } = await tally.run(args)
    return `${code} ${stderr}`
  }
  expect(await message(...add('--type', 'nothing'))).toMatch(/^2 tally: --type.*must be a type of events/)
  expect(await message('webhooks', 'add', '--name', 'x')).toContain(
    "2 tally: required option '--url <url>' not specified",
  )
  expect(await message('webhooks', 'change', 'whk_1')).toMatch(/^2 tally: Nothing to change/)
  expect(await message('webhooks', 'test', 'whk_1')).toContain("The webhook 'whk_1' was not found.")
  expect(await message('webhooks', 'listen', '--secret', 'whsec_x')).toContain('Set TALLY_WEBHOOK_SECRET')
})

test('listen prints what arrives, and whether its signature is right', async () => {
  const { id, secret } = await tally.json(add('--type', '*'))
  const listen = ['webhooks', 'listen', '--port', '0', '--json']
  const listening = await tally.spawn(listen, 'ignore', { TALLY_WEBHOOK_SECRET: secret })
  let shown = ''
  const decoder = new TextDecoder()
  for await (const chunk of listening.stderr) {
    shown += decoder.decode(chunk)
    if (shown.includes('--type')) break
  }
  const url = /tally webhooks add .*--url (\S+)/.exec(shown)![1]!
  await tally.done(['webhooks', 'change', id, '--url', url])
  await tally.done(['webhooks', 'test', id], { env })
  const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  expect(forged.status).toBe(401)
  listening.kill('SIGTERM')
  const lines = (await listening.stdout.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[0]).toMatchObject({ signature: 'valid', body: { type: 'webhook.test', object: { id } } })
  expect(lines[1].signature).toContain('not signed')
  expect(await listening.exited).toBe(0)
})
