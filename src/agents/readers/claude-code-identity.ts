/**
 * Which lines of Claude Code are of the same request. Mostly, both ids say so: the message's and the request's. But some
 * gateways answer without a request id, some give all messages the same id, and a copied line may lack an id that the
 * original has.
 */
import { inputSideOf, type ModelCall, textOf } from '../model-calls.ts'
import type { ReadFile } from './reader.ts'

/** What shows that a line without a request id is of the same request as another. */
interface RequestLine {
  message: string
  uuid: string
  /** The uuid of the line before it in the conversation. */
  parent: string
  at: number
  inputSide: number
}

/** No answer is written for longer: the client gives up before. */
const LONGEST_ANSWER_MS = 10 * 60_000

/**
 * Recognizes lines without a request id. They are of the same request as another line with the same message id if they
 * continue that line, have its time, as copies do, or have the same input soon after or before it.
 */
class Evidence {
  readonly #requests = new Map<string, { key: string; at: number }>()

  add({ message, uuid, at, inputSide }: RequestLine, key: string): void {
    for (const sign of [`at ${at}`, `uuid ${uuid}`, `input ${inputSide}`]) {
      this.#requests.set(`${message} ${sign}`, { key, at })
    }
  }

  find({ message, parent, at, inputSide }: RequestLine): string | undefined {
    const found = (sign: string) => this.#requests.get(`${message} ${sign}`)
    const certain = found(`at ${at}`) ?? (parent === '' ? undefined : found(`uuid ${parent}`))
    if (certain) return certain.key
    // Servers that give no input give it to no message.
    const alike = inputSide > 0 ? found(`input ${inputSide}`) : undefined
    return alike && Math.abs(at - alike.at) <= LONGEST_ANSWER_MS ? alike.key : undefined
  }
}

/** Gives the lines of one file their keys: `<message> <request>`, and a time in place of a request without id. */
export class RequestKeys {
  readonly #evidence = new Evidence()
  /** Those of the line before, which is mostly of the same request. */
  #message = ''
  #request = ''
  #key = ''

  keyOf(record: Record<string, unknown>, message: string, { at, counts }: Pick<ModelCall, 'at' | 'counts'>): string {
    const request = textOf(record.requestId)
    if (request !== '') {
      if (request !== this.#request || message !== this.#message) this.#key = `${message} ${request}`
      this.#message = message
      this.#request = request
      return this.#key
    }
    const uuid = textOf(record.uuid)
    // A line without ids can still be recognized by its uuid when it is copied.
    if (message === '') return uuid
    const line = { message, uuid, parent: textOf(record.parentUuid), at, inputSide: inputSideOf(counts) }
    const key = this.#evidence.find(line) ?? `${message}  ${at}`
    this.#evidence.add(line, key)
    return key
  }
}

/** The key of the request that a key belongs to, which may be one of several calls made for it. */
function requestKeyOf(key: string): string {
  const [message, request, at] = key.split(' ')
  return request === undefined ? key : request === '' ? `${message}  ${at}` : `${message} ${request}`
}

function messageOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf(' ')))
}

function lacksId({ key }: ModelCall): boolean {
  return key.startsWith(' ') || key.includes('  ')
}

/** Gives calls of which a line lacks an id the key of the line that has both, whatever file it is in. */
export function withKnownIds(files: ReadFile[]): ReadFile[] {
  // Mostly there are none.
  if (!files.some(({ reading }) => reading.calls.some(lacksId))) return files
  const lacking = files.flatMap(({ reading }) => reading.calls.filter(lacksId))
  const messages = new Set(lacking.map(({ key }) => messageOf(key)))
  const evidence = new Evidence()
  const keys = new Map<string, string>()
  for (const call of files.flatMap(({ reading }) => reading.calls)) {
    if (lacksId(call) || requestKeyOf(call.key) !== call.key) continue
    const [message = '', request] = call.key.split(' ')
    if (request !== undefined) keys.set(` ${request}`, call.key)
    if (messages.has(message)) evidence.add(lineOf(call), call.key)
  }
  for (const call of lacking) {
    const key = call.key.startsWith(' ') ? undefined : evidence.find(lineOf(call))
    if (key !== undefined && requestKeyOf(call.key) === call.key) keys.set(call.key, key)
  }
  return files.map((file) => {
    if (!file.reading.calls.some(lacksId)) return file
    const calls = file.reading.calls.map((call) => {
      const known = lacksId(call) ? requestKeyOf(call.key) : ''
      const key = keys.get(known)
      return key === undefined ? call : { ...call, key: key + call.key.slice(known.length) }
    })
    return { ...file, reading: { ...file.reading, calls } }
  })
}

function lineOf({ key, at, counts }: ModelCall): RequestLine {
  return { message: messageOf(key), uuid: '', parent: '', at, inputSide: inputSideOf(counts) }
}

/**
 * Without what sub-agents repeat of the conversation: side questions start with its last messages, with the same message
 * id but another request's. Where all messages have the same id, they are the same only on the evidence for lines
 * without a request id.
 */
export function withoutReplays(calls: ModelCall[]): ModelCall[] {
  const messages = new Set<string>()
  for (const { key, isSidechain } of calls) if (isSidechain) messages.add(messageOf(key))
  messages.delete('')
  if (messages.size === 0) return calls
  const evidence = new Evidence()
  const requests = new Map<string, number>()
  for (const call of calls) {
    const message = messageOf(call.key)
    if (call.isSidechain || !messages.has(message)) continue
    if (requestKeyOf(call.key) === call.key) requests.set(message, (requests.get(message) ?? 0) + 1)
    evidence.add(lineOf(call), call.key)
  }
  const isReplay = (call: ModelCall) => {
    const found = requests.get(messageOf(call.key)) ?? 0
    return found === 1 || (found > 1 && evidence.find(lineOf(call)) !== undefined)
  }
  return calls.filter((call) => !call.isSidechain || !isReplay(call))
}
