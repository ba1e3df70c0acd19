/** Telemetry captured from real agents, and their known usage. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { signalFilter } from '../../src/features/telemetry/channels/index.ts'
import { combine, type Read, type ReadResult, SignalReading } from '../../src/features/telemetry/channels/reader.ts'
import { withSameCallsJoined } from '../../src/features/telemetry/channels/same-calls.ts'
import { decode, type Kind } from '../../src/features/telemetry/otlp/decode.ts'
import type { Signal } from '../../src/features/telemetry/signals.ts'
import type { Figures } from './agent-home.ts'

const FIXTURES = join(import.meta.dir, '../fixtures')

/** A body as sent by an agent. */
export interface Capture {
  /** Path within the fixtures, such as `agents/codex/otlp/001-logs.json`. */
  name: string
  kind: Kind
  encoding: 'json' | 'protobuf'
  bytes: Uint8Array
}

const NAME = /-(logs|metrics|traces)\.(json|pb)$/

/** Every body in a folder of the fixtures, in the order in which they were sent. */
export function capturesIn(folder: string): Capture[] {
  return readdirSync(join(FIXTURES, folder), { recursive: true, encoding: 'utf8' })
    .sort()
    .flatMap((path) => {
      const match = NAME.exec(path)
      if (!match) return []
      return {
        name: join(folder, path),
        kind: match[1] as Kind,
        encoding: match[2] === 'pb' ? 'protobuf' : 'json',
        bytes: new Uint8Array(readFileSync(join(FIXTURES, folder, path))),
      }
    })
}

export function readOf(capture: Capture): ReadResult {
  const reading = new SignalReading()
  const counts = decode(capture, capture.bytes, signalFilter, (signal) => reading.take(signal))
  return withSameCallsJoined(combine(counts, reading.read))
}

export function readSignals(signals: Signal[]): Read {
  const reading = new SignalReading()
  for (const signal of signals) reading.take(signal)
  return reading.read
}

/** The known usage of a session and model, in `agents-expected.json` and the like. */
export interface Expected extends Figures {
  reported_cost_otlp?: number
}
