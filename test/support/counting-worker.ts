/** A thread that answers with how many jobs it has done, and as its message asks: `hang`, `exit`, `throw`, `parts`. */
declare const self: Worker

let done = 0

self.onmessage = ({ data }: MessageEvent<string>) => {
  if (data === 'hang') return
  if (data === 'exit') process.exit(1)
  if (data === 'throw') throw new Error('It threw.')
  if (data === 'parts') for (const part of ['a', 'b']) self.postMessage({ part })
  done += 1
  self.postMessage({ done })
}
