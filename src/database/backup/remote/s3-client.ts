/**
 * The few requests of the S3 API that backups need (Amazon Simple Storage Service API Reference, 2006-03-01), by path, as all
 * servers understand it. What the storage may send is limited for each of them.
 */
import { createHash } from 'node:crypto'
import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { AwsV4Signer } from 'aws4fetch'
import { type OutgoingRequest, type PeerResponse, send } from '../../../lib/outgoing/send.ts'

/** How to reach the storage. */
export interface S3Access {
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
}

export interface S3Object {
  key: string
  bytes: number
}

/** What the storage answered, with its code, such as `NoSuchBucket`. */
export class S3Error extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly isTemporary: boolean,
  ) {
    super(message)
  }
}

/** A list of a thousand objects with the longest keys has 1.5 MB, everything else a few kilobytes. */
const LIST_BYTES = 8 * 1_048_576
const ANSWER_BYTES = 262_144

/** Of a response to HEAD, which has no body. */
const CODES: Record<number, string> = { 301: 'PermanentRedirect', 403: 'AccessDenied', 404: 'NoSuchKey' }

interface Question {
  method: OutgoingRequest['method']
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Uint8Array | string
  /** How large the body of the response may be. */
  bodyBytes?: number
  signal?: AbortSignal
}

export class S3Client {
  readonly #bucket: string
  readonly #access: S3Access
  readonly #silenceMs: number

  /** @param silenceMs how long the storage may neither send nor take anything */
  constructor(bucket: string, access: S3Access, silenceMs: number) {
    this.#bucket = bucket
    this.#access = access
    this.#silenceMs = silenceMs
  }

  /** A page of the objects whose keys begin with a prefix, and the token of the next one. */
  async list(prefix: string, token: string | undefined): Promise<{ objects: S3Object[]; next: string | undefined }> {
    const query = { 'list-type': '2', 'encoding-type': 'url', prefix, ...(token && { 'continuation-token': token }) }
    const list = await this.#xml({ method: 'GET', query, bodyBytes: LIST_BYTES })
    const objects = elements(list, 'Contents').map((each) => ({
      key: decoded(textOf(each, 'Key')),
      bytes: Number(textOf(each, 'Size')),
    }))
    const isTruncated = textOf(list, 'IsTruncated') === 'true'
    return { objects, next: isTruncated ? textOf(list, 'NextContinuationToken') || undefined : undefined }
  }

  /** Undefined if there is no such object. */
  async sizeOf(key: string): Promise<number | undefined> {
    try {
      const { headers, close } = await this.#request({ method: 'HEAD', key })
      close()
      return Number(headers['content-length'])
    } catch (error) {
      if (error instanceof S3Error && error.code === 'NoSuchKey') return undefined
      throw error
    }
  }

  /** The bytes of an object from one on and before another. */
  async *read(key: string, from: number, to: number): AsyncGenerator<Uint8Array> {
    const headers = { range: `bytes=${from}-${to - 1}` }
    const { body } = await this.#request({ method: 'GET', key, headers, bodyBytes: to - from })
    yield* body
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    const { close } = await this.#request({ method: 'PUT', key, body, headers: CONTENT_TYPE })
    close()
  }

  async remove(key: string): Promise<void> {
    const { close } = await this.#request({ method: 'DELETE', key })
    close()
  }

  /** Begins an object of several parts, and returns the id of the upload. */
  async beginParts(key: string): Promise<string> {
    return textOf(await this.#xml({ method: 'POST', key, query: { uploads: '' }, headers: CONTENT_TYPE }), 'UploadId')
  }

  /** Uploads a part, counted from 1, and returns its entity tag. */
  async putPart(key: string, upload: string, part: number, body: Uint8Array, signal: AbortSignal): Promise<string> {
    const query = { partNumber: String(part), uploadId: upload }
    const { headers, close } = await this.#request({ method: 'PUT', key, query, body, signal })
    close()
    return headers.etag ?? ''
  }

  /** Makes an object of its parts; before that there is none. */
  async endParts(key: string, upload: string, tags: readonly string[]): Promise<void> {
    const parts = tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
    )
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    // An error may follow a status of 200, which the storage sends first so that the connection stays open.
    const answer = await this.#xml({ method: 'POST', key, query: { uploadId: upload }, body })
    if (answer.name === 'Error') throw errorOf(answer, 200)
  }

  async abortParts(key: string, upload: string): Promise<void> {
    const { close } = await this.#request({ method: 'DELETE', key, query: { uploadId: upload } })
    close()
  }

  async #xml(question: Question): Promise<XmlElement> {
    const { body } = await this.#request(question)
    return rootOf(await textIn(body))
  }

  /** Throws {@link S3Error} for an error of the storage, and what `send` throws. */
  async #request({ bodyBytes = ANSWER_BYTES, signal, ...question }: Question): Promise<PeerResponse> {
    const options = { bodyBytes: Math.max(bodyBytes, ANSWER_BYTES), silenceMs: this.#silenceMs, signal }
    const response = await send(await this.#signed(question), options)
    const { status, statusText, headers, body } = response
    if (status >= 200 && status <= 299) return response
    const text = question.method === 'HEAD' ? '' : await textIn(body)
    response.close()
    if (text === '' || !/xml/.test(headers['content-type'] ?? 'xml')) {
      throw new S3Error(CODES[status] ?? String(status), `The storage returned ${status} ${statusText}`, status >= 500)
    }
    throw errorOf(rootOf(text), status)
  }

  /** Signs a request and its body (AWS Signature Version 4). */
  async #signed({ method, key = '', query = {}, headers = {}, body = '' }: Question): Promise<OutgoingRequest> {
    const { endpoint, sessionToken, ...access } = this.#access
    const path = [this.#bucket, ...(key === '' ? [] : key.split('/'))].map(encoded).join('/')
    const url = new URL(`${endpoint.replace(/\/+$/, '')}/${path}`)
    url.search = new URLSearchParams(query).toString().replaceAll('+', '%20')
    const digest = createHash('sha256').update(body).digest('hex')
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, service: 's3', ...access, ...(sessionToken && { sessionToken }) },
      headers: { ...headers, 'x-amz-content-sha256': digest },
    })
    const signed = await signer.sign()
    return { method, url: url.href, headers: Object.fromEntries(signed.headers), body }
  }
}

const CONTENT_TYPE = { 'content-type': 'application/octet-stream' }

async function textIn(body: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body)).toString()
}

function errorOf(answer: XmlElement, status: number): S3Error {
  const code = textOf(answer, 'Code') || String(status)
  const isTemporary = status >= 500 || status === 429 || ['InternalError', 'SlowDown', 'RequestTimeout'].includes(code)
  return new S3Error(code, textOf(answer, 'Message') || `The storage returned ${status}`, isTemporary)
}

function rootOf(text: string): XmlElement {
  try {
    return parseXml(text).root!
  } catch {
    throw new S3Error('MalformedResponse', 'The storage did not respond as S3 does', false)
  }
}

const elements = (parent: XmlElement, name: string): XmlElement[] =>
  parent.children.filter((child): child is XmlElement => child instanceof XmlElement && child.name === name)

const textOf = (parent: XmlElement, name: string): string => elements(parent, name)[0]?.text ?? ''

/** As a signature has it (RFC 3986, section 2.3). */
const encoded = (part: string): string =>
  encodeURIComponent(part).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** As the encoding of keys in a list is, which some servers ignore. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
