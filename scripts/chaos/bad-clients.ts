/** Clients that send a byte now and then, half of what they announce, or no HTTP at all, while good clients report. */
import { residentMegabytes } from '../bench/process-metrics.ts'
import { quantile, Reporters, type Scenario, Victim } from './scenario.ts'

const CONNECTIONS = { short: 60, long: 1_000 }

/** Good clients of the short form leave the processors to the other tests: most of its time is spent waiting. */
const PAUSE_MS = { short: 50, long: 0 }

/** Bun closes a connection after 20 s of silence, or a little later. */
const CUT_WITHIN_MS = 32_000

const HEAD = 'POST /api/v1/token-entries HTTP/1.1\r\nHost: tally\r\nContent-Type: application/json\r\n'

/** What each kind of client sends first, and whether it continues byte by byte. */
const KINDS: { first: string; drips: boolean }[] = [
  { first: `${HEAD}Content-Length: 1000\r\n\r\n{"agent_harness":`, drips: false },
  { first: `${HEAD}Content-Length: 100000\r\n\r\n`, drips: true },
  { first: 'GET / HTTP/1.1\r\nHost: tally\r\nX-Slow: ', drips: true },
  { first: `${HEAD}Transfer-Encoding: chunked\r\n\r\nffffffff\r\n`, drips: false },
  { first: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 this is TLS', drips: false },
  { first: 'DANCE / HTTP/9.9\r\n\r\n', drips: false },
  { first: '', drips: false },
]

export const badClients: Scenario = {
  name: 'slow and broken clients',
  missingRequirement: () => undefined,
  async run(size) {
    const victim = await Victim.make(size)
    try {
      await victim.start()
      const reporters = new Reporters(victim, 'good')
      await reporters.untilMore(200)
      reporters.pauseMs = PAUSE_MS[size]
      const memoryBefore = residentMegabytes(victim.server.process.pid)
      const { port } = new URL(victim.server.url)
      const opened = performance.now()
      const bad = Array.from({ length: CONNECTIONS[size] }, (_, at) => connect(Number(port), KINDS[at % KINDS.length]!))
      const silent = bad.filter((_, at) => !KINDS[at % KINDS.length]!.drips)
      await Promise.all(silent.map(({ closed }) => Promise.race([closed, Bun.sleep(CUT_WITHIN_MS)])))
      const cutAfter = (performance.now() - opened) / 1000
      const open = silent.filter(({ isOpen }) => isOpen()).length
      const grown = residentMegabytes(victim.server.process.pid) - memoryBefore
      for (const { end } of bad) end()
      const verdict = await victim.verdict(reporters)
      if (open > 0) throw new Error(`${open} silent connections were still open after ${CUT_WITHIN_MS / 1000} s`)
      const p99 = Math.round(quantile(reporters.latenciesMs, 0.99))
      return {
        rounds: CONNECTIONS[size],
        ...verdict,
        readyMs: [],
        remark: `silent connections closed after ${cutAfter.toFixed(0)} s, ${Math.round(grown)} MB more, p99 of good clients ${p99} ms`,
      }
    } finally {
      await victim.remove()
    }
  },
}

function connect(port: number, { first, drips }: { first: string; drips: boolean }) {
  let isOpen = true
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  let dripping: Timer | undefined
  const end = () => {
    isOpen = false
    clearInterval(dripping)
    resolve()
  }
  const socket = Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(opened) {
        opened.write(first)
        if (drips) dripping = setInterval(() => opened.write('x'), 1_000)
      },
      data() {},
      close: end,
      error: end,
    },
  }).catch(end)
  return {
    closed,
    isOpen: () => isOpen,
    end: () => void socket.then((opened) => opened?.end()),
  }
}
