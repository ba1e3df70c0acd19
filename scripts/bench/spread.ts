/** The rounds of a measurement: their median, and their range. */
export interface Spread {
  median: number
  min: number
  max: number
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}

export function spreadOf(rounds: readonly number[]): Spread {
  return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds) }
}

/** Of each round's pair: other load on the machine affects both, so this is more precise than either. */
export function ratiosOf(dividends: readonly number[], divisors: readonly number[]): number[] {
  return dividends.map((dividend, round) => dividend / divisors[round]!)
}

/** Such as "1.02 (0.97–1.05)". */
export function spreadText({ median: middle, min, max }: Spread, textOf = (value: number) => value.toFixed(2)): string {
  return `${textOf(middle)} (${textOf(min)}–${textOf(max)})`
}
