/** How far a long task is, on standard error where that is a terminal, and nowhere else. */

/** Eyes see no more than this, and a terminal need not write more. */
const REDRAW_MS = 100

const WIDTH = 24

export class Progress {
  #drawn = 0
  #isShown = false

  constructor(
    readonly title: string,
    readonly stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  ) {}

  /** Shows that so much is done; without a total, only that. */
  show(done: number, total: number | undefined): void {
    if (!this.stream.isTTY || performance.now() - this.#drawn < REDRAW_MS) return
    this.#drawn = performance.now()
    this.#isShown = true
    this.stream.write(`\r\x1b[K${this.#line(done, total)}`)
  }

  /** Leaves the line as it was before. */
  end(): void {
    if (this.#isShown) this.stream.write('\r\x1b[K')
    this.#isShown = false
  }

  #line(done: number, total: number | undefined): string {
    if (!total) return `${this.title} ${done.toLocaleString('en')}`
    const share = Math.min(1, done / total)
    const filled = Math.round(share * WIDTH)
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
    return `${this.title} ${bar} ${Math.floor(share * 100)}% (${done.toLocaleString('en')} of ${total.toLocaleString('en')})`
  }
}
