/**
 * OTLP in Protocol Buffers, written by another library than the one that Tally reads it with. The messages are
 * described here in full as far as agents use them, so that also what Tally passes over is there.
 */
import protobuf from 'protobufjs'
import type { Kind } from '../../src/features/telemetry/otlp/decode.ts'
import { type Capture, capturesIn } from './telemetry.ts'

const PROTO = `
syntax = "proto3";
message AnyValue {
  oneof value {
    string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4;
    ArrayValue arrayValue = 5; KeyValueList kvlistValue = 6; bytes bytesValue = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; uint32 droppedAttributesCount = 2; }
message Scope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }

message Logs { repeated ResourceLogs resourceLogs = 1; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scopeLogs = 2; string schemaUrl = 3; }
message ScopeLogs { Scope scope = 1; repeated LogRecord logRecords = 2; string schemaUrl = 3; }
message LogRecord {
  fixed64 timeUnixNano = 1; int32 severityNumber = 2; string severityText = 3; AnyValue body = 5;
  repeated KeyValue attributes = 6; uint32 droppedAttributesCount = 7; fixed32 flags = 8; bytes traceId = 9;
  bytes spanId = 10; fixed64 observedTimeUnixNano = 11; string eventName = 12;
}

message Metrics { repeated ResourceMetrics resourceMetrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scopeMetrics = 2; string schemaUrl = 3; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; string schemaUrl = 3; }
message Metric {
  string name = 1; string description = 2; string unit = 3;
  oneof data {
    Sum gauge = 5; Sum sum = 7; Histogram histogram = 9; Histogram exponentialHistogram = 10; Histogram summary = 11;
  }
}
message Sum { repeated NumberDataPoint dataPoints = 1; int32 aggregationTemporality = 2; bool isMonotonic = 3; }
message NumberDataPoint {
  fixed64 startTimeUnixNano = 2; fixed64 timeUnixNano = 3; oneof value { double asDouble = 4; sfixed64 asInt = 6; }
  repeated KeyValue attributes = 7; uint32 flags = 8;
}
message Histogram { repeated HistogramDataPoint dataPoints = 1; int32 aggregationTemporality = 2; }
message HistogramDataPoint {
  fixed64 startTimeUnixNano = 2; fixed64 timeUnixNano = 3; fixed64 count = 4; double sum = 5;
  repeated fixed64 bucketCounts = 6; repeated double explicitBounds = 7; repeated KeyValue attributes = 9;
}

message Traces { repeated ResourceSpans resourceSpans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; string schemaUrl = 3; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; string schemaUrl = 3; }
message Span {
  bytes traceId = 1; bytes spanId = 2; string traceState = 3; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
  fixed64 startTimeUnixNano = 7; fixed64 endTimeUnixNano = 8; repeated KeyValue attributes = 9;
  repeated Event events = 11; Status status = 15; fixed32 flags = 16;
}
message Event { fixed64 timeUnixNano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }

message Answer { Partial partialSuccess = 1; }
message Partial { int64 rejected = 1; string errorMessage = 2; }
message RpcStatus { int32 code = 1; string message = 2; }
`

const { root } = protobuf.parse(PROTO, { keepCase: true })

const REQUESTS = { logs: 'Logs', metrics: 'Metrics', traces: 'Traces' } as const

const IDS = ['traceId', 'spanId', 'parentSpanId']

/** The same request in Protocol Buffers. */
export function toProtobuf(kind: Kind, json: string): Uint8Array<ArrayBuffer> {
  // Ids are hexadecimal in OTLP's JSON, where other bytes are in base 64; a list that is null is none.
  const request = JSON.parse(json, (key, value) => {
    if (value === null) return undefined
    return IDS.includes(key) ? Buffer.from(value, 'hex').toString('base64') : value
  })
  const type = root.lookupType(REQUESTS[kind])
  return Uint8Array.from(type.encode(type.fromObject(request)).finish())
}

/** What Tally answers to an export, or the `google.rpc.Status` of a refusal. */
export function fromProtobuf(type: 'Answer' | 'RpcStatus', bytes: Uint8Array): Record<string, unknown> {
  const message = root.lookupType(type)
  return message.toObject(message.decode(bytes), { longs: Number, defaults: false })
}

/** The captures in the folders that were sent as JSON. */
export function jsonCaptures(...folders: string[]): (Capture & { text: string })[] {
  return folders
    .flatMap(capturesIn)
    .filter(({ encoding }) => encoding === 'json')
    .map((capture) => ({ ...capture, text: new TextDecoder().decode(capture.bytes) }))
}
