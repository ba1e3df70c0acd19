/** Where exporters of OpenTelemetry send to: OTLP over HTTP. */
import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Caller, CallerOf } from '../../../access/caller.ts'
import { access, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { OTLP_CONTENT_TYPES, otlpSuccess, readOtlpForm } from '../../../http/otlp.ts'
import { partsOf } from '../../../http/unread-bodies.ts'
import { batchesOf } from '../batches.ts'
import type { ReadResult } from '../channels/reader.ts'
import { Decoding } from '../decoding-thread.ts'
import { EXAMPLE_EXPORTS } from '../examples.ts'
import type { Kind } from '../otlp/decode.ts'
import type { Received, TelemetryService } from '../service.ts'

type Receiver = Pick<TelemetryService, 'receive'>
type Pusher = CallerOf<'service' | 'organization'>

const BINARY = Type.String({ format: 'binary' })

interface Push {
  request: Request
  caller: Caller | null
}

export const otlpRoutes = ({ telemetry }: { telemetry: Receiver }) => {
  const decoding = new Decoding()

  const push =
    (kind: Kind) =>
    async ({ request, caller }: Push) => {
      const form = readOtlpForm(request)
      const length = request.headers.get('content-length')
      const contentLength = length === null ? null : Number(length)
      const read = await decoding.read({ kind, ...form, contentLength, parts: partsOf(request) })
      const received = await receive(telemetry, requireCaller(caller, ['service', 'organization']), read)
      return otlpSuccess(kind, form.encoding, received)
    }

  const described = (kind: Kind) =>
    ({
      allow: ['service', 'organization'],
      // The body goes to another thread as it comes. In an array of parsers, Elysia ignores `none`.
      parse: 'none',
      detail: documentedPush(kind),
    }) as const

  return new Elysia({ name: 'otlp', normalize: false })
    .use(access())
    .post('/logs', push('logs'), described('logs'))
    .post('/metrics', push('metrics'), described('metrics'))
    .post('/traces', push('traces'), described('traces'))
}

/**
 * What Collectors put together is recorded in several transactions; where a later one fails all is sent again, and counts
 * once.
 */
async function receive(telemetry: Receiver, caller: Pusher, read: ReadResult): Promise<Received> {
  const [first, ...others] = batchesOf(read.observations)
  const received = await telemetry.receive(caller, { ...read, observations: first! })
  for (const observations of others) {
    const { rejected, message } = await telemetry.receive(caller, { ...NOTHING_ELSE, observations })
    received.rejected += rejected
    received.message ??= message
  }
  return received
}

/** What was not read of the request was counted with its first part. */
const NOTHING_ELSE: Omit<ReadResult, 'observations'> = {
  records: 0,
  ignored: new Map(),
  rejected: 0,
  rejectionReason: null,
  rejections: new Map(),
}

interface KindWords {
  id: string
  what: string
  /** Of the request's message. */
  message: string
  /** What the request has at its top. */
  list: string
  /** What the answer counts. */
  rejected: string
}

const WORDS: Record<Kind, KindWords> = {
  logs: {
    id: 'pushLogs',
    what: 'log records',
    message: 'ExportLogsServiceRequest',
    list: 'resourceLogs',
    rejected: 'rejectedLogRecords',
  },
  metrics: {
    id: 'pushMetrics',
    what: 'metrics',
    message: 'ExportMetricsServiceRequest',
    list: 'resourceMetrics',
    rejected: 'rejectedDataPoints',
  },
  traces: {
    id: 'pushTraces',
    what: 'spans',
    message: 'ExportTraceServiceRequest',
    list: 'resourceSpans',
    rejected: 'rejectedSpans',
  },
}

/** What Tally does not read is OTLP's business, so objects are open here. */
const open = (properties: Record<string, TSchema>) => Type.Object(properties, { additionalProperties: true })

function documentedPush(kind: Kind) {
  const { id, what, message, list, rejected } = WORDS[kind]
  const answer = open({
    partialSuccess: Type.Optional(open({ [rejected]: Type.Integer(), errorMessage: Type.String() })),
  })
  return documented({
    id,
    tag: 'Telemetry',
    summary: `Push ${what} (OTLP)`,
    description: `Accepts an \`${message}\` of [OTLP over HTTP](https://opentelemetry.io/docs/specs/otlp/#otlphttp), as OpenTelemetry exporters send it to the endpoint \`/api/v1/telemetry\`: JSON or Protocol Buffers, optionally with \`Content-Encoding: gzip\`, up to 16 MiB before and after decompression, 50,000 records and 9,000 usage records. Records that contain an agent’s usage become entries, which are saved before the response is sent. All other records are discarded unread. Records that are sent again count once. The response has the encoding of the request; errors are returned as \`google.rpc.Status\`.`,
    otlp: true,
    body: {
      schema: open({ [list]: Type.Optional(Type.Array(open({}))) }),
      example: EXAMPLE_EXPORTS[kind],
      also: { [OTLP_CONTENT_TYPES.protobuf]: { schema: BINARY, example: `A binary ${message}` } },
    },
    responses: {
      200: {
        description: `All records were accepted; or, with \`partialSuccess\`, all except the given number of records that could not be used. Do not send these again.`,
        schema: answer,
        examples: {
          whole: { summary: 'All records accepted', value: {} },
          part: {
            summary: 'Some records rejected',
            value: { partialSuccess: { [rejected]: 1, errorMessage: 'A count of tokens was negative.' } },
          },
        },
        also: {
          [OTLP_CONTENT_TYPES.protobuf]: {
            schema: BINARY,
            example: 'The response in Protocol Buffers: empty if all records were accepted',
          },
        },
      },
    },
  })
}
