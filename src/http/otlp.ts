/**
 * Responses of the OTLP endpoints: OTLP clients expect a `google.rpc.Status` instead of a problem, in
 * the encoding that they sent.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/docs/specification.md#otlphttp-response
 */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { Type } from '@sinclair/typebox'
import { Problem } from '../errors.ts'
import { strict } from '../schema/types.ts'
import { problemHeaders } from './problems.ts'

/** Prefix of `logs`, `metrics` and `traces`; exporters are configured with the path before `/v1`. */
export const OTLP_PREFIX = '/api/v1/telemetry/v1'

export type OtlpEncoding = 'json' | 'protobuf'

export const OTLP_CONTENT_TYPES = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
} as const satisfies Record<OtlpEncoding, string>

/** An export with some rejected records. */
export interface PartialSuccess {
  rejected: number
  message: string | null
}

export const RpcStatus = Type.Object(
  {
    code: Type.Integer({ description: 'The gRPC status code of the error; clients should rely on the HTTP status.' }),
    message: Type.String({ description: 'What happened and what to do next.' }),
  },
  { ...strict, $id: 'RpcStatus', description: 'Why an export was rejected or failed (`google.rpc.Status`).' },
)

export const EXAMPLE_RPC_STATUS = { code: 16, message: 'Unknown token. Check that you copied all of it.' }

/** Where exporters send to that are configured with another path than the one before `/v1`, or with none. */
const MISDIRECTED = /^(?:.*\/v1\/(?:logs|metrics|traces)\/?|\/api\/v1\/telemetry(?:\/(?:v1\/?)?)?)$/

/** Whether a request is an OTLP export, which always gets an OTLP response, even for errors. */
export function isOtlpExport(method: string, path: string): boolean {
  return method === 'POST' && (path.startsWith(`${OTLP_PREFIX}/`) || MISDIRECTED.test(path))
}

/** What to do about exports to a path that does not exist. */
export const MISDIRECTED_ADVICE = `Telemetry is received at ${OTLP_PREFIX}/logs, /metrics and /traces: set OTEL_EXPORTER_OTLP_ENDPOINT to the URL of this server with ${OTLP_PREFIX.replace(/\/v1$/, '')} at its end.`

/** Undefined if it is not an OTLP encoding. */
function findOtlpEncoding({ headers }: Request): OtlpEncoding | undefined {
  const type = (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  if (type === OTLP_CONTENT_TYPES.json) return 'json'
  return type === OTLP_CONTENT_TYPES.protobuf ? 'protobuf' : undefined
}

export interface OtlpForm {
  encoding: OtlpEncoding
  gzip: boolean
}

/** The encoding of an export. Throws if it is not supported. */
export function readOtlpForm(request: Request): OtlpForm {
  const encoding = findOtlpEncoding(request)
  if (!encoding) {
    const types = Object.values(OTLP_CONTENT_TYPES)
    throw new Problem('unsupported_media_type', `Send telemetry with Content-Type: ${types.join(' or ')}.`, {
      headers: { 'accept-post': types.join(', ') },
    })
  }
  const coding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if (coding === 'gzip' || coding === 'identity') return { encoding, gzip: coding === 'gzip' }
  throw new Problem('unsupported_media_type', 'Send telemetry with Content-Encoding: gzip, or uncompressed.', {
    headers: { 'accept-encoding': 'gzip, identity' },
  })
}

/** The field with the number of rejected records, by kind of export. */
const REJECTED = { logs: 'rejectedLogRecords', metrics: 'rejectedDataPoints', traces: 'rejectedSpans' } as const

export function otlpSuccess(kind: keyof typeof REJECTED, encoding: OtlpEncoding, parts: PartialSuccess): Response {
  const { rejected, message } = parts
  // The protocol requires an empty response if everything was accepted.
  const isWhole = rejected === 0 && message === null
  if (encoding === 'json') {
    const partialSuccess = { [REJECTED[kind]]: rejected, errorMessage: message ?? '' }
    return respond({ status: 200, encoding, body: JSON.stringify(isWhole ? {} : { partialSuccess }) })
  }
  const writer = new BinaryWriter()
  if (!isWhole) {
    writer.tag(1, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.Varint).int64(rejected)
    writer.tag(2, WireType.LengthDelimited).string(message ?? '')
    writer.join()
  }
  return respond({ status: 200, encoding, body: writer.finish() })
}

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const RPC_CODES: Record<number, number> = { 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14 }
const INVALID_ARGUMENT = 3

/** Status and message only; OTLP clients do not read details. */
export function otlpRefusal(problem: Problem, requestId: string, request: Request): Response {
  const { status, detail: message } = problem
  const headers = problemHeaders(problem, requestId)
  const code = RPC_CODES[status] ?? INVALID_ARGUMENT
  // A client that sent neither encoding reads JSON more easily than bytes.
  const encoding = findOtlpEncoding(request) ?? 'json'
  if (encoding === 'json') return respond({ status, encoding, headers, body: JSON.stringify({ code, message }) })
  const writer = new BinaryWriter()
  writer.tag(1, WireType.Varint).int32(code)
  writer.tag(2, WireType.LengthDelimited).string(message)
  return respond({ status, encoding, headers, body: writer.finish() })
}

interface Answer {
  status: number
  encoding: OtlpEncoding
  body: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

function respond({ status, encoding, body, headers }: Answer): Response {
  return new Response(body, { status, headers: { ...headers, 'content-type': OTLP_CONTENT_TYPES[encoding] } })
}
