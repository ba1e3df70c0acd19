/** The cost of slices: reports of sessions with one slice and with many, against reports without slices. */
import { median } from '../spread.ts'
import { type LoadShape, type Throughput, WARM_UP_SECONDS } from './throughput.ts'

/** Alternating, so that other load on the machine affects all of them. */
const ROUNDS = 4

/** New sessions, and sessions that are reported again, as hooks do. */
const REPEATS = [1, 5] as const

export interface SliceCost {
  slices: number
  repeat: number
  /** Processor time per report: the median, and its ratio to that of a report without slices in the same round. */
  processorMicros: number
  ratio: number
}

export async function measureSlices(
  report: (shape: LoadShape) => Promise<Throughput>,
  shape: LoadShape,
  slices: number,
): Promise<SliceCost[]> {
  const costs: SliceCost[] = []
  for (const repeat of REPEATS) {
    const rounds = new Map([0, 1, slices].map((count) => [count, [] as number[]]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const [count, micros] of rounds) {
        await report({ ...shape, repeat, slices: count, seconds: WARM_UP_SECONDS / 2 })
        micros.push((await report({ ...shape, repeat, slices: count })).processorMicros)
      }
    }
    const whole = rounds.get(0)!
    for (const [count, micros] of rounds) {
      const ratio = median(micros.map((each, round) => each / whole[round]!))
      costs.push({ slices: count, repeat, processorMicros: median(micros), ratio })
    }
  }
  return costs
}
